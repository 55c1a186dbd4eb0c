-- name: look
-- Whose vectors answer, and whose are being made.
SELECT active, target, revision, changed_at FROM spaces WHERE id = 1;

-- name: vectors
-- How many vectors each space has.
SELECT space, sum(vectors) AS vectors FROM vector_counts GROUP BY space HAVING sum(vectors) > 0;

-- name: refused
-- How many texts the model of a space cannot embed.
SELECT count(*) FROM vector_refusals WHERE space = :space;

-- name: note
-- Remember other spaces.
UPDATE spaces
SET active = :active, target = :target, revision = :revision, changed_at = :changed_at
WHERE id = 1;

-- name: missing
-- What has a vector of another space and none of this one, in the order of its arrival.
SELECT DISTINCT d.rowid AS place, d.project_id, d.id, d.source = 'stm' AS is_turn, b.id AS follows
FROM vector_places AS v
CROSS JOIN documents AS d ON d.rowid = v.document
LEFT JOIN turns AS t ON d.source = 'stm' AND t.project_id = d.project_id AND t.id = d.id
LEFT JOIN turns AS b ON b.project_id = t.project_id AND b.session_id = t.session_id
    AND b.turn_seq = t.turn_seq - 1 AND b.snapshot_id = t.snapshot_id
WHERE v.document > :after AND v.space <> :space
    AND NOT EXISTS (
        SELECT 1 FROM vector_places AS n WHERE n.document = v.document AND n.space = :space
    )
    AND NOT EXISTS (
        SELECT 1 FROM vector_refusals AS r WHERE r.document = v.document AND r.space = :space
    )
ORDER BY v.document LIMIT :limit;

-- name: missing_or_bare
-- The same, and turns that have no vector at all: those that were promoted, or all.
SELECT d.rowid AS place, d.project_id, d.id, d.source = 'stm' AS is_turn, b.id AS follows
FROM documents AS d
LEFT JOIN turns AS t ON d.source = 'stm' AND t.project_id = d.project_id AND t.id = d.id
LEFT JOIN turns AS b ON b.project_id = t.project_id AND b.session_id = t.session_id
    AND b.turn_seq = t.turn_seq - 1 AND b.snapshot_id = t.snapshot_id
WHERE d.rowid > :after
    AND (
        t.snapshot_id IS NOT NULL OR (t.id IS NOT NULL AND :all)
        OR EXISTS (SELECT 1 FROM vector_places AS v WHERE v.document = d.rowid)
    )
    AND NOT EXISTS (
        SELECT 1 FROM vector_places AS n WHERE n.document = d.rowid AND n.space = :space
    )
    AND NOT EXISTS (
        SELECT 1 FROM vector_refusals AS r WHERE r.document = d.rowid AND r.space = :space
    )
ORDER BY d.rowid LIMIT :limit;

-- name: place
-- Where a document's vectors belong, if it is a turn or has any.
SELECT d.rowid, d.project_id, d.source, d.user_id, d.state FROM documents AS d
WHERE d.project_id = :project_id AND d.id = :id
    AND (
        d.source = 'stm' OR EXISTS (SELECT 1 FROM vector_places AS v WHERE v.document = d.rowid)
    );

-- name: held_turn
-- Note that a turn has a vector.
UPDATE turns SET has_embedding = 1 WHERE project_id = :project_id AND id = :id;

-- name: is_at
-- Whether a memory is in a certain state.
SELECT 1 FROM memories WHERE project_id = :project_id AND id = :id AND revision = :revision;

-- name: refuse
-- Note that the model of a space cannot embed a text.
INSERT INTO vector_refusals (document, space) VALUES (:document, :space) ON CONFLICT DO NOTHING;

-- name: outdated
-- Vectors of other spaces than these two, except the only one of a text that can be embedded anew.
SELECT v.document, v.space
FROM partitions AS p JOIN vector_places AS v ON v.partition_id = p.id
WHERE p.space NOT IN (:active, :target) AND p.vectors > 0 AND (
    EXISTS (SELECT 1 FROM vector_places AS n WHERE n.document = v.document AND n.space = :active)
    OR EXISTS (
        SELECT 1 FROM vector_refusals AS r WHERE r.document = v.document AND r.space = :active
    )
)
LIMIT :limit;

-- name: bare
-- A document, if it has no vector any more.
SELECT d.project_id, d.id, d.source = 'stm' AS is_turn FROM documents AS d
WHERE d.rowid = :document
    AND NOT EXISTS (SELECT 1 FROM vector_places AS v WHERE v.document = d.rowid);

-- name: bare_turn
-- Note that a turn has no vector any more.
UPDATE turns SET has_embedding = 0 WHERE project_id = :project_id AND id = :id;

-- name: bare_memory
-- Note that a version of a memory has no vector any more.
UPDATE memories SET has_embedding = 0 WHERE project_id = :project_id AND id = :id;

-- name: empty_partitions
-- Partitions of outdated spaces that hold nothing any more.
SELECT id FROM partitions WHERE space NOT IN (:active, :target) AND vectors = 0;
