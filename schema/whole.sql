-- What all migrations leave in an empty file, made by build-aux/schema-whole.sh:
-- a new study begins with it.

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
, run_trials INTEGER, run_parallel INTEGER) STRICT;

CREATE TABLE t_counter (
	id INTEGER PRIMARY KEY CHECK (id = 1),	-- one row
	seq INTEGER NOT NULL		-- last number given to a record
) STRICT;

CREATE TABLE t_param (
	position INTEGER PRIMARY KEY,	-- from 1, as in study.json
	name TEXT NOT NULL UNIQUE
) STRICT;

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
, paused_step INTEGER, violation REAL NOT NULL DEFAULT 0, from_trial INTEGER, member INTEGER, until_step INTEGER, energy_joules REAL, gpu_memory INTEGER, gpu_busy REAL, gpu_seen REAL, pace_seconds REAL NOT NULL DEFAULT 0, pace_steps INTEGER NOT NULL DEFAULT 0, forgotten INTEGER NOT NULL DEFAULT 0
    CHECK (forgotten IN (0, 1)), outside TEXT, setting INTEGER, replicate INTEGER, own_steps INTEGER, git_commit TEXT) STRICT;

CREATE TABLE t_total (
	state TEXT PRIMARY KEY,
	trials INTEGER NOT NULL DEFAULT 0,
	steps_run INTEGER NOT NULL DEFAULT 0,
	steps_skipped INTEGER NOT NULL DEFAULT 0,
	seconds_saved REAL NOT NULL DEFAULT 0,
	cost REAL,			-- NULL = no trial had one
	cost_saved REAL
, gpu_seconds REAL, energy REAL, energy_saved REAL, pace_seconds REAL NOT NULL DEFAULT 0, pace_steps INTEGER NOT NULL DEFAULT 0, unpaced_steps INTEGER NOT NULL DEFAULT 0, unpaced_cost REAL NOT NULL DEFAULT 0, unpaced_energy REAL NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;

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
	why TEXT, worst_cost REAL, trained_seconds REAL, gpus INTEGER, energy_joules REAL, gpu_memory INTEGER, gpu_busy REAL, gpu_seen REAL, download_seconds REAL, upload_seconds REAL, cpus INTEGER,
	PRIMARY KEY (trial, attempt)
) STRICT, WITHOUT ROWID;

CREATE TABLE t_name (
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE t_median (
	step INTEGER PRIMARY KEY,
	trials INTEGER NOT NULL,	-- in the pool
	median REAL
) STRICT;

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
    CHECK (pause IN (0, 1)), late INTEGER NOT NULL DEFAULT 0
    CHECK (late IN (0, 1)), rank INTEGER, hindsight REAL, budget INTEGER, price INTEGER, spent INTEGER, end_seq INTEGER, metric TEXT, unit TEXT, at INTEGER) STRICT;

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

CREATE TABLE t_suggestion (
	trial INTEGER PRIMARY KEY REFERENCES t_trial,
	strategy TEXT NOT NULL,
	made_by TEXT NOT NULL,		-- kernels that worked: cpu, cuda, …
	seconds REAL NOT NULL,		-- that the answer took
	redraws INTEGER NOT NULL,	-- answers before it that were known
	same_as INTEGER,		-- trial of the same setting before it
	from_trial INTEGER		-- whose checkpoint it continues
, reason TEXT, memory REAL, fits REAL) STRICT;

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

CREATE TABLE t_left (
	trial INTEGER NOT NULL,
	attempt INTEGER NOT NULL,
	model TEXT,
	output TEXT,
	PRIMARY KEY (trial, attempt)
) STRICT, WITHOUT ROWID;

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

CREATE TABLE t_note (
	trial INTEGER PRIMARY KEY REFERENCES t_trial,
	text TEXT NOT NULL,
	time_us INTEGER NOT NULL
) STRICT;

CREATE TABLE t_tag (
	trial INTEGER NOT NULL REFERENCES t_trial,
	tag TEXT NOT NULL,
	PRIMARY KEY (trial, tag)
) STRICT, WITHOUT ROWID;

CREATE TABLE t_retry (
	seq INTEGER PRIMARY KEY,
	trial INTEGER NOT NULL REFERENCES t_trial,
	attempt INTEGER NOT NULL,	-- its last one until then; 0 = none
	state TEXT NOT NULL CHECK (state IN ('stopped', 'failed', 'cancelled')),
	objective REAL,
	why TEXT,
	end_seq INTEGER NOT NULL,	-- as in t_trial
	time_us INTEGER NOT NULL	-- of the retry
) STRICT;

CREATE TABLE t_change (
	seq INTEGER PRIMARY KEY,
	key TEXT NOT NULL,		-- path in study.json
	old TEXT,			-- JSON; NULL = not given
	new TEXT,
	trials INTEGER NOT NULL,	-- there were when it changed
	outside INTEGER,		-- of them outside the space after it;
					-- NULL = the space did not change
	time_us INTEGER NOT NULL
) STRICT;

CREATE TABLE t_spent (
	seq INTEGER PRIMARY KEY,	-- of the report in t_metric
	seconds REAL NOT NULL,
	dollars REAL NOT NULL
) STRICT;

CREATE TABLE t_setting (
	setting INTEGER PRIMARY KEY,
	state TEXT NOT NULL CHECK (state IN ('open', 'behind', 'completed',
	    'stopped', 'failed', 'cancelled', 'forgotten')),
	completed INTEGER NOT NULL,	-- replicates
	value REAL,			-- of the completed ones
	mean REAL,
	error REAL,			-- standard error of the mean
	trial INTEGER,			-- its first one that is completed
	params TEXT NOT NULL		-- JSON, without that of replicates
, violation REAL NOT NULL DEFAULT 0) STRICT;

CREATE TABLE t_packages (
	id INTEGER PRIMARY KEY,
	text TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE t_provenance (
	id INTEGER PRIMARY KEY,
	since_us INTEGER NOT NULL,
	host TEXT NOT NULL,
	user TEXT NOT NULL,
	system TEXT NOT NULL,
	version TEXT NOT NULL,		-- of hpotune
	command TEXT NOT NULL,		-- JSON list
	folder TEXT NOT NULL,		-- in which the command was given
	workdir TEXT NOT NULL,		-- of which git was asked
	git_commit TEXT,
	git_branch TEXT,
	git_dirty INTEGER CHECK (git_dirty IN (0, 1)),
	git_why TEXT,			-- why something of git is not known
	packages INTEGER REFERENCES t_packages,
	packages_why TEXT		-- why the list is not there
) STRICT;

CREATE TABLE t_setting_outcome (	-- where more than one objective counts
	setting INTEGER NOT NULL,
	position INTEGER NOT NULL,	-- of t_aim
	value REAL,			-- of an objective
	mean REAL,
	error REAL,			-- standard error of the mean
	violation REAL,			-- of a constraint; at most 0: satisfied
	PRIMARY KEY (setting, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE t_place (
	place TEXT PRIMARY KEY,		-- backend, and slot, UUID, node or nothing
	trials TEXT NOT NULL,		-- failed at once there: src/model/places.h
	worked INTEGER NOT NULL,	-- trials elsewhere since the row began
	failed INTEGER NOT NULL,
	works INTEGER NOT NULL CHECK (works IN (0, 1)),	-- a trial has, ever
	drained INTEGER NOT NULL CHECK (drained IN (0, 1))
) STRICT, WITHOUT ROWID;

CREATE TABLE t_asker (
	trial INTEGER NOT NULL,
	attempt INTEGER NOT NULL,
	host TEXT NOT NULL,
	pid INTEGER NOT NULL,
	mark TEXT NOT NULL,		-- boot, namespace of the pid, start
	watched INTEGER NOT NULL CHECK (watched IN (0, 1)),
	PRIMARY KEY (trial, attempt)
) STRICT, WITHOUT ROWID;

CREATE TABLE t_block (
	name_id INTEGER NOT NULL,	-- of t_name
	trial INTEGER NOT NULL,
	seq INTEGER NOT NULL,		-- of the first report
	attempt INTEGER NOT NULL,
	reports INTEGER NOT NULL CHECK (reports BETWEEN 1 AND 32),
	step INTEGER NOT NULL,		-- of the first, the least
	last_step INTEGER NOT NULL,	-- of the last, the greatest
	old INTEGER NOT NULL CHECK (old IN (0, 1)),	-- each is followed by
					-- another of its step, elsewhere
	time_us INTEGER NOT NULL,	-- the least
	last_us INTEGER NOT NULL,	-- the greatest
	steps ANY NOT NULL,
	seqs ANY NOT NULL,
	times ANY NOT NULL,
					-- values, NULL = not a number
	v0 REAL, v1 REAL, v2 REAL, v3 REAL, v4 REAL, v5 REAL, v6 REAL, v7 REAL,
	v8 REAL, v9 REAL, v10 REAL, v11 REAL, v12 REAL, v13 REAL, v14 REAL, v15 REAL,
	v16 REAL, v17 REAL, v18 REAL, v19 REAL, v20 REAL, v21 REAL, v22 REAL, v23 REAL,
	v24 REAL, v25 REAL, v26 REAL, v27 REAL, v28 REAL, v29 REAL, v30 REAL, v31 REAL,
	PRIMARY KEY (name_id, trial, old, step, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE t_nth (
	i INTEGER PRIMARY KEY		-- of the reports of a block, from 0
) STRICT;

CREATE TABLE t_contest (
	contest INTEGER PRIMARY KEY CHECK (contest > 0),
	kind TEXT NOT NULL CHECK (kind IN ('confirm', 'propose')),
	verdict TEXT NOT NULL CHECK (verdict IN ('open', 'better', 'worse',
	    'not shown', 'kept', 'discarded', 'undecided')),
	challenger INTEGER,		-- setting; NULL = not begun
	baseline INTEGER,		-- setting; NULL = not begun
	metric TEXT NOT NULL,
	goal TEXT NOT NULL CHECK (goal IN ('minimize', 'maximize')),
	alpha REAL NOT NULL,
	searched INTEGER NOT NULL,	-- replicates of the search come first
	replicates INTEGER NOT NULL,	-- pairs at most, behind them
	looks INTEGER NOT NULL,		-- pairs that were looked at
	better REAL NOT NULL,		-- e-value: the challenger is better
	worse REAL NOT NULL,
	difference REAL,		-- mean; above 0: better
	least REAL,			-- better by at least so much
	opened_us INTEGER NOT NULL,
	ended_us INTEGER,
	params TEXT,			-- JSON of the challenger, until it is begun
	caller TEXT,			-- who proposed it
	why TEXT
, git_commit TEXT, git_base TEXT, diff TEXT) STRICT;

CREATE TABLE t_request (
	seq INTEGER PRIMARY KEY,
	time_us INTEGER NOT NULL,
	caller TEXT NOT NULL,
	request TEXT NOT NULL,
	trial INTEGER,
	asked TEXT,
	good INTEGER CHECK (good IN (0, 1)), -- NULL: it was only read
	answer TEXT
) STRICT;

CREATE INDEX t_trial_objective ON t_trial (objective);

CREATE INDEX t_trial_state ON t_trial (state);

CREATE INDEX t_attempt_open ON t_attempt (trial, attempt)
    WHERE state <> 'ended';

CREATE INDEX t_stop_trial ON t_stop (trial);

CREATE INDEX t_event_trial ON t_event (trial) WHERE trial IS NOT NULL;

CREATE INDEX t_queue_waiting ON t_queue (id) WHERE trial IS NULL;

CREATE INDEX t_trial_completed ON t_trial (objective)
    WHERE state = 'completed' AND violation = 0;

CREATE INDEX t_trial_violated ON t_trial (violation, objective)
    WHERE state = 'completed' AND violation > 0;

CREATE INDEX t_front_inside ON t_front (trial) WHERE inside = 1;

CREATE INDEX t_notice_due ON t_notice (id) WHERE sent_us IS NULL;

CREATE UNIQUE INDEX t_stop_look ON t_stop (trial) WHERE rank IS NOT NULL;

CREATE INDEX t_tag_tag ON t_tag (tag);

CREATE INDEX t_retry_trial ON t_retry (trial);

CREATE INDEX t_trial_forgotten ON t_trial (state) WHERE forgotten = 1;

CREATE INDEX t_attempt_cpus ON t_attempt (cpus, started_us, ended_us)
WHERE cpus IS NOT NULL;

CREATE INDEX t_trial_setting ON t_trial (setting, replicate)
WHERE setting IS NOT NULL;

CREATE INDEX t_provenance_since ON t_provenance (since_us);

CREATE INDEX t_asker_pid ON t_asker (pid) WHERE watched = 1;

CREATE INDEX t_block_zero ON t_block (trial) WHERE name_id = 1 AND step = 0;

CREATE TRIGGER t_trial_count AFTER INSERT ON t_trial
BEGIN
	UPDATE t_total SET trials = trials + 1 WHERE state = NEW.state;
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

CREATE TRIGGER t_attempt_cost AFTER UPDATE OF cost, worst_cost ON t_attempt
WHEN coalesce(NEW.cost, NEW.worst_cost) IS NOT
    coalesce(OLD.cost, OLD.worst_cost)
BEGIN
	UPDATE t_cost SET committed = max(0, committed +
	    coalesce(NEW.cost, NEW.worst_cost, 0) -
	    coalesce(OLD.cost, OLD.worst_cost, 0));
END;

CREATE TRIGGER t_contest_stays BEFORE UPDATE ON t_contest
WHEN OLD.verdict <> 'open'
BEGIN
	SELECT RAISE(FAIL, 'a verdict stays');
END;

CREATE TRIGGER t_contest_gone BEFORE DELETE ON t_contest
BEGIN
	SELECT RAISE(FAIL, 'contests are never deleted');
END;

INSERT INTO t_total VALUES('cancelled',0,0,0,0.0,NULL,NULL,NULL,NULL,NULL,0.0,0,0,0.0,0.0);
INSERT INTO t_total VALUES('completed',0,0,0,0.0,NULL,NULL,NULL,NULL,NULL,0.0,0,0,0.0,0.0);
INSERT INTO t_total VALUES('failed',0,0,0,0.0,NULL,NULL,NULL,NULL,NULL,0.0,0,0,0.0,0.0);
INSERT INTO t_total VALUES('running',0,0,0,0.0,NULL,NULL,NULL,NULL,NULL,0.0,0,0,0.0,0.0);
INSERT INTO t_total VALUES('starting',0,0,0,0.0,NULL,NULL,NULL,NULL,NULL,0.0,0,0,0.0,0.0);
INSERT INTO t_total VALUES('stopped',0,0,0,0.0,NULL,NULL,NULL,NULL,NULL,0.0,0,0,0.0,0.0);
INSERT INTO t_total VALUES('stopping',0,0,0,0.0,NULL,NULL,NULL,NULL,NULL,0.0,0,0,0.0,0.0);
INSERT INTO t_total VALUES('waiting',0,0,0,0.0,NULL,NULL,NULL,NULL,NULL,0.0,0,0,0.0,0.0);
INSERT INTO t_cost VALUES(1,0.0,0.0,0.0,0.0);
INSERT INTO t_nth VALUES(0);
INSERT INTO t_nth VALUES(1);
INSERT INTO t_nth VALUES(2);
INSERT INTO t_nth VALUES(3);
INSERT INTO t_nth VALUES(4);
INSERT INTO t_nth VALUES(5);
INSERT INTO t_nth VALUES(6);
INSERT INTO t_nth VALUES(7);
INSERT INTO t_nth VALUES(8);
INSERT INTO t_nth VALUES(9);
INSERT INTO t_nth VALUES(10);
INSERT INTO t_nth VALUES(11);
INSERT INTO t_nth VALUES(12);
INSERT INTO t_nth VALUES(13);
INSERT INTO t_nth VALUES(14);
INSERT INTO t_nth VALUES(15);
INSERT INTO t_nth VALUES(16);
INSERT INTO t_nth VALUES(17);
INSERT INTO t_nth VALUES(18);
INSERT INTO t_nth VALUES(19);
INSERT INTO t_nth VALUES(20);
INSERT INTO t_nth VALUES(21);
INSERT INTO t_nth VALUES(22);
INSERT INTO t_nth VALUES(23);
INSERT INTO t_nth VALUES(24);
INSERT INTO t_nth VALUES(25);
INSERT INTO t_nth VALUES(26);
INSERT INTO t_nth VALUES(27);
INSERT INTO t_nth VALUES(28);
INSERT INTO t_nth VALUES(29);
INSERT INTO t_nth VALUES(30);
INSERT INTO t_nth VALUES(31);
