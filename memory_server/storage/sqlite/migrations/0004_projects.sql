-- Several projects, their people, and accounts of the organization.

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
