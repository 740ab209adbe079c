-- The promise: these names and columns stay.  Dropped and made again whenever
-- the program opens the file for writing, so that an old file shows the views
-- of the newest program.  The view results is made by the program: one column
-- per parameter.

DROP VIEW IF EXISTS study;
DROP VIEW IF EXISTS best;
DROP VIEW IF EXISTS t_best;
DROP VIEW IF EXISTS trials;
DROP VIEW IF EXISTS curves;
DROP VIEW IF EXISTS metrics;
DROP VIEW IF EXISTS medians;
DROP VIEW IF EXISTS stops;
DROP VIEW IF EXISTS attempts;
DROP VIEW IF EXISTS savings;
DROP VIEW IF EXISTS costs;
DROP VIEW IF EXISTS events;

CREATE VIEW trials AS
SELECT trial, state, objective, nullif(last_step, -1) AS step, reports, params,
    backend, attempts,
    strftime('%Y-%m-%dT%H:%M:%fZ', started_us / 1e6, 'unixepoch') AS started,
    strftime('%Y-%m-%dT%H:%M:%fZ', ended_us / 1e6, 'unixepoch') AS ended,
    seconds, gpu_seconds, cost, why
FROM t_trial;

-- The number of the best trial, found by the ends of two indexes: among the
-- completed ones, else among all; the first of equals.  The limits leave out
-- infinities.
CREATE VIEW t_best AS
SELECT CASE goal WHEN 'maximize' THEN coalesce(
    (SELECT min(trial) FROM t_trial WHERE state = 'completed' AND objective =
	(SELECT max(objective) FROM t_trial INDEXED BY t_trial_completed
	WHERE state = 'completed' AND objective BETWEEN -1.7976931348623157e308
	AND 1.7976931348623157e308)),
    (SELECT min(trial) FROM t_trial WHERE objective =
	(SELECT max(objective) FROM t_trial
	WHERE objective BETWEEN -1.7976931348623157e308
	AND 1.7976931348623157e308)))
ELSE coalesce(
    (SELECT min(trial) FROM t_trial WHERE state = 'completed' AND objective =
	(SELECT min(objective) FROM t_trial INDEXED BY t_trial_completed
	WHERE state = 'completed' AND objective BETWEEN -1.7976931348623157e308
	AND 1.7976931348623157e308)),
    (SELECT min(trial) FROM t_trial WHERE objective =
	(SELECT min(objective) FROM t_trial
	WHERE objective BETWEEN -1.7976931348623157e308
	AND 1.7976931348623157e308)))
END AS trial
FROM t_study;

CREATE VIEW best AS
SELECT * FROM trials WHERE trial = (SELECT trial FROM t_best);

CREATE VIEW study AS
SELECT name, state, metric, goal, strategy,
    iif(seed >= 0, seed, printf('%u', seed)) AS seed, rule,
    strftime('%Y-%m-%dT%H:%M:%fZ', created_us / 1e6, 'unixepoch') AS created,
    strftime('%Y-%m-%dT%H:%M:%fZ', started_us / 1e6, 'unixepoch') AS started,
    strftime('%Y-%m-%dT%H:%M:%fZ', ended_us / 1e6, 'unixepoch') AS ended,
    (SELECT sum(trials) FROM t_total) AS trials,
    (SELECT sum(trials) FROM t_total
	WHERE state IN ('starting', 'running', 'stopping')) AS running,
    (SELECT trials FROM t_total WHERE state = 'completed') AS completed,
    (SELECT trials FROM t_total WHERE state = 'stopped') AS stopped,
    (SELECT trials FROM t_total WHERE state = 'failed') AS failed,
    (SELECT trial FROM t_best) AS best_trial,
    (SELECT objective FROM t_trial
	WHERE trial = (SELECT trial FROM t_best)) AS best,
    (SELECT sum(cost) FROM t_total) AS cost,
    schema_version, program_version
FROM t_study;

-- The newest report of each step.  NOT EXISTS and not GROUP BY, so that a
-- query over the view keeps the order of the table and never sorts.
CREATE VIEW curves AS
SELECT trial, step, value FROM t_metric AS m
WHERE name_id = 1 AND NOT EXISTS (SELECT 1 FROM t_metric AS later
    WHERE later.name_id = 1 AND later.trial = m.trial
    AND later.step = m.step AND later.seq > m.seq);

-- CROSS JOIN: first the name, then its part of t_metric.
CREATE VIEW metrics AS
SELECT m.trial, m.attempt, m.step, n.name, m.value,
    strftime('%Y-%m-%dT%H:%M:%fZ', m.time_us / 1e6, 'unixepoch') AS time
FROM t_name AS n CROSS JOIN t_metric AS m ON m.name_id = n.id;

CREATE VIEW medians AS
SELECT step, trials, median FROM t_median;

CREATE VIEW stops AS
SELECT trial, step, rule, value, threshold, pool, verdict,
    strftime('%Y-%m-%dT%H:%M:%fZ', time_us / 1e6, 'unixepoch') AS time, why
FROM t_stop;

CREATE VIEW attempts AS
SELECT trial, attempt, backend, place, state,
    strftime('%Y-%m-%dT%H:%M:%fZ', started_us / 1e6, 'unixepoch') AS started,
    strftime('%Y-%m-%dT%H:%M:%fZ', ended_us / 1e6, 'unixepoch') AS ended,
    (ended_us - started_us) / 1e6 AS seconds, exit_code, signal, end_class,
    resumed_step, billable_seconds, cost, log
FROM t_attempt;

-- Ended trials by their sums, the others one by one.
CREATE VIEW savings AS
SELECT run AS steps_run, skipped AS steps_skipped,
    CAST(skipped AS REAL) / nullif(run + skipped, 0) AS share,
    seconds AS seconds_saved, cost AS cost_saved, spot_saved
FROM (SELECT sum(steps_run) + (
	SELECT coalesce(sum(min(1000000000000, last_step + EXISTS (
	    SELECT 1 FROM t_metric AS m WHERE m.name_id = 1
	    AND m.trial = t.trial AND m.step = 0))), 0)
	FROM t_trial AS t
	WHERE state IN ('waiting', 'starting', 'running', 'stopping')
	AND last_step >= 0) AS run,
    sum(steps_skipped) AS skipped, max(total(seconds_saved), 0) AS seconds,
    sum(cost_saved) AS cost
    FROM t_total), (SELECT iif(seconds > 0, spot_saved, NULL) AS spot_saved
    FROM t_cost);

-- Dollars: spent, and with what runs now at most.
CREATE VIEW costs AS
SELECT (SELECT sum(cost) FROM t_total) AS cost,
    nullif(committed, 0) AS committed, seconds, billable_seconds,
    iif(seconds > 0, spot_saved, NULL) AS spot_saved,
    1 - billable_seconds / nullif(seconds, 0) AS spot_share
FROM t_cost;

CREATE VIEW events AS
SELECT strftime('%Y-%m-%dT%H:%M:%fZ', time_us / 1e6, 'unixepoch') AS time,
    level, area, trial, attempt, text
FROM t_event;
