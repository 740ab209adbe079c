-- Reports in blocks: up to 32 of one metric and one attempt, as they were recorded,
-- with rising steps.  The blocks of a metric in a trial that are not old follow each
-- other: in the order of the table they are its curve.  A row for each took three times the bytes and ten times the
-- work, of the writer and of a start.  src/store/row-block.c writes them, view
-- t_metric (schema/views.sql) has a row for each report.
--
-- steps, seqs and times say how far each is from the first (times: the least) of
-- the block: a number when each is that much more than the one before, otherwise
-- a text of digits, as many for each.

CREATE TABLE t_block (
	name_id INTEGER NOT NULL,	-- of t_name
	trial INTEGER NOT NULL,
	seq INTEGER NOT NULL,		-- of the first report
	attempt INTEGER NOT NULL,
	reports INTEGER NOT NULL CHECK (reports BETWEEN 1 AND 32),
	step INTEGER NOT NULL,		-- of the first, the least
	last_step INTEGER NOT NULL,	-- of the last, the greatest
	old INTEGER NOT NULL CHECK (old IN (0, 1)),	-- each is followed by
					-- another of its step, elsewhere
	time_us INTEGER NOT NULL,	-- the least
	last_us INTEGER NOT NULL,	-- the greatest
	steps ANY NOT NULL,
	seqs ANY NOT NULL,
	times ANY NOT NULL,
					-- values, NULL = not a number
	v0 REAL, v1 REAL, v2 REAL, v3 REAL, v4 REAL, v5 REAL, v6 REAL, v7 REAL,
	v8 REAL, v9 REAL, v10 REAL, v11 REAL, v12 REAL, v13 REAL, v14 REAL, v15 REAL,
	v16 REAL, v17 REAL, v18 REAL, v19 REAL, v20 REAL, v21 REAL, v22 REAL, v23 REAL,
	v24 REAL, v25 REAL, v26 REAL, v27 REAL, v28 REAL, v29 REAL, v30 REAL, v31 REAL,
	PRIMARY KEY (name_id, trial, old, step, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX t_block_zero ON t_block (trial) WHERE name_id = 1 AND step = 0;

CREATE TABLE t_nth (
	i INTEGER PRIMARY KEY		-- of the reports of a block, from 0
) STRICT;
INSERT INTO t_nth VALUES
    (0), (1), (2), (3), (4), (5), (6), (7), (8), (9), (10), (11),
    (12), (13), (14), (15), (16), (17), (18), (19), (20), (21), (22),
    (23), (24), (25), (26), (27), (28), (29), (30), (31);
