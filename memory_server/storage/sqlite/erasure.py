"""Deleting everything of a user, or of a project."""

import sqlite3
from collections.abc import Mapping

from memory_server.domain.scope import Scope
from memory_server.search.local import documents
from memory_server.search.local.statements import load

SQL = load("memory_server.storage.sqlite", "erasure.sql")

_KINDS = ("turns", "snapshots", "jobs", "memories")


def erase(connection: sqlite3.Connection, scope: Scope) -> Mapping[str, int]:
    """Delete what the scope's user owns, or the project's all; return counts by kind."""
    owner = {"project_id": scope.project_id, "user_id": scope.user_id}
    sessions = connection.execute(SQL["sessions_of"], owner).fetchall()
    counts = {kind: connection.execute(SQL[kind], owner).rowcount for kind in _KINDS}
    connection.execute(SQL["job_owners"], owner)
    documents.erase(connection, scope.project_id, scope.user_id)
    gone = 0
    for (session_id,) in sessions:
        where = {"project_id": scope.project_id, "session_id": session_id}
        gone += connection.execute(SQL["session"], where).rowcount
        connection.execute(SQL["leave_session"], where)
    return {**counts, "sessions": gone}
