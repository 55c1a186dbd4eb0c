-- Memories of one key are found by owner: a label, a term, a declared type may be everybody's.

DROP INDEX memories_key;
CREATE INDEX memories_key ON memories (project_id, type, key, user_id, updated_at);
