-- What searching needs beyond one objective.

-- Where each setting came from.
CREATE TABLE t_suggestion (
	trial INTEGER PRIMARY KEY REFERENCES t_trial,
	strategy TEXT NOT NULL,
	made_by TEXT NOT NULL,		-- kernels that worked: cpu, cuda, …
	seconds REAL NOT NULL,		-- that the answer took
	redraws INTEGER NOT NULL,	-- answers before it that were known
	same_as INTEGER,		-- trial of the same setting before it
	from_trial INTEGER		-- whose checkpoint it continues
) STRICT;

-- Finished trials of other studies (warm_start), taken at the first start.
CREATE TABLE t_warm (
	id INTEGER PRIMARY KEY,		-- the oldest first
	source TEXT NOT NULL,		-- database, as in study.json
	trial INTEGER NOT NULL,		-- its number there
	state TEXT NOT NULL CHECK (state IN ('completed', 'stopped', 'failed')),
	objective REAL,			-- as this study counts it
	step INTEGER,			-- last one; NULL = none
	value REAL,			-- reported there
	params TEXT NOT NULL,		-- JSON, in the space of this study
	metrics TEXT			-- JSON: last reports of all objectives and
					-- constraints; NULL = one objective
) STRICT;

-- Trials that a rule has paused, and may take up again.
ALTER TABLE t_trial ADD COLUMN paused_step INTEGER;	-- judged at; NULL = no
-- 1: what stopped was a pause, what kept was its end.
ALTER TABLE t_stop ADD COLUMN pause INTEGER NOT NULL DEFAULT 0
    CHECK (pause IN (0, 1));

-- What a study is after: its objectives in their order, then its constraints.
CREATE TABLE t_aim (
	position INTEGER PRIMARY KEY,	-- from 1
	metric TEXT NOT NULL,
	goal TEXT CHECK (goal IN ('maximize', 'minimize')),	-- NULL = constraint
	least REAL,			-- of a constraint; NULL = no bound
	most REAL
) STRICT;
INSERT INTO t_aim (position, metric, goal) SELECT 1, metric, goal FROM t_study;

-- What each trial came to in every aim, written when it ends; none where the
-- objective is the only one.
CREATE TABLE t_outcome (
	trial INTEGER NOT NULL,
	position INTEGER NOT NULL,	-- of t_aim
	value REAL,			-- NULL = none
	violation REAL,			-- of a constraint: above 0 = broken
	PRIMARY KEY (trial, position)
) STRICT, WITHOUT ROWID;

-- The sum of what it breaks; infinite when it completed and never reported one.
ALTER TABLE t_trial ADD COLUMN violation REAL NOT NULL DEFAULT 0;
DROP INDEX t_trial_completed;
CREATE INDEX t_trial_completed ON t_trial (objective)
    WHERE state = 'completed' AND violation = 0;
CREATE INDEX t_trial_violated ON t_trial (violation, objective)
    WHERE state = 'completed' AND violation > 0;

-- Trials that no other one dominated when they ended.
CREATE TABLE t_front (
	trial INTEGER PRIMARY KEY REFERENCES t_trial,
	inside INTEGER NOT NULL CHECK (inside IN (0, 1)),	-- still
	better INTEGER NOT NULL CHECK (better IN (0, 1))	-- than all equals
) STRICT;
CREATE INDEX t_front_inside ON t_front (trial) WHERE inside = 1;

-- Trials that continue others: segments of the members of a population.

ALTER TABLE t_trial ADD COLUMN from_trial INTEGER;	-- whose checkpoint
ALTER TABLE t_trial ADD COLUMN member INTEGER;	-- from 1; NULL = of none
ALTER TABLE t_trial ADD COLUMN until_step INTEGER;	-- that completes it
