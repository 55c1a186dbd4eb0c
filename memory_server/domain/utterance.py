"""What somebody said, as far as its place among the finds of a search depends on it."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from memory_server.domain.block import exchange_of
from memory_server.domain.exchange import Viewpoint


class Utterance(NamedTuple):
    """A turn, or what one side said in an exchange."""

    id: str
    """Of the turn, or of the block."""
    session: str
    speaker: str
    """As the source names them, or the role."""
    role: str
    """`user`, `assistant` ..."""
    text: str
    said_at: datetime
    """By which the later of two is told from the earlier."""


class Line(NamedTuple):
    """One message of an exchange."""

    role: str
    speaker: str
    content: str


class Dialogue(NamedTuple):
    """All that was said in an exchange, read from one of its blocks."""

    session: str
    viewpoint: Viewpoint
    """Of the block that was read."""
    lines: Sequence[Line]
    said_at: datetime

    def seen_by(self, block_id: str) -> Utterance:
        """Return what those said whose view a block of the exchange is."""
        suffix = block_id.rpartition(".")[2]
        viewpoint = Viewpoint(suffix) if suffix in _VIEWPOINTS else self.viewpoint
        own = [line for line in self.lines if viewpoint.is_of(line.role)]
        return Utterance(
            id=block_id,
            session=self.session,
            speaker=" and ".join(dict.fromkeys(line.speaker for line in own)),
            role=viewpoint.value,
            text="\n".join(line.content for line in own),
            said_at=self.said_at,
        )


_VIEWPOINTS = frozenset(one.value for one in Viewpoint)


def one_of_each(ids: Iterable[str]) -> dict[str, str]:
    """Return for each of these blocks the first one of its exchange: it holds all that was said."""
    first: dict[str, str] = {}
    return {one: first.setdefault(exchange_of(one), one) for one in ids}


def seen_by_each(
    read_for: Mapping[str, str], dialogues: Mapping[str, Dialogue]
) -> Sequence[Utterance]:
    """Return the utterances of blocks, given by `one_of_each`; of exchanges that are gone none."""
    return [
        dialogues[read].seen_by(block_id)
        for block_id, read in read_for.items()
        if read in dialogues
    ]
