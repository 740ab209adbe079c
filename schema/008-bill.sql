-- What running attempts may come to changes with what is seen of them, and the
-- time that is paid for beside the training.

ALTER TABLE t_attempt ADD COLUMN download_seconds REAL;	-- before the training
ALTER TABLE t_attempt ADD COLUMN upload_seconds REAL;	-- and after it

DROP TRIGGER t_attempt_cost;
CREATE TRIGGER t_attempt_cost AFTER UPDATE OF cost, worst_cost ON t_attempt
WHEN coalesce(NEW.cost, NEW.worst_cost) IS NOT
    coalesce(OLD.cost, OLD.worst_cost)
BEGIN
	UPDATE t_cost SET committed = max(0, committed +
	    coalesce(NEW.cost, NEW.worst_cost, 0) -
	    coalesce(OLD.cost, OLD.worst_cost, 0));
END;
