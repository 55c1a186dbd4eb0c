BEGIN;
CREATE TABLE documents (
    rowid INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    source TEXT NOT NULL,
    user_id TEXT,
    agent_id TEXT,
    session_id TEXT,
    visibility TEXT NOT NULL,
    state INTEGER NOT NULL,
    position INTEGER,
    valid_from INTEGER,
    valid_to INTEGER,
    fields TEXT NOT NULL
);
CREATE TABLE document_counts (
    project_id TEXT PRIMARY KEY,
    documents INTEGER NOT NULL
) WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5 (
    scope, body, neighbours, tokenize = 'porter unicode61 remove_diacritics 2'
);
CREATE TABLE partitions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    project_id TEXT NOT NULL,
    source TEXT NOT NULL,
    space TEXT NOT NULL,
    past INTEGER NOT NULL,
    user_id TEXT,
    dimension INTEGER NOT NULL,
    changes INTEGER NOT NULL DEFAULT 0,
    vectors INTEGER NOT NULL DEFAULT 0,
    tail INTEGER NOT NULL DEFAULT 0,
    UNIQUE (project_id, source, space, past, user_id)
);
CREATE TABLE vector_counts (
    project_id TEXT NOT NULL,
    space TEXT NOT NULL,
    vectors INTEGER NOT NULL,
    PRIMARY KEY (project_id, space)
) WITHOUT ROWID;
CREATE TABLE vector_tail (
    partition_id INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    document INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (partition_id, seq)
);
CREATE TABLE vector_segments (
    id INTEGER PRIMARY KEY,
    partition_id INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    size INTEGER NOT NULL,
    seqs BLOB NOT NULL,
    documents BLOB NOT NULL,
    data BLOB NOT NULL,
    UNIQUE (partition_id, last_seq)
);
CREATE TABLE vector_removals (
    partition_id INTEGER NOT NULL,
    change INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (partition_id, change)
) WITHOUT ROWID;
CREATE TABLE vector_places (
    document INTEGER NOT NULL,
    space TEXT NOT NULL,
    partition_id INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (document, space)
) WITHOUT ROWID;
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
CREATE TABLE job_counts (
    project_id TEXT NOT NULL,
    state TEXT NOT NULL,
    jobs INTEGER NOT NULL,
    PRIMARY KEY (project_id, state)
) WITHOUT ROWID;
CREATE TABLE job_owners (
    project_id TEXT NOT NULL,
    owner TEXT NOT NULL,
    unfinished INTEGER NOT NULL DEFAULT 0,
    last_claim INTEGER NOT NULL,
    PRIMARY KEY (project_id, owner)
) WITHOUT ROWID;
CREATE TABLE job_queues (
    project_id TEXT NOT NULL,
    owner TEXT NOT NULL,
    queue TEXT NOT NULL,
    kind TEXT NOT NULL,
    head INTEGER NOT NULL,
    available_at INTEGER NOT NULL,
    PRIMARY KEY (project_id, owner, queue)
) WITHOUT ROWID;
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
CREATE TABLE heartbeat (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    at INTEGER NOT NULL
);
CREATE TABLE projects (
    rowid INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL UNIQUE,
    description TEXT NOT NULL,
    enforce_identity INTEGER NOT NULL,
    allow_delegation INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
);
CREATE TABLE members (
    rowid INTEGER PRIMARY KEY,
    project_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    role TEXT NOT NULL,
    salt TEXT NOT NULL,
    digest TEXT NOT NULL,
    is_active INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (project_id, user_id)
);
CREATE TABLE logins (
    rowid INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    project_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    salt TEXT NOT NULL,
    digest TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL
);
CREATE TABLE accounts (
    rowid INTEGER PRIMARY KEY,
    client_id TEXT NOT NULL UNIQUE,
    project_id TEXT,
    name TEXT NOT NULL,
    role TEXT NOT NULL,
    description TEXT NOT NULL,
    secrets TEXT NOT NULL,
    ip_access_list TEXT NOT NULL,
    is_active INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    last_used_at INTEGER
);
CREATE TABLE former_projects (
    id TEXT NOT NULL PRIMARY KEY,
    until INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE spaces (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    active TEXT,
    target TEXT,
    revision INTEGER NOT NULL,
    changed_at INTEGER
);
CREATE TABLE vector_refusals (
    document INTEGER NOT NULL,
    space TEXT NOT NULL,
    PRIMARY KEY (document, space)
) WITHOUT ROWID;
CREATE TABLE erasures (
    owner TEXT PRIMARY KEY,
    at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE traces (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    since INTEGER NOT NULL
);
CREATE TABLE spending (
    project_id TEXT NOT NULL,
    hour INTEGER NOT NULL,
    calls INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    PRIMARY KEY (project_id, hour)
) WITHOUT ROWID;
CREATE TABLE proposals (
    rowid INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    user_id TEXT,
    snapshot_id TEXT NOT NULL,
    key TEXT NOT NULL,
    type TEXT NOT NULL,
    state TEXT NOT NULL,
    action TEXT,
    revision INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    document TEXT NOT NULL,
    UNIQUE (project_id, id),
    UNIQUE (project_id, key)
);
INSERT INTO documents (agent_id, fields, id, position, project_id, rowid, session_id, source, state, user_id, valid_from, valid_to, visibility) VALUES (NULL, '{"metadata": {}, "session_id": "monday", "role": "user"}', 'turn-0', 1, 'shop', 1, 'monday', 'stm', 0, 'ana', NULL, NULL, 'private');
INSERT INTO documents (agent_id, fields, id, position, project_id, rowid, session_id, source, state, user_id, valid_from, valid_to, visibility) VALUES (NULL, '{"metadata": {}, "session_id": "monday", "role": "user"}', 'turn-1', 2, 'shop', 2, 'monday', 'stm', 0, 'ana', NULL, NULL, 'private');
INSERT INTO documents (agent_id, fields, id, position, project_id, rowid, session_id, source, state, user_id, valid_from, valid_to, visibility) VALUES (NULL, '{"metadata": {}, "session_id": "monday", "role": "user"}', 'turn-2', 3, 'shop', 3, 'monday', 'stm', 0, 'ana', NULL, NULL, 'private');
INSERT INTO documents (agent_id, fields, id, position, project_id, rowid, session_id, source, state, user_id, valid_from, valid_to, visibility) VALUES (NULL, '{"metadata": {}}', 'home', NULL, 'shop', 4, NULL, 'semantic', 0, 'ana', 1769864400000000, NULL, 'private');
INSERT INTO documents (agent_id, fields, id, position, project_id, rowid, session_id, source, state, user_id, valid_from, valid_to, visibility) VALUES (NULL, '{"metadata": {}}', 'home-before', NULL, 'shop', 5, NULL, 'semantic', 1, 'ana', 1769860800000000, 1769864400000000, 'private');
INSERT INTO documents (agent_id, fields, id, position, project_id, rowid, session_id, source, state, user_id, valid_from, valid_to, visibility) VALUES (NULL, '{"metadata": {}, "tags": []}', 'move', NULL, 'shop', 6, NULL, 'episodic', 0, 'ana', 1769860800000000, NULL, 'private');
INSERT INTO documents (agent_id, fields, id, position, project_id, rowid, session_id, source, state, user_id, valid_from, valid_to, visibility) VALUES (NULL, '{"metadata": {}, "tags": {}}', 'pump', NULL, 'shop', 7, NULL, 'custom.ticket', 0, 'ana', 1769860800000000, NULL, 'private');
INSERT INTO documents (agent_id, fields, id, position, project_id, rowid, session_id, source, state, user_id, valid_from, valid_to, visibility) VALUES (NULL, '{"metadata": {}, "session_id": "monday", "viewpoint": "user", "speaker": "Ana", "exchange_id": "exchange"}', 'exchange.user', 1, 'shop', 8, 'monday', 'block', 0, 'ana', 1769860800000000, NULL, 'private');
INSERT INTO document_counts (documents, project_id) VALUES (8, 'shop');
INSERT INTO words (body, neighbours, scope, rowid) VALUES ('user: I moved to Lisbon', 'user: The weather is fine
user: And yours?', '14354661516070522192 5096368687028116071 12913087625182141328', 1);
INSERT INTO words (body, neighbours, scope, rowid) VALUES ('user: The weather is fine', 'user: I moved to Lisbon', '14354661516070522192 5096368687028116071 12913087625182141328', 2);
INSERT INTO words (body, neighbours, scope, rowid) VALUES ('user: And yours?', 'user: I moved to Lisbon
user: The weather is fine', '14354661516070522192 5096368687028116071 12913087625182141328', 3);
INSERT INTO words (body, neighbours, scope, rowid) VALUES ('home city. Ana lives in Lisbon', '', '0 14248074790304135952 1961580945299926495 0 12277099020517083119 10323189392253821436', 4);
INSERT INTO words (body, neighbours, scope, rowid) VALUES ('home city. Ana lives in Porto', '', '0 0 0 0 12277099020517083119 10323189392253821436', 5);
INSERT INTO words (body, neighbours, scope, rowid) VALUES ('Moving
Ana moved to Lisbon', '', '0 5422859833825157294 16196712855624234879 0 15601558009535435691 13308125885399018897', 6);
INSERT INTO words (body, neighbours, scope, rowid) VALUES ('The Lisbon pump leaks', '', '0 5579214022612779481 15600030163493678066 0 10879498780853077998 7724509634473311209', 7);
INSERT INTO words (body, neighbours, scope, rowid) VALUES ('Ana: I moved to Lisbon
Ben: I see', '', '4107644112591826946 9486280478519997837 12482005144479975282 2417244501749816247 7960207288325435472 2016232602669166374', 8);
INSERT INTO partitions (changes, dimension, id, past, project_id, source, space, tail, user_id, vectors) VALUES (3, 4, 1, 0, 'shop', 'stm', 'toy@4', 3, 'ana', 3);
INSERT INTO partitions (changes, dimension, id, past, project_id, source, space, tail, user_id, vectors) VALUES (3, 4, 2, 0, 'shop', 'semantic', 'toy@4', 1, 'ana', 1);
INSERT INTO partitions (changes, dimension, id, past, project_id, source, space, tail, user_id, vectors) VALUES (1, 4, 3, 1, 'shop', 'semantic', 'toy@4', 1, 'ana', 1);
INSERT INTO partitions (changes, dimension, id, past, project_id, source, space, tail, user_id, vectors) VALUES (1, 4, 4, 0, 'shop', 'episodic', 'toy@4', 1, 'ana', 1);
INSERT INTO partitions (changes, dimension, id, past, project_id, source, space, tail, user_id, vectors) VALUES (1, 4, 5, 0, 'shop', 'custom.ticket', 'toy@4', 1, 'ana', 1);
INSERT INTO partitions (changes, dimension, id, past, project_id, source, space, tail, user_id, vectors) VALUES (1, 4, 6, 0, 'shop', 'block', 'toy@4', 1, 'ana', 1);
INSERT INTO vector_counts (project_id, space, vectors) VALUES ('shop', 'toy@4', 8);
INSERT INTO vector_tail (data, document, partition_id, seq) VALUES (X'0000803F000000000000000000000000', 1, 1, 1);
INSERT INTO vector_tail (data, document, partition_id, seq) VALUES (X'F304353FF304353F0000000000000000', 2, 1, 2);
INSERT INTO vector_tail (data, document, partition_id, seq) VALUES (X'2EF9E43E2EF9643F0000000000000000', 3, 1, 3);
INSERT INTO vector_tail (data, document, partition_id, seq) VALUES (X'000000000000803F0000000000000000', 5, 3, 1);
INSERT INTO vector_tail (data, document, partition_id, seq) VALUES (X'000000000000803F0000000000000000', 4, 2, 3);
INSERT INTO vector_tail (data, document, partition_id, seq) VALUES (X'00000000000000000000803F00000000', 6, 4, 1);
INSERT INTO vector_tail (data, document, partition_id, seq) VALUES (X'00000000000000000000803F00000000', 7, 5, 1);
INSERT INTO vector_tail (data, document, partition_id, seq) VALUES (X'00000000000000000000803F00000000', 8, 6, 1);
INSERT INTO vector_removals (change, partition_id, seq) VALUES (2, 2, 1);
INSERT INTO vector_places (document, partition_id, seq, space) VALUES (1, 1, 1, 'toy@4');
INSERT INTO vector_places (document, partition_id, seq, space) VALUES (2, 1, 2, 'toy@4');
INSERT INTO vector_places (document, partition_id, seq, space) VALUES (3, 1, 3, 'toy@4');
INSERT INTO vector_places (document, partition_id, seq, space) VALUES (4, 2, 3, 'toy@4');
INSERT INTO vector_places (document, partition_id, seq, space) VALUES (5, 3, 1, 'toy@4');
INSERT INTO vector_places (document, partition_id, seq, space) VALUES (6, 4, 1, 'toy@4');
INSERT INTO vector_places (document, partition_id, seq, space) VALUES (7, 5, 1, 'toy@4');
INSERT INTO vector_places (document, partition_id, seq, space) VALUES (8, 6, 1, 'toy@4');
INSERT INTO sessions (last_activity, last_seq, project_id, promoted_seq, session_id, user_id, waiting_since) VALUES (1769860800000000, 3, 'shop', 2, 'monday', 'ana', 1769860800000000);
INSERT INTO turns (agent_id, content, created_at, details, event_time, has_embedding, id, idempotency_key, metadata, project_id, role, rowid, session_id, snapshot_id, turn_seq, user_id) VALUES (NULL, 'I moved to Lisbon', 1769860800000000, '{"tool_calls":null,"tool_call_id":null,"tool_name":null,"is_error":false,"model_name":null,"tokens":null,"stop_reason":null}', NULL, 1, 'turn-0', 'key-0', '{}', 'shop', 'user', 1, 'monday', 'snapshot', 1, 'ana');
INSERT INTO turns (agent_id, content, created_at, details, event_time, has_embedding, id, idempotency_key, metadata, project_id, role, rowid, session_id, snapshot_id, turn_seq, user_id) VALUES (NULL, 'The weather is fine', 1769860800000000, '{"tool_calls":null,"tool_call_id":null,"tool_name":null,"is_error":false,"model_name":null,"tokens":null,"stop_reason":null}', NULL, 1, 'turn-1', 'key-1', '{}', 'shop', 'user', 2, 'monday', 'snapshot', 2, 'ana');
INSERT INTO turns (agent_id, content, created_at, details, event_time, has_embedding, id, idempotency_key, metadata, project_id, role, rowid, session_id, snapshot_id, turn_seq, user_id) VALUES (NULL, 'And yours?', 1769860800000000, '{"tool_calls":null,"tool_call_id":null,"tool_name":null,"is_error":false,"model_name":null,"tokens":null,"stop_reason":null}', NULL, 1, 'turn-2', 'key-2', '{}', 'shop', 'user', 3, 'monday', NULL, 3, 'ana');
INSERT INTO snapshots (agent_id, cause, created_at, first_seq, id, last_seq, project_id, session_id, user_id) VALUES (NULL, 'size', 1769860800000000, 1, 'snapshot', 2, 'shop', 'monday', 'ana');
INSERT INTO jobs (attempts, created_at, due_at, error, error_code, finished_at, id, key, kind, lease_owner, lease_until, lost, owner, payload, progress, project_id, queue, result, seq, snapshot_id, state, user_id) VALUES (1, 1769860800000000, 1769860800000000, 'no key', 'KEY_MISSING', 1769860800000000, 'job-failed', 'job-failed', 'extract', NULL, NULL, 0, 'user ana', '{"type":"semantic"}', '{}', 'shop', 'extract semantic', '{}', 1, 'snapshot', 'failed', 'ana');
INSERT INTO jobs (attempts, created_at, due_at, error, error_code, finished_at, id, key, kind, lease_owner, lease_until, lost, owner, payload, progress, project_id, queue, result, seq, snapshot_id, state, user_id) VALUES (0, 1769860800000000, 1769860800000000, NULL, NULL, NULL, 'job-queued', 'job-queued', 'extract', NULL, NULL, 0, 'user ana', '{"type":"semantic"}', '{}', 'shop', 'extract semantic', '{}', 2, 'snapshot', 'queued', 'ana');
INSERT INTO jobs (attempts, created_at, due_at, error, error_code, finished_at, id, key, kind, lease_owner, lease_until, lost, owner, payload, progress, project_id, queue, result, seq, snapshot_id, state, user_id) VALUES (1, 1769860800000000, 1769860800000000, NULL, NULL, 1769860800000000, 'job-done', 'job-done', 'extract', NULL, NULL, 0, 'user bob', '{"type":"semantic"}', '{}', 'shop', 'extract semantic', '{}', 3, NULL, 'done', 'bob');
INSERT INTO job_counts (jobs, project_id, state) VALUES (1, 'shop', 'done');
INSERT INTO job_counts (jobs, project_id, state) VALUES (1, 'shop', 'failed');
INSERT INTO job_counts (jobs, project_id, state) VALUES (1, 'shop', 'queued');
INSERT INTO job_owners (last_claim, owner, project_id, unfinished) VALUES (1, 'user ana', 'shop', 1);
INSERT INTO job_owners (last_claim, owner, project_id, unfinished) VALUES (2, 'user bob', 'shop', 0);
INSERT INTO job_queues (available_at, head, kind, owner, project_id, queue) VALUES (1769860800000000, 2, 'extract', 'user ana', 'shop', 'extract semantic');
INSERT INTO memories (agent_id, body, claim_attribute, claim_exclusive, claim_subject, claim_value, contextual_metadata, created_at, deleted, domain, event_time, evidence, fields, has_embedding, id, identity_key, is_latest, key, project_id, reinforcement_count, revision, root_id, rowid, session_id, superseded_by, supersedes, type, updated_at, user_id, valid_from, valid_to, version, visibility) VALUES (NULL, '{"label":"home_city","text":"Ana lives in Lisbon","source":"agent"}', NULL, NULL, NULL, NULL, '{}', 1769860800000000, 0, NULL, NULL, '[]', '{"metadata":{}}', 1, 'home', 'home', 1, 'home_city', 'shop', 0, 2, 'home', 1, NULL, NULL, 'home-before', 'semantic', 1769864400000000, 'ana', 1769864400000000, NULL, 2, 'private');
INSERT INTO memories (agent_id, body, claim_attribute, claim_exclusive, claim_subject, claim_value, contextual_metadata, created_at, deleted, domain, event_time, evidence, fields, has_embedding, id, identity_key, is_latest, key, project_id, reinforcement_count, revision, root_id, rowid, session_id, superseded_by, supersedes, type, updated_at, user_id, valid_from, valid_to, version, visibility) VALUES (NULL, '{"label":"home_city","text":"Ana lives in Porto","source":"agent"}', NULL, NULL, NULL, NULL, '{}', 1769860800000000, 0, NULL, NULL, '[]', '{"metadata":{}}', 1, 'home-before', 'home', 0, 'home_city', 'shop', 0, 1, 'home', 2, NULL, 'home', NULL, 'semantic', 1769860800000000, 'ana', 1769860800000000, 1769864400000000, 1, 'private');
INSERT INTO memories (agent_id, body, claim_attribute, claim_exclusive, claim_subject, claim_value, contextual_metadata, created_at, deleted, domain, event_time, evidence, fields, has_embedding, id, identity_key, is_latest, key, project_id, reinforcement_count, revision, root_id, rowid, session_id, superseded_by, supersedes, type, updated_at, user_id, valid_from, valid_to, version, visibility) VALUES (NULL, '{"title":"Moving","content":"Ana moved to Lisbon","summary_text":"","participants":[],"tags":[],"snapshot_ref_id":null,"summary_type":null,"source_agent":null,"extraction_source":null}', NULL, NULL, NULL, NULL, '{}', 1769860800000000, 0, NULL, NULL, '[]', '{"metadata":{},"tags":[]}', 1, 'move', NULL, 1, 'Moving', 'shop', 0, 1, 'move', 3, NULL, NULL, NULL, 'episodic', 1769860800000000, 'ana', 1769860800000000, NULL, 1, 'private');
INSERT INTO memories (agent_id, body, claim_attribute, claim_exclusive, claim_subject, claim_value, contextual_metadata, created_at, deleted, domain, event_time, evidence, fields, has_embedding, id, identity_key, is_latest, key, project_id, reinforcement_count, revision, root_id, rowid, session_id, superseded_by, supersedes, type, updated_at, user_id, valid_from, valid_to, version, visibility) VALUES (NULL, '{"custom_type":"ticket","content":"The Lisbon pump leaks","tags":{}}', NULL, NULL, NULL, NULL, '{}', 1769860800000000, 0, NULL, NULL, '[]', '{"metadata":{},"tags":{}}', 1, 'pump', NULL, 1, 'ticket', 'shop', 0, 1, 'pump', 4, NULL, NULL, NULL, 'custom', 1769860800000000, 'ana', 1769860800000000, NULL, 1, 'private');
INSERT INTO memories (agent_id, body, claim_attribute, claim_exclusive, claim_subject, claim_value, contextual_metadata, created_at, deleted, domain, event_time, evidence, fields, has_embedding, id, identity_key, is_latest, key, project_id, reinforcement_count, revision, root_id, rowid, session_id, superseded_by, supersedes, type, updated_at, user_id, valid_from, valid_to, version, visibility) VALUES (NULL, '{"exchange_id":"exchange","viewpoint":"user","speaker":"Ana","conversation_id":"monday","position":1,"messages":[{"id":"m1","role":"user","speaker":"Ana","content":"I moved to Lisbon","position":1},{"id":"m2","role":"assistant","speaker":"Ben","content":"I see","position":2}],"annotations":{"conversation_id":"monday"},"context_required":false,"extractor":null,"summary":"","contexts":[]}', NULL, NULL, NULL, NULL, '{}', 1769860800000000, 0, NULL, NULL, '[]', '{"metadata":{},"session_id":"monday","viewpoint":"user","speaker":"Ana","exchange_id":"exchange"}', 1, 'exchange.user', NULL, 1, 'monday', 'shop', 0, 1, 'exchange.user', 5, 'monday', NULL, NULL, 'block', 1769860800000000, 'ana', 1769860800000000, NULL, 1, 'private');
INSERT INTO projects (allow_delegation, created_at, description, enforce_identity, id, name, rowid, updated_at) VALUES (0, 1769860800000000, '', 0, 'shop', 'shop', 1, 1769860800000000);
INSERT INTO members (created_at, digest, is_active, project_id, role, rowid, salt, updated_at, user_id) VALUES (1769860800000000, 'digest', 1, 'shop', 'AGENT_DEVELOPER', 1, 'salt', 1769860800000000, 'ana');
INSERT INTO logins (created_at, digest, expires_at, id, project_id, rowid, salt, user_id) VALUES (1769860800000000, 'login-000018', 1769947200000000, 'login', 'shop', 1, 'login-000018', 'ana');
INSERT INTO accounts (client_id, created_at, description, ip_access_list, is_active, last_used_at, name, project_id, role, rowid, secrets, updated_at) VALUES ('client', 1769860800000000, '', '[]', 1, NULL, 'importer', 'shop', 'AGENT_DEVELOPER', 1, '[]', 1769860800000000);
INSERT INTO accounts (client_id, created_at, description, ip_access_list, is_active, last_used_at, name, project_id, role, rowid, secrets, updated_at) VALUES ('of-all', 1769860800000000, '', '[]', 1, NULL, 'auditor', NULL, 'ORG_READ_ONLY', 2, '[]', 1769860800000000);
INSERT INTO spaces (active, changed_at, id, revision, target) VALUES (NULL, NULL, 1, 0, NULL);
INSERT INTO spending (calls, hour, input_tokens, output_tokens, project_id) VALUES (2, 1769860800000000, 300, 40, 'shop');
INSERT INTO proposals (action, created_at, document, id, key, project_id, revision, rowid, snapshot_id, state, type, user_id) VALUES (NULL, 1769860800000000, '{"id":"porto","project_id":"shop","user_id":"ana","agent_id":null,"session_id":"monday","snapshot_id":"snapshot","extractor":"rules/1","key":"porto","revision":1,"edited_by":null,"decided_by":null,"reason":"","type":"semantic","state":"pending","action":null,"candidate":{"type":"semantic","body":{"label":"home_city","text":"Ana lives in Lisbon","source":"agent"},"turn_ids":["turn"],"claim":null,"corrects":null,"confidence":1.0,"retracts":false,"speakers":[],"event_time":null},"original":null,"said_at":"2026-01-31T12:00:00+00:00","edited_at":null,"decided_at":null,"outcomes":[]}', 'porto', 'porto', 'shop', 1, 1, 'snapshot', 'pending', 'semantic', 'ana');
CREATE UNIQUE INDEX documents_id ON documents (project_id, id);
CREATE INDEX documents_owner ON documents (project_id, source, user_id, state);
CREATE INDEX documents_session ON documents (project_id, session_id, position);
CREATE TRIGGER documents_added AFTER INSERT ON documents
BEGIN
    INSERT INTO document_counts (project_id, documents) VALUES (new.project_id, 1)
    ON CONFLICT DO UPDATE SET documents = documents + 1;
END;
CREATE TRIGGER documents_removed AFTER DELETE ON documents
BEGIN
    UPDATE document_counts SET documents = documents - 1 WHERE project_id = old.project_id;
    DELETE FROM document_counts WHERE project_id = old.project_id AND documents = 0;
END;
CREATE UNIQUE INDEX partitions_of_nobody ON partitions (project_id, source, space, past)
    WHERE user_id IS NULL;
CREATE TRIGGER partitions_grown AFTER UPDATE OF vectors ON partitions
BEGIN
    INSERT INTO vector_counts (project_id, space, vectors)
    VALUES (new.project_id, new.space, new.vectors - old.vectors)
    ON CONFLICT DO UPDATE SET vectors = vectors + excluded.vectors;
    DELETE FROM vector_counts
    WHERE project_id = new.project_id AND space = new.space AND vectors = 0;
END;
CREATE TRIGGER partitions_removed AFTER DELETE ON partitions
BEGIN
    UPDATE vector_counts SET vectors = vectors - old.vectors
    WHERE project_id = old.project_id AND space = old.space;
    DELETE FROM vector_counts
    WHERE project_id = old.project_id AND space = old.space AND vectors = 0;
END;
CREATE INDEX vector_places_partition ON vector_places (partition_id);
CREATE INDEX sessions_waiting ON sessions (waiting_since) WHERE last_seq > promoted_seq;
CREATE UNIQUE INDEX turns_id ON turns (project_id, id);
CREATE UNIQUE INDEX turns_seq ON turns (project_id, session_id, turn_seq);
CREATE INDEX turns_snapshot ON turns (project_id, snapshot_id) WHERE snapshot_id IS NOT NULL;
CREATE INDEX turns_user ON turns (project_id, user_id);
CREATE INDEX snapshots_age ON snapshots (created_at);
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
CREATE INDEX job_owners_order ON job_owners (last_claim);
CREATE INDEX job_owners_waiting ON job_owners (last_claim) WHERE unfinished > 0;
CREATE INDEX job_queues_order ON job_queues (project_id, owner, available_at, head);
CREATE INDEX job_queues_available ON job_queues (available_at);
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
CREATE UNIQUE INDEX memories_id ON memories (project_id, id);
CREATE UNIQUE INDEX memories_identity
    ON memories (project_id, type, user_id IS NULL, coalesce(user_id, ''), identity_key)
    WHERE is_latest AND NOT deleted AND identity_key IS NOT NULL;
CREATE INDEX memories_root ON memories (project_id, root_id);
CREATE INDEX memories_owner ON memories (project_id, user_id, type, updated_at);
CREATE INDEX memories_same ON memories (project_id, user_id, type, identity_key)
    WHERE identity_key IS NOT NULL;
CREATE INDEX memories_claim ON memories (project_id, claim_subject, claim_attribute)
    WHERE claim_subject IS NOT NULL;
CREATE INDEX memories_without_embedding ON memories (project_id, updated_at)
    WHERE NOT has_embedding;
CREATE INDEX memories_key ON memories (project_id, type, key, user_id, updated_at);
CREATE INDEX members_user ON members (user_id);
CREATE INDEX logins_member ON logins (project_id, user_id, created_at);
CREATE UNIQUE INDEX accounts_name ON accounts (coalesce(project_id, ''), name);
CREATE TRIGGER turns_too_late BEFORE INSERT ON turns
WHEN EXISTS (
    SELECT 1 FROM former_projects AS f WHERE f.id = new.project_id AND new.created_at < f.until
)
BEGIN
    SELECT RAISE(ABORT, 'the project was removed meanwhile; nothing was stored');
END;
CREATE TRIGGER memories_too_late BEFORE INSERT ON memories
WHEN EXISTS (
    SELECT 1 FROM former_projects AS f WHERE f.id = new.project_id AND new.created_at < f.until
)
BEGIN
    SELECT RAISE(ABORT, 'the project was removed meanwhile; nothing was stored');
END;
CREATE TRIGGER snapshots_too_late BEFORE INSERT ON snapshots
WHEN EXISTS (
    SELECT 1 FROM former_projects AS f WHERE f.id = new.project_id AND new.created_at < f.until
)
BEGIN
    SELECT RAISE(ABORT, 'the project was removed meanwhile; nothing was stored');
END;
CREATE TRIGGER jobs_too_late BEFORE INSERT ON jobs
WHEN EXISTS (
    SELECT 1 FROM former_projects AS f WHERE f.id = new.project_id AND new.created_at < f.until
)
BEGIN
    SELECT RAISE(ABORT, 'the project was removed meanwhile; nothing was stored');
END;
CREATE TRIGGER accounts_too_late BEFORE INSERT ON accounts
WHEN EXISTS (
    SELECT 1 FROM former_projects AS f WHERE f.id = new.project_id AND new.created_at < f.until
)
BEGIN
    SELECT RAISE(ABORT, 'the project was removed meanwhile; nothing was stored');
END;
CREATE TRIGGER members_too_late BEFORE INSERT ON members
WHEN EXISTS (
    SELECT 1 FROM former_projects AS f WHERE f.id = new.project_id AND new.created_at < f.until
)
BEGIN
    SELECT RAISE(ABORT, 'the project was removed meanwhile; nothing was stored');
END;
CREATE UNIQUE INDEX turns_idempotency
    ON turns (project_id, session_id, idempotency_key, user_id IS NULL, coalesce(user_id, ''))
    WHERE idempotency_key IS NOT NULL;
CREATE INDEX vector_refusals_space ON vector_refusals (space);
CREATE TRIGGER documents_gone AFTER DELETE ON documents
BEGIN
    DELETE FROM vector_refusals WHERE document = old.rowid;
END;
CREATE INDEX snapshots_session ON snapshots (project_id, session_id);
CREATE INDEX spending_hours ON spending (hour);
CREATE INDEX proposals_states ON proposals (project_id, state, created_at, id);
CREATE INDEX proposals_order ON proposals (project_id, created_at, id);
CREATE INDEX proposals_owner ON proposals (project_id, user_id, created_at, id);
CREATE INDEX proposals_waiting ON proposals (project_id, snapshot_id) WHERE state = 'pending';
CREATE TRIGGER proposals_too_late BEFORE INSERT ON proposals
WHEN EXISTS (
    SELECT 1 FROM former_projects AS f WHERE f.id = new.project_id AND new.created_at < f.until
)
BEGIN
    SELECT RAISE(ABORT, 'the project was removed meanwhile; nothing was stored');
END;
UPDATE sqlite_sequence SET seq = 8 WHERE name = 'documents';
UPDATE sqlite_sequence SET seq = 3 WHERE name = 'jobs';
UPDATE sqlite_sequence SET seq = 6 WHERE name = 'partitions';
PRAGMA user_version = 10;
COMMIT;
