-- Replicates: each setting is tried once for each value of a parameter.

ALTER TABLE t_trial ADD COLUMN setting INTEGER;	-- from 1; NULL = no replicates
ALTER TABLE t_trial ADD COLUMN replicate INTEGER;	-- of it, from 1
CREATE INDEX t_trial_setting ON t_trial (setting, replicate)
WHERE setting IS NOT NULL;

CREATE TABLE t_setting (
	setting INTEGER PRIMARY KEY,
	state TEXT NOT NULL CHECK (state IN ('open', 'behind', 'completed',
	    'stopped', 'failed', 'cancelled', 'forgotten')),
	completed INTEGER NOT NULL,	-- replicates
	value REAL,			-- of the completed ones
	mean REAL,
	error REAL,			-- standard error of the mean
	trial INTEGER,			-- its first one that is completed
	params TEXT NOT NULL		-- JSON, without that of replicates
) STRICT;
