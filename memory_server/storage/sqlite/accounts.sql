-- name: insert
-- Store a new account unless its name is taken.
INSERT INTO accounts (
    client_id, project_id, name, role, description, secrets, ip_access_list, is_active,
    created_at, updated_at, last_used_at
) VALUES (
    :client_id, :project_id, :name, :role, :description, :secrets, :ip_access_list, :is_active,
    :created_at, :updated_at, :last_used_at
);

-- name: namesake
-- Another account with that name, or with that client id.
SELECT client_id FROM accounts
WHERE (project_id IS :project_id AND name = :name AND client_id <> :client_id)
    OR (:is_new AND client_id = :client_id)
LIMIT 1;

-- name: find
-- One account.
SELECT * FROM accounts WHERE client_id = :client_id;

-- name: list
-- The accounts of a project, or of the organization, the oldest first.
SELECT * FROM accounts WHERE project_id IS :project_id ORDER BY created_at, rowid;

-- name: stored
-- When an account was changed last.
SELECT updated_at FROM accounts WHERE client_id = :client_id AND project_id IS :project_id;

-- name: update
-- Store a changed account; that it was used meanwhile is not forgotten.
UPDATE accounts SET
    name = :name, role = :role, description = :description, secrets = :secrets,
    ip_access_list = :ip_access_list, is_active = :is_active, updated_at = :updated_at,
    last_used_at = max(coalesce(last_used_at, :last_used_at), coalesce(:last_used_at, last_used_at))
WHERE client_id = :client_id AND project_id IS :project_id;

-- name: touch
-- Note when an account was used.
UPDATE accounts SET last_used_at = max(coalesce(last_used_at, :at), :at)
WHERE client_id = :client_id;

-- name: delete
-- Remove an account.
DELETE FROM accounts WHERE client_id = :client_id;
