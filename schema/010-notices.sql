-- Messages about the study, one row for each channel that sends them.  mark: the
-- progress of the study at the last message, so that none is sent twice.

CREATE TABLE t_notice (
	id INTEGER PRIMARY KEY,
	uuid TEXT NOT NULL,		-- in every copy of the message
	channel TEXT NOT NULL CHECK (channel IN ('sns', 'eventbridge')),
	moment TEXT NOT NULL CHECK (moment IN
	    ('finished', 'failed', 'waiting', 'interrupted')),
	mark TEXT NOT NULL,
	text TEXT NOT NULL,		-- for people
	detail TEXT NOT NULL,		-- the same as JSON
	time_us INTEGER NOT NULL,
	sent_us INTEGER,		-- NULL = due
	why TEXT			-- the last try failed
) STRICT;
CREATE INDEX t_notice_due ON t_notice (id) WHERE sent_us IS NULL;
