-- Second looks: trials that a rule had stopped, and that were resumed.  They are
-- rows of t_stop with these columns; all other rows have none.

ALTER TABLE t_stop ADD COLUMN rank INTEGER;	-- trials that were better there
ALTER TABLE t_stop ADD COLUMN hindsight REAL;	-- share of the best that are lost
ALTER TABLE t_stop ADD COLUMN budget INTEGER;	-- steps, of the study
ALTER TABLE t_stop ADD COLUMN price INTEGER;	-- steps, of this look
ALTER TABLE t_stop ADD COLUMN spent INTEGER;	-- steps, before it
ALTER TABLE t_stop ADD COLUMN end_seq INTEGER;	-- of the end that it undid
CREATE UNIQUE INDEX t_stop_look ON t_stop (trial) WHERE rank IS NOT NULL;
