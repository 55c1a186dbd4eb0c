"""Short-term memory in MongoDB."""

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

from pymongo import ASCENDING, DESCENDING, UpdateOne
from pymongo.errors import DuplicateKeyError

from memory_server.domain.embedding import EmbeddingSpace, Vector
from memory_server.domain.scope import Scope, Visibility
from memory_server.domain.turn import NewTurn, Turn
from memory_server.domain.utterance import Utterance
from memory_server.ports.turns import Turns
from memory_server.search.local.vectors import spaced
from memory_server.storage.mongo import sessions
from memory_server.storage.mongo.arrivals import Arrivals
from memory_server.storage.mongo.collections import TURNS
from memory_server.storage.mongo.database import MongoDatabase, Session
from memory_server.storage.mongo.documents import Document, identity, packed, space_key
from memory_server.storage.mongo.failures import overtaken
from memory_server.storage.mongo.locks import Locks
from memory_server.storage.mongo.turn_documents import (
    SAID,
    UNREAD,
    numbered,
    turn_document,
    turn_of,
    utterance_of,
)

_KEY = ("project_id", "session_id", "user_id", "idempotency_key")


class MongoTurns(Turns):
    """Turns, numbered by their sessions' counters."""

    def __init__(self, database: MongoDatabase, arrivals: Arrivals) -> None:
        self._database = database
        self._arrivals = arrivals
        self._locks = Locks(database)

    async def append(
        self, turn: NewTurn, *, vector: Vector | None = None, space: EmbeddingSpace | None = None
    ) -> Turn:
        with self._database.translated():
            document = turn_document(turn)
            if vector is not None:
                document |= {"has_embedding": True, "vectors": _vectors(vector, space)}
        async with self._locks.hold([(turn.project_id, turn.session_id)]):
            tries = count()
            stored = await self._database.transact(
                lambda session: self._append(session, turn, document, again=next(tries) > 0)
            )
        if stored.id == turn.id:
            self._database.announce(TURNS, [document["_id"]])
        return stored

    async def recent(self, scope: Scope, *, limit: int) -> Sequence[Turn]:
        if scope.visibility not in (None, Visibility.PRIVATE):
            return []  # turns have no visibility: each is its user's own
        wanted = {field: value for field, value in scope.conditions() if field != "visibility"}
        newest = "recorded_at" if scope.session_id is None else "turn_seq"
        return (await self._read(wanted, newest, DESCENDING, limit))[::-1]

    async def run(
        self,
        project_id: str,
        session_id: str,
        *,
        first_seq: int,
        last_seq: int,
        limit: int | None = None,
    ) -> Sequence[Turn]:
        wanted: Document = {
            "project_id": project_id,
            "session_id": session_id,
            "turn_seq": {"$gte": first_seq, "$lte": last_seq},
        }
        return await self._read(wanted, "turn_seq", ASCENDING, limit)

    async def get_many(self, project_id: str, ids: Sequence[str]) -> Sequence[Turn]:
        wanted: Document = {"_id": {"$in": [identity(project_id, one) for one in set(ids)]}}
        found = {turn.id: turn for turn in await self._read(wanted, "turn_seq", ASCENDING, None)}
        return [found[one] for one in dict.fromkeys(ids) if one in found]

    async def utterances(self, project_id: str, ids: Sequence[str]) -> Sequence[Utterance]:
        wanted = {"_id": {"$in": [identity(project_id, one) for one in set(ids)]}}
        with self._database.translated():
            found = self._database[TURNS].find(wanted, SAID)
            return [utterance_of(one) async for one in found]

    async def set_vectors(
        self, project_id: str, vectors: Mapping[str, Vector], space: EmbeddingSpace
    ) -> None:
        changes = {
            identity(project_id, turn_id): _given(_vectors(vector, space))
            for turn_id, vector in vectors.items()
        }
        if not changes:
            return
        updates = [UpdateOne({"_id": which}, change) for which, change in changes.items()]
        turns = self._database[TURNS]
        await self._database.transact(lambda session: turns.bulk_write(updates, session=session))
        self._database.announce(TURNS, changes)

    async def _append(
        self, session: Session, turn: NewTurn, document: Document, *, again: bool
    ) -> Turn:
        """Store a turn; or, tried `again`, find the one that is stored as it.

        A key that is taken shows when the turn is stored. And a database that was restarted
        meanwhile may not know any more that the turn was.
        """
        if again and (known := await self._known(session, turn)) is not None:
            return turn_of(known)
        counted = await sessions.count(self._database, session, turn, self._arrivals.next())
        numbers = {"turn_seq": counted["last_seq"], "recorded_at": counted["recorded_at"]}
        try:
            await self._database[TURNS].insert_one(document | numbers, session=session)
        except DuplicateKeyError as error:
            if "idempotency_key" in (error.details or {}).get("keyPattern", {}):
                raise overtaken(error) from error
            raise
        has_embedding = bool(document["has_embedding"])
        return numbered(turn, int(counted["last_seq"]), has_embedding=has_embedding)

    async def _known(self, session: Session, turn: NewTurn) -> Document | None:
        """Return the turn that is stored under a turn's key or id."""
        ways: list[Document] = [{"_id": identity(turn.project_id, turn.id)}]
        if turn.idempotency_key is not None:
            ways.insert(0, {name: getattr(turn, name) for name in _KEY})
        for way in ways:
            found = await self._database[TURNS].find_one(way, UNREAD, session=session)
            if found is not None:
                return found
        return None

    async def _read(
        self, wanted: Mapping[str, Any], order: str, direction: int, limit: int | None
    ) -> list[Turn]:
        if limit is not None and limit <= 0:
            return []
        with self._database.translated():
            found = self._database[TURNS].find(wanted, UNREAD).sort(order, direction)
            return [turn_of(one) async for one in found.limit(limit or 0)]


def _given(vectors: Mapping[str, Any]) -> Document:
    """Return the update that gives a turn vectors."""
    fields = {f"vectors.{key}": data for key, data in vectors.items()}
    return {"$set": {"has_embedding": True, **fields}}


def _vectors(vector: Vector, space: EmbeddingSpace | None) -> Document:
    """Return a vector by the name of its space, or raise `WrongDimension`."""
    return {space_key(spaced(vector, space).space): packed(vector)}
