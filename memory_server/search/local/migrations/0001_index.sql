-- The index over turns and memories: what can be found, by words and by vectors.
-- It holds nothing that the records do not hold, and lives in their transactions.

-- One searchable version of a memory, or one turn. `state`: 0 live, 1 past, 2 hidden.
-- Rowids are never given twice: cached matrices name documents by them.
CREATE TABLE documents (
    rowid INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    source TEXT NOT NULL,
    user_id TEXT,
    agent_id TEXT,
    session_id TEXT,
    visibility TEXT NOT NULL,
    state INTEGER NOT NULL,
    position INTEGER,
    valid_from INTEGER,
    valid_to INTEGER,
    fields TEXT NOT NULL
);
CREATE UNIQUE INDEX documents_id ON documents (project_id, id);
CREATE INDEX documents_owner ON documents (project_id, source, user_id, state);
CREATE INDEX documents_session ON documents (project_id, session_id, position);

-- How many documents there are: counting them takes long.
CREATE TABLE document_counts (
    project_id TEXT PRIMARY KEY,
    documents INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TRIGGER documents_added AFTER INSERT ON documents
BEGIN
    INSERT INTO document_counts (project_id, documents) VALUES (new.project_id, 1)
    ON CONFLICT DO UPDATE SET documents = documents + 1;
END;

CREATE TRIGGER documents_removed AFTER DELETE ON documents
BEGIN
    UPDATE document_counts SET documents = documents - 1 WHERE project_id = old.project_id;
    DELETE FROM document_counts WHERE project_id = old.project_id AND documents = 0;
END;

-- The words of each document, under its rowid. `scope` holds digits that stand for owners.
CREATE VIRTUAL TABLE words USING fts5 (
    scope, body, neighbours, tokenize = 'porter unicode61 remove_diacritics 2'
);

-- The vectors of one owner, source and space that are scanned together. `past` keeps the
-- versions that only a search as of a past moment may find apart from the live ones.
-- `changes` numbers every append and every removal, in order. No `user_id`: nobody's.
CREATE TABLE partitions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    project_id TEXT NOT NULL,
    source TEXT NOT NULL,
    space TEXT NOT NULL,
    past INTEGER NOT NULL,
    user_id TEXT,
    dimension INTEGER NOT NULL,
    changes INTEGER NOT NULL DEFAULT 0,
    vectors INTEGER NOT NULL DEFAULT 0,
    tail INTEGER NOT NULL DEFAULT 0,
    UNIQUE (project_id, source, space, past, user_id)
);
CREATE UNIQUE INDEX partitions_of_nobody ON partitions (project_id, source, space, past)
    WHERE user_id IS NULL;

-- How many vectors of each space there are.
CREATE TABLE vector_counts (
    project_id TEXT NOT NULL,
    space TEXT NOT NULL,
    vectors INTEGER NOT NULL,
    PRIMARY KEY (project_id, space)
) WITHOUT ROWID;

CREATE TRIGGER partitions_grown AFTER UPDATE OF vectors ON partitions
BEGIN
    INSERT INTO vector_counts (project_id, space, vectors)
    VALUES (new.project_id, new.space, new.vectors - old.vectors)
    ON CONFLICT DO UPDATE SET vectors = vectors + excluded.vectors;
    DELETE FROM vector_counts
    WHERE project_id = new.project_id AND space = new.space AND vectors = 0;
END;

CREATE TRIGGER partitions_removed AFTER DELETE ON partitions
BEGIN
    UPDATE vector_counts SET vectors = vectors - old.vectors
    WHERE project_id = old.project_id AND space = old.space;
    DELETE FROM vector_counts
    WHERE project_id = old.project_id AND space = old.space AND vectors = 0;
END;

-- Vectors not yet packed, one a row. `seq` is the change that appended it.
CREATE TABLE vector_tail (
    partition_id INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    document INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (partition_id, seq)
);

-- Packed vectors in the order of `seq`: three arrays of equal length. Document 0: removed.
CREATE TABLE vector_segments (
    id INTEGER PRIMARY KEY,
    partition_id INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    size INTEGER NOT NULL,
    seqs BLOB NOT NULL,
    documents BLOB NOT NULL,
    data BLOB NOT NULL,
    UNIQUE (partition_id, last_seq)
);

-- The latest removals, for matrices that were loaded before them.
CREATE TABLE vector_removals (
    partition_id INTEGER NOT NULL,
    change INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (partition_id, change)
) WITHOUT ROWID;

-- Where each document's vector of a space is.
CREATE TABLE vector_places (
    document INTEGER NOT NULL,
    space TEXT NOT NULL,
    partition_id INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (document, space)
) WITHOUT ROWID;
CREATE INDEX vector_places_partition ON vector_places (partition_id);
