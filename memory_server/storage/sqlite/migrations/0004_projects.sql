-- Several projects, their people, and accounts of the organization; what is kept apart by them.

CREATE TABLE projects (
    rowid INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL UNIQUE,
    description TEXT NOT NULL,
    enforce_identity INTEGER NOT NULL,
    allow_delegation INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
);

-- What is there already stays reachable under the project that it has.
INSERT INTO projects
    (id, name, description, enforce_identity, allow_delegation, created_at, updated_at)
SELECT project_id, project_id, '', 0, 0, min(at), min(at) FROM (
    SELECT project_id, created_at AS at FROM turns
    UNION ALL SELECT project_id, last_activity FROM sessions
    UNION ALL SELECT project_id, created_at FROM memories
    UNION ALL SELECT project_id, created_at FROM accounts
) GROUP BY project_id;

CREATE TABLE members (
    rowid INTEGER PRIMARY KEY,
    project_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    role TEXT NOT NULL,
    salt TEXT NOT NULL,
    digest TEXT NOT NULL,
    is_active INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (project_id, user_id)
);
CREATE INDEX members_user ON members (user_id);

-- What a member has logged in, with the one refresh token that is good.
CREATE TABLE logins (
    rowid INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    project_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    salt TEXT NOT NULL,
    digest TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL
);
CREATE INDEX logins_member ON logins (project_id, user_id, created_at);

-- An account without a project is one of the organization.
ALTER TABLE accounts RENAME TO accounts_of_projects;
CREATE TABLE accounts (
    rowid INTEGER PRIMARY KEY,
    client_id TEXT NOT NULL UNIQUE,
    project_id TEXT,
    name TEXT NOT NULL,
    role TEXT NOT NULL,
    description TEXT NOT NULL,
    secrets TEXT NOT NULL,
    ip_access_list TEXT NOT NULL,
    is_active INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    last_used_at INTEGER
);
CREATE UNIQUE INDEX accounts_name ON accounts (coalesce(project_id, ''), name);
INSERT INTO accounts SELECT
    rowid, client_id, project_id, name, role, description, secrets, ip_access_list, is_active,
    created_at, updated_at, last_used_at
FROM accounts_of_projects;
DROP TABLE accounts_of_projects;

-- Projects that were removed. What was made before `until` does not come into a project of that
-- id any more: a write that was on its way when the project went is refused, also when there is
-- one of the same id again.
CREATE TABLE former_projects (
    id TEXT NOT NULL PRIMARY KEY,
    until INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TRIGGER turns_too_late BEFORE INSERT ON turns
WHEN EXISTS (
    SELECT 1 FROM former_projects AS f WHERE f.id = new.project_id AND new.created_at < f.until
)
BEGIN
    SELECT RAISE(ABORT, 'the project was removed meanwhile; nothing was stored');
END;

CREATE TRIGGER memories_too_late BEFORE INSERT ON memories
WHEN EXISTS (
    SELECT 1 FROM former_projects AS f WHERE f.id = new.project_id AND new.created_at < f.until
)
BEGIN
    SELECT RAISE(ABORT, 'the project was removed meanwhile; nothing was stored');
END;

CREATE TRIGGER snapshots_too_late BEFORE INSERT ON snapshots
WHEN EXISTS (
    SELECT 1 FROM former_projects AS f WHERE f.id = new.project_id AND new.created_at < f.until
)
BEGIN
    SELECT RAISE(ABORT, 'the project was removed meanwhile; nothing was stored');
END;

CREATE TRIGGER jobs_too_late BEFORE INSERT ON jobs
WHEN EXISTS (
    SELECT 1 FROM former_projects AS f WHERE f.id = new.project_id AND new.created_at < f.until
)
BEGIN
    SELECT RAISE(ABORT, 'the project was removed meanwhile; nothing was stored');
END;

CREATE TRIGGER accounts_too_late BEFORE INSERT ON accounts
WHEN EXISTS (
    SELECT 1 FROM former_projects AS f WHERE f.id = new.project_id AND new.created_at < f.until
)
BEGIN
    SELECT RAISE(ABORT, 'the project was removed meanwhile; nothing was stored');
END;

CREATE TRIGGER members_too_late BEFORE INSERT ON members
WHEN EXISTS (
    SELECT 1 FROM former_projects AS f WHERE f.id = new.project_id AND new.created_at < f.until
)
BEGIN
    SELECT RAISE(ABORT, 'the project was removed meanwhile; nothing was stored');
END;

-- A key is one user's: what another user of the session calls by the same key is another turn.
DROP INDEX turns_idempotency;
CREATE UNIQUE INDEX turns_idempotency
    ON turns (project_id, session_id, idempotency_key, user_id IS NULL, coalesce(user_id, ''))
    WHERE idempotency_key IS NOT NULL;
