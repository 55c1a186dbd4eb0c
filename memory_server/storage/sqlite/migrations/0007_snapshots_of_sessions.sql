-- Whether a session has snapshots is asked for every session of an erasure.

CREATE INDEX snapshots_session ON snapshots (project_id, session_id);
