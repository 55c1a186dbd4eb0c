-- name: enqueue
-- Queue a job unless its key is known.
INSERT INTO jobs (
    id, project_id, kind, key, type, user_id, snapshot_id, payload, created_at, due_at, state,
    attempts, lease_owner, lease_until, progress, result, error_code, error, finished_at
) VALUES (
    :id, :project_id, :kind, :key, :type, :user_id, :snapshot_id, :payload, :created_at, :due_at,
    :state, :attempts, :lease_owner, :lease_until, :progress, :result, :error_code, :error,
    :finished_at
) ON CONFLICT (project_id, key) DO NOTHING;

-- name: next
-- The job to hand out: due or abandoned, the first of its queue, of the user served longest ago.
SELECT j.seq, j.project_id, coalesce(j.user_id, '') AS user_id
FROM jobs AS j LEFT JOIN job_users AS u
    ON u.project_id = j.project_id AND u.user_id = coalesce(j.user_id, '')
WHERE j.state IN ('queued', 'running')
    AND j.kind IN (SELECT value FROM json_each(:kinds))
    AND CASE j.state WHEN 'queued' THEN j.due_at ELSE j.lease_until END <= :now
    AND (j.user_id IS NULL OR NOT EXISTS (
        SELECT 1 FROM jobs AS o
        WHERE o.project_id = j.project_id AND o.user_id = j.user_id AND o.type = j.type
            AND o.state IN ('queued', 'running') AND o.seq <> j.seq
            AND ((o.created_at, o.seq) < (j.created_at, j.seq)
                OR (o.state = 'running' AND o.lease_until > :now))
    ))
ORDER BY coalesce(u.last_claim, 0), j.created_at, j.seq
LIMIT 1;

-- name: claim
-- Hand a job out and count the attempt.
UPDATE jobs SET
    state = 'running', attempts = attempts + 1, lease_owner = :worker, lease_until = :lease_until
WHERE seq = :seq RETURNING *;

-- name: served
-- Note that a user was served.
INSERT INTO job_users (project_id, user_id, last_claim)
VALUES (:project_id, :user_id, 1 + coalesce((SELECT max(last_claim) FROM job_users), 0))
ON CONFLICT (project_id, user_id) DO UPDATE SET last_claim = excluded.last_claim;

-- name: extend
-- Prolong the lease of a job that is still the worker's.
UPDATE jobs SET lease_until = :lease_until
WHERE project_id = :project_id AND id = :id AND state = 'running'
    AND lease_owner = :lease_owner AND attempts = :attempts;

-- name: save_progress
-- Keep the progress of a job that is still the worker's.
UPDATE jobs SET progress = :progress
WHERE project_id = :project_id AND id = :id AND state = 'running'
    AND lease_owner = :lease_owner AND attempts = :attempts;

-- name: complete
-- Settle as done a job that is still the worker's.
UPDATE jobs SET
    state = 'done', result = :result, finished_at = :now, lease_owner = NULL, lease_until = NULL,
    error_code = NULL, error = NULL
WHERE project_id = :project_id AND id = :id AND state = 'running'
    AND lease_owner = :lease_owner AND attempts = :attempts;

-- name: retry
-- Put back a job that is still the worker's.
UPDATE jobs SET
    state = 'queued', due_at = :due_at, lease_owner = NULL, lease_until = NULL,
    error_code = :code, error = :reason
WHERE project_id = :project_id AND id = :id AND state = 'running'
    AND lease_owner = :lease_owner AND attempts = :attempts;

-- name: fail
-- Settle as failed a job that is still the worker's.
UPDATE jobs SET
    state = 'failed', finished_at = :now, lease_owner = NULL, lease_until = NULL,
    error_code = :code, error = :reason
WHERE project_id = :project_id AND id = :id AND state = 'running'
    AND lease_owner = :lease_owner AND attempts = :attempts;

-- name: requeue
-- Queue a failed job again.
UPDATE jobs SET
    state = 'queued', attempts = 0, due_at = :due_at, finished_at = NULL,
    error_code = NULL, error = NULL
WHERE project_id = :project_id AND id = :id AND state = 'failed' RETURNING *;

-- name: list
-- Jobs of a project, the newest first.
SELECT * FROM jobs
WHERE project_id = :project_id AND (:state IS NULL OR state = :state)
ORDER BY created_at DESC, seq DESC LIMIT :limit;

-- name: counts
-- How many jobs stand where.
SELECT state, count(*) AS jobs, min(created_at) AS oldest FROM jobs
WHERE :project_id IS NULL OR project_id = :project_id
GROUP BY state;

-- name: next_due
-- When the next job can be handed out: the first of its queue is due, or its lease expires.
SELECT min(CASE j.state WHEN 'queued' THEN j.due_at ELSE j.lease_until END)
FROM jobs AS j
WHERE j.state IN ('queued', 'running')
    AND (j.user_id IS NULL OR j.state = 'running' OR NOT EXISTS (
        SELECT 1 FROM jobs AS o
        WHERE o.project_id = j.project_id AND o.user_id = j.user_id AND o.type = j.type
            AND o.state IN ('queued', 'running') AND o.seq <> j.seq
            AND ((o.created_at, o.seq) < (j.created_at, j.seq) OR o.state = 'running')
    ));
