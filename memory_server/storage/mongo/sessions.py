"""Sessions in MongoDB: how far they are counted, and from where on their turns wait."""

from collections.abc import Mapping
from typing import Any

from pymongo import ASCENDING, ReturnDocument
from pymongo.errors import DuplicateKeyError

from memory_server.domain.moments import from_micros, to_micros
from memory_server.domain.snapshot import SessionState
from memory_server.domain.turn import NewTurn
from memory_server.errors import StorageError
from memory_server.storage.mongo import gates
from memory_server.storage.mongo.collections import SESSIONS, TURNS
from memory_server.storage.mongo.database import MongoDatabase, Session
from memory_server.storage.mongo.documents import Document, identity
from memory_server.storage.mongo.failures import overtaken


async def count(database: MongoDatabase, session: Session, turn: NewTurn, arrival: int) -> Document:
    """Give out the next number of a session, note its activity, and return it.

    A project's removal takes its sessions away, so it does not miss whoever counts one that is
    there; who makes a new one goes by the gate.
    """
    which = {"_id": identity(turn.project_id, turn.session_id)}
    try:
        counted = await database[SESSIONS].find_one_and_update(
            which,
            [{"$set": _counted(turn, arrival)}],
            upsert=True,
            return_document=ReturnDocument.AFTER,
            session=session,
        )
    except DuplicateKeyError as error:  # another server began the session just now
        raise overtaken(error) from error
    if counted is None:
        raise StorageError(f"{database.location}: an upsert returned nothing")
    if counted["last_seq"] > 1:
        gates.refuse_late(counted, turn.created_at)
        return counted
    entered = await gates.enter(
        database, session, turn.project_id, turn.session_id, turn.created_at
    )
    if entered:  # the project had a predecessor
        await database[SESSIONS].update_one(which, {"$set": entered}, session=session)
    return counted


async def advance(
    database: MongoDatabase, session: Session, project_id: str, session_id: str, *, last_seq: int
) -> None:
    """Let a session wait from the first turn on that is left after a number, if any."""
    which = {"_id": identity(project_id, session_id)}
    later = {
        "project_id": project_id,
        "session_id": session_id,
        "turn_seq": {"$gt": last_seq},
    }
    first = await database[TURNS].find_one(
        later,
        {"turn_seq": 1, "created_at": 1},
        sort=[("turn_seq", ASCENDING)],
        session=session,
    )
    if first is None:
        nothing: Document = {"waiting_since": None, "unpromoted": 0, "promoted_seq": "$last_seq"}
        await database[SESSIONS].update_one(which, [{"$set": nothing}], session=session)
        return
    change = {
        "promoted_seq": first["turn_seq"] - 1,
        "waiting_since": first["created_at"],
        "unpromoted": await database[TURNS].count_documents(later, session=session),
    }
    await database[SESSIONS].update_one(which, {"$set": change}, session=session)


async def skip_erased(
    database: MongoDatabase, session: Session, project_id: str, session_id: str
) -> None:
    """Let a session wait from the first of its turns that is left, if it still exists."""
    which = {"_id": identity(project_id, session_id)}
    found = await database[SESSIONS].find_one(which, {"promoted_seq": 1}, session=session)
    if found is not None:
        last_seq = found["promoted_seq"]
        await advance(database, session, project_id, session_id, last_seq=last_seq)


def state_of(document: Mapping[str, Any]) -> SessionState:
    """Return the state of a session."""
    return SessionState(
        project_id=document["project_id"],
        session_id=document["session_id"],
        last_seq=int(document["last_seq"]),
        promoted_seq=int(document["promoted_seq"]),
        last_activity=from_micros(document["last_activity"]),
        user_id=document["user_id"],
    )


def _counted(turn: NewTurn, arrival: int) -> Document:
    """Return the fields of a session with one more turn, reckoned from those that it has."""
    created_at = to_micros(turn.created_at)
    waits = {"$gt": [_number("last_seq"), _number("promoted_seq")]}
    return {
        "project_id": {"$literal": turn.project_id},
        "session_id": {"$literal": turn.session_id},
        "user_id": {"$ifNull": ["$user_id", {"$literal": turn.user_id}]},
        "last_seq": {"$add": [_number("last_seq"), 1]},
        "promoted_seq": _number("promoted_seq"),
        "unpromoted": {"$add": [_number("unpromoted"), 1]},
        "last_activity": {"$max": ["$last_activity", created_at]},
        "waiting_since": {"$cond": [waits, "$waiting_since", created_at]},
        # Of one session the order is that of the numbers, whatever its servers' clocks say.
        "recorded_at": {"$max": [{"$add": [_number("recorded_at"), 1]}, arrival]},
    }


def _number(field: str) -> Document:
    return {"$ifNull": [f"${field}", 0]}
