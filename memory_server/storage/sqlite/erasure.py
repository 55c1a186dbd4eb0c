"""Deleting everything of a user, of no user, or of a project."""

import sqlite3
from collections.abc import Mapping

from memory_server.domain.scope import Scope
from memory_server.search.local import documents
from memory_server.search.local.predicates import Predicate
from memory_server.search.local.statements import load
from memory_server.storage.sqlite.rows import job_owner
from memory_server.storage.sqlite.snapshots import skip_erased

SQL = load("memory_server.storage.sqlite", "erasure.sql")

_KINDS = ("turns", "snapshots", "jobs", "records", "memories")
"""Records are memories too; they go first, and are counted apart."""


def erase(connection: sqlite3.Connection, scope: Scope) -> Mapping[str, int]:
    """Delete what the scope's user owns, or the project's all; return counts by kind.

    In the sessions of others, what waits begins anew at the first turn that is left.
    """
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


def _forget_owners(connection: sqlite3.Connection, scope: Scope) -> None:
    owners = {
        "project_id": scope.project_id,
        "everybody": scope.user_id is None and not scope.userless,
        "owner": job_owner(scope.user_id),
    }
    connection.execute(SQL["job_owners"], owners)
