-- Whose vectors answer, and whose are being made: what makes the models again, as JSON, no keys.

CREATE TABLE spaces (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    active TEXT,
    target TEXT,
    revision INTEGER NOT NULL,
    changed_at INTEGER
);
INSERT INTO spaces (id, revision) VALUES (1, 0);

-- Texts that the model of a space cannot embed.
CREATE TABLE vector_refusals (
    document INTEGER NOT NULL,
    space TEXT NOT NULL,
    PRIMARY KEY (document, space)
) WITHOUT ROWID;
CREATE INDEX vector_refusals_space ON vector_refusals (space);

CREATE TRIGGER documents_gone AFTER DELETE ON documents
BEGIN
    DELETE FROM vector_refusals WHERE document = old.rowid;
END;
