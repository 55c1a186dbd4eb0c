-- name: sessions_of
-- The sessions in which a user spoke, or all of a project.
SELECT session_id FROM sessions
WHERE project_id = :project_id AND (:user_id IS NULL OR user_id = :user_id)
UNION SELECT session_id FROM turns
WHERE project_id = :project_id AND (:user_id IS NULL OR user_id = :user_id)
UNION SELECT session_id FROM snapshots
WHERE project_id = :project_id AND (:user_id IS NULL OR user_id = :user_id);

-- name: turns
-- Remove the turns of a user, or of a project.
DELETE FROM turns
WHERE project_id = :project_id AND (:user_id IS NULL OR user_id = :user_id);

-- name: snapshots
-- Remove the snapshots of a user, or of a project.
DELETE FROM snapshots
WHERE project_id = :project_id AND (:user_id IS NULL OR user_id = :user_id);

-- name: jobs
-- Remove the jobs of a user, or of a project.
DELETE FROM jobs
WHERE project_id = :project_id AND (:user_id IS NULL OR user_id = :user_id);

-- name: job_owners
-- Forget when a user, or those of a project, were served.
DELETE FROM job_owners
WHERE project_id = :project_id AND (:user_id IS NULL OR owner = :user_id);

-- name: memories
-- Remove the memories of a user, or of a project.
DELETE FROM memories
WHERE project_id = :project_id AND (:user_id IS NULL OR user_id = :user_id);

-- name: session
-- Remove a session in which nobody is left.
DELETE FROM sessions
WHERE project_id = :project_id AND session_id = :session_id
    AND NOT EXISTS (
        SELECT 1 FROM turns WHERE project_id = :project_id AND session_id = :session_id)
    AND NOT EXISTS (
        SELECT 1 FROM snapshots WHERE project_id = :project_id AND session_id = :session_id);

-- name: leave_session
-- Leave a session to those who are still in it.
UPDATE sessions SET user_id = (
    SELECT user_id FROM turns WHERE project_id = :project_id AND session_id = :session_id LIMIT 1
) WHERE project_id = :project_id AND session_id = :session_id;
