"""Proposals in SQLite."""

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

from memory_server.domain.job import Job
from memory_server.domain.json_values import encode
from memory_server.domain.moments import from_micros, to_micros
from memory_server.domain.proposal import Proposal
from memory_server.domain.scope import Scope
from memory_server.errors import ProposalChanged, ProposalNotFound
from memory_server.ports.clock import Clock
from memory_server.ports.proposals import ProposalCounts, ProposalQuery, Proposals
from memory_server.search.local.predicates import Predicate
from memory_server.search.local.statements import load
from memory_server.storage.proposal_values import proposal_of, proposal_values
from memory_server.storage.sqlite.database import Database
from memory_server.storage.sqlite.jobs import settle

SQL = load("memory_server.storage.sqlite", "proposals.sql")


class SqliteProposals(Proposals):
    """Proposals by id, each known by its key once."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def add(
        self, project_id: str, proposals: Sequence[Proposal], *, settling: Job
    ) -> Sequence[str]:
        for proposal in proposals:
            if proposal.project_id != project_id:
                raise ValueError(f"proposal {proposal.id!r} belongs to another project")
        settled = {"result": encode(settling.result), "now": to_micros(self._clock.now())}

        def add(connection: sqlite3.Connection) -> Sequence[str]:
            settle(connection, "complete", settling, settled)
            return [one.id for one in proposals if insert(connection, one)]

        return await self._database.write(add)

    async def get(self, scope: Scope, proposal_id: str) -> Proposal:
        return await self._database.read(lambda db: _get(db, scope, proposal_id))

    async def find(self, scope: Scope, query: ProposalQuery) -> Sequence[Proposal]:
        return await self._database.read(lambda db: _find(db, scope, query))

    async def put(self, proposal: Proposal) -> None:
        await self._database.write(lambda db: put(db, proposal))

    async def counts(self, project_id: str | None = None) -> ProposalCounts:
        values = {"project_id": project_id}
        rows = await self._database.read(lambda db: db.execute(SQL["counts"], values).fetchall())
        counted = {(row["state"], row["action"]): row["proposals"] for row in rows}
        return ProposalCounts.of(counted)


def insert(connection: sqlite3.Connection, proposal: Proposal) -> bool:
    """Store a proposal unless its key is known; return whether it was new."""
    return bool(connection.execute(SQL["insert"], proposal_row(proposal)).rowcount)


def put(connection: sqlite3.Connection, proposal: Proposal) -> None:
    """Store a new state of a proposal that waits, or raise why it cannot be."""
    values = proposal_row(proposal)
    if connection.execute(SQL["update"], values).rowcount:
        return
    if not connection.execute(SQL["known"], values).fetchone()[0]:
        raise _missing(proposal.id)
    raise ProposalChanged(f"proposal {proposal.id!r} was changed meanwhile; read it again")


def decide(connection: sqlite3.Connection, project_id: str, proposal: Proposal) -> None:
    """Store what was decided on a proposal of a project, or raise why it cannot be."""
    if proposal.project_id != project_id:
        raise ValueError(f"proposal {proposal.id!r} belongs to another project")
    put(connection, proposal)


def proposal_row(proposal: Proposal) -> dict[str, Any]:
    """Return the columns of a proposal."""
    values = proposal_values(proposal)
    named = ("id", "project_id", "user_id", "snapshot_id", "key", "type", "state", "action")
    return {
        **{name: values[name] for name in named},
        "revision": proposal.revision,
        "created_at": to_micros(proposal.created_at),
        "document": encode(values),
    }


def proposal_of_row(row: sqlite3.Row) -> Proposal:
    """Return a proposal."""
    return proposal_of(json.loads(row["document"]), created_at=from_micros(row["created_at"]))


def _owned(scope: Scope) -> Predicate:
    predicate = Predicate("e")
    predicate.within(scope.of_user())
    return predicate


def _get(connection: sqlite3.Connection, scope: Scope, proposal_id: str) -> Proposal:
    owned = _owned(scope)
    row = connection.execute(owned.fill(SQL["get"]), {**owned.values, "id": proposal_id}).fetchone()
    if row is None:
        raise _missing(proposal_id)
    return proposal_of_row(row)


def _find(connection: sqlite3.Connection, scope: Scope, query: ProposalQuery) -> list[Proposal]:
    owned = _owned(scope)
    if query.state is not None:
        owned.equals("state", query.state.value)
    if query.type is not None:
        owned.equals("type", query.type.value)
    after = None if query.after is None else _get(connection, scope, query.after)
    place = {
        "after": query.after,
        "made_at": after and to_micros(after.created_at),
        "limit": max(query.limit, 0),
    }
    found = connection.execute(owned.fill(SQL["find"]), {**owned.values, **place})
    return [proposal_of_row(row) for row in found]


def _missing(proposal_id: str) -> ProposalNotFound:
    return ProposalNotFound(f"no proposal {proposal_id!r} that this scope may see")
