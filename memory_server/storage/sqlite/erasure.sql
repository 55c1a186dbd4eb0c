-- name: sessions_of
-- The sessions in which an owner has something.
SELECT e.session_id FROM sessions AS e WHERE /* conditions */ 1
UNION SELECT e.session_id FROM turns AS e WHERE /* conditions */ 1
UNION SELECT e.session_id FROM snapshots AS e WHERE /* conditions */ 1;

-- name: idempotency_keys
-- How many turns of an owner are known by a key of their writer's.
SELECT count(*) FROM turns AS e WHERE e.idempotency_key IS NOT NULL AND /* conditions */ 1;

-- name: turns
-- Remove the turns of an owner.
DELETE FROM turns AS e WHERE /* conditions */ 1;

-- name: snapshots
-- Remove the snapshots of an owner.
DELETE FROM snapshots AS e WHERE /* conditions */ 1;

-- name: jobs
-- Remove the jobs of an owner.
DELETE FROM jobs AS e WHERE /* conditions */ 1;

-- name: records
-- Remove the records of an owner: memories of the types that the project declares.
DELETE FROM memories AS e WHERE type = 'custom' AND /* conditions */ 1;

-- name: memories
-- Remove the memories of an owner.
DELETE FROM memories AS e WHERE /* conditions */ 1;

-- name: job_owners
-- Forget when owners without jobs were served.
DELETE FROM job_owners
WHERE project_id = :project_id AND (:everybody OR owner = :owner);

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

-- name: note
-- Write down who is erased, and when.
INSERT INTO erasures (owner, at) VALUES (:owner, :at)
ON CONFLICT DO UPDATE SET at = max(at, excluded.at);

-- name: leave_traces
-- Note that the file holds traces of what was deleted.
INSERT INTO traces (id, since) VALUES (1, :at) ON CONFLICT DO NOTHING;

-- name: has_traces
-- Whether the file holds traces of what was deleted.
SELECT EXISTS (SELECT 1 FROM traces);

-- name: forget_traces
-- Note that no traces are left.
DELETE FROM traces;

-- name: erased_at
-- When an owner was erased last, alone or with the whole project.
SELECT max(at) FROM erasures WHERE owner IN (SELECT value FROM json_each(:owners));
