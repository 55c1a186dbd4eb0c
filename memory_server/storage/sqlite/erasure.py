"""Deleting everything of a user, of no user, or of a project."""

import json
import sqlite3
from collections.abc import Mapping
from datetime import datetime

from memory_server.domain.erasure import erased, erasures_of
from memory_server.domain.job import job_owner
from memory_server.domain.scope import Scope
from memory_server.search.local import documents
from memory_server.search.local.moments import maybe_moment, to_micros
from memory_server.search.local.predicates import Predicate
from memory_server.search.local.statements import load
from memory_server.storage.sqlite.rewriting import rewrite
from memory_server.storage.sqlite.snapshots import skip_erased

SQL = load("memory_server.storage.sqlite", "erasure.sql")

_KINDS = ("turns", "snapshots", "jobs", "records", "memories")
"""Records are memories too; they go first, and are counted apart."""


def erase(connection: sqlite3.Connection, scope: Scope, now: datetime) -> Mapping[str, int]:
    """Delete what the scope's user owns, or the project's all; return counts by kind.

    In the sessions of others, what waits begins anew at the first turn that is left. Who was
    erased is written down; traces are left in the file until it is written anew.
    """
    noted = {"owner": erased(scope), "at": to_micros(now)}
    connection.execute(SQL["note"], noted)
    connection.execute(SQL["leave_traces"], noted)
    owned = Predicate("e")
    owned.within(scope.of_user())
    sessions = connection.execute(owned.fill(SQL["sessions_of"]), owned.values).fetchall()
    keys = connection.execute(owned.fill(SQL["idempotency_keys"]), owned.values).fetchone()
    counts = {
        kind: connection.execute(owned.fill(SQL[kind]), owned.values).rowcount for kind in _KINDS
    }
    _forget_owners(connection, scope)
    indexed = documents.erase(connection, scope)
    gone = 0
    for (session_id,) in sessions:
        where = {"project_id": scope.project_id, "session_id": session_id}
        gone += connection.execute(SQL["session"], where).rowcount
        connection.execute(SQL["leave_session"], where)
        skip_erased(connection, where)
    return {**counts, "sessions": gone, "idempotency_keys": keys[0], **indexed}


def erased_at(
    connection: sqlite3.Connection, project_id: str, user_id: str | None
) -> datetime | None:
    """Return when a user was erased last, alone or with the whole project; None: never."""
    owners = {"owners": json.dumps(erasures_of(project_id, user_id))}
    (micros,) = connection.execute(SQL["erased_at"], owners).fetchone()
    return maybe_moment(micros)


def has_traces(connection: sqlite3.Connection) -> bool:
    """Whether the file may hold traces of what was erased."""
    return bool(connection.execute(SQL["has_traces"]).fetchone()[0])


def remove_traces(connection: sqlite3.Connection) -> None:
    """Leave no traces in the file, and note that; no transaction may be open."""
    rewrite(connection)
    connection.execute(SQL["forget_traces"])


def _forget_owners(connection: sqlite3.Connection, scope: Scope) -> None:
    owners = {
        "project_id": scope.project_id,
        "everybody": scope.user_id is None and not scope.userless,
        "owner": job_owner(scope.user_id),
    }
    connection.execute(SQL["job_owners"], owners)
