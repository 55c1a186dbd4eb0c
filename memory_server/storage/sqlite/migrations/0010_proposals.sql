-- Candidates that wait until somebody decides whether they are remembered, and what was decided.
-- No search reads here.

CREATE TABLE proposals (
    rowid INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    user_id TEXT,
    snapshot_id TEXT NOT NULL,
    key TEXT NOT NULL,
    type TEXT NOT NULL,
    state TEXT NOT NULL,
    action TEXT,
    revision INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    document TEXT NOT NULL,
    UNIQUE (project_id, id),
    UNIQUE (project_id, key)
);
CREATE INDEX proposals_states ON proposals (project_id, state, created_at, id);
CREATE INDEX proposals_order ON proposals (project_id, created_at, id);
CREATE INDEX proposals_owner ON proposals (project_id, user_id, created_at, id);
CREATE INDEX proposals_waiting ON proposals (project_id, snapshot_id) WHERE state = 'pending';

CREATE TRIGGER proposals_too_late BEFORE INSERT ON proposals
WHEN EXISTS (
    SELECT 1 FROM former_projects AS f WHERE f.id = new.project_id AND new.created_at < f.until
)
BEGIN
    SELECT RAISE(ABORT, 'the project was removed meanwhile; nothing was stored');
END;
