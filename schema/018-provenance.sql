-- Where trials were started: a row for each start of the study, and for each
-- commit that git has named since.  An attempt belongs to the last row that was
-- there when it began.

CREATE TABLE t_packages (
	id INTEGER PRIMARY KEY,
	text TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE t_provenance (
	id INTEGER PRIMARY KEY,
	since_us INTEGER NOT NULL,
	host TEXT NOT NULL,
	user TEXT NOT NULL,
	system TEXT NOT NULL,
	version TEXT NOT NULL,		-- of hpotune
	command TEXT NOT NULL,		-- JSON list
	folder TEXT NOT NULL,		-- in which the command was given
	workdir TEXT NOT NULL,		-- of which git was asked
	git_commit TEXT,
	git_branch TEXT,
	git_dirty INTEGER CHECK (git_dirty IN (0, 1)),
	git_why TEXT,			-- why something of git is not known
	packages INTEGER REFERENCES t_packages,
	packages_why TEXT		-- why the list is not there
) STRICT;
CREATE INDEX t_provenance_since ON t_provenance (since_us);
