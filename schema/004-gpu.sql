-- What GPUs were used for.  t_attempt.gpu_seconds is as old as the table, and
-- written since now: seconds times GPUs.

ALTER TABLE t_attempt ADD COLUMN gpus INTEGER;	-- it held; NULL = none
ALTER TABLE t_attempt ADD COLUMN energy_joules REAL;	-- so far; NULL = not known
ALTER TABLE t_attempt ADD COLUMN gpu_memory INTEGER;	-- bytes at most
-- GPU seconds in use, and those over which these were counted.
ALTER TABLE t_attempt ADD COLUMN gpu_busy REAL;
ALTER TABLE t_attempt ADD COLUMN gpu_seen REAL;

-- Of its attempts that have ended: sums, and the most of gpu_memory.
ALTER TABLE t_trial ADD COLUMN energy_joules REAL;
ALTER TABLE t_trial ADD COLUMN gpu_memory INTEGER;
ALTER TABLE t_trial ADD COLUMN gpu_busy REAL;
ALTER TABLE t_trial ADD COLUMN gpu_seen REAL;

ALTER TABLE t_total ADD COLUMN gpu_seconds REAL;	-- NULL = no trial had one
ALTER TABLE t_total ADD COLUMN energy REAL;
ALTER TABLE t_total ADD COLUMN energy_saved REAL;

-- What an attempt has used so far changes every few seconds; it is added to its
-- trial only when the attempt ends.
DROP TRIGGER t_attempt_times;
CREATE TRIGGER t_attempt_times
AFTER UPDATE OF started_us, ended_us, gpu_seconds, cost ON t_attempt
WHEN NEW.started_us IS NOT OLD.started_us OR
    NEW.ended_us IS NOT OLD.ended_us OR NEW.cost IS NOT OLD.cost OR
    NEW.gpu_seconds IS NOT OLD.gpu_seconds
BEGIN
	UPDATE t_trial SET (started_us, seconds, gpu_seconds, cost,
	    energy_joules, gpu_memory, gpu_busy, gpu_seen) = (
	    SELECT min(started_us), total((ended_us - started_us) / 1e6),
	    sum(gpu_seconds), sum(cost),
	    sum(energy_joules) FILTER (WHERE state = 'ended'),
	    max(gpu_memory) FILTER (WHERE state = 'ended'),
	    sum(gpu_busy) FILTER (WHERE state = 'ended'),
	    sum(gpu_seen) FILTER (WHERE state = 'ended')
	    FROM t_attempt WHERE trial = NEW.trial)
	WHERE trial = NEW.trial;
END;

DROP TRIGGER t_trial_recount;
CREATE TRIGGER t_trial_recount
AFTER UPDATE OF state, steps_run, steps_skipped, seconds, gpu_seconds, cost,
    energy_joules ON t_trial
WHEN OLD.state <> NEW.state OR OLD.steps_run <> NEW.steps_run OR
    OLD.steps_skipped <> NEW.steps_skipped OR OLD.seconds <> NEW.seconds OR
    OLD.gpu_seconds IS NOT NEW.gpu_seconds OR OLD.cost IS NOT NEW.cost OR
    OLD.energy_joules IS NOT NEW.energy_joules
BEGIN
	UPDATE t_total SET trials = trials - 1,
	    steps_run = steps_run - OLD.steps_run,
	    steps_skipped = steps_skipped - OLD.steps_skipped,
	    seconds_saved = seconds_saved - coalesce(
		OLD.steps_skipped * OLD.seconds / nullif(OLD.steps_run, 0), 0),
	    gpu_seconds = gpu_seconds - coalesce(OLD.gpu_seconds, 0),
	    cost = cost - coalesce(OLD.cost, 0),
	    cost_saved = cost_saved - coalesce(
		OLD.steps_skipped * OLD.cost / nullif(OLD.steps_run, 0), 0),
	    energy = energy - coalesce(OLD.energy_joules, 0),
	    energy_saved = energy_saved - coalesce(OLD.steps_skipped *
		OLD.energy_joules / nullif(OLD.steps_run, 0), 0)
	WHERE state = OLD.state;
	UPDATE t_total SET trials = trials + 1,
	    steps_run = steps_run + NEW.steps_run,
	    steps_skipped = steps_skipped + NEW.steps_skipped,
	    seconds_saved = seconds_saved + coalesce(
		NEW.steps_skipped * NEW.seconds / nullif(NEW.steps_run, 0), 0),
	    gpu_seconds = iif(NEW.gpu_seconds IS NULL, gpu_seconds,
		coalesce(gpu_seconds, 0) + NEW.gpu_seconds),
	    cost = iif(NEW.cost IS NULL, cost, coalesce(cost, 0) + NEW.cost),
	    cost_saved = iif(NEW.cost IS NULL, cost_saved,
		coalesce(cost_saved, 0) + coalesce(
		NEW.steps_skipped * NEW.cost / nullif(NEW.steps_run, 0), 0)),
	    energy = iif(NEW.energy_joules IS NULL, energy,
		coalesce(energy, 0) + NEW.energy_joules),
	    energy_saved = iif(NEW.energy_joules IS NULL, energy_saved,
		coalesce(energy_saved, 0) + coalesce(NEW.steps_skipped *
		NEW.energy_joules / nullif(NEW.steps_run, 0), 0))
	WHERE state = NEW.state;
END;

-- The GPUs that launchers of the last server have told of, as they were then.
CREATE TABLE t_gpu (
	uuid TEXT PRIMARY KEY,
	gpu INTEGER,			-- index; slices have that of their GPU
	name TEXT,
	memory INTEGER,			-- bytes
	used INTEGER,
	temperature INTEGER,		-- degrees Celsius
	utilization INTEGER,		-- %
	power REAL,			-- watts
	state TEXT NOT NULL,
	why TEXT,
	owner TEXT,			-- somebody else
	trials INTEGER NOT NULL,	-- of ours on it
	time_us INTEGER NOT NULL	-- when it was told
) STRICT, WITHOUT ROWID;
