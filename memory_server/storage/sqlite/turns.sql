-- name: by_key
-- The turn of a user that is stored under an idempotency key.
SELECT * FROM turns
WHERE project_id = :project_id AND session_id = :session_id AND idempotency_key = :idempotency_key
    AND user_id IS :user_id;

-- name: count
-- Give out the next number of a session and note its activity.
INSERT INTO sessions (project_id, session_id, user_id, last_seq, last_activity, waiting_since)
VALUES (:project_id, :session_id, :user_id, 1, :created_at, :created_at)
ON CONFLICT (project_id, session_id) DO UPDATE SET
    user_id = coalesce(user_id, excluded.user_id),
    waiting_since = CASE
        WHEN last_seq > promoted_seq THEN waiting_since ELSE excluded.waiting_since END,
    last_seq = last_seq + 1,
    last_activity = max(last_activity, excluded.last_activity)
RETURNING last_seq;

-- name: insert
-- Store a turn.
INSERT INTO turns (
    id, project_id, session_id, turn_seq, user_id, agent_id, role, content, created_at,
    event_time, idempotency_key, details, metadata, has_embedding
) VALUES (
    :id, :project_id, :session_id, :turn_seq, :user_id, :agent_id, :role, :content, :created_at,
    :event_time, :idempotency_key, :details, :metadata, :has_embedding
);

-- name: recent
-- The newest turns of a session, the newest first.
SELECT * FROM turns AS t WHERE /* conditions */ 1 ORDER BY t.turn_seq DESC LIMIT :limit;

-- name: recent_everywhere
-- The newest turns of all sessions, the newest first; rows are numbered as they are recorded.
SELECT * FROM turns AS t WHERE /* conditions */ 1 ORDER BY t.rowid DESC LIMIT :limit;

-- name: run
-- A run of a session's turns.
SELECT * FROM turns
WHERE project_id = :project_id AND session_id = :session_id
    AND turn_seq BETWEEN :first_seq AND :last_seq
ORDER BY turn_seq LIMIT :limit;

-- name: get_many
-- Turns by their ids.
SELECT * FROM turns
WHERE project_id = :project_id AND id IN (SELECT value FROM json_each(:ids));

-- name: said
-- What turns say, by their ids.
SELECT id, session_id, role, content, created_at, event_time, metadata FROM turns
WHERE project_id = :project_id AND id IN (SELECT value FROM json_each(:ids));

-- name: has_vector
-- Note that a turn has a vector.
UPDATE turns SET has_embedding = 1 WHERE project_id = :project_id AND id = :id;
