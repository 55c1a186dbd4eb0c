"""Taking the items of an archive in, with their index entries, in the caller's transaction."""

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from memory_server.domain.archive import (
    ArchivedJob,
    ArchivedMemory,
    ArchivedProposal,
    ArchivedSession,
    ArchivedSnapshot,
    ArchivedTurn,
    Item,
    Outcome,
    StoredVector,
    owner_of,
    project_of,
)
from memory_server.domain.job import resting
from memory_server.domain.moments import to_micros
from memory_server.domain.proposal import Proposal
from memory_server.search.local import documents
from memory_server.search.local.entries import memory_entry, turn_entry
from memory_server.search.local.statements import load
from memory_server.search.local.vectors import SpacedVector
from memory_server.storage.archive_outcomes import Judged
from memory_server.storage.sqlite import memory_changes, proposals
from memory_server.storage.sqlite.erasure import erased_at
from memory_server.storage.sqlite.jobs import enqueue
from memory_server.storage.sqlite.memory_rows import memory_values
from memory_server.storage.sqlite.rows import snapshot_values, turn_values
from memory_server.storage.sqlite.snapshots import SQL as SNAPSHOTS

SQL = load("memory_server.storage.sqlite", "archive.sql")

FOREVER = 2**63 - 1
"""Until when nothing comes into a project that was removed."""


def take(
    connection: sqlite3.Connection,
    project_id: str,
    items: Sequence[Item],
    *,
    restore_erased: bool,
    dry_run: bool,
) -> Sequence[Outcome]:
    """Take items in, in their order, and return what became of each.

    A dry run ends with `Judged`, so that nothing of it is kept.
    """
    for item in items:
        if project_of(item) != project_id:
            raise ValueError(f"an item of project {project_of(item)!r} among those of another")
    until = _let_in(connection, project_id)
    outcomes = [_taken(connection, item, restore_erased) for item in items]
    if dry_run:
        raise Judged(
            [
                Outcome.NEW if _is_ahead(connection, item) else outcome
                for item, outcome in zip(items, outcomes, strict=True)
            ]
        )
    if until is not None:
        connection.execute(SQL["shut_again"], {"id": project_id, "until": until})
    return outcomes


def _is_ahead(connection: sqlite3.Connection, item: Item) -> bool:
    """Whether the memory that a former version belongs to is not there, and so yet to come."""
    if not isinstance(item, ArchivedMemory) or item.root_id == item.memory.id:
        return False
    where = {"project_id": item.memory.project_id, "id": item.root_id}
    return connection.execute(memory_changes.SQL["stored"], where).fetchone() is None


def _let_in(connection: sqlite3.Connection, project_id: str) -> int | None:
    """Let what is older than the project into it; return from when on it took things else."""
    row = connection.execute(SQL["former_project"], {"id": project_id}).fetchone()
    if row is None or row["until"] == FOREVER:
        return None
    connection.execute(SQL["let_in"], {"id": project_id})
    return int(row["until"])


def _taken(connection: sqlite3.Connection, item: Item, restore_erased: bool) -> Outcome:  # noqa: FBT001 private
    known = _known(connection, item)
    if known is not None:
        return known
    user_id, made_at = owner_of(item)
    erased = erased_at(connection, project_of(item), user_id)
    if erased is not None and made_at <= erased and not restore_erased:
        return Outcome.ERASED
    return _added(connection, item)


def _known(connection: sqlite3.Connection, item: Item) -> Outcome | None:
    """Return how an item stands to what is stored in its place; None: nothing is."""
    match item:
        case ArchivedMemory():
            return _known_memory(connection, item)
        case ArchivedProposal(proposal=proposal):
            return _known_proposal(connection, proposal)
        case ArchivedSession():
            return _known_session(connection, item)
        case ArchivedTurn():
            return _known_turn(connection, item)
        case ArchivedSnapshot():
            return _known_snapshot(connection, item)
        case ArchivedJob(job=job):
            where = {"project_id": job.project_id, "id": job.id, "key": job.key}
            row = connection.execute(SQL["job"], where).fetchone()
            return None if row is None else Outcome.KNOWN


def _added(connection: sqlite3.Connection, item: Item) -> Outcome:
    match item:
        case ArchivedMemory():
            return _add_memory(connection, item)
        case ArchivedProposal(proposal=proposal):
            proposals.insert(connection, proposal)
        case ArchivedSession():
            connection.execute(SQL["hold_session"], _session_values(item))
        case ArchivedTurn():
            _add_turn(connection, item)
        case ArchivedSnapshot():
            return _add_snapshot(connection, item)
        case ArchivedJob(job=job):
            enqueue(connection, [resting(job)])
    return Outcome.NEW


def _known_memory(connection: sqlite3.Connection, item: ArchivedMemory) -> Outcome | None:
    memory = item.memory
    values = memory_values(memory) | {"root_id": item.root_id}
    row = connection.execute(memory_changes.SQL["stored"], values).fetchone()
    if row is None:
        return None
    is_later = row["revision"] > memory.revision or not (row["is_latest"] or memory.is_latest)
    if row["root_id"] == item.root_id and (is_later or _agrees(row, values)):
        return Outcome.KNOWN
    return Outcome.CONFLICT


def _known_proposal(connection: sqlite3.Connection, proposal: Proposal) -> Outcome | None:
    """Return how a proposal stands to one of its id or key, in whatever state that is."""
    where = {"project_id": proposal.project_id, "id": proposal.id, "key": proposal.key}
    row = connection.execute(proposals.SQL["standing"], where).fetchone()
    if row is None:
        return None
    return Outcome.KNOWN if row["key"] == proposal.key else Outcome.CONFLICT


def _add_memory(connection: sqlite3.Connection, item: ArchivedMemory) -> Outcome:
    memory = item.memory
    values = memory_values(memory)
    is_live = memory.is_live and memory.identity_key is not None
    if is_live and connection.execute(memory_changes.SQL["namesake"], values).fetchone():
        return Outcome.CONFLICT
    hidden = False
    if item.root_id != memory.id:
        where = {"project_id": memory.project_id, "id": item.root_id}
        root = connection.execute(memory_changes.SQL["stored"], where).fetchone()
        if root is None or not _is_root(root, values):
            return Outcome.CONFLICT
        hidden = bool(root["deleted"])
    stored = {"root_id": item.root_id, "has_embedding": bool(item.vectors)}
    connection.execute(memory_changes.SQL["insert"], values | stored)
    documents.put(connection, memory_entry(memory, hidden=hidden))
    _set_vectors(connection, memory.project_id, memory.id, item.vectors)
    return Outcome.NEW


def _is_root(row: sqlite3.Row, values: Mapping[str, Any]) -> bool:
    """Whether a memory can have a former version: nobody's words come under another's memory."""
    mine = all(row[name] == values[name] for name in ("user_id", "type"))
    return mine and row["root_id"] == row["id"]


def _known_session(connection: sqlite3.Connection, item: ArchivedSession) -> Outcome | None:
    row = connection.execute(SQL["session"], _session_values(item)).fetchone()
    if row is None or row["last_seq"] < item.session.last_seq:
        return None
    return Outcome.KNOWN


def _session_values(item: ArchivedSession) -> Mapping[str, Any]:
    session = item.session
    return {
        "project_id": session.project_id,
        "session_id": session.session_id,
        "user_id": session.user_id,
        "last_seq": session.last_seq,
        "last_activity": to_micros(session.last_activity),
    }


def _known_turn(connection: sqlite3.Connection, item: ArchivedTurn) -> Outcome | None:
    turn = item.turn
    values = turn_values(turn) | {"turn_seq": turn.turn_seq}
    row = connection.execute(SQL["turn"], values).fetchone()
    if row is not None:
        return Outcome.KNOWN if _agrees(row, values) else Outcome.CONFLICT
    if turn.snapshot_id is None or item.snapshot_follows:
        where = {**values, "snapshot_id": turn.snapshot_id}
        if connection.execute(SQL["has_been_promoted"], where).fetchone()[0]:
            return Outcome.KNOWN
    return None


def _add_turn(connection: sqlite3.Connection, item: ArchivedTurn) -> None:
    turn = item.turn
    values = turn_values(turn) | {
        "turn_seq": turn.turn_seq,
        "has_embedding": bool(item.vectors),
        "snapshot_id": None if item.snapshot_follows else turn.snapshot_id,
    }
    counted = {"last_seq": turn.turn_seq, "last_activity": values["created_at"]}
    connection.execute(SQL["hold_session"], values | counted)
    connection.execute(SQL["insert_turn"], values)
    documents.put(connection, turn_entry(turn, turn.turn_seq))
    _set_vectors(connection, turn.project_id, turn.id, item.vectors)
    if turn.snapshot_id is None:
        connection.execute(SQL["let_wait"], values)


def _known_snapshot(connection: sqlite3.Connection, item: ArchivedSnapshot) -> Outcome | None:
    values = snapshot_values(item.snapshot)
    row = connection.execute(SQL["snapshot"], values).fetchone()
    if row is None:
        return None
    return Outcome.KNOWN if _agrees(row, values) else Outcome.CONFLICT


def _add_snapshot(connection: sqlite3.Connection, item: ArchivedSnapshot) -> Outcome:
    snapshot = item.snapshot
    values = snapshot_values(snapshot)
    if connection.execute(SQL["other_turns"], values).fetchone()[0]:
        return Outcome.CONFLICT
    connection.execute(SNAPSHOTS["insert"], values)
    connection.execute(SQL["mark_turns"], values)
    last = snapshot.last_seq
    documents.link_neighbours(
        connection, snapshot.project_id, snapshot.session_id, last - documents.REACH + 1, last
    )
    enqueue(connection, [resting(job) for job in item.jobs], snapshot_id=snapshot.id)
    return Outcome.NEW


def _set_vectors(
    connection: sqlite3.Connection, project_id: str, item_id: str, vectors: Sequence[StoredVector]
) -> None:
    for one in vectors:
        stored = SpacedVector(one.space, one.dimension, one.data)
        documents.set_vector(connection, project_id, item_id, stored)


def _agrees(row: sqlite3.Row, values: Mapping[str, Any]) -> bool:
    """Whether a row says what the values say; columns they do not name may say anything."""
    return all(row[name] == value for name, value in values.items())
