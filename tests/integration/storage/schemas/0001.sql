BEGIN;
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
CREATE TABLE document_counts (
    project_id TEXT PRIMARY KEY,
    documents INTEGER NOT NULL
) WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5 (
    scope, body, neighbours, tokenize = 'porter unicode61 remove_diacritics 2'
);
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
CREATE TABLE vector_counts (
    project_id TEXT NOT NULL,
    space TEXT NOT NULL,
    vectors INTEGER NOT NULL,
    PRIMARY KEY (project_id, space)
) WITHOUT ROWID;
CREATE TABLE vector_tail (
    partition_id INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    document INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (partition_id, seq)
);
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
CREATE TABLE vector_removals (
    partition_id INTEGER NOT NULL,
    change INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (partition_id, change)
) WITHOUT ROWID;
CREATE TABLE vector_places (
    document INTEGER NOT NULL,
    space TEXT NOT NULL,
    partition_id INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (document, space)
) WITHOUT ROWID;
INSERT INTO documents (agent_id, fields, id, position, project_id, rowid, session_id, source, state, user_id, valid_from, valid_to, visibility) VALUES (NULL, '{"metadata": {}, "session_id": "monday", "role": "user"}', 'turn-0', 1, 'shop', 1, 'monday', 'stm', 0, 'ana', NULL, NULL, 'private');
INSERT INTO documents (agent_id, fields, id, position, project_id, rowid, session_id, source, state, user_id, valid_from, valid_to, visibility) VALUES (NULL, '{"metadata": {}, "session_id": "monday", "role": "user"}', 'turn-1', 2, 'shop', 2, 'monday', 'stm', 0, 'ana', NULL, NULL, 'private');
INSERT INTO documents (agent_id, fields, id, position, project_id, rowid, session_id, source, state, user_id, valid_from, valid_to, visibility) VALUES (NULL, '{"metadata": {}, "session_id": "monday", "role": "user"}', 'turn-2', 3, 'shop', 3, 'monday', 'stm', 0, 'ana', NULL, NULL, 'private');
INSERT INTO documents (agent_id, fields, id, position, project_id, rowid, session_id, source, state, user_id, valid_from, valid_to, visibility) VALUES (NULL, '{"metadata": {}}', 'home', NULL, 'shop', 4, NULL, 'semantic', 0, 'ana', 1769864400000000, NULL, 'private');
INSERT INTO documents (agent_id, fields, id, position, project_id, rowid, session_id, source, state, user_id, valid_from, valid_to, visibility) VALUES (NULL, '{"metadata": {}}', 'home-before', NULL, 'shop', 5, NULL, 'semantic', 1, 'ana', 1769860800000000, 1769864400000000, 'private');
INSERT INTO documents (agent_id, fields, id, position, project_id, rowid, session_id, source, state, user_id, valid_from, valid_to, visibility) VALUES (NULL, '{"metadata": {}, "tags": []}', 'move', NULL, 'shop', 6, NULL, 'episodic', 0, 'ana', 1769860800000000, NULL, 'private');
INSERT INTO documents (agent_id, fields, id, position, project_id, rowid, session_id, source, state, user_id, valid_from, valid_to, visibility) VALUES (NULL, '{"metadata": {}, "tags": {}}', 'pump', NULL, 'shop', 7, NULL, 'custom.ticket', 0, 'ana', 1769860800000000, NULL, 'private');
INSERT INTO document_counts (documents, project_id) VALUES (7, 'shop');
INSERT INTO words (body, neighbours, scope, rowid) VALUES ('user: I moved to Lisbon', 'user: The weather is fine
user: And yours?', '14354661516070522192 5096368687028116071 12913087625182141328', 1);
INSERT INTO words (body, neighbours, scope, rowid) VALUES ('user: The weather is fine', 'user: I moved to Lisbon', '14354661516070522192 5096368687028116071 12913087625182141328', 2);
INSERT INTO words (body, neighbours, scope, rowid) VALUES ('user: And yours?', 'user: I moved to Lisbon
user: The weather is fine', '14354661516070522192 5096368687028116071 12913087625182141328', 3);
INSERT INTO words (body, neighbours, scope, rowid) VALUES ('home city. Ana lives in Lisbon', '', '0 14248074790304135952 1961580945299926495 0 12277099020517083119 10323189392253821436', 4);
INSERT INTO words (body, neighbours, scope, rowid) VALUES ('home city. Ana lives in Porto', '', '0 0 0 0 12277099020517083119 10323189392253821436', 5);
INSERT INTO words (body, neighbours, scope, rowid) VALUES ('Moving
Ana moved to Lisbon', '', '0 5422859833825157294 16196712855624234879 0 15601558009535435691 13308125885399018897', 6);
INSERT INTO words (body, neighbours, scope, rowid) VALUES ('The Lisbon pump leaks', '', '0 5579214022612779481 15600030163493678066 0 10879498780853077998 7724509634473311209', 7);
INSERT INTO partitions (changes, dimension, id, past, project_id, source, space, tail, user_id, vectors) VALUES (3, 4, 1, 0, 'shop', 'stm', 'toy@4', 3, 'ana', 3);
INSERT INTO partitions (changes, dimension, id, past, project_id, source, space, tail, user_id, vectors) VALUES (3, 4, 2, 0, 'shop', 'semantic', 'toy@4', 1, 'ana', 1);
INSERT INTO partitions (changes, dimension, id, past, project_id, source, space, tail, user_id, vectors) VALUES (1, 4, 3, 1, 'shop', 'semantic', 'toy@4', 1, 'ana', 1);
INSERT INTO partitions (changes, dimension, id, past, project_id, source, space, tail, user_id, vectors) VALUES (1, 4, 4, 0, 'shop', 'episodic', 'toy@4', 1, 'ana', 1);
INSERT INTO partitions (changes, dimension, id, past, project_id, source, space, tail, user_id, vectors) VALUES (1, 4, 5, 0, 'shop', 'custom.ticket', 'toy@4', 1, 'ana', 1);
INSERT INTO vector_counts (project_id, space, vectors) VALUES ('shop', 'toy@4', 7);
INSERT INTO vector_tail (data, document, partition_id, seq) VALUES (X'0000803F000000000000000000000000', 1, 1, 1);
INSERT INTO vector_tail (data, document, partition_id, seq) VALUES (X'F304353FF304353F0000000000000000', 2, 1, 2);
INSERT INTO vector_tail (data, document, partition_id, seq) VALUES (X'2EF9E43E2EF9643F0000000000000000', 3, 1, 3);
INSERT INTO vector_tail (data, document, partition_id, seq) VALUES (X'000000000000803F0000000000000000', 5, 3, 1);
INSERT INTO vector_tail (data, document, partition_id, seq) VALUES (X'000000000000803F0000000000000000', 4, 2, 3);
INSERT INTO vector_tail (data, document, partition_id, seq) VALUES (X'00000000000000000000803F00000000', 6, 4, 1);
INSERT INTO vector_tail (data, document, partition_id, seq) VALUES (X'00000000000000000000803F00000000', 7, 5, 1);
INSERT INTO vector_removals (change, partition_id, seq) VALUES (2, 2, 1);
INSERT INTO vector_places (document, partition_id, seq, space) VALUES (1, 1, 1, 'toy@4');
INSERT INTO vector_places (document, partition_id, seq, space) VALUES (2, 1, 2, 'toy@4');
INSERT INTO vector_places (document, partition_id, seq, space) VALUES (3, 1, 3, 'toy@4');
INSERT INTO vector_places (document, partition_id, seq, space) VALUES (4, 2, 3, 'toy@4');
INSERT INTO vector_places (document, partition_id, seq, space) VALUES (5, 3, 1, 'toy@4');
INSERT INTO vector_places (document, partition_id, seq, space) VALUES (6, 4, 1, 'toy@4');
INSERT INTO vector_places (document, partition_id, seq, space) VALUES (7, 5, 1, 'toy@4');
CREATE UNIQUE INDEX documents_id ON documents (project_id, id);
CREATE INDEX documents_owner ON documents (project_id, source, user_id, state);
CREATE INDEX documents_session ON documents (project_id, session_id, position);
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
CREATE UNIQUE INDEX partitions_of_nobody ON partitions (project_id, source, space, past)
    WHERE user_id IS NULL;
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
CREATE INDEX vector_places_partition ON vector_places (partition_id);
UPDATE sqlite_sequence SET seq = 7 WHERE name = 'documents';
UPDATE sqlite_sequence SET seq = 2 WHERE name = 'jobs';
UPDATE sqlite_sequence SET seq = 5 WHERE name = 'partitions';
PRAGMA user_version = 1;
COMMIT;
