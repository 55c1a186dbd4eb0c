"""Short-term memory."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Protocol

from memory_server.domain.embedding import EmbeddingSpace, Vector
from memory_server.domain.scope import Scope
from memory_server.domain.turn import NewTurn, Turn
from memory_server.domain.utterance import Utterance


class Turns(Protocol):
    """Keeps turns in the order in which they were said."""

    @abstractmethod
    async def append(
        self, turn: NewTurn, *, vector: Vector | None = None, space: EmbeddingSpace | None = None
    ) -> Turn:
        """Store one turn under the next number in one durable transaction, and return it.

        The turn, the session's counter and last activity, and the idempotency key are written
        together. A key already used by the same user in the same project and session returns the
        turn stored under it and writes nothing. Session ids are counted per project.
        """
        ...

    @abstractmethod
    async def recent(self, scope: Scope, *, limit: int) -> Sequence[Turn]:
        """Return the newest turns that match the scope, oldest first.

        With a session in the scope: of that session, by turn_seq. Without: of all sessions, by
        the time of recording.
        """
        ...

    @abstractmethod
    async def run(
        self,
        project_id: str,
        session_id: str,
        *,
        first_seq: int,
        last_seq: int,
        limit: int | None = None,
    ) -> Sequence[Turn]:
        """Return the turns of a session from `first_seq` to `last_seq`, both included.

        Numbers whose turns were erased are skipped; `limit` counts turns, the first ones.
        """
        ...

    @abstractmethod
    async def get_many(self, project_id: str, ids: Sequence[str]) -> Sequence[Turn]:
        """Return the turns of that project that have these ids; unknown ids are left out."""
        ...

    @abstractmethod
    async def utterances(self, project_id: str, ids: Sequence[str]) -> Sequence[Utterance]:
        """Return what the turns of that project with these ids say, for less than the turns."""
        ...

    @abstractmethod
    async def set_vectors(
        self, project_id: str, vectors: Mapping[str, Vector], space: EmbeddingSpace
    ) -> None:
        """Give turns their vectors; turns that are gone are left out."""
        ...
