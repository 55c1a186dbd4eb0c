-- What projects have taken of models: calls and tokens by the clock hour.

CREATE TABLE spending (
    project_id TEXT NOT NULL,
    hour INTEGER NOT NULL,
    calls INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    PRIMARY KEY (project_id, hour)
) WITHOUT ROWID;

CREATE INDEX spending_hours ON spending (hour);
