-- name: find
-- What is known of a document already.
SELECT d.rowid AS rowid, d.state, d.user_id, w.scope, w.body
FROM documents AS d JOIN words AS w ON w.rowid = d.rowid
WHERE d.project_id = :project_id AND d.id = :id;

-- name: insert
-- Make a document findable.
INSERT INTO documents (
    id, project_id, source, user_id, agent_id, session_id, visibility, state, position,
    valid_from, valid_to, fields
) VALUES (
    :id, :project_id, :source, :user_id, :agent_id, :session_id, :visibility, :state, :position,
    :valid_from, :valid_to, :fields
);

-- name: update
-- Bring a document to its new state.
UPDATE documents SET
    user_id = :user_id, agent_id = :agent_id, session_id = :session_id,
    visibility = :visibility, state = :state, position = :position, valid_from = :valid_from,
    valid_to = :valid_to, fields = :fields
WHERE rowid = :rowid;

-- name: delete
-- Take documents out.
DELETE FROM documents WHERE rowid IN (SELECT value FROM json_each(:rowids));

-- name: insert_words
-- Index the words of a new document.
INSERT INTO words (rowid, scope, body, neighbours) VALUES (:rowid, :scope, :body, :neighbours);

-- name: update_words
-- Index a document's words anew, leaving those of its neighbours.
UPDATE words SET scope = :scope, body = :body WHERE rowid = :rowid;

-- name: delete_words
-- Forget the words of documents.
DELETE FROM words WHERE rowid IN (SELECT value FROM json_each(:rowids));

-- name: merge_words
-- Make one segment of the index, without anything that was deleted.
INSERT INTO words (words) VALUES ('optimize');

-- name: update_neighbours
-- Index what was said around a turn.
UPDATE words SET neighbours = :neighbours WHERE rowid = :rowid;

-- name: around
-- The words of the turns around a position of a session, of the same user. Those after it once the
-- session has gone on beyond them, or when they are settled. Of exchanges, from one viewpoint, and
-- as they are now.
SELECT d.position, w.body
FROM documents AS d JOIN words AS w ON w.rowid = d.rowid
WHERE d.project_id = :project_id AND d.session_id = :session_id AND d.source = :source
    AND d.user_id IS :user_id AND json_extract(d.fields, '$.viewpoint') IS :viewpoint
    AND d.state = 0
    AND d.position BETWEEN :position - :reach AND :position + :reach
    AND d.position <> :position
    AND (d.position < :position OR d.position <= :settled OR EXISTS (
        SELECT 1 FROM documents AS l
        WHERE l.project_id = :project_id AND l.session_id = :session_id AND l.source = :source
            AND l.position >= :position + :reach
    ))
ORDER BY d.position;

-- name: neighbours
-- What is indexed as said around a turn.
SELECT neighbours FROM words WHERE rowid = :rowid;

-- name: turns_at
-- The turns of a session, or the blocks of a conversation, between two positions.
SELECT
    rowid, project_id, source, session_id, user_id, position,
    json_extract(fields, '$.viewpoint') AS viewpoint
FROM documents
WHERE project_id = :project_id AND session_id = :session_id AND source = :source
    AND position BETWEEN :first AND :last;

-- name: search_words
-- The documents that hold any of the words, best first. CROSS: the words come first.
SELECT d.id AS id, -bm25(words, 0.0, 1.0, 0.3) AS score
FROM words CROSS JOIN documents AS d ON d.rowid = words.rowid
WHERE words MATCH :match AND /* conditions */ 1
ORDER BY score DESC, d.id
LIMIT :limit;

-- name: allowed
-- The documents that a search may find.
SELECT d.rowid FROM documents AS d WHERE /* conditions */ 1 ORDER BY d.rowid;

-- name: ids
-- The ids of documents that a search found and may find. Looked up one by one: as a condition among
-- others, the rowids lose to an owner's index, and all that the owner has is read.
SELECT d.rowid AS rowid, d.id AS id
FROM json_each(:found) AS f CROSS JOIN documents AS d ON d.rowid = f.value
WHERE /* conditions */ 1;

-- name: sizes
-- How much is indexed.
SELECT
    (SELECT coalesce(sum(documents), 0) FROM document_counts) AS documents,
    (SELECT coalesce(sum(vectors), 0) FROM vector_counts) AS vectors,
    (SELECT count(DISTINCT space) FROM vector_counts) AS spaces;
