-- name: jobs
-- The first jobs of an owner after one. NOT INDEXED: by their numbers, for no index is by user.
SELECT e.seq FROM jobs AS e NOT INDEXED
WHERE e.seq > coalesce(:after, 0) AND /* conditions */ 1 ORDER BY e.seq LIMIT :limit;

-- name: turns
-- The first turns of an owner after one.
SELECT e.rowid FROM turns AS e
WHERE e.rowid > coalesce(:after, 0) AND /* conditions */ 1 ORDER BY e.rowid LIMIT :limit;

-- name: snapshots
-- The first snapshots of an owner after one.
SELECT e.id FROM snapshots AS e
WHERE e.id > coalesce(:after, '') AND /* conditions */ 1 ORDER BY e.id LIMIT :limit;

-- name: sessions
-- The first sessions after one that an owner began, or is in otherwise.
SELECT e.session_id FROM sessions AS e
WHERE e.session_id > coalesce(:after, '') AND /* conditions */ 1
ORDER BY e.session_id LIMIT :limit;

-- name: proposals
-- The first proposals of an owner after one.
SELECT e.rowid FROM proposals AS e
WHERE e.rowid > coalesce(:after, 0) AND /* conditions */ 1 ORDER BY e.rowid LIMIT :limit;

-- name: memories
-- The first versions of memories of an owner after one.
SELECT e.rowid FROM memories AS e
WHERE e.rowid > coalesce(:after, 0) AND /* conditions */ 1 ORDER BY e.rowid LIMIT :limit;

-- name: delete_jobs
-- Remove jobs, looked up one by one, that are the owner's.
DELETE FROM jobs AS e NOT INDEXED
WHERE e.seq IN (SELECT value FROM json_each(:keys)) AND /* conditions */ 1 RETURNING id;

-- name: delete_turns
-- Remove turns, looked up one by one, that are the owner's.
DELETE FROM turns AS e NOT INDEXED
WHERE e.rowid IN (SELECT value FROM json_each(:keys)) AND /* conditions */ 1
RETURNING id, session_id, idempotency_key IS NOT NULL AS has_key;

-- name: delete_snapshots
-- Remove snapshots that are the owner's.
DELETE FROM snapshots AS e
WHERE e.project_id = :project_id AND e.id IN (SELECT value FROM json_each(:keys))
    AND /* conditions */ 1
RETURNING session_id;

-- name: delete_proposals
-- Remove proposals, looked up one by one, that are the owner's.
DELETE FROM proposals AS e NOT INDEXED
WHERE e.rowid IN (SELECT value FROM json_each(:keys)) AND /* conditions */ 1 RETURNING id;

-- name: delete_memories
-- Remove versions of memories, looked up one by one, that are the owner's.
DELETE FROM memories AS e NOT INDEXED
WHERE e.rowid IN (SELECT value FROM json_each(:keys)) AND /* conditions */ 1
RETURNING id, type;

-- name: job_owners
-- Forget when owners without jobs were served.
DELETE FROM job_owners
WHERE project_id = :project_id AND (:everybody OR owner = :owner) AND unfinished = 0;

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
