-- The process that asked for an attempt of ask and tell, where that is known: when
-- it has ended, and it is watched, the attempt is lost.

CREATE TABLE t_asker (
	trial INTEGER NOT NULL,
	attempt INTEGER NOT NULL,
	host TEXT NOT NULL,
	pid INTEGER NOT NULL,
	mark TEXT NOT NULL,		-- boot, namespace of the pid, start
	watched INTEGER NOT NULL CHECK (watched IN (0, 1)),
	PRIMARY KEY (trial, attempt)
) STRICT, WITHOUT ROWID;
CREATE INDEX t_asker_pid ON t_asker (pid) WHERE watched = 1;
