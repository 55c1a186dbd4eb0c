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

-- name: abandon
-- Give up jobs that were handed out often enough to workers that were heard of no more.
UPDATE jobs SET
    state = 'failed', finished_at = :now, lease_owner = NULL, lease_until = NULL,
    error_code = :code, error = :reason
WHERE state = 'running' AND lease_until <= :now AND lost + 1 >= :max_attempts
    AND kind IN (SELECT value FROM json_each(:kinds));

-- name: next
-- The job to hand out: of the owner served longest ago, the one that could be had longest.
SELECT q.head AS seq, q.project_id, q.owner
FROM job_owners AS o
CROSS JOIN job_queues AS q ON q.project_id = o.project_id AND q.owner = o.owner AND q.queue = (
    SELECT h.queue FROM job_queues AS h INDEXED BY job_queues_order
    WHERE h.project_id = o.project_id AND h.owner = o.owner AND h.available_at <= :now
        AND h.kind IN (SELECT value FROM json_each(:kinds))
    ORDER BY h.available_at, h.head LIMIT 1
)
WHERE o.unfinished > 0
ORDER BY o.last_claim
LIMIT 1;

-- name: claim
-- Hand a job out and count the attempt.
UPDATE jobs SET
    state = 'running', attempts = attempts + 1, lease_owner = :worker, lease_until = :lease_until,
    lost = CASE state WHEN 'running' THEN lost + 1 ELSE 0 END
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

-- name: end_leases
-- Let what a process before us was working on be claimed at once.
UPDATE jobs SET lease_until = :now
WHERE state = 'running' AND lease_until > :now;

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

-- name: defer
-- Put back a job that is still the worker's and was not tried.
UPDATE jobs SET
    state = 'queued', due_at = :due_at, attempts = attempts - 1, lease_owner = NULL,
    lease_until = NULL, error_code = :code, error = :reason
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

-- name: requeue_failed
-- Queue every failed job of a project again.
UPDATE jobs SET
    state = 'queued', attempts = 0, due_at = :due_at, finished_at = NULL,
    error_code = NULL, error = NULL
WHERE project_id = :project_id AND state = 'failed';

-- name: list
-- Jobs of a project, or of a user of it, the newest first.
SELECT * FROM jobs
WHERE project_id = :project_id AND (:user_id IS NULL OR user_id = :user_id)
ORDER BY created_at DESC, seq DESC LIMIT :limit;

-- name: list_of_state
-- Jobs of a project, or of a user of it, that stand somewhere, the newest first.
SELECT * FROM jobs
WHERE project_id = :project_id AND state = :state AND (:user_id IS NULL OR user_id = :user_id)
ORDER BY created_at DESC, seq DESC LIMIT :limit;

-- name: counts
-- How many jobs stand where, and since when the oldest of them.
SELECT c.state, sum(c.jobs) AS jobs, min((
    SELECT min(j.created_at) FROM jobs AS j INDEXED BY jobs_states
    WHERE j.project_id = c.project_id AND j.state = c.state
)) AS oldest
FROM job_counts AS c
WHERE :project_id IS NULL OR c.project_id = :project_id
GROUP BY c.state;

-- name: next_due
-- When a job can be handed out next.
SELECT min(available_at) FROM job_queues;
