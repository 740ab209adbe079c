-- Rules on other metrics, by seconds or by cost.

ALTER TABLE t_stop ADD COLUMN metric TEXT;	-- that was compared; NULL = the objective
ALTER TABLE t_stop ADD COLUMN unit TEXT;	-- second or cent; NULL = step
ALTER TABLE t_stop ADD COLUMN at INTEGER;	-- of these; NULL = the step

-- What a trial had used up at a report; only where a rule compares by it.
CREATE TABLE t_spent (
	seq INTEGER PRIMARY KEY,	-- of the report in t_metric
	seconds REAL NOT NULL,
	dollars REAL NOT NULL
) STRICT;
