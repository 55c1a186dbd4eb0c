-- name: insert
-- Store a proposal unless its key is known.
INSERT INTO proposals (
    id, project_id, user_id, snapshot_id, key, type, state, action, revision, created_at, document
) VALUES (
    :id, :project_id, :user_id, :snapshot_id, :key, :type, :state, :action, :revision,
    :created_at, :document
) ON CONFLICT (project_id, key) DO NOTHING;

-- name: get
-- One proposal.
SELECT * FROM proposals AS e WHERE e.id = :id AND /* conditions */ 1;

-- name: find
-- Proposals, the oldest first, after a place if one is named.
SELECT * FROM proposals AS e
WHERE /* conditions */ 1
    AND (:made_at IS NULL OR (e.created_at, e.id) > (:made_at, :after))
ORDER BY e.created_at, e.id LIMIT :limit;

-- name: update
-- Store a new state of a proposal that waits.
UPDATE proposals SET
    state = :state, action = :action, revision = :revision, document = :document
WHERE project_id = :project_id AND id = :id AND state = 'pending' AND revision = :revision - 1;

-- name: known
-- Whether there is a proposal.
SELECT EXISTS (SELECT 1 FROM proposals WHERE project_id = :project_id AND id = :id);

-- name: counts
-- How many proposals stand where, and what approving did.
SELECT state, coalesce(action, '') AS action, count(*) AS proposals FROM proposals
WHERE :project_id IS NULL OR project_id = :project_id
GROUP BY state, action;

-- name: standing
-- A proposal that has the id or the key of another one.
SELECT * FROM proposals WHERE project_id = :project_id AND (id = :id OR key = :key)
ORDER BY id <> :id LIMIT 1;
