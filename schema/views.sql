-- The stable interface: these names and columns stay.  A server that opens the
-- file drops the views and creates them again when one of them differs, so that
-- an old file gets the views of the newest program.  The program generates the
-- views results, best and front: one column per parameter.

DROP VIEW IF EXISTS study;
DROP VIEW IF EXISTS best;
DROP VIEW IF EXISTS t_best;
DROP VIEW IF EXISTS trials;
DROP VIEW IF EXISTS curves;
DROP VIEW IF EXISTS t_metric;
DROP VIEW IF EXISTS metrics;
DROP VIEW IF EXISTS t_last;
DROP VIEW IF EXISTS last_reports;
DROP VIEW IF EXISTS medians;
DROP VIEW IF EXISTS stops;
DROP VIEW IF EXISTS attempts;
DROP VIEW IF EXISTS savings;
DROP VIEW IF EXISTS costs;
DROP VIEW IF EXISTS suggestions;
DROP VIEW IF EXISTS events;
DROP VIEW IF EXISTS population;
DROP VIEW IF EXISTS warm;
DROP VIEW IF EXISTS outcomes;
DROP VIEW IF EXISTS gpus;
DROP VIEW IF EXISTS throughput;
DROP VIEW IF EXISTS notices;
DROP VIEW IF EXISTS hindsight;
DROP VIEW IF EXISTS notes;
DROP VIEW IF EXISTS tags;
DROP VIEW IF EXISTS retries;
DROP VIEW IF EXISTS queue;
DROP VIEW IF EXISTS changes;
DROP VIEW IF EXISTS provenance;
DROP VIEW IF EXISTS settings;
DROP VIEW IF EXISTS setting_outcomes;
DROP VIEW IF EXISTS contests;
DROP VIEW IF EXISTS proposals;
DROP VIEW IF EXISTS parameters;
DROP VIEW IF EXISTS importance;
DROP VIEW IF EXISTS requests;

CREATE VIEW trials AS
SELECT trial, state, objective, nullif(last_step, -1) AS step, reports, params,
    backend, attempts,
    strftime('%Y-%m-%dT%H:%M:%fZ', started_us / 1e6, 'unixepoch') AS started,
    strftime('%Y-%m-%dT%H:%M:%fZ', ended_us / 1e6, 'unixepoch') AS ended,
    seconds, gpu_seconds, cost, why, energy_joules, gpu_memory,
    100 * gpu_busy / nullif(gpu_seen, 0) AS gpu_utilization,
    (SELECT model FROM t_left AS l WHERE l.trial = t_trial.trial
	ORDER BY l.attempt DESC LIMIT 1) AS model_uri,
    (SELECT output FROM t_left AS l WHERE l.trial = t_trial.trial
	ORDER BY l.attempt DESC LIMIT 1) AS output_uri,
    (SELECT text FROM t_note AS n WHERE n.trial = t_trial.trial) AS note,
    (SELECT group_concat(tag, ', ') FROM (SELECT tag FROM t_tag AS g
	WHERE g.trial = t_trial.trial ORDER BY tag)) AS tags,
    forgotten, outside, setting, replicate, own_steps, git_commit
FROM t_trial;

-- The number of the best trial, read from the ends of indexes: among the
-- completed ones that violate no constraint, otherwise the completed one with the
-- smallest violation, otherwise the best of all; the first of equals; never one
-- that the user has the study forget.  The limits
-- exclude infinities.  With several objectives there is no best trial.  With
-- replicates it is the first one of the best setting (view settings).
CREATE VIEW t_best AS
SELECT CASE WHEN (SELECT count(*) FROM t_aim WHERE goal IS NOT NULL) > 1
THEN NULL WHEN EXISTS (SELECT 1 FROM t_setting) THEN
    (SELECT trial FROM settings WHERE rank = 1)
WHEN goal = 'maximize' THEN coalesce(
    (SELECT min(trial) FROM t_trial WHERE state = 'completed' AND
	violation = 0 AND forgotten = 0 AND objective =
	(SELECT max(objective) FROM t_trial INDEXED BY t_trial_completed
	WHERE state = 'completed' AND violation = 0 AND forgotten = 0 AND
	objective BETWEEN -1.7976931348623157e308 AND 1.7976931348623157e308)),
    (SELECT min(trial) FROM t_trial INDEXED BY t_trial_violated
	WHERE state = 'completed' AND violation > 0 AND forgotten = 0
	AND (violation, objective)
	= (SELECT violation, max(objective) FROM t_trial
	    INDEXED BY t_trial_violated WHERE state = 'completed' AND
	    violation > 0 AND forgotten = 0 AND violation =
	    (SELECT min(violation) FROM t_trial INDEXED BY t_trial_violated
	    WHERE state = 'completed' AND violation > 0 AND forgotten = 0))),
    (SELECT min(trial) FROM t_trial WHERE forgotten = 0 AND objective =
	(SELECT max(objective) FROM t_trial
	WHERE forgotten = 0 AND objective BETWEEN -1.7976931348623157e308
	AND 1.7976931348623157e308)))
ELSE coalesce(
    (SELECT min(trial) FROM t_trial WHERE state = 'completed' AND
	violation = 0 AND forgotten = 0 AND objective =
	(SELECT min(objective) FROM t_trial INDEXED BY t_trial_completed
	WHERE state = 'completed' AND violation = 0 AND forgotten = 0 AND
	objective BETWEEN -1.7976931348623157e308 AND 1.7976931348623157e308)),
    (SELECT min(trial) FROM t_trial INDEXED BY t_trial_violated
	WHERE state = 'completed' AND violation > 0 AND forgotten = 0
	AND (violation, objective)
	= (SELECT violation, min(objective) FROM t_trial
	    INDEXED BY t_trial_violated WHERE state = 'completed' AND
	    violation > 0 AND forgotten = 0 AND violation =
	    (SELECT min(violation) FROM t_trial INDEXED BY t_trial_violated
	    WHERE state = 'completed' AND violation > 0 AND forgotten = 0))),
    (SELECT min(trial) FROM t_trial WHERE forgotten = 0 AND objective =
	(SELECT min(objective) FROM t_trial
	WHERE forgotten = 0 AND objective BETWEEN -1.7976931348623157e308
	AND 1.7976931348623157e308)))
END AS trial
FROM t_study;

CREATE VIEW settings AS
SELECT setting, state, value, completed AS replicates,
    (SELECT count(*) FROM t_trial AS t WHERE t.setting = s.setting
	AND forgotten = 0 AND replicate <= coalesce((SELECT searched
	FROM t_contest LIMIT 1), replicate)) AS begun, mean, error AS standard_error, trial,
    (SELECT group_concat(trial, ', ') FROM (SELECT trial FROM t_trial AS t
	WHERE t.setting = s.setting AND forgotten = 0 AND replicate <=
	coalesce((SELECT searched FROM t_contest LIMIT 1), replicate)
	ORDER BY replicate))
	AS trials, params,
    iif(value IS NULL OR state IN ('stopped', 'failed', 'forgotten') OR
	(SELECT count(*) FROM t_aim WHERE goal IS NOT NULL) > 1, NULL,
	row_number() OVER (ORDER BY value IS NULL OR state IN ('stopped',
	'failed', 'forgotten'), violation > 0, state <> 'completed',
	completed DESC, violation,
	iif((SELECT goal FROM t_study) = 'maximize', -value, value), setting))
	AS rank, violation,
    (SELECT count(*) FROM t_front AS f WHERE f.trial = s.trial AND inside = 1)
	AS front
FROM t_setting AS s;

-- Of the other aims beside the first objective, too; the mean of a constraint's
-- metric is computed here.
CREATE VIEW setting_outcomes AS
SELECT setting, metric, goal, least AS min, most AS max, o.value,
    iif(goal IS NULL, (SELECT avg(p.value) FROM t_trial AS t JOIN t_outcome AS p
	USING (trial) WHERE t.setting = o.setting AND p.position = o.position
	AND t.state = 'completed' AND t.forgotten = 0 AND t.replicate <=
	coalesce((SELECT searched FROM t_contest LIMIT 1), t.replicate)),
	o.mean) AS mean,
    o.error AS standard_error, o.violation
FROM t_setting_outcome AS o JOIN t_aim USING (position);

-- Settings that were compared on replicates beyond those of the search; the first
-- trials stand for settings.
CREATE VIEW contests AS
SELECT contest, kind, verdict, (SELECT trial FROM t_trial AS t
	WHERE t.setting = challenger ORDER BY replicate, trial LIMIT 1) AS trial,
    (SELECT trial FROM t_trial AS t
	WHERE t.setting = c.baseline ORDER BY replicate, trial LIMIT 1) AS baseline,
    metric, goal, alpha, replicates, looks, better, worse, difference, least,
    (SELECT group_concat(trial, ', ') FROM (SELECT trial FROM t_trial AS t
	WHERE t.setting IN (challenger, c.baseline) AND replicate BETWEEN
	searched + 1 AND searched + replicates AND forgotten = 0
	ORDER BY trial)) AS trials,
    (SELECT coalesce(sum(seconds), 0.0) FROM t_trial AS t
	WHERE t.setting IN (challenger, c.baseline) AND replicate BETWEEN
	searched + 1 AND searched + replicates AND forgotten = 0) AS seconds,
    strftime('%Y-%m-%dT%H:%M:%fZ', opened_us / 1e6, 'unixepoch') AS opened,
    strftime('%Y-%m-%dT%H:%M:%fZ', ended_us / 1e6, 'unixepoch') AS ended,
    caller, why
FROM t_contest AS c;

-- Settings that were proposed in the place of the baseline: their own runs alone.
CREATE VIEW proposals AS
SELECT contest AS proposal, verdict, (SELECT trial FROM t_trial AS t
	WHERE t.setting = challenger ORDER BY replicate, trial LIMIT 1) AS trial,
    (SELECT trial FROM t_trial AS t
	WHERE t.setting = c.baseline ORDER BY replicate, trial LIMIT 1) AS baseline,
    params, alpha AS level, better AS e_value, looks AS seeds, difference, least,
    (SELECT group_concat(trial, ', ') FROM (SELECT trial FROM t_trial AS t
	WHERE t.setting = challenger AND replicate BETWEEN
	searched + 1 AND searched + replicates AND forgotten = 0
	ORDER BY trial)) AS trials,
    (SELECT coalesce(sum(seconds), 0.0) FROM t_trial AS t
	WHERE t.setting = challenger AND replicate BETWEEN
	searched + 1 AND searched + replicates AND forgotten = 0) AS seconds,
    (SELECT sum(cost) FROM t_trial AS t
	WHERE t.setting = challenger AND replicate BETWEEN
	searched + 1 AND searched + replicates AND forgotten = 0) AS cost,
    strftime('%Y-%m-%dT%H:%M:%fZ', opened_us / 1e6, 'unixepoch') AS opened,
    strftime('%Y-%m-%dT%H:%M:%fZ', ended_us / 1e6, 'unixepoch') AS ended,
    caller, why, git_commit, git_base,
    -- One that goes on beside another baseline has that of its first proposal.
    coalesce(diff, (SELECT o.diff FROM t_contest AS o WHERE
	o.challenger = c.challenger AND o.git_commit = c.git_commit
	AND o.diff IS NOT NULL ORDER BY o.contest LIMIT 1)) AS diff
FROM t_contest AS c WHERE kind = 'propose';

CREATE VIEW study AS
SELECT name, state,
    (SELECT group_concat(metric, ', ') FROM (SELECT metric FROM t_aim
	WHERE goal IS NOT NULL ORDER BY position)) AS metric,
    (SELECT group_concat(goal, ', ') FROM (SELECT goal FROM t_aim
	WHERE goal IS NOT NULL ORDER BY position)) AS goal, strategy,
    iif(seed >= 0, seed, printf('%u', seed)) AS seed, rule,
    strftime('%Y-%m-%dT%H:%M:%fZ', created_us / 1e6, 'unixepoch') AS created,
    strftime('%Y-%m-%dT%H:%M:%fZ', started_us / 1e6, 'unixepoch') AS started,
    iif(state = 'running', NULL,
	strftime('%Y-%m-%dT%H:%M:%fZ', ended_us / 1e6, 'unixepoch')) AS ended,
    (SELECT sum(trials) FROM t_total) AS trials,
    (SELECT sum(trials) FROM t_total
	WHERE state IN ('starting', 'running', 'stopping')) AS running,
    (SELECT trials FROM t_total WHERE state = 'completed') - (SELECT count(*)
	FROM t_trial WHERE forgotten = 1 AND state = 'completed') AS completed,
    (SELECT trials FROM t_total WHERE state = 'stopped') - (SELECT count(*)
	FROM t_trial WHERE forgotten = 1 AND state = 'stopped') AS stopped,
    (SELECT trials FROM t_total WHERE state = 'failed') - (SELECT count(*)
	FROM t_trial WHERE forgotten = 1 AND state = 'failed') AS failed,
    (SELECT trial FROM t_best) AS best_trial,
    coalesce((SELECT value FROM settings WHERE rank = 1),
	(SELECT objective FROM t_trial
	WHERE trial = (SELECT trial FROM t_best))) AS best,
    (SELECT sum(cost) FROM t_total) AS cost,
    schema_version, program_version, elapsed_ms / 1000.0 AS elapsed,
    (SELECT count(*) FROM t_trial WHERE forgotten = 1) AS forgotten,
    (SELECT value FROM json_each(t_study.json) WHERE key = 'description')
	AS description
FROM t_study;

-- A row for each report of t_block (schema/023-blocks.sql); the columns behind
-- time_us are for conditions that leave out whole blocks.
CREATE VIEW t_metric AS
SELECT name_id, trial, step + iif(typeof(steps) = 'integer', i * steps,
	substr(steps, 1 + i * (length(steps) / reports), length(steps) / reports))
    AS step, seq + iif(typeof(seqs) = 'integer', i * seqs,
	substr(seqs, 1 + i * (length(seqs) / reports), length(seqs) / reports))
    AS seq, attempt,
    iif(i < 16, iif(i < 8, iif(i < 4, iif(i < 2, iif(i < 1, v0, v1),
    iif(i < 3, v2, v3)), iif(i < 6, iif(i < 5, v4, v5), iif(i < 7, v6,
    v7))), iif(i < 12, iif(i < 10, iif(i < 9, v8, v9), iif(i < 11, v10,
    v11)), iif(i < 14, iif(i < 13, v12, v13), iif(i < 15, v14, v15)))),
    iif(i < 24, iif(i < 20, iif(i < 18, iif(i < 17, v16, v17), iif(i <
    19, v18, v19)), iif(i < 22, iif(i < 21, v20, v21), iif(i < 23, v22,
    v23))), iif(i < 28, iif(i < 26, iif(i < 25, v24, v25), iif(i < 27,
    v26, v27)), iif(i < 30, iif(i < 29, v28, v29), iif(i < 31, v30,
    v31))))) AS value,
    time_us + iif(typeof(times) = 'integer', i * times,
	substr(times, 1 + i * (length(times) / reports), length(times) / reports))
    AS time_us, old, step AS first_step, last_step,
    time_us AS first_us, last_us
FROM t_block CROSS JOIN t_nth ON i < reports;

-- The newest report of each step, in the order of the table; ORDER BY in a view
-- would have queries that join it read all of it first.
CREATE VIEW curves AS
SELECT trial, step, value FROM t_metric WHERE name_id = 1 AND old = 0;

-- CROSS JOIN: first the name, then its part of t_metric.  A report of attempt 0
-- was computed by the server.
CREATE VIEW metrics AS
SELECT m.trial, nullif(m.attempt, 0) AS attempt, m.step, n.name, m.value,
    strftime('%Y-%m-%dT%H:%M:%fZ', m.time_us / 1e6, 'unixepoch') AS time
FROM t_name AS n CROSS JOIN t_metric AS m ON m.name_id = n.id;

-- The last report of each block; the block with the greatest first_step has the
-- last one of its metric in the trial.
CREATE VIEW t_last AS
SELECT name_id, trial, step AS first_step, last_step AS step,
    CASE reports WHEN 1 THEN v0 WHEN 2 THEN v1 WHEN 3 THEN v2 WHEN 4 THEN v3
    WHEN 5 THEN v4 WHEN 6 THEN v5 WHEN 7 THEN v6 WHEN 8 THEN v7 WHEN 9 THEN v8
    WHEN 10 THEN v9 WHEN 11 THEN v10 WHEN 12 THEN v11 WHEN 13 THEN v12 WHEN 14
    THEN v13 WHEN 15 THEN v14 WHEN 16 THEN v15 WHEN 17 THEN v16 WHEN 18 THEN v17
    WHEN 19 THEN v18 WHEN 20 THEN v19 WHEN 21 THEN v20 WHEN 22 THEN v21 WHEN 23
    THEN v22 WHEN 24 THEN v23 WHEN 25 THEN v24 WHEN 26 THEN v25 WHEN 27 THEN v26
    WHEN 28 THEN v27 WHEN 29 THEN v28 WHEN 30 THEN v29 WHEN 31 THEN v30 WHEN 32
    THEN v31 END AS value
FROM t_block WHERE old = 0;

-- CROSS JOIN as in metrics.
CREATE VIEW last_reports AS
SELECT l.trial, n.name, l.step, l.value
FROM t_name AS n CROSS JOIN t_last AS l ON l.name_id = n.id
WHERE NOT EXISTS (SELECT 1 FROM t_block AS b WHERE b.name_id = l.name_id
    AND b.trial = l.trial AND b.old = 0 AND b.step > l.first_step);

CREATE VIEW medians AS
SELECT step, trials, median,
    iif((SELECT rule FROM t_study) = 'begun', 'begun', 'reached') AS pool
FROM t_median;

CREATE VIEW stops AS
SELECT trial, step, rule, value, threshold, pool,
    CASE WHEN late THEN 'late' WHEN pause = 0 THEN verdict
	WHEN verdict = 'stop' THEN 'pause' ELSE 'resume' END AS verdict,
    strftime('%Y-%m-%dT%H:%M:%fZ', time_us / 1e6, 'unixepoch') AS time, why,
    rank, hindsight, budget, price, spent,
    coalesce(metric, (SELECT metric FROM t_study)) AS metric,
    coalesce(unit, 'step') AS unit, coalesce(at, step) AS at
FROM t_stop;

CREATE VIEW attempts AS
SELECT trial, attempt, backend, place, state,
    strftime('%Y-%m-%dT%H:%M:%fZ', started_us / 1e6, 'unixepoch') AS started,
    strftime('%Y-%m-%dT%H:%M:%fZ', ended_us / 1e6, 'unixepoch') AS ended,
    (ended_us - started_us) / 1e6 AS seconds, exit_code, signal, end_class,
    resumed_step, billable_seconds, cost, log, gpus, gpu_seconds,
    energy_joules, gpu_memory,
    100 * gpu_busy / nullif(gpu_seen, 0) AS gpu_utilization,
    download_seconds, upload_seconds,
    (SELECT model FROM t_left AS l WHERE l.trial = t_attempt.trial
	AND l.attempt = t_attempt.attempt) AS model_uri,
    (SELECT output FROM t_left AS l WHERE l.trial = t_attempt.trial
	AND l.attempt = t_attempt.attempt) AS output_uri,
    cpus, (ended_us - started_us) / 1e6 * cpus AS cpu_seconds,
    (SELECT p.id FROM t_provenance AS p WHERE p.since_us <= started_us
	AND backend <> 'ask' ORDER BY p.since_us DESC, p.id DESC LIMIT 1) AS provenance,
    why, CASE WHEN backend = 'slurm' AND place LIKE '% job %' THEN
	CAST(CAST(substr(place, instr(place, ' job ') + 5) AS INTEGER) AS TEXT)
    WHEN backend = 'sagemaker' AND place LIKE '% %' THEN
	replace(place, rtrim(place, replace(place, ' ', '')), '')
    END AS job,
    iif(EXISTS (SELECT 1 FROM t_block AS m WHERE m.name_id = 1 AND
	m.trial = t_attempt.trial AND m.attempt = t_attempt.attempt AND
	m.old <> 0), (SELECT count(DISTINCT step) FROM t_metric AS m
	WHERE m.name_id = 1 AND m.trial = t_attempt.trial AND
	m.attempt = t_attempt.attempt), (SELECT coalesce(sum(m.reports), 0)
	FROM t_block AS m WHERE m.name_id = 1 AND
	m.trial = t_attempt.trial AND m.attempt = t_attempt.attempt))
	AS reports,
    (SELECT host FROM t_asker AS k WHERE k.trial = t_attempt.trial
	AND k.attempt = t_attempt.attempt) AS asker_host,
    (SELECT pid FROM t_asker AS k WHERE k.trial = t_attempt.trial
	AND k.attempt = t_attempt.attempt) AS asker_pid,
    nullif(max_rss, 0) AS memory
FROM t_attempt;

-- One row for each value of each trial.
CREATE VIEW parameters AS
SELECT trial, key AS parameter, value FROM t_trial, json_each(params)
WHERE forgotten = 0;

-- The share of the variance of the ranks of completed trials that a parameter
-- explains alone: between its values or, of a number with more than eight, between
-- up to eight parts of as many trials each; less what chance explains.
CREATE VIEW importance AS
WITH done AS (SELECT params, rank() OVER (ORDER BY objective) AS place
    FROM t_trial WHERE state = 'completed' AND forgotten = 0
    AND outside IS NULL AND coalesce(replicate, 1) = 1 AND objective
    BETWEEN -1.7976931348623157e308 AND 1.7976931348623157e308),
given AS (SELECT key, value, type, place,
    type IN ('integer', 'real') AS number FROM done, json_each(params)),
size AS (SELECT key, count(*) AS n, avg(place) AS mean,
    sum(place * place) - count(*) * avg(place) * avg(place) AS total,
    min(number) AND count(DISTINCT value) > 8 AS parts
    FROM given GROUP BY key),
part AS (SELECT key, place, iif(parts,
    ntile(max(2, min(8, n / 5))) OVER (PARTITION BY key ORDER BY value),
    type || ' ' || coalesce(value, '')) AS part
    FROM given JOIN size USING (key)),
mean AS (SELECT key, count(*) AS n, avg(place) AS mean FROM part
    GROUP BY key, part),
spread AS (SELECT key, count(*) AS k,
    sum(m.n * (m.mean - s.mean) * (m.mean - s.mean)) AS explained
    FROM mean AS m JOIN size AS s USING (key) GROUP BY key)
SELECT key AS parameter, CASE WHEN k > 1 AND n > k AND total > 0 THEN
    max(0.0, 1 - (total - explained) / (n - k) / (total / (n - 1))) END
    AS importance, n AS trials
FROM size JOIN spread USING (key) ORDER BY importance DESC, key;

CREATE VIEW provenance AS
SELECT p.id AS provenance,
    strftime('%Y-%m-%dT%H:%M:%fZ', since_us / 1e6, 'unixepoch') AS since, host,
    user, system, version, command, folder, workdir, git_commit, git_branch,
    git_dirty, git_why, k.text AS packages, packages_why
FROM t_provenance AS p LEFT JOIN t_packages AS k ON k.id = p.packages
ORDER BY p.id;

-- Ended trials by their sums, the others one by one.  The skipped steps of a
-- stopped trial count at its own pace; where its reports do not show it (a single
-- one, or all read at once) at the pace of the completed trials, otherwise of all.
CREATE VIEW savings AS
SELECT run AS steps_run, skipped AS steps_skipped,
    CAST(skipped AS REAL) / nullif(run + skipped, 0) AS share,
    iif(unpaced > 0 AND pace IS NULL, NULL,
	seconds + unpaced * coalesce(pace, 0)) AS seconds_saved,
    iif(unpaced_cost > 0 AND pace IS NULL, NULL,
	cost + unpaced_cost * coalesce(pace, 0)) AS cost_saved, spot_saved,
    iif(unpaced_energy > 0 AND pace IS NULL, NULL,
	energy + unpaced_energy * coalesce(pace, 0)) AS energy_saved
FROM (SELECT sum(steps_run) + (
	SELECT coalesce(sum(min(1000000000000, last_step + EXISTS (
	    SELECT 1 FROM t_block AS m WHERE m.name_id = 1
	    AND m.trial = t.trial AND m.step = 0))), 0)
	FROM t_trial AS t
	WHERE state IN ('waiting', 'starting', 'running', 'stopping')
	AND last_step >= 0) AS run,
    sum(steps_skipped) AS skipped, max(total(seconds_saved), 0) AS seconds,
    sum(cost_saved) AS cost, max(sum(energy_saved), 0) AS energy,
    sum(unpaced_steps) AS unpaced,
    max(total(unpaced_cost), 0) AS unpaced_cost,
    max(total(unpaced_energy), 0) AS unpaced_energy,
    coalesce(max(iif(state = 'completed',
	pace_seconds / nullif(pace_steps, 0), NULL)),
	total(pace_seconds) / nullif(sum(pace_steps), 0)) AS pace
    FROM t_total), (SELECT iif(seconds > 0, spot_saved, NULL) AS spot_saved
    FROM t_cost);

-- Dollars: spent, and at most including running attempts.
CREATE VIEW costs AS
SELECT (SELECT sum(cost) FROM t_total) AS cost,
    nullif(committed, 0) AS committed, seconds, billable_seconds,
    iif(seconds > 0, spot_saved, NULL) AS spot_saved,
    1 - billable_seconds / nullif(seconds, 0) AS spot_share
FROM t_cost;

-- Where the setting of each trial came from; for one without the strategy only
-- the source is set.
CREATE VIEW suggestions AS
SELECT t.trial, s.strategy, s.made_by, s.seconds, s.redraws, s.same_as,
    s.from_trial, t.source, s.reason, s.memory, s.fits
FROM t_trial AS t LEFT JOIN t_suggestion AS s ON s.trial = t.trial;

CREATE VIEW events AS
SELECT strftime('%Y-%m-%dT%H:%M:%fZ', time_us / 1e6, 'unixepoch') AS time,
    level, area, trial, attempt, text
FROM t_event;

-- What the user wrote about trials.
CREATE VIEW notes AS
SELECT trial, text,
    strftime('%Y-%m-%dT%H:%M:%fZ', time_us / 1e6, 'unixepoch') AS time
FROM t_note;

CREATE VIEW tags AS
SELECT trial, tag FROM t_tag;

-- The ends that trials had before the user gave them another attempt.
CREATE VIEW retries AS
SELECT trial, nullif(attempt, 0) AS attempt, state, objective, why,
    strftime('%Y-%m-%dT%H:%M:%fZ', time_us / 1e6, 'unixepoch') AS time
FROM t_retry ORDER BY seq;

-- What changed in study.json, one key a row.
CREATE VIEW changes AS
SELECT strftime('%Y-%m-%dT%H:%M:%fZ', time_us / 1e6, 'unixepoch') AS time,
    key, old, new, trials, outside
FROM t_change ORDER BY seq;

-- What callers of hpotune mcp asked for.
CREATE VIEW requests AS
SELECT strftime('%Y-%m-%dT%H:%M:%fZ', time_us / 1e6, 'unixepoch') AS time,
    caller, request, trial, asked, good, answer
FROM t_request ORDER BY seq;

-- Settings to try before those of the strategy: trial NULL waits, state says
-- what became of it.
CREATE VIEW queue AS
SELECT id, params, source, nullif(trial, 0) AS trial,
    CASE WHEN trial IS NULL THEN 'waiting' WHEN trial = 0 THEN 'dropped'
    ELSE 'tried' END AS state
FROM t_queue;

-- Trials of other studies, read at the first start (warm_start).
CREATE VIEW warm AS
SELECT source, trial, state, objective, step, params FROM t_warm ORDER BY id;

-- Results of trials where more than one objective counts.
CREATE VIEW outcomes AS
SELECT trial, metric, goal, least AS min, most AS max, value, violation
FROM t_outcome JOIN t_aim USING (position);

-- Members of a population, which continue from each other's checkpoints; each
-- trial is a segment.  The strategy of such a study never changes, so that other
-- studies have none: their trials are not looked through.
CREATE VIEW population AS
SELECT member, trial, from_trial, until_step, t.state, objective,
    nullif(last_step, -1) AS step, params
FROM t_study AS s CROSS JOIN t_trial AS t
WHERE s.strategy = 'pbt' AND member IS NOT NULL;

-- The GPUs that the launchers use, or cannot use, as last reported.
CREATE VIEW gpus AS
SELECT gpu, uuid, name, memory, used, temperature, utilization, power, state,
    why, owner, trials,
    strftime('%Y-%m-%dT%H:%M:%fZ', time_us / 1e6, 'unixepoch') AS time
FROM t_gpu ORDER BY gpu, uuid;

-- How fast trials are: the mean of what they report under these names.  For a
-- trial that never reports its steps per second, they are computed: steps from
-- its second report to its last, over the time between; the first interval is
-- excluded, as it includes the start of the program, unless there are only two
-- reports.  Reports of the same millisecond count as one, and only those with a
-- greater step.  They are the reports of the objective, otherwise of the first
-- metric that has two.
CREATE VIEW throughput AS
SELECT trial, state, backend, coalesce(said, counted) AS steps_per_second,
    samples_per_second,
    CASE WHEN said IS NOT NULL THEN 'reported'
	WHEN counted IS NOT NULL THEN 'computed' END AS steps_from
FROM (SELECT trial, state, backend,
    (SELECT avg(value) FROM t_metric AS m WHERE m.trial = t.trial AND
	attempt > 0 AND name_id =
	(SELECT id FROM t_name WHERE name = 'steps_per_second')) AS said,
    (SELECT sum(steps) / (nullif(total(ms), 0) / 1e3)
	FROM (SELECT max(ms) - min(ms) AS ms, max(step) - min(step) AS steps
	    FROM (SELECT attempt, ms, step,
		row_number() OVER (PARTITION BY attempt ORDER BY ms) AS i,
		count(*) OVER (PARTITION BY attempt) AS n
		FROM (SELECT attempt, ms, step, max(step) OVER (
		    PARTITION BY attempt ORDER BY ms ROWS BETWEEN
		    UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
		    FROM (SELECT attempt, time_us / 1000 AS ms,
			max(step) AS step FROM t_metric AS m
			WHERE m.trial = t.trial AND attempt > 0 AND name_id =
			(SELECT n.id FROM t_name AS n WHERE n.name NOT IN
			    ('steps_per_second', 'samples_per_second') AND
			    (SELECT count(DISTINCT o.time_us / 1000)
				FROM t_metric AS o WHERE o.name_id = n.id AND
				o.trial = t.trial AND o.attempt > 0) > 1
			    ORDER BY n.id LIMIT 1)
			GROUP BY attempt, time_us / 1000))
		WHERE before IS NULL OR step > before)
	    WHERE i > 1 OR n = 2 GROUP BY attempt)
	WHERE ms > 0 AND steps > 0) AS counted,
    (SELECT avg(value) FROM t_metric AS m WHERE m.trial = t.trial AND
	name_id = (SELECT id FROM t_name WHERE name = 'samples_per_second'))
	AS samples_per_second
FROM t_trial AS t);

-- Notices about the study, sent or due.
CREATE VIEW notices AS
SELECT strftime('%Y-%m-%dT%H:%M:%fZ', time_us / 1e6, 'unixepoch') AS time,
    moment, channel, uuid AS id,
    strftime('%Y-%m-%dT%H:%M:%fZ', sent_us / 1e6, 'unixepoch') AS sent,
    why, text
FROM t_notice ORDER BY t_notice.id;

-- The five best completed trials in hindsight: whether the rule median with its
-- default options and without its guard would have stopped them by the medians
-- of now, and at which step first.  With replicates only first ones, which are
-- what the medians have.  The conditions are those of median_judges,
-- stop_is_late and min_trials; a trial is one of the trials of its medians.
-- Where stopping has left fewer than three quarters of the trials, the median is
-- one of survivors, and does not judge; before 20 trials have completed there is
-- no row.
CREATE VIEW hindsight AS
WITH top AS (SELECT * FROM (SELECT trial, objective FROM t_trial
    INDEXED BY t_trial_completed
    WHERE forgotten = 0 AND state = 'completed' AND violation = 0 AND
	coalesce(replicate, 1) = 1 AND objective BETWEEN (SELECT -1.7976931348623157e308 FROM t_study
	WHERE goal = 'minimize') AND 1.7976931348623157e308
    ORDER BY objective, trial LIMIT 5)
    UNION ALL SELECT * FROM (SELECT trial, objective FROM t_trial
    INDEXED BY t_trial_completed
    WHERE forgotten = 0 AND state = 'completed' AND violation = 0 AND
	coalesce(replicate, 1) = 1 AND objective BETWEEN (SELECT -1.7976931348623157e308 FROM t_study
	WHERE goal = 'maximize') AND 1.7976931348623157e308
    ORDER BY objective DESC, trial LIMIT 5)),
reported AS (SELECT c.trial, c.step, c.value,
    -- Where the medians have the step: study_axis_step.
    iif(own_steps IS NULL OR own_steps = max_steps, c.step,
	iif(c.step >= own_steps, max_steps + c.step - own_steps,
	    c.step * max_steps / own_steps)) AS at,
    coalesce(own_steps, max_steps) AS steps,
    row_number() OVER (PARTITION BY c.trial ORDER BY c.step) AS report,
    max(c.step) OVER (PARTITION BY c.trial) AS last_step
    FROM top CROSS JOIN curves AS c ON c.trial = top.trial
	CROSS JOIN t_trial AS t ON t.trial = top.trial CROSS JOIN t_study),
judged AS (SELECT r.trial, r.step, r.value, m.median,
    iif(goal = 'minimize', r.value > m.median, r.value < m.median) AS worse
    FROM t_study CROSS JOIN reported AS r CROSS JOIN t_median AS m
	ON m.step = r.at
    WHERE r.report > 5 AND 5 * r.at >= max_steps AND m.trials > 5
	AND 4 * m.trials >= 3 * (SELECT count(*) FROM t_trial
	    WHERE reports > 0 AND forgotten = 0 AND coalesce(replicate, 1) = 1)
	AND r.step < r.last_step AND (r.steps = 0 OR r.report < r.steps))
SELECT top.trial, top.objective,
    (SELECT count(*) FROM judged AS j WHERE j.trial = top.trial) AS judged,
    w.step, w.value, w.median
FROM top LEFT JOIN (SELECT trial, min(step) AS step, value, median FROM judged
    WHERE worse GROUP BY trial) AS w ON w.trial = top.trial
WHERE (SELECT count(*) FROM t_aim WHERE goal IS NOT NULL) = 1 AND
    (SELECT count(*) FROM (SELECT 1 FROM t_trial
	INDEXED BY t_trial_completed WHERE state = 'completed' AND
	violation = 0 AND forgotten = 0 AND coalesce(replicate, 1) = 1
	LIMIT 20)) = 20;
