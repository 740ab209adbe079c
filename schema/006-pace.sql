-- How long steps take, apart from what comes before the first report and after
-- the last: the saving by stopping is computed from it.

-- Seconds and steps between the first and the last report of the objective, of
-- all attempts together; of reports that were read at once the last step counts.
-- Written when the trial ends; 0: unknown from its reports.
ALTER TABLE t_trial ADD COLUMN pace_seconds REAL NOT NULL DEFAULT 0;
ALTER TABLE t_trial ADD COLUMN pace_steps INTEGER NOT NULL DEFAULT 0;

-- Sums of these, and of the trials whose times are unknown: the steps they
-- skipped, and these times the cost of a second of the trial, in dollars and in
-- joules.
ALTER TABLE t_total ADD COLUMN pace_seconds REAL NOT NULL DEFAULT 0;
ALTER TABLE t_total ADD COLUMN pace_steps INTEGER NOT NULL DEFAULT 0;
ALTER TABLE t_total ADD COLUMN unpaced_steps INTEGER NOT NULL DEFAULT 0;
ALTER TABLE t_total ADD COLUMN unpaced_cost REAL NOT NULL DEFAULT 0;
ALTER TABLE t_total ADD COLUMN unpaced_energy REAL NOT NULL DEFAULT 0;

DROP TRIGGER t_trial_recount;
UPDATE t_trial SET (pace_seconds, pace_steps) = (SELECT p.seconds, p.steps)
FROM (SELECT trial, sum(seconds) AS seconds, sum(steps) AS steps
    FROM (SELECT trial, (last_us - first_us) / 1e6 AS seconds,
	min(last_step, 1000000000000) - min(1000000000000, (SELECT max(step)
	    FROM t_metric WHERE name_id = 1 AND trial = a.trial
	    AND attempt = a.attempt AND time_us = first_us)) AS steps
	FROM (SELECT trial, attempt, min(time_us) AS first_us,
	    max(time_us) AS last_us, max(step) AS last_step
	    FROM t_metric WHERE name_id = 1 GROUP BY trial, attempt) AS a)
    WHERE seconds > 0 AND steps > 0 GROUP BY trial) AS p
WHERE p.trial = t_trial.trial AND end_seq IS NOT NULL;
UPDATE t_total SET (seconds_saved, cost_saved, energy_saved, pace_seconds,
    pace_steps, unpaced_steps, unpaced_cost, unpaced_energy) = (SELECT
    total(skipped * each), sum(iif(cost IS NULL, NULL, coalesce(skipped *
	each * cost / nullif(seconds, 0), 0))),
    sum(iif(energy_joules IS NULL, NULL, coalesce(skipped * each *
	energy_joules / nullif(seconds, 0), 0))),
    total(pace_seconds), coalesce(sum(pace_steps), 0),
    coalesce(sum(skipped) FILTER (WHERE each IS NULL), 0),
    total(skipped * cost / nullif(seconds, 0)) FILTER (WHERE each IS NULL),
    total(skipped * energy_joules / nullif(seconds, 0))
	FILTER (WHERE each IS NULL)
    FROM (SELECT *, steps_skipped AS skipped,
	pace_seconds / nullif(pace_steps, 0) AS each FROM t_trial) AS t
    WHERE t.state = t_total.state);

CREATE TRIGGER t_trial_recount
AFTER UPDATE OF state, steps_run, steps_skipped, seconds, gpu_seconds, cost,
    energy_joules, pace_seconds, pace_steps ON t_trial
WHEN OLD.state <> NEW.state OR OLD.steps_run <> NEW.steps_run OR
    OLD.steps_skipped <> NEW.steps_skipped OR OLD.seconds <> NEW.seconds OR
    OLD.gpu_seconds IS NOT NEW.gpu_seconds OR OLD.cost IS NOT NEW.cost OR
    OLD.energy_joules IS NOT NEW.energy_joules OR
    OLD.pace_seconds <> NEW.pace_seconds OR OLD.pace_steps <> NEW.pace_steps
BEGIN
	UPDATE t_total SET trials = trials - 1,
	    steps_run = steps_run - OLD.steps_run,
	    steps_skipped = steps_skipped - OLD.steps_skipped,
	    seconds_saved = seconds_saved - coalesce(OLD.steps_skipped * OLD.pace_seconds /
		nullif(OLD.pace_steps, 0), 0),
	    gpu_seconds = gpu_seconds - coalesce(OLD.gpu_seconds, 0),
	    cost = cost - coalesce(OLD.cost, 0),
	    cost_saved = cost_saved - coalesce(OLD.steps_skipped * OLD.pace_seconds /
		nullif(OLD.pace_steps, 0) * OLD.cost / nullif(OLD.seconds, 0), 0),
	    energy = energy - coalesce(OLD.energy_joules, 0),
	    energy_saved = energy_saved - coalesce(OLD.steps_skipped * OLD.pace_seconds /
		nullif(OLD.pace_steps, 0) * OLD.energy_joules / nullif(OLD.seconds, 0), 0),
	    pace_seconds = pace_seconds - OLD.pace_seconds,
	    pace_steps = pace_steps - OLD.pace_steps,
	    unpaced_steps = unpaced_steps -
		iif(OLD.pace_steps > 0, 0, OLD.steps_skipped),
	    unpaced_cost = unpaced_cost - iif(OLD.pace_steps > 0, 0, coalesce(
		OLD.steps_skipped * OLD.cost / nullif(OLD.seconds, 0), 0)),
	    unpaced_energy = unpaced_energy - iif(OLD.pace_steps > 0, 0, coalesce(
		OLD.steps_skipped * OLD.energy_joules / nullif(OLD.seconds, 0), 0))
	WHERE state = OLD.state;
	UPDATE t_total SET trials = trials + 1,
	    steps_run = steps_run + NEW.steps_run,
	    steps_skipped = steps_skipped + NEW.steps_skipped,
	    seconds_saved = seconds_saved + coalesce(NEW.steps_skipped * NEW.pace_seconds /
		nullif(NEW.pace_steps, 0), 0),
	    gpu_seconds = iif(NEW.gpu_seconds IS NULL, gpu_seconds,
		coalesce(gpu_seconds, 0) + NEW.gpu_seconds),
	    cost = iif(NEW.cost IS NULL, cost, coalesce(cost, 0) + NEW.cost),
	    cost_saved = iif(NEW.cost IS NULL, cost_saved,
		coalesce(cost_saved, 0) + coalesce(NEW.steps_skipped * NEW.pace_seconds /
		nullif(NEW.pace_steps, 0) * NEW.cost / nullif(NEW.seconds, 0), 0)),
	    energy = iif(NEW.energy_joules IS NULL, energy,
		coalesce(energy, 0) + NEW.energy_joules),
	    energy_saved = iif(NEW.energy_joules IS NULL, energy_saved,
		coalesce(energy_saved, 0) + coalesce(NEW.steps_skipped * NEW.pace_seconds /
		nullif(NEW.pace_steps, 0) * NEW.energy_joules / nullif(NEW.seconds, 0), 0)),
	    pace_seconds = pace_seconds + NEW.pace_seconds,
	    pace_steps = pace_steps + NEW.pace_steps,
	    unpaced_steps = unpaced_steps +
		iif(NEW.pace_steps > 0, 0, NEW.steps_skipped),
	    unpaced_cost = unpaced_cost + iif(NEW.pace_steps > 0, 0, coalesce(
		NEW.steps_skipped * NEW.cost / nullif(NEW.seconds, 0), 0)),
	    unpaced_energy = unpaced_energy + iif(NEW.pace_steps > 0, 0, coalesce(
		NEW.steps_skipped * NEW.energy_joules / nullif(NEW.seconds, 0), 0))
	WHERE state = NEW.state;
END;
