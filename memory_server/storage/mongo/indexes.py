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
    SESSIONS: [
        # Read in this order until enough are found; what tells whether one is ripe is in it too.
        IndexModel(
            [
                ("waiting_since", ASCENDING),
                ("project_id", ASCENDING),
                ("session_id", ASCENDING),
                ("unpromoted", ASCENDING),
                ("last_activity", ASCENDING),
            ],
            name="waiting",
            partialFilterExpression={"unpromoted": {"$gt": 0}},
        ),
        IndexModel([("project_id", ASCENDING), ("user_id", ASCENDING)], name="of_user"),
    ],
    TURNS: [
        IndexModel(
            [("project_id", ASCENDING), ("session_id", ASCENDING), ("turn_seq", ASCENDING)],
            name="turns_of_session",
            unique=True,
        ),
        IndexModel(
            [
                ("project_id", ASCENDING),
                ("session_id", ASCENDING),
                ("user_id", ASCENDING),
                ("idempotency_key", ASCENDING),
            ],
            name="turns_by_key",
            unique=True,
            partialFilterExpression={"idempotency_key": {"$exists": True}},
        ),
        IndexModel([("project_id", ASCENDING), ("recorded_at", ASCENDING)], name="recorded"),
        IndexModel(
            [("project_id", ASCENDING), ("user_id", ASCENDING), ("recorded_at", ASCENDING)],
            name="recorded_of_user",
        ),
        IndexModel(
            [("project_id", ASCENDING), ("snapshot_id", ASCENDING)],
            name="turns_of_snapshot",
            partialFilterExpression={"snapshot_id": {"$exists": True}},
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
