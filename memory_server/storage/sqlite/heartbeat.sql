-- name: beat
-- Write the one row.
INSERT INTO heartbeat (id, at) VALUES (1, :at) ON CONFLICT DO UPDATE SET at = :at;
