-- name: insert
-- Store a new member.
INSERT INTO members
    (project_id, user_id, role, salt, digest, is_active, created_at, updated_at)
VALUES
    (:project_id, :user_id, :role, :salt, :digest, :is_active, :created_at, :updated_at);

-- name: find
-- One member.
SELECT * FROM members WHERE project_id = :project_id AND user_id = :user_id;

-- name: named
-- The members of a user id in all projects.
SELECT * FROM members WHERE user_id = :user_id ORDER BY project_id;

-- name: list
-- The members of a project, the oldest first.
SELECT * FROM members WHERE project_id = :project_id ORDER BY created_at, rowid;

-- name: update
-- Store a changed member.
UPDATE members SET
    role = :role, salt = :salt, digest = :digest, is_active = :is_active, updated_at = :updated_at
WHERE project_id = :project_id AND user_id = :user_id;

-- name: delete
-- Remove a member.
DELETE FROM members WHERE project_id = :project_id AND user_id = :user_id;

-- name: end_all
-- Remove all logins of a member.
DELETE FROM logins WHERE project_id = :project_id AND user_id = :user_id;

-- name: make_room
-- Remove the logins of a member that are over, and the oldest beyond a number.
DELETE FROM logins WHERE project_id = :project_id AND user_id = :user_id AND (
    expires_at <= :now OR rowid NOT IN (
        SELECT rowid FROM logins WHERE project_id = :project_id AND user_id = :user_id
        ORDER BY created_at DESC, rowid DESC LIMIT :most
    )
);

-- name: begin
-- Store a login.
INSERT INTO logins (id, project_id, user_id, salt, digest, expires_at, created_at)
VALUES (:id, :project_id, :user_id, :salt, :digest, :expires_at, :created_at);

-- name: login
-- One login.
SELECT * FROM logins WHERE id = :id;

-- name: renew
-- Replace the refresh token of a login, if it is still the former one.
UPDATE logins SET salt = :salt, digest = :digest, expires_at = :expires_at
WHERE id = :id AND salt = :former_salt AND digest = :former_digest;

-- name: end
-- Remove a login.
DELETE FROM logins WHERE id = :id;
