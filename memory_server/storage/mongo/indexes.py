"""The indexes of every collection."""

from collections.abc import Mapping, Sequence

from pymongo import ASCENDING, DESCENDING, IndexModel

from memory_server.domain.memory import MemoryType
from memory_server.storage.mongo.collections import (
    ACCOUNTS,
    ATTEMPTS,
    DEPLOYMENT,
    ERASED,
    EXECUTIONS,
    GATES,
    JOB_OWNERS,
    JOBS,
    LOGINS,
    MEMBERS,
    MEMORIES,
    PROJECTS,
    PROPOSALS,
    SERVERS,
    SESSIONS,
    SNAPSHOTS,
    SPACES,
    SPENDING,
    TURNS,
)
from memory_server.storage.mongo.job_documents import ANY_MOMENT

_ANY_TEXT = {"$gte": ""}
"""Said so, and not as `$type` or `$exists`, an index serves whoever asks for a certain text."""
_NEWEST_FIRST = [("is_live", DESCENDING), ("updated_at", DESCENDING), ("id", DESCENDING)]

OF_MEMORIES: Sequence[IndexModel] = [
    IndexModel(
        [("project_id", ASCENDING), ("user_id", ASCENDING), ("live_identity", ASCENDING)],
        name="identities_live_once",
        unique=True,
        partialFilterExpression={"live_identity": _ANY_TEXT},
    ),
    IndexModel(
        [("project_id", ASCENDING), ("user_id", ASCENDING), *_NEWEST_FIRST], name="of_owner"
    ),
    IndexModel([("project_id", ASCENDING), *_NEWEST_FIRST], name="of_project"),
    IndexModel([("project_id", ASCENDING), ("root_id", ASCENDING)], name="versions"),
    IndexModel(
        [("project_id", ASCENDING), ("key", ASCENDING), ("user_id", ASCENDING), *_NEWEST_FIRST],
        name="by_key",
    ),
    IndexModel(
        [("project_id", ASCENDING), ("identity_key", ASCENDING), ("user_id", ASCENDING)],
        name="by_identity",
        partialFilterExpression={"identity_key": _ANY_TEXT},
    ),
    IndexModel(
        [("project_id", ASCENDING), ("claim.subject", ASCENDING), ("claim.attribute", ASCENDING)],
        name="by_claim",
        partialFilterExpression={"claim.subject": _ANY_TEXT},
    ),
    IndexModel(
        [("project_id", ASCENDING), ("has_embedding", ASCENDING), *_NEWEST_FIRST],
        name="without_embedding",
        partialFilterExpression={"has_embedding": False},
    ),
]
"""Of each collection of memories."""

OF_BLOCKS: Sequence[IndexModel] = [
    *OF_MEMORIES,
    IndexModel(
        [("project_id", ASCENDING), ("session_id", ASCENDING), ("position", ASCENDING)],
        name="of_conversation",
    ),
]

_FIRST = {"available_at": ANY_MOMENT}
"""What is so of the one job of a queue that may be handed out."""

OF_JOBS: Sequence[IndexModel] = [
    IndexModel([("project_id", ASCENDING), ("key", ASCENDING)], name="by_key", unique=True),
    IndexModel(
        [
            ("project_id", ASCENDING),
            ("owner", ASCENDING),
            ("queue", ASCENDING),
            ("state", ASCENDING),
            ("created_at", ASCENDING),
            ("arrived", ASCENDING),
        ],
        name="queues",
    ),
    IndexModel(
        [("project_id", ASCENDING), ("owner", ASCENDING), ("queue", ASCENDING)],
        name="heads_of_queues",
        partialFilterExpression=_FIRST,
    ),
    IndexModel(
        [
            ("project_id", ASCENDING),
            ("owner", ASCENDING),
            ("kind", ASCENDING),
            ("available_at", ASCENDING),
            ("arrived", ASCENDING),
        ],
        name="available_of_owner",
        partialFilterExpression=_FIRST,
    ),
    IndexModel(
        [("available_at", ASCENDING), ("kind", ASCENDING)],
        name="available",
        partialFilterExpression=_FIRST,
    ),
    IndexModel([("state", ASCENDING), ("lease_until", ASCENDING)], name="leases"),
    IndexModel([("state", ASCENDING), ("created_at", ASCENDING)], name="states"),
    IndexModel(
        [
            ("project_id", ASCENDING),
            ("state", ASCENDING),
            ("created_at", DESCENDING),
            ("arrived", DESCENDING),
        ],
        name="states_of_project",
    ),
    IndexModel(
        [("project_id", ASCENDING), ("created_at", DESCENDING), ("arrived", DESCENDING)],
        name="newest_first",
    ),
    IndexModel(
        [("project_id", ASCENDING), ("snapshot_id", ASCENDING), ("state", ASCENDING)],
        name="of_snapshot",
    ),
    IndexModel(
        [("snapshot_id", ASCENDING), ("state", ASCENDING), ("finished_at", ASCENDING)],
        name="finished",
    ),
]
OF_JOB_OWNERS: Sequence[IndexModel] = [
    IndexModel([("last_claim", ASCENDING)], name="claims"),
    IndexModel(
        [("last_claim", ASCENDING), ("due_at", ASCENDING)],
        name="waiting",
        partialFilterExpression={"due_at": {"$exists": True}},
    ),
    IndexModel([("project_id", ASCENDING), ("owner", ASCENDING)], name="of_project"),
]
OF_SNAPSHOTS: Sequence[IndexModel] = [
    IndexModel([("created_at", ASCENDING), ("id", ASCENDING)], name="oldest_first"),
    IndexModel(
        [("has_turns", ASCENDING), ("created_at", ASCENDING), ("id", ASCENDING)], name="with_turns"
    ),
    IndexModel([("project_id", ASCENDING), ("user_id", ASCENDING)], name="of_user"),
    IndexModel([("project_id", ASCENDING), ("session_id", ASCENDING)], name="of_session"),
]
OF_PROPOSALS: Sequence[IndexModel] = [
    IndexModel([("project_id", ASCENDING), ("key", ASCENDING)], name="by_key", unique=True),
    IndexModel(
        [("project_id", ASCENDING), ("created_at", ASCENDING), ("id", ASCENDING)],
        name="oldest_first",
    ),
    IndexModel(
        [
            ("project_id", ASCENDING),
            ("user_id", ASCENDING),
            ("created_at", ASCENDING),
            ("id", ASCENDING),
        ],
        name="of_user",
    ),
    IndexModel(
        [
            ("project_id", ASCENDING),
            ("state", ASCENDING),
            ("created_at", ASCENDING),
            ("id", ASCENDING),
        ],
        name="states",
    ),
    IndexModel([("snapshot_id", ASCENDING), ("state", ASCENDING)], name="of_snapshot"),
]

INDEXES: Mapping[str, Sequence[IndexModel]] = {
    EXECUTIONS: [
        IndexModel([("status", ASCENDING), ("started_at", ASCENDING)], name="running"),
        IndexModel([("ended_at", ASCENDING)], name="ended"),
        IndexModel([("project_id", ASCENDING), ("user_id", ASCENDING)], name="of_user"),
    ],
    ATTEMPTS: [IndexModel([("last_at", ASCENDING)], name="last")],
    SERVERS: [],
    SPACES: [],
    SPENDING: [
        IndexModel([("project_id", ASCENDING), ("hour", ASCENDING)], name="hours_of_project"),
        IndexModel([("hour", ASCENDING)], name="hours"),
    ],
    DEPLOYMENT: [],
    JOBS: OF_JOBS,
    JOB_OWNERS: OF_JOB_OWNERS,
    SNAPSHOTS: OF_SNAPSHOTS,
    PROPOSALS: OF_PROPOSALS,
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
    **dict.fromkeys(MEMORIES.values(), OF_MEMORIES),
    MEMORIES[MemoryType.BLOCK]: OF_BLOCKS,
    PROJECTS: [IndexModel([("name", ASCENDING)], name="projects_by_name", unique=True)],
    GATES: [],
    ERASED: [],
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
