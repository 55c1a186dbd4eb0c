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

-- `seq` keeps the order of arrival. Of the unfinished jobs of one `queue` of one `owner` only the
-- oldest may run. The owner stands for the user, or for none; the queue for kind and payload
-- type. Jobs that wait for no other have a queue each. `lost` counts the leases before this one
-- that expired in a row.
CREATE TABLE jobs (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    owner TEXT NOT NULL,
    queue TEXT NOT NULL,
    user_id TEXT,
    snapshot_id TEXT,
    payload TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    state TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    lost INTEGER NOT NULL DEFAULT 0,
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
CREATE INDEX jobs_unfinished ON jobs (project_id, owner, queue, created_at, seq)
    WHERE state IN ('queued', 'running');
CREATE INDEX jobs_running ON jobs (project_id, owner, queue, lease_until)
    WHERE state = 'running';
CREATE INDEX jobs_leased ON jobs (lease_until) WHERE state = 'running';
CREATE INDEX jobs_listed ON jobs (project_id, created_at, seq);
CREATE INDEX jobs_states ON jobs (project_id, state, created_at);
CREATE INDEX jobs_snapshot ON jobs (project_id, snapshot_id) WHERE snapshot_id IS NOT NULL;
CREATE INDEX jobs_alone ON jobs (finished_at) WHERE state = 'done' AND snapshot_id IS NULL;

-- How many jobs stand where: counting them takes long.
CREATE TABLE job_counts (
    project_id TEXT NOT NULL,
    state TEXT NOT NULL,
    jobs INTEGER NOT NULL,
    PRIMARY KEY (project_id, state)
) WITHOUT ROWID;

-- How many jobs of an owner are unfinished, and when the owner was served last: claims are
-- numbered from 1. Owners never served come before all others, in the order of their arrival.
CREATE TABLE job_owners (
    project_id TEXT NOT NULL,
    owner TEXT NOT NULL,
    unfinished INTEGER NOT NULL DEFAULT 0,
    last_claim INTEGER NOT NULL,
    PRIMARY KEY (project_id, owner)
) WITHOUT ROWID;
CREATE INDEX job_owners_order ON job_owners (last_claim);
CREATE INDEX job_owners_waiting ON job_owners (last_claim) WHERE unfinished > 0;

-- The queues that hold unfinished jobs. `head` is the only job that may be handed out, from
-- `available_at` on: when it is due, or its lease expires, and no other of the queue runs.
CREATE TABLE job_queues (
    project_id TEXT NOT NULL,
    owner TEXT NOT NULL,
    queue TEXT NOT NULL,
    kind TEXT NOT NULL,
    head INTEGER NOT NULL,
    available_at INTEGER NOT NULL,
    PRIMARY KEY (project_id, owner, queue)
) WITHOUT ROWID;
CREATE INDEX job_queues_order ON job_queues (project_id, owner, available_at, head);
CREATE INDEX job_queues_available ON job_queues (available_at);

-- A row given to this view brings a queue up to date.
CREATE VIEW queue_changes AS SELECT project_id, owner, queue FROM job_queues;

CREATE TRIGGER queue_changed INSTEAD OF INSERT ON queue_changes
BEGIN
    DELETE FROM job_queues
    WHERE project_id = new.project_id AND owner = new.owner AND queue = new.queue;
    INSERT INTO job_queues (project_id, owner, queue, kind, head, available_at)
    SELECT
        h.project_id, h.owner, h.queue, h.kind, h.seq,
        max(
            CASE h.state WHEN 'queued' THEN h.due_at ELSE h.lease_until END,
            coalesce((
                SELECT max(r.lease_until) FROM jobs AS r INDEXED BY jobs_running
                WHERE r.project_id = new.project_id AND r.owner = new.owner
                    AND r.queue = new.queue AND r.state = 'running' AND r.seq <> h.seq
            ), h.due_at)
        )
    FROM jobs AS h INDEXED BY jobs_unfinished
    WHERE h.project_id = new.project_id AND h.owner = new.owner AND h.queue = new.queue
        AND h.state IN ('queued', 'running')
    ORDER BY h.created_at, h.seq LIMIT 1;
END;

-- A row given to this view counts jobs of an owner in or out of a state.
CREATE VIEW count_changes AS
SELECT c.project_id, o.owner, c.state, c.jobs AS change
FROM job_counts AS c JOIN job_owners AS o ON o.project_id = c.project_id;

CREATE TRIGGER count_changed INSTEAD OF INSERT ON count_changes
BEGIN
    INSERT INTO job_counts (project_id, state, jobs)
    VALUES (new.project_id, new.state, new.change)
    ON CONFLICT DO UPDATE SET jobs = jobs + excluded.jobs;
    DELETE FROM job_counts
    WHERE project_id = new.project_id AND state = new.state AND jobs = 0;
    UPDATE job_owners SET unfinished = unfinished + new.change
    WHERE project_id = new.project_id AND owner = new.owner
        AND new.state IN ('queued', 'running');
END;

CREATE TRIGGER jobs_added AFTER INSERT ON jobs
BEGIN
    INSERT INTO job_owners (project_id, owner, last_claim) VALUES (
        new.project_id, new.owner,
        1 + coalesce((SELECT max(last_claim) FROM job_owners WHERE last_claim < 0), -1 << 40)
    ) ON CONFLICT DO NOTHING;
    INSERT INTO count_changes VALUES (new.project_id, new.owner, new.state, 1);
    -- Behind a head that is older, a job that does not run changes nothing yet.
    INSERT INTO queue_changes
    SELECT new.project_id, new.owner, new.queue
    WHERE new.state = 'running' OR NOT EXISTS (
        SELECT 1 FROM job_queues AS q JOIN jobs AS h ON h.seq = q.head
        WHERE q.project_id = new.project_id AND q.owner = new.owner AND q.queue = new.queue
            AND h.created_at <= new.created_at
    );
END;

CREATE TRIGGER jobs_moved AFTER UPDATE OF state ON jobs WHEN old.state <> new.state
BEGIN
    INSERT INTO count_changes VALUES (old.project_id, old.owner, old.state, -1);
    INSERT INTO count_changes VALUES (new.project_id, new.owner, new.state, 1);
END;

CREATE TRIGGER jobs_changed AFTER UPDATE OF state, due_at, lease_until ON jobs
BEGIN
    INSERT INTO queue_changes VALUES (new.project_id, new.owner, new.queue);
END;

CREATE TRIGGER jobs_removed AFTER DELETE ON jobs
BEGIN
    INSERT INTO count_changes VALUES (old.project_id, old.owner, old.state, -1);
    INSERT INTO queue_changes VALUES (old.project_id, old.owner, old.queue);
END;

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
    ON memories (project_id, type, user_id IS NULL, coalesce(user_id, ''), identity_key)
    WHERE is_latest AND NOT deleted AND identity_key IS NOT NULL;
CREATE INDEX memories_root ON memories (project_id, root_id);
CREATE INDEX memories_owner ON memories (project_id, user_id, type, updated_at);
CREATE INDEX memories_same ON memories (project_id, user_id, type, identity_key)
    WHERE identity_key IS NOT NULL;
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

-- One row, written now and then to see whether the file takes writes.
CREATE TABLE heartbeat (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    at INTEGER NOT NULL
);
