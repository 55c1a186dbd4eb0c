-- name: get
-- Memories of a scope by id. Left alone, the planner reads all of the owner's.
SELECT * FROM memories AS m INDEXED BY memories_id WHERE /* conditions */ 1;

-- name: said
-- What was said in blocks of a scope, by id.
SELECT m.id, m.body, m.event_time, m.valid_from FROM memories AS m INDEXED BY memories_id
WHERE m.type = 'block' AND /* conditions */ 1;

-- name: find_live
-- Live memories of a scope, the newest first; in the order of an index where the owner is known.
SELECT * FROM memories AS m /* index */ WHERE /* conditions */ 1
ORDER BY m.updated_at DESC, m.id DESC LIMIT :limit;

-- name: find
-- Memories of a scope, live before others, then the newest first.
SELECT * FROM memories AS m /* index */ WHERE /* conditions */ 1
ORDER BY (m.is_latest AND NOT m.deleted) DESC, m.updated_at DESC, m.id DESC LIMIT :limit;

-- name: history
-- The versions of a memory, the oldest first; the memory itself is the newest.
SELECT * FROM memories AS m WHERE /* conditions */ 1
ORDER BY m.id = m.root_id, m.valid_from, m.version, m.rowid;

-- name: domains
-- The domains of a scope's live terms.
SELECT DISTINCT m.domain FROM memories AS m WHERE /* conditions */ 1 ORDER BY m.domain;

-- name: counts
-- How many memories of a scope there are of each type, and of each declared type.
SELECT CASE m.type WHEN 'custom' THEN m.key ELSE m.type END AS name, count(*) AS memories
FROM memories AS m WHERE /* conditions */ 1 GROUP BY name ORDER BY name;

-- name: namesake
-- The live memory that has an identity already.
SELECT id FROM memories
WHERE project_id = :project_id AND type = :type
    AND (user_id IS NULL) = (:user_id IS NULL) AND coalesce(user_id, '') = coalesce(:user_id, '')
    AND identity_key = :identity_key AND is_latest AND NOT deleted AND id <> :id;

-- name: stored
-- A memory as it is stored.
SELECT * FROM memories WHERE project_id = :project_id AND id = :id;

-- name: insert
-- Store a memory.
INSERT INTO memories (
    id, root_id, project_id, user_id, agent_id, session_id, visibility, type, key, domain,
    identity_key, claim_subject, claim_attribute, claim_value, claim_exclusive, body, fields,
    contextual_metadata, event_time, evidence, created_at, updated_at, valid_from, valid_to,
    reinforcement_count, version, revision, is_latest, supersedes, superseded_by, deleted,
    has_embedding
) VALUES (
    :id, :root_id, :project_id, :user_id, :agent_id, :session_id, :visibility, :type, :key,
    :domain, :identity_key, :claim_subject, :claim_attribute, :claim_value, :claim_exclusive,
    :body, :fields, :contextual_metadata, :event_time, :evidence, :created_at, :updated_at,
    :valid_from, :valid_to, :reinforcement_count, :version, :revision, :is_latest, :supersedes,
    :superseded_by, :deleted, :has_embedding
);

-- name: update
-- Store a memory in its new state.
UPDATE memories SET
    user_id = :user_id, agent_id = :agent_id, session_id = :session_id,
    visibility = :visibility, type = :type, key = :key, domain = :domain,
    identity_key = :identity_key, claim_subject = :claim_subject,
    claim_attribute = :claim_attribute, claim_value = :claim_value,
    claim_exclusive = :claim_exclusive, body = :body, fields = :fields,
    contextual_metadata = :contextual_metadata, event_time = :event_time, evidence = :evidence,
    created_at = :created_at, updated_at = :updated_at, valid_from = :valid_from,
    valid_to = :valid_to, reinforcement_count = :reinforcement_count, version = :version,
    revision = :revision, is_latest = :is_latest, supersedes = :supersedes,
    superseded_by = :superseded_by, deleted = :deleted, has_embedding = :has_embedding
WHERE project_id = :project_id AND id = :id;

-- name: root
-- Under which id the memory is known to which this version belongs, and how it stands.
SELECT r.id, r.user_id, r.type, r.deleted
FROM memories AS m JOIN memories AS r ON r.project_id = m.project_id AND r.id = m.root_id
WHERE m.project_id = :project_id AND m.id = :id;

-- name: show
-- Let all versions of a memory be seen as far as the memory itself.
UPDATE memories SET visibility = :visibility
WHERE project_id = :project_id AND root_id = :root_id;

-- name: versions
-- A memory and its former versions.
SELECT * FROM memories WHERE project_id = :project_id AND root_id = :id;

-- name: delete
-- Remove a memory and its former versions.
DELETE FROM memories WHERE project_id = :project_id AND root_id = :id;
