-- What callers asked for, by whom, and what became of it.

CREATE TABLE t_request (
	seq INTEGER PRIMARY KEY,
	time_us INTEGER NOT NULL,
	caller TEXT NOT NULL,
	request TEXT NOT NULL,
	trial INTEGER,
	asked TEXT,
	good INTEGER CHECK (good IN (0, 1)), -- NULL: it was only read
	answer TEXT
) STRICT;
