-- name: state
-- How far the mirror has come.
SELECT token, stage, after, loaded, complete, reason, begun_at FROM mirror;

-- name: set_state
-- Note how far the mirror has come.
UPDATE mirror SET
    token = :token, stage = :stage, after = :after, loaded = :loaded, complete = :complete,
    reason = :reason, begun_at = :begun_at;

-- name: traces
-- Whether words of what was taken out may still be in the file.
SELECT traces FROM mirror;

-- name: set_traces
-- Note whether they may.
UPDATE mirror SET traces = :traces;

-- name: turn
-- Where a document is in its session, if it is a turn or an exchange.
SELECT source, session_id, position FROM documents WHERE project_id = :project_id AND id = :id;

-- name: promote
-- Note that a turn is promoted.
INSERT INTO promoted (project_id, session_id, promoted_seq)
VALUES (:project_id, :session_id, :position)
ON CONFLICT DO UPDATE SET promoted_seq = max(promoted_seq, excluded.promoted_seq);

-- name: promoted_seq
-- Up to which turn a session is promoted.
SELECT promoted_seq FROM promoted WHERE project_id = :project_id AND session_id = :session_id;

-- name: forget_promotion
-- Forget a session that has no turns any more.
DELETE FROM promoted
WHERE project_id = :project_id AND session_id = :session_id AND NOT EXISTS (
    SELECT 1 FROM documents AS d
    WHERE d.project_id = :project_id AND d.session_id = :session_id AND d.source = 'stm'
);

-- name: indexed
-- What is indexed, in portions.
SELECT rowid, project_id, source, id FROM documents
WHERE rowid > :after ORDER BY rowid LIMIT :limit;
