-- What an attempt left behind where it ran, as URIs.

CREATE TABLE t_left (
	trial INTEGER NOT NULL,
	attempt INTEGER NOT NULL,
	model TEXT,
	output TEXT,
	PRIMARY KEY (trial, attempt)
) STRICT, WITHOUT ROWID;
