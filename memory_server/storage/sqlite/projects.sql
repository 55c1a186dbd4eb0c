-- name: insert
-- Store a new project.
INSERT INTO projects
    (id, name, description, enforce_identity, allow_delegation, created_at, updated_at)
VALUES
    (:id, :name, :description, :enforce_identity, :allow_delegation, :created_at, :updated_at);

-- name: namesake
-- Another project with that name.
SELECT id FROM projects WHERE name = :name AND id <> :id LIMIT 1;

-- name: find
-- One project.
SELECT * FROM projects WHERE id = :id;

-- name: list
-- All projects, the oldest first.
SELECT * FROM projects ORDER BY created_at, rowid;

-- name: update
-- Store a changed project.
UPDATE projects SET
    name = :name, description = :description, enforce_identity = :enforce_identity,
    allow_delegation = :allow_delegation, updated_at = :updated_at
WHERE id = :id;

-- name: held
-- One kind of thing that a project still holds.
SELECT CASE
    WHEN EXISTS (SELECT 1 FROM turns WHERE project_id = :id) THEN 'turns'
    WHEN EXISTS (SELECT 1 FROM memories WHERE project_id = :id) THEN 'memories'
    WHEN EXISTS (SELECT 1 FROM proposals WHERE project_id = :id) THEN 'proposals'
    WHEN EXISTS (SELECT 1 FROM snapshots WHERE project_id = :id) THEN 'snapshots'
    WHEN EXISTS (SELECT 1 FROM jobs WHERE project_id = :id AND state IN ('queued', 'running'))
        THEN 'unfinished jobs'
END;

-- name: delete
-- Remove a project.
DELETE FROM projects WHERE id = :id;

-- name: close
-- Let nothing come into a project that is removed.
INSERT INTO former_projects (id, until) VALUES (:id, 9223372036854775807)
ON CONFLICT DO UPDATE SET until = excluded.until;

-- name: reopen
-- Let only what is made from now on come into a project of an id that another one had.
UPDATE former_projects SET until = :created_at WHERE id = :id;

-- name: delete_accounts
-- Remove the service accounts of a project.
DELETE FROM accounts WHERE project_id = :id;

-- name: delete_members
-- Remove the members of a project.
DELETE FROM members WHERE project_id = :id;

-- name: delete_logins
-- Remove the logins of a project's members.
DELETE FROM logins WHERE project_id = :id;

-- name: delete_sessions
-- Remove what is known of a project's sessions.
DELETE FROM sessions WHERE project_id = :id;

-- name: delete_jobs
-- Remove what is left of a project's jobs.
DELETE FROM jobs WHERE project_id = :id;

-- name: delete_job_owners
-- Forget when a project's owners were served.
DELETE FROM job_owners WHERE project_id = :id;

-- name: delete_spending
-- Forget what a project took of models.
DELETE FROM spending WHERE project_id = :id;
