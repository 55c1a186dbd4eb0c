-- What erasing leaves behind: that it happened, and, for a while, traces in the file.

-- Who was erased and when, so that what was exported before does not come back unasked. `owner`
-- stands for a user of a project, or for all of it, and names nobody.
CREATE TABLE erasures (
    owner TEXT PRIMARY KEY,
    at INTEGER NOT NULL
) WITHOUT ROWID;

-- One row while the file still holds traces of what was deleted.
CREATE TABLE traces (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    since INTEGER NOT NULL
);
