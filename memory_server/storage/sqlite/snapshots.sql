-- name: session
-- The state of a session.
SELECT * FROM sessions WHERE project_id = :project_id AND session_id = :session_id;

-- name: waiting
-- Sessions ripe for promotion, the longest waiting first, without those of busy users.
SELECT * FROM sessions
WHERE last_seq > promoted_seq AND (
    last_activity <= :idle_since
    OR last_seq - promoted_seq >= :min_turns AND :min_turns <= (
        SELECT count(*) FROM (
            SELECT 1 FROM turns AS t
            WHERE t.project_id = sessions.project_id AND t.session_id = sessions.session_id
                AND t.turn_seq > sessions.promoted_seq
            LIMIT :min_turns
        )
    )
)
AND (:busy_at IS NULL OR :busy_at > coalesce((
    SELECT o.unfinished FROM job_owners AS o
    WHERE o.project_id = sessions.project_id
        AND o.owner = CASE WHEN sessions.user_id IS NULL THEN 'nobody'
            ELSE 'user ' || sessions.user_id END
), 0))
ORDER BY waiting_since, project_id, session_id
LIMIT :limit OFFSET :skip;

-- name: waiting_turns
-- The first turn of a session that waits, and whether the last one of a run does.
SELECT min(turn_seq) AS first, max(turn_seq = :last_seq) AS has_last FROM turns
WHERE project_id = :project_id AND session_id = :session_id AND turn_seq > (
    SELECT promoted_seq FROM sessions
    WHERE project_id = :project_id AND session_id = :session_id
);

-- name: advance
-- Let a session wait from the first turn on that is left after a number, if any.
UPDATE sessions SET
    promoted_seq = coalesce((
        SELECT min(turn_seq) - 1 FROM turns
        WHERE project_id = :project_id AND session_id = :session_id AND turn_seq > :last_seq
    ), last_seq),
    waiting_since = (
        SELECT created_at FROM turns
        WHERE project_id = :project_id AND session_id = :session_id AND turn_seq > :last_seq
        ORDER BY turn_seq LIMIT 1
    )
WHERE project_id = :project_id AND session_id = :session_id;

-- name: promoted_seq
-- From which number on the turns of a session wait.
SELECT promoted_seq AS last_seq FROM sessions
WHERE project_id = :project_id AND session_id = :session_id;

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
-- Turns of snapshots all of whose jobs are done and of which no proposals wait.
SELECT t.project_id, t.id FROM turns AS t INDEXED BY turns_snapshot
WHERE t.snapshot_id IS NOT NULL
    AND NOT EXISTS (
        SELECT 1 FROM jobs AS j
        WHERE j.project_id = t.project_id AND j.snapshot_id = t.snapshot_id AND j.state <> 'done'
    )
    AND NOT EXISTS (
        SELECT 1 FROM proposals AS p
        WHERE p.project_id = t.project_id AND p.snapshot_id = t.snapshot_id AND p.state = 'pending'
    )
LIMIT :limit;

-- name: outdated
-- Old snapshots all of whose jobs are done and of which no proposals wait.
SELECT s.project_id, s.id FROM snapshots AS s
WHERE s.created_at < :before
    AND NOT EXISTS (
        SELECT 1 FROM jobs AS j
        WHERE j.project_id = s.project_id AND j.snapshot_id = s.id AND j.state <> 'done'
    )
    AND NOT EXISTS (
        SELECT 1 FROM proposals AS p
        WHERE p.project_id = s.project_id AND p.snapshot_id = s.id AND p.state = 'pending'
    )
ORDER BY s.created_at, s.id LIMIT :limit;

-- name: turns_of
-- The turns of a snapshot.
SELECT project_id, id FROM turns WHERE project_id = :project_id AND snapshot_id = :id;

-- name: delete_turn
-- Remove a turn.
DELETE FROM turns WHERE project_id = :project_id AND id = :id;

-- name: delete_jobs
-- Remove the jobs of a snapshot.
DELETE FROM jobs WHERE project_id = :project_id AND snapshot_id = :id;

-- name: delete
-- Remove a snapshot.
DELETE FROM snapshots WHERE project_id = :project_id AND id = :id;

-- name: old_jobs
-- Done jobs of no snapshot that ended long ago.
SELECT seq FROM jobs
WHERE state = 'done' AND snapshot_id IS NULL AND finished_at < :before
ORDER BY finished_at LIMIT :limit;

-- name: delete_job
-- Remove a job.
DELETE FROM jobs WHERE seq = :seq;
