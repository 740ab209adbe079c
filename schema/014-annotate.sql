-- What the user does to trials and to the study: notes and tags, new attempts of
-- trials that had ended, trials that do not count, and changes of study.json.

ALTER TABLE t_trial ADD COLUMN forgotten INTEGER NOT NULL DEFAULT 0
    CHECK (forgotten IN (0, 1));	-- no strategy, rule or result counts it
ALTER TABLE t_trial ADD COLUMN outside TEXT;	-- why the space has no such
						-- setting; NULL = it has

CREATE TABLE t_note (
	trial INTEGER PRIMARY KEY REFERENCES t_trial,
	text TEXT NOT NULL,
	time_us INTEGER NOT NULL
) STRICT;

CREATE TABLE t_tag (
	trial INTEGER NOT NULL REFERENCES t_trial,
	tag TEXT NOT NULL,
	PRIMARY KEY (trial, tag)
) STRICT, WITHOUT ROWID;

-- The end that a trial had when the user gave it another attempt.
CREATE TABLE t_retry (
	seq INTEGER PRIMARY KEY,
	trial INTEGER NOT NULL REFERENCES t_trial,
	attempt INTEGER NOT NULL,	-- its last one until then; 0 = none
	state TEXT NOT NULL CHECK (state IN ('stopped', 'failed', 'cancelled')),
	objective REAL,
	why TEXT,
	end_seq INTEGER NOT NULL,	-- as in t_trial
	time_us INTEGER NOT NULL	-- of the retry
) STRICT;

CREATE TABLE t_change (
	seq INTEGER PRIMARY KEY,
	key TEXT NOT NULL,		-- path in study.json
	old TEXT,			-- JSON; NULL = not given
	new TEXT,
	trials INTEGER NOT NULL,	-- there were when it changed
	outside INTEGER,		-- of them outside the space after it;
					-- NULL = the space did not change
	time_us INTEGER NOT NULL
) STRICT;

CREATE INDEX t_tag_tag ON t_tag (tag);
CREATE INDEX t_retry_trial ON t_retry (trial);
CREATE INDEX t_trial_forgotten ON t_trial (state) WHERE forgotten = 1;
