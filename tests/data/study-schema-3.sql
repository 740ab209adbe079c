-- A study as the third schema kept it: three pretended trials.  Never edited.
PRAGMA application_id = 1752199028; PRAGMA user_version = 3;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE t_study (
	id INTEGER PRIMARY KEY CHECK (id = 1),	-- one row
	name TEXT NOT NULL,
	state TEXT NOT NULL CHECK (state IN
	    ('running', 'paused', 'interrupted', 'finished', 'failed')),
	metric TEXT NOT NULL,		-- the objective
	goal TEXT NOT NULL CHECK (goal IN ('maximize', 'minimize')),
	strategy TEXT NOT NULL,
	seed INTEGER NOT NULL,		-- 64 bits without a sign, kept as signed
	rule TEXT NOT NULL,		-- names, joined by ", "
	max_steps INTEGER NOT NULL,	-- of a trial; 0 = not known
	json TEXT NOT NULL,		-- study.json of the last run
	fixed TEXT NOT NULL,		-- what may not change between runs
	dir TEXT NOT NULL,		-- folder of study.json
	network_fs INTEGER NOT NULL CHECK (network_fs IN (0, 1)),
	created_us INTEGER NOT NULL,
	started_us INTEGER,		-- last start of a server
	ended_us INTEGER,
	elapsed_ms INTEGER NOT NULL,	-- wall time of earlier runs
	why TEXT,			-- why it ended
	schema_version INTEGER NOT NULL,
	program_version TEXT NOT NULL	-- of the last program that wrote
) STRICT;
INSERT INTO t_study VALUES(1,'old','finished','loss','minimize','random',5,'median',3,'{"study":"old","objective":{"metric":"loss","goal":"minimize"},"parameters":{"x":{"type":"float","min":0,"max":1}},"strategy":{"name":"random","seed":5},"stopping":"median","trial":{"command":["true"],"max_steps":3},"backend":{"name":"pretend","seconds_per_step":0.01,"slots":2},"limits":{"trials":3}}','{"study":"old","objective":{"metric":"loss","goal":"minimize","value":"best","target":null},"parameters":{"x":{"type":0,"scale":0,"min":0,"max":1,"step":0}},"strategy":"random","seed":5}','/studies/old',0,1795202184076477,1795202184076477,1795202184185872,92,'all 3 trials are done',3,'0.1.0');
CREATE TABLE t_counter (
	id INTEGER PRIMARY KEY CHECK (id = 1),	-- one row
	seq INTEGER NOT NULL		-- last number given to a record
) STRICT;
INSERT INTO t_counter VALUES(1,15);
CREATE TABLE t_param (
	position INTEGER PRIMARY KEY,	-- from 1, as in study.json
	name TEXT NOT NULL UNIQUE
) STRICT;
INSERT INTO t_param VALUES(1,'x');
CREATE TABLE t_move (
	from_state TEXT NOT NULL,
	to_state TEXT NOT NULL,
	PRIMARY KEY (from_state, to_state)
) STRICT, WITHOUT ROWID;
INSERT INTO t_move VALUES('running','completed');
INSERT INTO t_move VALUES('running','failed');
INSERT INTO t_move VALUES('running','stopping');
INSERT INTO t_move VALUES('running','waiting');
INSERT INTO t_move VALUES('starting','completed');
INSERT INTO t_move VALUES('starting','failed');
INSERT INTO t_move VALUES('starting','running');
INSERT INTO t_move VALUES('starting','stopping');
INSERT INTO t_move VALUES('starting','waiting');
INSERT INTO t_move VALUES('stopping','cancelled');
INSERT INTO t_move VALUES('stopping','completed');
INSERT INTO t_move VALUES('stopping','failed');
INSERT INTO t_move VALUES('stopping','stopped');
INSERT INTO t_move VALUES('stopping','waiting');
INSERT INTO t_move VALUES('waiting','cancelled');
INSERT INTO t_move VALUES('waiting','completed');
INSERT INTO t_move VALUES('waiting','starting');
INSERT INTO t_move VALUES('waiting','stopped');
CREATE TABLE t_trial (
	trial INTEGER PRIMARY KEY CHECK (trial > 0),	-- no gaps
	state TEXT NOT NULL CHECK (state IN ('waiting', 'starting', 'running',
	    'stopping', 'completed', 'stopped', 'failed', 'cancelled')),
	cause TEXT NOT NULL CHECK (cause IN ('none', 'rule', 'diverged', 'user',
	    'limit', 'shutdown')),	-- of the stop that is on its way
	objective REAL,			-- best or last report; NULL = none
	last_step INTEGER NOT NULL,	-- -1 = none
	reports INTEGER NOT NULL,	-- of the objective
	steps_run INTEGER NOT NULL,	-- 0 until it has ended
	steps_skipped INTEGER NOT NULL,	-- when a rule stopped it
	seconds REAL NOT NULL,		-- of its ended attempts
	gpu_seconds REAL,
	cost REAL,			-- dollars
	attempts INTEGER NOT NULL,
	failures INTEGER NOT NULL,	-- attempts that used up a retry
	free_retries INTEGER NOT NULL,	-- in a row, without a new report between
	alone INTEGER NOT NULL CHECK (alone IN (0, 1)),	-- next attempt only
	not_before_us INTEGER NOT NULL,	-- of the next attempt; 0 = now
	started_us INTEGER,		-- of its first attempt
	ended_us INTEGER,
	begin_seq INTEGER NOT NULL,	-- before its first report
	end_seq INTEGER,		-- its end among the reports
	source TEXT NOT NULL CHECK (source IN
	    ('strategy', 'enqueue', 'default')),
	backend TEXT,
	why TEXT,
	params TEXT NOT NULL		-- JSON of the active ones
, paused_step INTEGER, violation REAL NOT NULL DEFAULT 0, from_trial INTEGER, member INTEGER, until_step INTEGER) STRICT;
INSERT INTO t_trial VALUES(1,'completed','none',0.32972672778050243769,3,3,3,0,0.04100000000000000172,NULL,NULL,1,0,0,0,0,1795202184101176,1795202184142176,1,9,'strategy','pretend',NULL,'{"x":0.387475621963}',NULL,0.0,NULL,NULL,NULL);
INSERT INTO t_trial VALUES(2,'completed','none',0.39376746916382737717,3,3,3,0,0.04100000000000000172,NULL,NULL,1,0,0,0,0,1795202184101176,1795202184142176,2,10,'strategy','pretend',NULL,'{"x":0.730497578908}',NULL,0.0,NULL,NULL,NULL);
INSERT INTO t_trial VALUES(3,'completed','none',0.25182093848538755764,3,3,3,0,0.035999999999999997279,NULL,NULL,1,0,0,0,0,1795202184147176,1795202184183176,11,15,'strategy','pretend',NULL,'{"x":0.186110700089}',NULL,0.0,NULL,NULL,NULL);
CREATE TABLE t_total (
	state TEXT PRIMARY KEY,
	trials INTEGER NOT NULL DEFAULT 0,
	steps_run INTEGER NOT NULL DEFAULT 0,
	steps_skipped INTEGER NOT NULL DEFAULT 0,
	seconds_saved REAL NOT NULL DEFAULT 0,
	cost REAL,			-- NULL = no trial had one
	cost_saved REAL
) STRICT, WITHOUT ROWID;
INSERT INTO t_total VALUES('cancelled',0,0,0,0.0,NULL,NULL);
INSERT INTO t_total VALUES('completed',3,9,0,0.0,NULL,NULL);
INSERT INTO t_total VALUES('failed',0,0,0,0.0,NULL,NULL);
INSERT INTO t_total VALUES('running',0,0,0,0.0,NULL,NULL);
INSERT INTO t_total VALUES('starting',0,0,0,0.0,NULL,NULL);
INSERT INTO t_total VALUES('stopped',0,0,0,0.0,NULL,NULL);
INSERT INTO t_total VALUES('stopping',0,0,0,0.0,NULL,NULL);
INSERT INTO t_total VALUES('waiting',0,0,0,0.0,NULL,NULL);
CREATE TABLE t_attempt (
	trial INTEGER NOT NULL REFERENCES t_trial,
	attempt INTEGER NOT NULL CHECK (attempt > 0),
	uuid TEXT NOT NULL,
	state TEXT NOT NULL CHECK (state IN
	    ('starting', 'running', 'stopping', 'ended')),
	backend TEXT NOT NULL,
	place TEXT,			-- host, GPU or job name
	slot INTEGER NOT NULL,
	started_us INTEGER,
	ended_us INTEGER,
	exit_code INTEGER,
	signal INTEGER,
	end_class TEXT CHECK (end_class IN ('ok', 'stopped', 'error',
	    'timeout', 'oom', 'diverged', 'no-report', 'lost', 'spot',
	    'capacity', 'quota', 'user')),	-- NULL = has not ended
	resumed_step INTEGER,		-- first step a later attempt reported
	log_offset INTEGER NOT NULL,	-- bytes of its log already recorded
	metrics_offset INTEGER NOT NULL,	-- and of its metrics file
	log_skip INTEGER NOT NULL CHECK (log_skip IN (0, 1)),	-- inside a line
	metrics_skip INTEGER NOT NULL CHECK (metrics_skip IN (0, 1)),
	max_rss INTEGER NOT NULL,	-- bytes
	cpu_us INTEGER NOT NULL,
	gpu_seconds REAL,
	billable_seconds REAL,
	cost REAL,			-- dollars
	log TEXT,			-- path
	why TEXT, worst_cost REAL, trained_seconds REAL,
	PRIMARY KEY (trial, attempt)
) STRICT, WITHOUT ROWID;
INSERT INTO t_attempt VALUES(1,1,'5c0afc4a-2c27-478d-8360-c51dc84aaac5','ended','pretend','nowhere',0,1795202184101176,1795202184142176,0,NULL,'ok',NULL,0,3,0,0,1048576,41000,NULL,NULL,NULL,'/studies/old/old.d/trials/1/attempt-1/log',NULL,NULL,NULL);
INSERT INTO t_attempt VALUES(2,1,'29f78557-6eaf-484f-aec3-efd6653f06e3','ended','pretend','nowhere',1,1795202184101176,1795202184142176,0,NULL,'ok',NULL,0,3,0,0,1048576,41000,NULL,NULL,NULL,'/studies/old/old.d/trials/2/attempt-1/log',NULL,NULL,NULL);
INSERT INTO t_attempt VALUES(3,1,'83d7a86f-06d0-4a9b-9428-c1f0e7d8cfb8','ended','pretend','nowhere',0,1795202184147176,1795202184183176,0,NULL,'ok',NULL,0,3,0,0,1048576,36000,NULL,NULL,NULL,'/studies/old/old.d/trials/3/attempt-1/log',NULL,NULL,NULL);
CREATE TABLE t_name (
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL UNIQUE
) STRICT;
INSERT INTO t_name VALUES(1,'loss');
CREATE TABLE t_metric (
	name_id INTEGER NOT NULL,	-- of t_name
	trial INTEGER NOT NULL,
	step INTEGER NOT NULL,
	seq INTEGER NOT NULL,		-- orders everything recorded
	attempt INTEGER NOT NULL,
	value REAL,			-- NULL = not a number
	time_us INTEGER NOT NULL,
	PRIMARY KEY (name_id, trial, step, seq)
) STRICT, WITHOUT ROWID;
INSERT INTO t_metric VALUES(1,1,1,3,1,0.38627486624015772154,1795202184112727);
INSERT INTO t_metric VALUES(1,1,2,5,1,0.32972672778050243769,1795202184125221);
INSERT INTO t_metric VALUES(1,1,3,8,1,0.34353334188213091593,1795202184136910);
INSERT INTO t_metric VALUES(1,2,1,4,1,0.52705852795949581501,1795202184112727);
INSERT INTO t_metric VALUES(1,2,2,6,1,0.41392838507974621942,1795202184125221);
INSERT INTO t_metric VALUES(1,2,3,7,1,0.39376746916382737717,1795202184133526);
INSERT INTO t_metric VALUES(1,3,1,12,1,0.34430819555479430515,1795202184156975);
INSERT INTO t_metric VALUES(1,3,2,13,1,0.25882969035678615732,1795202184170164);
INSERT INTO t_metric VALUES(1,3,3,14,1,0.25182093848538755764,1795202184177576);
CREATE TABLE t_median (
	step INTEGER PRIMARY KEY,
	trials INTEGER NOT NULL,	-- in the pool
	median REAL
) STRICT;
INSERT INTO t_median VALUES(1,3,0.38627486624015772154);
INSERT INTO t_median VALUES(2,3,0.32972672778050243769);
INSERT INTO t_median VALUES(3,3,0.34353334188213091593);
CREATE TABLE t_stop (
	seq INTEGER PRIMARY KEY,
	trial INTEGER NOT NULL REFERENCES t_trial,
	step INTEGER NOT NULL,
	rule TEXT NOT NULL,
	value REAL,			-- what stood for the trial
	threshold REAL,			-- what it was compared with
	pool INTEGER NOT NULL,		-- trials that were compared
	verdict TEXT NOT NULL CHECK (verdict IN ('stop', 'keep', 'suspended')),
	why TEXT,
	time_us INTEGER NOT NULL
, pause INTEGER NOT NULL DEFAULT 0
    CHECK (pause IN (0, 1))) STRICT;
CREATE TABLE t_event (
	seq INTEGER PRIMARY KEY,
	time_us INTEGER NOT NULL,
	level TEXT NOT NULL CHECK (level IN
	    ('error', 'warning', 'info', 'debug')),
	area TEXT NOT NULL,
	trial INTEGER,			-- NULL = of the study
	attempt INTEGER,
	text TEXT NOT NULL
) STRICT;
CREATE TABLE t_queue (
	id INTEGER PRIMARY KEY,
	params TEXT NOT NULL,		-- JSON of a partial setting
	source TEXT NOT NULL CHECK (source IN
	    ('strategy', 'enqueue', 'default')),
	trial INTEGER			-- NULL = waiting, 0 = dropped
) STRICT;
CREATE TABLE t_cost (
	id INTEGER PRIMARY KEY CHECK (id = 1),	-- one row
	committed REAL NOT NULL,	-- dollars: what they cost, or may cost
	seconds REAL NOT NULL,		-- of attempts that were billed
	billable_seconds REAL NOT NULL,	-- the part of them that is paid for
	spot_saved REAL NOT NULL	-- dollars that the other part would cost
) STRICT;
INSERT INTO t_cost VALUES(1,0.0,0.0,0.0,0.0);
CREATE TABLE t_suggestion (
	trial INTEGER PRIMARY KEY REFERENCES t_trial,
	strategy TEXT NOT NULL,
	made_by TEXT NOT NULL,		-- kernels that worked: cpu, cuda, …
	seconds REAL NOT NULL,		-- that the answer took
	redraws INTEGER NOT NULL,	-- answers before it that were known
	same_as INTEGER,		-- trial of the same setting before it
	from_trial INTEGER		-- whose checkpoint it continues
) STRICT;
INSERT INTO t_suggestion VALUES(1,'random','cpu',1.5000000000000000379e-05,0,NULL,NULL);
INSERT INTO t_suggestion VALUES(2,'random','cpu',3.9999999999999998188e-06,0,NULL,NULL);
INSERT INTO t_suggestion VALUES(3,'random','cpu',7.9999999999999996378e-06,0,NULL,NULL);
CREATE TABLE t_warm (
	id INTEGER PRIMARY KEY,		-- the oldest first
	source TEXT NOT NULL,		-- database, as in study.json
	trial INTEGER NOT NULL,		-- its number there
	state TEXT NOT NULL CHECK (state IN ('completed', 'stopped', 'failed')),
	objective REAL,			-- as this study counts it
	step INTEGER,			-- last one; NULL = none
	value REAL,			-- reported there
	params TEXT NOT NULL,		-- JSON, in the space of this study
	metrics TEXT			-- JSON: last reports of all objectives and
					-- constraints; NULL = one objective
) STRICT;
CREATE TABLE t_aim (
	position INTEGER PRIMARY KEY,	-- from 1
	metric TEXT NOT NULL,
	goal TEXT CHECK (goal IN ('maximize', 'minimize')),	-- NULL = constraint
	least REAL,			-- of a constraint; NULL = no bound
	most REAL
) STRICT;
INSERT INTO t_aim VALUES(1,'loss','minimize',NULL,NULL);
CREATE TABLE t_outcome (
	trial INTEGER NOT NULL,
	position INTEGER NOT NULL,	-- of t_aim
	value REAL,			-- NULL = none
	violation REAL,			-- of a constraint: above 0 = broken
	PRIMARY KEY (trial, position)
) STRICT, WITHOUT ROWID;
CREATE TABLE t_front (
	trial INTEGER PRIMARY KEY REFERENCES t_trial,
	inside INTEGER NOT NULL CHECK (inside IN (0, 1)),	-- still
	better INTEGER NOT NULL CHECK (better IN (0, 1))	-- than all equals
) STRICT;
CREATE INDEX t_trial_objective ON t_trial (objective);
CREATE INDEX t_trial_state ON t_trial (state);
CREATE TRIGGER t_trial_count AFTER INSERT ON t_trial
BEGIN
	UPDATE t_total SET trials = trials + 1 WHERE state = NEW.state;
END;
CREATE TRIGGER t_trial_recount
AFTER UPDATE OF state, steps_run, steps_skipped, seconds, cost ON t_trial
WHEN OLD.state <> NEW.state OR OLD.steps_run <> NEW.steps_run OR
    OLD.steps_skipped <> NEW.steps_skipped OR OLD.seconds <> NEW.seconds OR
    OLD.cost IS NOT NEW.cost
BEGIN
	UPDATE t_total SET trials = trials - 1,
	    steps_run = steps_run - OLD.steps_run,
	    steps_skipped = steps_skipped - OLD.steps_skipped,
	    seconds_saved = seconds_saved - coalesce(
		OLD.steps_skipped * OLD.seconds / nullif(OLD.steps_run, 0), 0),
	    cost = cost - coalesce(OLD.cost, 0),
	    cost_saved = cost_saved - coalesce(
		OLD.steps_skipped * OLD.cost / nullif(OLD.steps_run, 0), 0)
	WHERE state = OLD.state;
	UPDATE t_total SET trials = trials + 1,
	    steps_run = steps_run + NEW.steps_run,
	    steps_skipped = steps_skipped + NEW.steps_skipped,
	    seconds_saved = seconds_saved + coalesce(
		NEW.steps_skipped * NEW.seconds / nullif(NEW.steps_run, 0), 0),
	    cost = iif(NEW.cost IS NULL, cost, coalesce(cost, 0) + NEW.cost),
	    cost_saved = iif(NEW.cost IS NULL, cost_saved,
		coalesce(cost_saved, 0) + coalesce(
		NEW.steps_skipped * NEW.cost / nullif(NEW.steps_run, 0), 0))
	WHERE state = NEW.state;
END;
CREATE TRIGGER t_trial_new BEFORE INSERT ON t_trial
WHEN NEW.state NOT IN ('waiting', 'starting')
BEGIN
	SELECT RAISE(FAIL, 'a new trial waits or starts');
END;
CREATE TRIGGER t_trial_move BEFORE UPDATE OF state ON t_trial
WHEN OLD.state <> NEW.state AND NOT EXISTS (SELECT 1 FROM t_move
    WHERE from_state = OLD.state AND to_state = NEW.state)
BEGIN
	SELECT RAISE(FAIL, 'a trial cannot make this move');
END;
CREATE TRIGGER t_trial_gone BEFORE DELETE ON t_trial
BEGIN
	SELECT RAISE(FAIL, 'trials are never deleted');
END;
CREATE INDEX t_attempt_open ON t_attempt (trial, attempt)
    WHERE state <> 'ended';
CREATE TRIGGER t_attempt_times
AFTER UPDATE OF started_us, ended_us, gpu_seconds, cost ON t_attempt
WHEN NEW.started_us IS NOT OLD.started_us OR
    NEW.ended_us IS NOT OLD.ended_us OR NEW.cost IS NOT OLD.cost OR
    NEW.gpu_seconds IS NOT OLD.gpu_seconds
BEGIN
	UPDATE t_trial SET (started_us, seconds, gpu_seconds, cost) = (
	    SELECT min(started_us), total((ended_us - started_us) / 1e6),
	    sum(gpu_seconds), sum(cost)
	    FROM t_attempt WHERE trial = NEW.trial)
	WHERE trial = NEW.trial;
END;
CREATE INDEX t_stop_trial ON t_stop (trial);
CREATE INDEX t_event_trial ON t_event (trial) WHERE trial IS NOT NULL;
CREATE INDEX t_queue_waiting ON t_queue (id) WHERE trial IS NULL;
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
CREATE INDEX t_trial_completed ON t_trial (objective)
    WHERE state = 'completed' AND violation = 0;
CREATE INDEX t_trial_violated ON t_trial (violation, objective)
    WHERE state = 'completed' AND violation > 0;
CREATE INDEX t_front_inside ON t_front (trial) WHERE inside = 1;
CREATE VIEW trials AS
SELECT trial, state, objective, nullif(last_step, -1) AS step, reports, params,
    backend, attempts,
    strftime('%Y-%m-%dT%H:%M:%fZ', started_us / 1e6, 'unixepoch') AS started,
    strftime('%Y-%m-%dT%H:%M:%fZ', ended_us / 1e6, 'unixepoch') AS ended,
    seconds, gpu_seconds, cost, why
FROM t_trial;
CREATE VIEW t_best AS
SELECT CASE WHEN (SELECT count(*) FROM t_aim WHERE goal IS NOT NULL) > 1
THEN NULL WHEN goal = 'maximize' THEN coalesce(
    (SELECT min(trial) FROM t_trial WHERE state = 'completed' AND
	violation = 0 AND objective =
	(SELECT max(objective) FROM t_trial INDEXED BY t_trial_completed
	WHERE state = 'completed' AND violation = 0 AND
	objective BETWEEN -1.7976931348623157e308 AND 1.7976931348623157e308)),
    (SELECT min(trial) FROM t_trial INDEXED BY t_trial_violated
	WHERE state = 'completed' AND violation > 0 AND (violation, objective)
	= (SELECT violation, max(objective) FROM t_trial
	    INDEXED BY t_trial_violated
	    WHERE state = 'completed' AND violation > 0 AND violation =
	    (SELECT min(violation) FROM t_trial INDEXED BY t_trial_violated
	    WHERE state = 'completed' AND violation > 0))),
    (SELECT min(trial) FROM t_trial WHERE objective =
	(SELECT max(objective) FROM t_trial
	WHERE objective BETWEEN -1.7976931348623157e308
	AND 1.7976931348623157e308)))
ELSE coalesce(
    (SELECT min(trial) FROM t_trial WHERE state = 'completed' AND
	violation = 0 AND objective =
	(SELECT min(objective) FROM t_trial INDEXED BY t_trial_completed
	WHERE state = 'completed' AND violation = 0 AND
	objective BETWEEN -1.7976931348623157e308 AND 1.7976931348623157e308)),
    (SELECT min(trial) FROM t_trial INDEXED BY t_trial_violated
	WHERE state = 'completed' AND violation > 0 AND (violation, objective)
	= (SELECT violation, min(objective) FROM t_trial
	    INDEXED BY t_trial_violated
	    WHERE state = 'completed' AND violation > 0 AND violation =
	    (SELECT min(violation) FROM t_trial INDEXED BY t_trial_violated
	    WHERE state = 'completed' AND violation > 0))),
    (SELECT min(trial) FROM t_trial WHERE objective =
	(SELECT min(objective) FROM t_trial
	WHERE objective BETWEEN -1.7976931348623157e308
	AND 1.7976931348623157e308)))
END AS trial
FROM t_study;
CREATE VIEW best AS
SELECT * FROM trials WHERE trial = (SELECT trial FROM t_best);
CREATE VIEW study AS
SELECT name, state,
    (SELECT group_concat(metric, ', ') FROM (SELECT metric FROM t_aim
	WHERE goal IS NOT NULL ORDER BY position)) AS metric,
    (SELECT group_concat(goal, ', ') FROM (SELECT goal FROM t_aim
	WHERE goal IS NOT NULL ORDER BY position)) AS goal, strategy,
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
CREATE VIEW curves AS
SELECT trial, step, value FROM t_metric AS m
WHERE name_id = 1 AND NOT EXISTS (SELECT 1 FROM t_metric AS later
    WHERE later.name_id = 1 AND later.trial = m.trial
    AND later.step = m.step AND later.seq > m.seq);
CREATE VIEW metrics AS
SELECT m.trial, m.attempt, m.step, n.name, m.value,
    strftime('%Y-%m-%dT%H:%M:%fZ', m.time_us / 1e6, 'unixepoch') AS time
FROM t_name AS n CROSS JOIN t_metric AS m ON m.name_id = n.id;
CREATE VIEW medians AS
SELECT step, trials, median FROM t_median;
CREATE VIEW stops AS
SELECT trial, step, rule, value, threshold, pool,
    CASE pause WHEN 0 THEN verdict ELSE
	iif(verdict = 'stop', 'pause', 'resume') END AS verdict,
    strftime('%Y-%m-%dT%H:%M:%fZ', time_us / 1e6, 'unixepoch') AS time, why
FROM t_stop;
CREATE VIEW attempts AS
SELECT trial, attempt, backend, place, state,
    strftime('%Y-%m-%dT%H:%M:%fZ', started_us / 1e6, 'unixepoch') AS started,
    strftime('%Y-%m-%dT%H:%M:%fZ', ended_us / 1e6, 'unixepoch') AS ended,
    (ended_us - started_us) / 1e6 AS seconds, exit_code, signal, end_class,
    resumed_step, billable_seconds, cost, log
FROM t_attempt;
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
CREATE VIEW costs AS
SELECT (SELECT sum(cost) FROM t_total) AS cost,
    nullif(committed, 0) AS committed, seconds, billable_seconds,
    iif(seconds > 0, spot_saved, NULL) AS spot_saved,
    1 - billable_seconds / nullif(seconds, 0) AS spot_share
FROM t_cost;
CREATE VIEW suggestions AS
SELECT t.trial, s.strategy, s.made_by, s.seconds, s.redraws, s.same_as,
    s.from_trial, t.source
FROM t_trial AS t LEFT JOIN t_suggestion AS s ON s.trial = t.trial;
CREATE VIEW events AS
SELECT strftime('%Y-%m-%dT%H:%M:%fZ', time_us / 1e6, 'unixepoch') AS time,
    level, area, trial, attempt, text
FROM t_event;
CREATE VIEW warm AS
SELECT source, trial, state, objective, step, params FROM t_warm ORDER BY id;
CREATE VIEW outcomes AS
SELECT trial, metric, goal, least AS min, most AS max, value, violation
FROM t_outcome JOIN t_aim USING (position);
CREATE VIEW population AS
SELECT member, trial, from_trial, until_step, state, objective,
    nullif(last_step, -1) AS step, params
FROM t_trial WHERE member IS NOT NULL;
CREATE VIEW results AS
SELECT trial, state, objective,
    (SELECT value FROM json_each(params) WHERE key = 'x') AS "x"
FROM t_trial;
CREATE VIEW front AS
SELECT trial, objective AS "loss",
    (SELECT value FROM json_each(params) WHERE key = 'x') AS "x"
FROM t_trial
WHERE state = 'completed' AND violation = 0 AND objective =
    (SELECT objective FROM t_trial WHERE trial = (SELECT trial FROM t_best));
COMMIT;
