-- The tables of a study.  They may change between versions: the promise to
-- people and programs is schema/views.sql.  A column that ends in _us holds
-- microseconds since 1970 (UTC), _ms milliseconds.

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

-- Apart from t_study because it changes with every transaction.
CREATE TABLE t_counter (
	id INTEGER PRIMARY KEY CHECK (id = 1),	-- one row
	seq INTEGER NOT NULL		-- last number given to a record
) STRICT;

CREATE TABLE t_param (
	position INTEGER PRIMARY KEY,	-- from 1, as in study.json
	name TEXT NOT NULL UNIQUE
) STRICT;

-- Every move a trial can make, written by the program from its own table.
CREATE TABLE t_move (
	from_state TEXT NOT NULL,
	to_state TEXT NOT NULL,
	PRIMARY KEY (from_state, to_state)
) STRICT, WITHOUT ROWID;

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
) STRICT;
CREATE INDEX t_trial_objective ON t_trial (objective);
CREATE INDEX t_trial_completed ON t_trial (objective)
    WHERE state = 'completed';
CREATE INDEX t_trial_state ON t_trial (state);

-- Counts and sums over the trials in each state, kept by triggers: the views
-- study and savings must not grow dearer with the study.
CREATE TABLE t_total (
	state TEXT PRIMARY KEY,
	trials INTEGER NOT NULL DEFAULT 0,
	steps_run INTEGER NOT NULL DEFAULT 0,
	steps_skipped INTEGER NOT NULL DEFAULT 0,
	seconds_saved REAL NOT NULL DEFAULT 0,
	cost REAL,			-- NULL = no trial had one
	cost_saved REAL
) STRICT, WITHOUT ROWID;
INSERT INTO t_total (state) VALUES ('waiting'), ('starting'), ('running'),
    ('stopping'), ('completed'), ('stopped'), ('failed'), ('cancelled');

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
	why TEXT,
	PRIMARY KEY (trial, attempt)
) STRICT, WITHOUT ROWID;
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

-- Names of metrics; 1 is the objective.
CREATE TABLE t_name (
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL UNIQUE
) STRICT;

-- Reports.  A (name, trial, step) reported again is another row: the
-- greatest seq is the newest.  No foreign keys: they would double the price
-- of a report, and only the program that made the trial writes here.
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

-- The running median of the stopping rule at each step.
CREATE TABLE t_median (
	step INTEGER PRIMARY KEY,
	trials INTEGER NOT NULL,	-- in the pool
	median REAL
) STRICT;

-- Judgements that stopped, or that a guard suspended.
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
) STRICT;
CREATE INDEX t_stop_trial ON t_stop (trial);

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
CREATE INDEX t_event_trial ON t_event (trial) WHERE trial IS NOT NULL;

-- Settings waiting to be tried, oldest first.
CREATE TABLE t_queue (
	id INTEGER PRIMARY KEY,
	params TEXT NOT NULL,		-- JSON of a partial setting
	source TEXT NOT NULL CHECK (source IN
	    ('strategy', 'enqueue', 'default')),
	trial INTEGER			-- NULL = waiting, 0 = dropped
) STRICT;
CREATE INDEX t_queue_waiting ON t_queue (id) WHERE trial IS NULL;
