-- The reports of the objective of each ended trial in one value, so that a start
-- need not read them one by one.  A copy of t_metric: what it does not have, or has
-- of another end of the trial, is read there.

CREATE TABLE t_curve (
	trial INTEGER PRIMARY KEY REFERENCES t_trial,
	end_seq INTEGER NOT NULL,	-- as in t_trial when it was written
	reports BLOB NOT NULL		-- src/store/row-curve.c
) STRICT;
