-- The records: what was said, what is remembered, what is to be done, and who may call.
-- Times are microseconds since 1970 in UTC; what must keep its UTC offset is ISO 8601 text.

CREATE TABLE sessions (
    project_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    user_id TEXT,
    last_seq INTEGER NOT NULL,
    promoted_seq INTEGER NOT NULL DEFAULT 0,
    last_activity INTEGER NOT NULL,
    waiting_since INTEGER,
    PRIMARY KEY (project_id, session_id)
) WITHOUT ROWID;
CREATE INDEX sessions_waiting ON sessions (waiting_since) WHERE last_seq > promoted_seq;

CREATE TABLE turns (
    rowid INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    turn_seq INTEGER NOT NULL,
    user_id TEXT,
    agent_id TEXT,
    role TEXT NOT NULL,
    content TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    event_time TEXT,
    idempotency_key TEXT,
    details TEXT NOT NULL,
    metadata TEXT NOT NULL,
    snapshot_id TEXT,
    has_embedding INTEGER NOT NULL
);
CREATE UNIQUE INDEX turns_id ON turns (project_id, id);
CREATE UNIQUE INDEX turns_seq ON turns (project_id, session_id, turn_seq);
CREATE UNIQUE INDEX turns_idempotency ON turns (project_id, session_id, idempotency_key)
    WHERE idempotency_key IS NOT NULL;
CREATE INDEX turns_snapshot ON turns (project_id, snapshot_id) WHERE snapshot_id IS NOT NULL;
CREATE INDEX turns_user ON turns (project_id, user_id);

CREATE TABLE snapshots (
    id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    user_id TEXT,
    agent_id TEXT,
    first_seq INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    cause TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (project_id, id)
) WITHOUT ROWID;
CREATE INDEX snapshots_age ON snapshots (created_at);

-- `seq` keeps the order of arrival; `type` is the payload's.
CREATE TABLE jobs (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    type TEXT NOT NULL,
    user_id TEXT,
    snapshot_id TEXT,
    payload TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    state TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    lease_owner TEXT,
    lease_until INTEGER,
    progress TEXT NOT NULL,
    result TEXT NOT NULL,
    error_code TEXT,
    error TEXT,
    finished_at INTEGER
);
CREATE UNIQUE INDEX jobs_id ON jobs (project_id, id);
CREATE UNIQUE INDEX jobs_key ON jobs (project_id, key);
CREATE INDEX jobs_unfinished ON jobs (project_id, user_id, type, created_at, seq)
    WHERE state IN ('queued', 'running');
CREATE INDEX jobs_snapshot ON jobs (project_id, snapshot_id) WHERE snapshot_id IS NOT NULL;

-- How long ago each user was served: claims are numbered. No user: the empty text.
CREATE TABLE job_users (
    project_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    last_claim INTEGER NOT NULL,
    PRIMARY KEY (project_id, user_id)
) WITHOUT ROWID;

-- Every version of every memory. `root_id` is the id under which the memory is known.
CREATE TABLE memories (
    rowid INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    root_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    user_id TEXT,
    agent_id TEXT,
    session_id TEXT,
    visibility TEXT NOT NULL,
    type TEXT NOT NULL,
    key TEXT NOT NULL,
    domain TEXT,
    identity_key TEXT,
    claim_subject TEXT,
    claim_attribute TEXT,
    claim_value TEXT,
    claim_exclusive INTEGER,
    body TEXT NOT NULL,
    fields TEXT NOT NULL,
    contextual_metadata TEXT NOT NULL,
    event_time TEXT,
    evidence TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    valid_from INTEGER NOT NULL,
    valid_to INTEGER,
    reinforcement_count INTEGER NOT NULL,
    version INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    is_latest INTEGER NOT NULL,
    supersedes TEXT,
    superseded_by TEXT,
    deleted INTEGER NOT NULL,
    has_embedding INTEGER NOT NULL
);
CREATE UNIQUE INDEX memories_id ON memories (project_id, id);
CREATE UNIQUE INDEX memories_identity
    ON memories (project_id, type, coalesce(user_id, ''), identity_key)
    WHERE is_latest AND NOT deleted AND identity_key IS NOT NULL;
CREATE INDEX memories_root ON memories (project_id, root_id);
CREATE INDEX memories_owner ON memories (project_id, user_id, type, updated_at);
CREATE INDEX memories_key ON memories (project_id, type, key);
CREATE INDEX memories_claim ON memories (project_id, claim_subject, claim_attribute)
    WHERE claim_subject IS NOT NULL;
CREATE INDEX memories_without_embedding ON memories (project_id, updated_at)
    WHERE NOT has_embedding;

CREATE TABLE accounts (
    rowid INTEGER PRIMARY KEY,
    client_id TEXT NOT NULL UNIQUE,
    project_id TEXT NOT NULL,
    name TEXT NOT NULL,
    role TEXT NOT NULL,
    description TEXT NOT NULL,
    secrets TEXT NOT NULL,
    ip_access_list TEXT NOT NULL,
    is_active INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    last_used_at INTEGER,
    UNIQUE (project_id, name)
);
