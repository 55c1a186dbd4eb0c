-- name: spaces
-- The embedding spaces in which an owner has vectors.
SELECT DISTINCT e.space FROM partitions AS e WHERE e.vectors > 0 AND /* conditions */ 1
ORDER BY e.space;

-- name: memories
-- Memories in all versions, each memory before its former versions; in no memory to speak of.
SELECT e.*, d.rowid AS document FROM memories AS e NOT INDEXED
LEFT JOIN documents AS d ON d.project_id = e.project_id AND d.id = e.id
WHERE /* conditions */ 1 ORDER BY e.rowid;

-- name: proposals
-- Proposals.
SELECT e.* FROM proposals AS e WHERE /* conditions */ 1 ORDER BY e.id;

-- name: sessions
-- Sessions in which an owner has something.
SELECT e.project_id, e.session_id, e.last_seq, e.promoted_seq, e.last_activity,
    coalesce(:user_id, e.user_id) AS user_id
FROM sessions AS e
WHERE e.project_id = :project_id AND (
    :user_id IS NULL OR e.user_id = :user_id OR EXISTS (
        SELECT 1 FROM turns AS t
        WHERE t.project_id = e.project_id AND t.session_id = e.session_id
            AND t.user_id = :user_id
    )
) ORDER BY e.session_id;

-- name: turns
-- Turns in the order in which they were recorded, and whether their snapshot comes too.
SELECT e.*, d.rowid AS document, EXISTS (
    SELECT 1 FROM snapshots AS s
    WHERE s.project_id = e.project_id AND s.id = e.snapshot_id
        AND (:user_id IS NULL OR s.user_id = :user_id)
) AS snapshot_follows
FROM turns AS e NOT INDEXED
LEFT JOIN documents AS d ON d.project_id = e.project_id AND d.id = e.id
WHERE /* conditions */ 1 ORDER BY e.rowid;

-- name: snapshots
-- Snapshots.
SELECT e.* FROM snapshots AS e WHERE /* conditions */ 1 ORDER BY e.id;

-- name: jobs_of
-- What is still to be done of a snapshot, and what failed.
SELECT * FROM jobs
WHERE project_id = :project_id AND snapshot_id = :id AND state <> 'done' ORDER BY seq;

-- name: jobs
-- What is still to be done, or failed, without a snapshot.
SELECT e.* FROM jobs AS e NOT INDEXED
WHERE e.state <> 'done' AND e.kind IN (SELECT value FROM json_each(:kinds)) AND NOT EXISTS (
    SELECT 1 FROM snapshots AS s WHERE s.project_id = e.project_id AND s.id = e.snapshot_id
) AND /* conditions */ 1 ORDER BY e.seq;

-- name: former_project
-- From when on a project takes things, of whose id there was another one before.
SELECT until FROM former_projects WHERE id = :id;

-- name: let_in
-- Let things into a project whatever their age.
DELETE FROM former_projects WHERE id = :id;

-- name: shut_again
-- Let only what is made from a moment on into a project.
INSERT INTO former_projects (id, until) VALUES (:id, :until);

-- name: session
-- One session.
SELECT * FROM sessions WHERE project_id = :project_id AND session_id = :session_id;

-- name: hold_session
-- Keep a session's counters, or go on with them; nothing waits until its turns are there.
INSERT INTO sessions (project_id, session_id, user_id, last_seq, promoted_seq, last_activity)
VALUES (:project_id, :session_id, :user_id, :last_seq, :last_seq, :last_activity)
ON CONFLICT (project_id, session_id) DO UPDATE SET
    user_id = coalesce(user_id, excluded.user_id),
    promoted_seq = CASE WHEN promoted_seq < last_seq THEN promoted_seq
        ELSE max(last_seq, excluded.last_seq) END,
    last_seq = max(last_seq, excluded.last_seq),
    last_activity = max(last_activity, excluded.last_activity);

-- name: let_wait
-- Let a session wait from a turn on, if it does not wait from an earlier one.
UPDATE sessions SET
    waiting_since = CASE WHEN promoted_seq >= :turn_seq THEN :created_at ELSE waiting_since END,
    promoted_seq = min(promoted_seq, :turn_seq - 1)
WHERE project_id = :project_id AND session_id = :session_id;

-- name: turn
-- A turn that has the id, the number, or the key of another one.
SELECT * FROM turns WHERE project_id = :project_id AND (
    id = :id
    OR session_id = :session_id AND turn_seq = :turn_seq
    OR session_id = :session_id AND idempotency_key = :idempotency_key AND user_id IS :user_id
) ORDER BY id <> :id LIMIT 1;

-- name: insert_turn
-- Store a turn.
INSERT INTO turns (
    id, project_id, session_id, turn_seq, user_id, agent_id, role, content, created_at,
    event_time, idempotency_key, details, metadata, has_embedding, snapshot_id
) VALUES (
    :id, :project_id, :session_id, :turn_seq, :user_id, :agent_id, :role, :content, :created_at,
    :event_time, :idempotency_key, :details, :metadata, :has_embedding, :snapshot_id
);

-- name: has_been_promoted
-- Whether a turn was part of a snapshot here, and has gone since.
SELECT EXISTS (
    SELECT 1 FROM snapshots WHERE project_id = :project_id AND id = :snapshot_id
) OR :snapshot_id IS NULL AND EXISTS (
    SELECT 1 FROM snapshots WHERE project_id = :project_id AND session_id = :session_id
        AND :turn_seq BETWEEN first_seq AND last_seq
);

-- name: snapshot
-- One snapshot.
SELECT * FROM snapshots WHERE project_id = :project_id AND id = :id;

-- name: other_turns
-- Whether a snapshot's place is taken: by turns of another snapshot or user, or by some that wait.
SELECT EXISTS (
    SELECT 1 FROM turns AS t JOIN sessions AS s USING (project_id, session_id)
    WHERE t.project_id = :project_id AND t.session_id = :session_id
        AND t.turn_seq BETWEEN :first_seq AND :last_seq
        AND (t.snapshot_id <> :id OR t.user_id IS NOT :user_id
            OR t.snapshot_id IS NULL AND t.turn_seq > s.promoted_seq)
);

-- name: mark_turns
-- Make turns that came for it part of a snapshot.
UPDATE turns SET snapshot_id = :id
WHERE project_id = :project_id AND session_id = :session_id
    AND turn_seq BETWEEN :first_seq AND :last_seq AND snapshot_id IS NULL;

-- name: job
-- A job that has the id or the key of another one.
SELECT id, key FROM jobs WHERE project_id = :project_id AND (id = :id OR key = :key) LIMIT 1;
