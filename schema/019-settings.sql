-- Replicates of several objectives, and with constraints.

ALTER TABLE t_setting ADD COLUMN violation REAL NOT NULL DEFAULT 0;

CREATE TABLE t_setting_outcome (	-- where more than one objective counts
	setting INTEGER NOT NULL,
	position INTEGER NOT NULL,	-- of t_aim
	value REAL,			-- of an objective
	mean REAL,
	error REAL,			-- standard error of the mean
	violation REAL,			-- of a constraint; at most 0: satisfied
	PRIMARY KEY (setting, position)
) STRICT, WITHOUT ROWID;
