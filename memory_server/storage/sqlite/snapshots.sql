-- name: session
-- The state of a session.
SELECT * FROM sessions WHERE project_id = :project_id AND session_id = :session_id;

-- name: waiting
-- Sessions ripe for promotion, the longest waiting first.
SELECT * FROM sessions
WHERE last_seq > promoted_seq
    AND (last_seq - promoted_seq >= :min_turns OR last_activity <= :idle_since)
ORDER BY waiting_since, project_id, session_id
LIMIT :limit;

-- name: advance
-- Take turns out of waiting, if they are the next ones and are all there.
UPDATE sessions SET
    promoted_seq = :last_seq,
    waiting_since = (
        SELECT created_at FROM turns
        WHERE project_id = :project_id AND session_id = :session_id AND turn_seq = :last_seq + 1
    )
WHERE project_id = :project_id AND session_id = :session_id
    AND promoted_seq = :first_seq - 1 AND :first_seq <= :last_seq AND :last_seq <= last_seq;

-- name: insert
-- Store a snapshot.
INSERT INTO snapshots (
    id, project_id, session_id, user_id, agent_id, first_seq, last_seq, cause, created_at
) VALUES (
    :id, :project_id, :session_id, :user_id, :agent_id, :first_seq, :last_seq, :cause, :created_at
);

-- name: mark_turns
-- Make turns part of a snapshot.
UPDATE turns SET snapshot_id = :id
WHERE project_id = :project_id AND session_id = :session_id
    AND turn_seq BETWEEN :first_seq AND :last_seq;

-- name: get
-- One snapshot.
SELECT * FROM snapshots WHERE project_id = :project_id AND id = :id;

-- name: settled_turns
-- Turns of snapshots all of whose jobs are done.
SELECT t.project_id, t.id FROM turns AS t
WHERE t.snapshot_id IS NOT NULL
    AND NOT EXISTS (
        SELECT 1 FROM jobs AS j
        WHERE j.project_id = t.project_id AND j.snapshot_id = t.snapshot_id AND j.state <> 'done'
    )
ORDER BY t.rowid LIMIT :limit;

-- name: outdated
-- Old snapshots all of whose jobs are done.
SELECT s.project_id, s.id FROM snapshots AS s
WHERE s.created_at < :before
    AND NOT EXISTS (
        SELECT 1 FROM jobs AS j
        WHERE j.project_id = s.project_id AND j.snapshot_id = s.id AND j.state <> 'done'
    )
ORDER BY s.created_at, s.id LIMIT :limit;

-- name: turns_of
-- The turns of a snapshot.
SELECT id FROM turns WHERE project_id = :project_id AND snapshot_id = :id;

-- name: delete_turn
-- Remove a turn.
DELETE FROM turns WHERE project_id = :project_id AND id = :id;

-- name: delete_jobs
-- Remove the jobs of a snapshot.
DELETE FROM jobs WHERE project_id = :project_id AND snapshot_id = :id;

-- name: delete
-- Remove a snapshot.
DELETE FROM snapshots WHERE project_id = :project_id AND id = :id;
