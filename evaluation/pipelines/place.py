"""Where one conversation lies on the server, under names that say nothing of it."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Self

from evaluation.conversations import Conversation, Turn
from evaluation.digests import digest_of

_NAME = 32
"""Characters of an opaque name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One conversation as one user, its sessions and turns in the data's order.

    Names are digests, since those of the data may tell the answer; the way back stays here.
    """

    user_id: str
    sessions: Mapping[str, Sequence[Turn]]
    """Turns by opaque session id; those without text are not recorded and not here."""
    _sessions: Mapping[str, str]
    """The data's session by opaque id."""

    @classmethod
    def of(cls, conversation: Conversation, *, ingestion: str) -> Self:
        """Return the place of a conversation that is stored in that way.

        It depends on what was said, not on which other conversations the data holds.
        """
        said = digest_of([asdict(turn) for turn in conversation.turns])
        user_id = _opaque(ingestion, conversation.key, said)
        sessions: dict[str, list[Turn]] = {}
        names: dict[str, str] = {}
        for session, turns in groupby(conversation.recorded, key=lambda turn: turn.session):
            name = _opaque(user_id, session)
            names[name] = session
            sessions.setdefault(name, []).extend(turns)
        return cls(user_id=user_id, sessions=sessions, _sessions=names)

    def turn(self, session_id: str, turn_seq: int) -> str | None:
        """Return the key of a recorded turn, if it is one of this conversation."""
        turns = self.sessions.get(session_id, ())
        return turns[turn_seq - 1].key if 1 <= turn_seq <= len(turns) else None

    def session(self, session_id: str) -> str | None:
        """Return the data's name of a session."""
        return self._sessions.get(session_id)

    def sessions_of(self, keys: Sequence[str]) -> Sequence[str]:
        """Return the data's sessions of these turns, each once, in order."""
        wanted = set(keys)
        found = (turn.session for turn in self.turns() if turn.key in wanted)
        return list(dict.fromkeys(found))

    def is_dated(self, keys: Sequence[str]) -> bool:
        """Whether the data says when any of these turns, or of all if none is named, was said.

        A server dates the others by its own clock, by which an answer would be another every day.
        """
        dated = [turn.key for turn in self.turns() if turn.said_at is not None]
        return not set(keys).isdisjoint(dated) if keys else bool(dated)

    def turns(self) -> Iterator[Turn]:
        """Yield every recorded turn, in order."""
        for turns in self.sessions.values():
            yield from turns


def _opaque(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:_NAME]
