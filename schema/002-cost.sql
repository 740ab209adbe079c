-- What attempts cost, and the most that each may cost.

ALTER TABLE t_attempt ADD COLUMN worst_cost REAL;	-- NULL = nothing
-- Seconds that would be paid for at the full price; NULL = from start to end.
ALTER TABLE t_attempt ADD COLUMN trained_seconds REAL;

-- Sums over all attempts, kept by triggers as those of t_total.
CREATE TABLE t_cost (
	id INTEGER PRIMARY KEY CHECK (id = 1),	-- one row
	committed REAL NOT NULL,	-- dollars: what they cost, or may cost
	seconds REAL NOT NULL,		-- of attempts that were billed
	billable_seconds REAL NOT NULL,	-- the part of them that is paid for
	spot_saved REAL NOT NULL	-- dollars that the other part would cost
) STRICT;
INSERT INTO t_cost VALUES (1, 0, 0, 0, 0);

-- The seconds, and dollars, that one billed attempt got without paying.
CREATE VIEW t_billed AS
SELECT trial, attempt, billable_seconds, max(seconds, billable_seconds)
    AS seconds, iif(billable_seconds > 0, cost *
	max(seconds / billable_seconds - 1, 0), 0) AS saved
FROM (SELECT trial, attempt, billable_seconds, cost, coalesce(trained_seconds,
	(ended_us - started_us) / 1e6, 0) AS seconds
    FROM t_attempt WHERE billable_seconds IS NOT NULL);

CREATE TRIGGER t_attempt_commit AFTER INSERT ON t_attempt
WHEN coalesce(NEW.cost, NEW.worst_cost) IS NOT NULL
BEGIN
	UPDATE t_cost SET committed = committed +
	    coalesce(NEW.cost, NEW.worst_cost);
END;
CREATE TRIGGER t_attempt_cost AFTER UPDATE OF cost ON t_attempt
WHEN NEW.cost IS NOT OLD.cost
BEGIN
	UPDATE t_cost SET committed = max(0, committed +
	    coalesce(NEW.cost, NEW.worst_cost, 0) -
	    coalesce(OLD.cost, OLD.worst_cost, 0));
END;
-- Written once, when the attempt ends.
CREATE TRIGGER t_attempt_billed AFTER UPDATE OF billable_seconds ON t_attempt
WHEN NEW.billable_seconds IS NOT NULL AND OLD.billable_seconds IS NULL
BEGIN
	UPDATE t_cost SET
	    seconds = t_cost.seconds + b.seconds,
	    billable_seconds = t_cost.billable_seconds + b.billable_seconds,
	    spot_saved = t_cost.spot_saved + coalesce(b.saved, 0)
	FROM t_billed AS b
	WHERE b.trial = NEW.trial AND b.attempt = NEW.attempt;
END;
