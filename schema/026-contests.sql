-- Contests of two settings on the same values of the parameter of replicates.

CREATE TABLE t_contest (
	contest INTEGER PRIMARY KEY CHECK (contest > 0),
	kind TEXT NOT NULL CHECK (kind IN ('confirm', 'propose')),
	verdict TEXT NOT NULL CHECK (verdict IN ('open', 'better', 'worse',
	    'not shown', 'kept', 'discarded', 'undecided')),
	challenger INTEGER,		-- setting; NULL = not begun
	baseline INTEGER,		-- setting; NULL = not begun
	metric TEXT NOT NULL,
	goal TEXT NOT NULL CHECK (goal IN ('minimize', 'maximize')),
	alpha REAL NOT NULL,
	searched INTEGER NOT NULL,	-- replicates of the search come first
	replicates INTEGER NOT NULL,	-- pairs at most, behind them
	looks INTEGER NOT NULL,		-- pairs that were looked at
	better REAL NOT NULL,		-- e-value: the challenger is better
	worse REAL NOT NULL,
	difference REAL,		-- mean; above 0: better
	least REAL,			-- better by at least so much
	opened_us INTEGER NOT NULL,
	ended_us INTEGER,
	params TEXT,			-- JSON of the challenger, until it is begun
	caller TEXT,			-- who proposed it
	why TEXT
) STRICT;

CREATE TRIGGER t_contest_stays BEFORE UPDATE ON t_contest
WHEN OLD.verdict <> 'open'
BEGIN
	SELECT RAISE(FAIL, 'a verdict stays');
END;

CREATE TRIGGER t_contest_gone BEFORE DELETE ON t_contest
BEGIN
	SELECT RAISE(FAIL, 'contests are never deleted');
END;
