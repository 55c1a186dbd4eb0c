-- What the index file knows of the database that it mirrors. Never migrated: another version of
-- this file makes another name of the index file, and the index is loaded anew.

-- `token`: the place in the stream of changes up to which all is indexed. While everything is
-- loaded, `stage` is the number of the collection and `after` the last id of it that is indexed;
-- after the last collection, what is gone is removed. `complete`: all was loaded once. `traces`:
-- words of what was taken out may still be in the file.
CREATE TABLE mirror (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    token BLOB,
    stage INTEGER,
    after TEXT,
    loaded INTEGER NOT NULL,
    complete INTEGER NOT NULL,
    reason TEXT,
    begun_at INTEGER,
    traces INTEGER NOT NULL
);
INSERT INTO mirror (id, loaded, complete, traces) VALUES (1, 0, 0, 0);

-- Up to which turn each session is promoted.
CREATE TABLE promoted (
    project_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    promoted_seq INTEGER NOT NULL,
    PRIMARY KEY (project_id, session_id)
) WITHOUT ROWID;

-- The store in one file keeps here what no model could embed; a mirror asks no model.
CREATE TABLE IF NOT EXISTS vector_refusals (document INTEGER NOT NULL, space TEXT NOT NULL);
