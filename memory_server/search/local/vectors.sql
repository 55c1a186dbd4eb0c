-- name: place
-- What decides in which partition a document's vectors lie.
SELECT rowid, project_id, source, user_id, state FROM documents
WHERE project_id = :project_id AND id = :id;

-- name: partition
-- The partition of an owner, source and space.
SELECT id FROM partitions
WHERE project_id = :project_id AND source = :source AND space = :space AND past = :past
    AND user_id IS :user_id;

-- name: insert_partition
-- Begin a partition.
INSERT INTO partitions (project_id, source, space, past, user_id, dimension)
VALUES (:project_id, :source, :space, :past, :user_id, :dimension);

-- name: append
-- Number an appended vector.
UPDATE partitions SET changes = changes + 1, vectors = vectors + 1, tail = tail + 1
WHERE id = :partition_id RETURNING changes, tail;

-- name: insert_tail
-- Keep a vector that is not yet packed.
INSERT INTO vector_tail (partition_id, seq, document, data)
VALUES (:partition_id, :seq, :document, :data);

-- name: insert_place
-- Remember where a document's vector is.
INSERT INTO vector_places (document, space, partition_id, seq)
VALUES (:document, :space, :partition_id, :seq);

-- name: places
-- Where a document's vectors are.
SELECT v.space, v.partition_id, v.seq, p.dimension
FROM vector_places AS v JOIN partitions AS p ON p.id = v.partition_id
WHERE v.document = :document AND (:space IS NULL OR v.space = :space);

-- name: delete_place
-- Forget where a document's vector was.
DELETE FROM vector_places WHERE document = :document AND space = :space;

-- name: delete_tail
-- Remove a vector that is not yet packed.
DELETE FROM vector_tail WHERE partition_id = :partition_id AND seq = :seq;

-- name: forget_refusals
-- Forget which models could not embed a document's text.
DELETE FROM vector_refusals WHERE document = :document;

-- name: removed
-- Number a removed vector.
UPDATE partitions SET changes = changes + 1, vectors = vectors - 1, tail = tail - :tail
WHERE id = :partition_id RETURNING changes;

-- name: insert_removal
-- Tell matrices in memory of a removed vector.
INSERT INTO vector_removals (partition_id, change, seq) VALUES (:partition_id, :change, :seq);

-- name: trim_removals
-- Forget removals so old that a matrix which missed them is loaded anew.
DELETE FROM vector_removals WHERE partition_id = :partition_id AND change <= :change;

-- name: segment_of
-- The segment in which a vector lies.
SELECT id, last_seq, size, seqs, documents FROM vector_segments
WHERE partition_id = :partition_id AND last_seq >= :seq ORDER BY last_seq LIMIT 1;

-- name: segment_data
-- The whole of a segment.
SELECT id, last_seq, size, seqs, documents, data FROM vector_segments WHERE id = :id;

-- name: segment_after
-- The segment that follows another.
SELECT id, last_seq, size, seqs, documents, data FROM vector_segments
WHERE partition_id = :partition_id AND last_seq > :last_seq ORDER BY last_seq LIMIT 1;

-- name: segment_before
-- The segment that precedes another.
SELECT id, last_seq, size, seqs, documents, data FROM vector_segments
WHERE partition_id = :partition_id AND last_seq < :last_seq ORDER BY last_seq DESC LIMIT 1;

-- name: delete_segment
-- Remove a segment.
DELETE FROM vector_segments WHERE id = :id;

-- name: insert_segment
-- Keep packed vectors.
INSERT INTO vector_segments (partition_id, last_seq, size, seqs, documents, data)
VALUES (:partition_id, :last_seq, :size, :seqs, :documents, :data);

-- name: tail
-- The vectors not yet packed that were appended after a change.
SELECT seq, document, data FROM vector_tail
WHERE partition_id = :partition_id AND seq > :after ORDER BY seq;

-- name: clear_tail
-- Remove the vectors that were packed.
DELETE FROM vector_tail WHERE partition_id = :partition_id;

-- name: tail_packed
-- Note that nothing is left to pack.
UPDATE partitions SET tail = 0 WHERE id = :partition_id;

-- name: tail_vector
-- One vector that is not yet packed.
SELECT data FROM vector_tail WHERE partition_id = :partition_id AND seq = :seq;

-- name: segments
-- The packed vectors appended after a change, and some from before.
SELECT size, seqs, documents, data FROM vector_segments
WHERE partition_id = :partition_id AND last_seq > :after ORDER BY last_seq;

-- name: removals
-- The vectors removed after a change.
SELECT seq FROM vector_removals WHERE partition_id = :partition_id AND change > :after;

-- name: scanned
-- The partitions that a search has to scan.
SELECT p.id, p.dimension, p.changes, p.vectors FROM partitions AS p
WHERE p.source = :source AND p.space = :space AND p.past IN (0, :past) AND p.vectors > 0
    AND /* conditions */ 1;

-- name: empty_partitions_of
-- The partitions of an owner that hold nothing any more.
SELECT p.id FROM partitions AS p WHERE p.vectors = 0 AND /* conditions */ 1;

-- name: delete_partition_tail
-- Remove a partition's vectors that are not packed.
DELETE FROM vector_tail WHERE partition_id = :partition_id;

-- name: delete_partition_segments
-- Remove a partition's packed vectors.
DELETE FROM vector_segments WHERE partition_id = :partition_id;

-- name: delete_partition_removals
-- Remove a partition's list of removals.
DELETE FROM vector_removals WHERE partition_id = :partition_id;

-- name: delete_partition_places
-- Forget where a partition's vectors were.
DELETE FROM vector_places WHERE partition_id = :partition_id;

-- name: delete_partition
-- Remove a partition.
DELETE FROM partitions WHERE id = :partition_id;
