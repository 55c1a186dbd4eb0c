-- name: add
-- Count what a project took in an hour, unless it was removed meanwhile.
INSERT INTO spending (project_id, hour, calls, input_tokens, output_tokens)
SELECT :project_id, :hour, :calls, :input_tokens, :output_tokens
WHERE NOT EXISTS (SELECT 1 FROM former_projects WHERE id = :project_id AND :at < until)
ON CONFLICT (project_id, hour) DO UPDATE SET
    calls = calls + excluded.calls,
    input_tokens = input_tokens + excluded.input_tokens,
    output_tokens = output_tokens + excluded.output_tokens;

-- name: read
-- What a project took in some hours.
SELECT sum(calls) AS calls, sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens
FROM spending WHERE project_id = :project_id AND hour >= :since AND hour < :before;

-- name: by_project
-- What each project took in some hours.
SELECT project_id, sum(calls) AS calls, sum(input_tokens) AS input_tokens,
    sum(output_tokens) AS output_tokens
FROM spending INDEXED BY spending_hours WHERE hour >= :since AND hour < :before
GROUP BY project_id ORDER BY project_id;

-- name: forget
-- Remove hours that are long ago.
DELETE FROM spending WHERE hour < :before;
