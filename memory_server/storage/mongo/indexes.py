"""The indexes of every collection."""

from collections.abc import Mapping, Sequence

from pymongo import ASCENDING, IndexModel

from memory_server.storage.mongo.collections import (
    ACCOUNTS,
    GATES,
    LOGINS,
    MEMBERS,
    PROJECTS,
    SESSIONS,
    TURNS,
)

INDEXES: Mapping[str, Sequence[IndexModel]] = {
    SESSIONS: [],
    TURNS: [
        IndexModel(
            [("project_id", ASCENDING), ("session_id", ASCENDING), ("turn_seq", ASCENDING)],
            name="turns_of_session",
            unique=True,
        ),
    ],
    PROJECTS: [IndexModel([("name", ASCENDING)], name="projects_by_name", unique=True)],
    GATES: [],
    ACCOUNTS: [
        IndexModel(
            [("project_id", ASCENDING), ("name", ASCENDING)], name="accounts_by_name", unique=True
        ),
    ],
    MEMBERS: [
        IndexModel([("project_id", ASCENDING), ("created_at", ASCENDING)], name="of_project"),
        IndexModel([("user_id", ASCENDING), ("project_id", ASCENDING)], name="of_user"),
    ],
    LOGINS: [
        IndexModel([("member", ASCENDING), ("created_at", ASCENDING)], name="of_member"),
        IndexModel([("project_id", ASCENDING)], name="of_project"),
    ],
}
"""By collection; a collection without any is listed too, for all are made at the start."""
