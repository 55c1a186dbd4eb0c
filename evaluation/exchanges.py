"""Which turns belong together: what a user says, and the reply to it."""

from collections.abc import Mapping, Sequence

from evaluation.conversations import Turn

REPLY = "assistant"


def exchanges_of(turns: Sequence[Turn]) -> Mapping[str, str]:
    """Return the exchange of each turn, by turn key.

    An exchange is a run of the user's turns and the run of replies after it, of one session; a
    reply before anything the user said, and a turn without a reply, are exchanges of their own.
    """
    found: dict[str, str] = {}
    before: Turn | None = None
    name = ""
    for turn in turns:
        if before is None or _begins(before, turn):
            name = turn.key
        found[turn.key] = name
        before = turn
    return found


def _begins(before: Turn, turn: Turn) -> bool:
    return before.session != turn.session or (before.role == REPLY and turn.role != REPLY)
