-- name: enqueue
-- Queue a job unless its key is known.
INSERT INTO jobs (
    id, project_id, kind, key, owner, queue, user_id, snapshot_id, payload, created_at, due_at,
    state, attempts, lease_owner, lease_until, progress, result, error_code, error, finished_at
) VALUES (
    :id, :project_id, :kind, :key, :owner, :queue, :user_id, :snapshot_id, :payload, :created_at,
    :due_at, :state, :attempts, :lease_owner, :lease_until, :progress, :result, :error_code,
    :error, :finished_at
) ON CONFLICT (project_id, key) DO NOTHING;

-- name: next
-- The job to hand out: due or abandoned, the oldest of its queue, of the owner served longest ago.
SELECT j.seq, j.project_id, j.owner
FROM job_owners AS o
CROSS JOIN job_queues AS q ON q.project_id = o.project_id AND q.owner = o.owner
CROSS JOIN jobs AS j ON j.seq = (
    SELECT h.seq FROM jobs AS h INDEXED BY jobs_unfinished
    WHERE h.project_id = q.project_id AND h.owner = q.owner AND h.queue = q.queue
        AND h.state IN ('queued', 'running')
    ORDER BY h.created_at, h.seq LIMIT 1
)
WHERE o.unfinished > 0
    AND j.kind IN (SELECT value FROM json_each(:kinds))
    AND CASE j.state WHEN 'queued' THEN j.due_at ELSE j.lease_until END <= :now
    AND NOT EXISTS (
        SELECT 1 FROM jobs AS r INDEXED BY jobs_running
        WHERE r.project_id = q.project_id AND r.owner = q.owner AND r.queue = q.queue
            AND r.state = 'running' AND r.seq <> j.seq AND r.lease_until > :now
    )
ORDER BY o.last_claim, j.created_at, j.seq
LIMIT 1;

-- name: claim
-- Hand a job out and count the attempt.
UPDATE jobs SET
    state = 'running', attempts = attempts + 1, lease_owner = :worker, lease_until = :lease_until
WHERE seq = :seq RETURNING *;

-- name: served
-- Note that an owner was served.
UPDATE job_owners
SET last_claim = 1 + max(0, (SELECT max(last_claim) FROM job_owners))
WHERE project_id = :project_id AND owner = :owner;

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
-- When a job can be handed out next: the oldest of its queue is due, or a lease expires.
SELECT min(due) FROM (
    SELECT lease_until AS due FROM jobs INDEXED BY jobs_running WHERE state = 'running'
    UNION ALL
    SELECT (
        SELECT h.due_at FROM jobs AS h INDEXED BY jobs_unfinished
        WHERE h.project_id = q.project_id AND h.owner = q.owner AND h.queue = q.queue
            AND h.state IN ('queued', 'running')
        ORDER BY h.created_at, h.seq LIMIT 1
    )
    FROM job_queues AS q
    WHERE NOT EXISTS (
        SELECT 1 FROM jobs AS r INDEXED BY jobs_running
        WHERE r.project_id = q.project_id AND r.owner = q.owner AND r.queue = q.queue
            AND r.state = 'running'
    )
);
