/*
 * All statements on rows, by name; each is prepared once per connection at its
 * first use.  Those with all columns of a trial or an attempt are where these are
 * bound, in row-trial.c and row-attempt.c.  Binds and reads values.  Any text is made
 * valid for a TEXT column: SQLite would accept any bytes; programs that read them
 * later would not.
 */

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/store/row-block.h"

/* What row_block_read reads. */
#define BLOCK_COLUMNS "reports, step, steps, seq, seqs, " BLOCK_VALUES
#define BLOCK_VALUES                                                   \
	"v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, " \
	"v14, v15, v16, v17, v18, v19, v20, v21, v22, v23, v24, v25, " \
	"v26, v27, v28, v29, v30, v31"

static const char *const texts[STMT_COUNT] = {
	[STMT_BEGIN_READ] = "BEGIN",
	[STMT_BEGIN_WRITE] = "BEGIN IMMEDIATE",
	[STMT_COMMIT] = "COMMIT",
	[STMT_COUNTER_GET] = "SELECT seq FROM t_counter",
	[STMT_COUNTER_PUT] = "UPDATE t_counter SET seq = ?1",

	[STMT_STUDY_ADD] =
	    "INSERT INTO t_study (id, name, metric, goal, network_fs, "
	    "created_us, state, strategy, seed, rule, max_steps, json, fixed, "
	    "dir, elapsed_ms, schema_version, program_version) VALUES "
	    "(1, ?1, ?2, ?3, ?4, ?5, 'running', '', 0, '', 0, '', '', '', 0, "
	    "?6, '')",
	[STMT_STUDY_GET] =
	    "SELECT name, state, metric, goal, strategy, seed, rule, "
	    "max_steps, json, fixed, dir, created_us, started_us, ended_us, "
	    "elapsed_ms, why, run_trials, run_parallel FROM t_study",
	[STMT_STUDY_PUT] =
	    "UPDATE t_study SET state = ?1, strategy = ?2, seed = ?3, "
	    "rule = ?4, max_steps = ?5, json = ?6, fixed = ?7, dir = ?8, "
	    "started_us = ?9, ended_us = ?10, elapsed_ms = ?11, why = ?12, "
	    "run_trials = ?13, run_parallel = ?14",
	[STMT_PARAM_ADD] = "INSERT INTO t_param VALUES (?1, ?2)",
	[STMT_PARAM_EACH] = "SELECT name FROM t_param ORDER BY position",
	[STMT_AIM_ADD] = "INSERT INTO t_aim VALUES (?1, ?2, ?3, ?4, ?5)",
	[STMT_STUDY_LEAVES] = "SELECT 1 FROM t_study "
			      "WHERE instr(json, '\"sagemaker\"') > 0",
	[STMT_AIM_EACH] = "SELECT metric FROM t_aim WHERE goal IS NOT NULL "
			  "ORDER BY position",
	[STMT_MOVE_ADD] = "INSERT OR IGNORE INTO t_move VALUES (?1, ?2)",

	[STMT_TRIAL_ADD] = row_trial_add,
	[STMT_TRIAL_GET] = row_trial_get,
	[STMT_TRIAL_REPORT] = row_trial_report,
	[STMT_TRIAL_PUT] = row_trial_put,
	/*
	 * Steps count from 0 or from 1: a trial that reported step 0 ran one
	 * more than the number of its last step.  For a trial that reports a
	 * clock as its step, limited to what can be summed.  Steps that max_run
	 * cut off do not count as saved.
	 */
	[STMT_TRIAL_END] =
	    "UPDATE t_trial SET end_seq = coalesce(end_seq, ?2), "
	    "violation = ?4, "
	    "ended_us = coalesce(?3, (SELECT max(ended_us) "
	    "FROM t_attempt WHERE trial = ?1)), "
	    "(steps_run, steps_skipped) = (SELECT run, iif(state = 'stopped' "
	    "AND max_steps > run AND coalesce((SELECT end_class FROM "
	    "t_attempt WHERE trial = ?1 ORDER BY attempt DESC LIMIT 1), '') "
	    "<> 'timeout', max_steps - run, 0) FROM "
	    "(SELECT coalesce((SELECT own_steps FROM t_trial "
	    "WHERE trial = ?1), max_steps) AS max_steps FROM t_study), "
	    "(SELECT iif(last_step < 0, 0, min(1000000000000, last_step + "
	    "EXISTS (SELECT 1 FROM t_block WHERE name_id = 1 AND "
	    "trial = ?1 AND step = 0))) AS run)), "
	    /* Explained in schema/006-pace.sql. */
	    "(pace_seconds, pace_steps) = (SELECT total(seconds), "
	    "coalesce(sum(steps), 0) FROM (SELECT (last_us - first_us) / 1e6 "
	    "AS seconds, min(last_step, 1000000000000) - "
	    /* Blocks of one time are not looked into. */
	    "min(1000000000000, max(coalesce((SELECT max(last_step) "
	    "FROM t_block WHERE name_id = 1 AND trial = ?1 AND "
	    "attempt = a.attempt AND time_us = first_us AND "
	    "last_us = first_us), 0), coalesce((SELECT max(step) "
	    "FROM t_metric AS m WHERE name_id = 1 AND trial = ?1 AND "
	    "attempt = a.attempt AND m.first_us = a.first_us AND "
	    "m.last_us > a.first_us AND time_us = a.first_us), 0))) AS steps "
	    "FROM (SELECT attempt, min(time_us) AS first_us, "
	    "max(last_us) AS last_us, max(last_step) AS last_step "
	    "FROM t_block WHERE name_id = 1 AND "
	    "trial = ?1 GROUP BY attempt) AS a) "
	    "WHERE seconds > 0 AND steps > 0) WHERE trial = ?1",
	[STMT_TRIAL_EACH] =
	    "SELECT trial, state, source, params, from_trial, member, "
	    "forgotten, outside, setting, replicate, own_steps, git_commit "
	    "FROM t_trial "
	    "ORDER BY trial",
	[STMT_TRIAL_FAILED] =
	    "SELECT t.trial, (SELECT a.end_class FROM t_attempt AS a "
	    "WHERE a.trial = t.trial ORDER BY a.attempt DESC LIMIT 1) "
	    "FROM t_trial AS t WHERE t.state = 'failed' ORDER BY t.trial",

	[STMT_SETTING_PUT] =
	    "INSERT OR REPLACE INTO t_setting VALUES (?1, ?2, ?3, ?4, ?5, ?6, "
	    "?7, ?8, ?9)",
	[STMT_SETTING_OUTCOME_PUT] =
	    "INSERT OR REPLACE INTO t_setting_outcome VALUES (?1, ?2, ?3, ?4, "
	    "?5, ?6)",
	[STMT_OUTCOME_PUT] = "INSERT OR REPLACE INTO t_outcome "
			     "VALUES (?1, ?2, ?3, ?4)",
	[STMT_OUTCOME_EACH] =
	    "SELECT trial, position, value FROM t_outcome ORDER BY trial",
	[STMT_OUTCOME_GET] =
	    "SELECT trial, position, value FROM t_outcome WHERE trial = ?1",
	[STMT_FRONT_ADD] = "INSERT OR REPLACE INTO t_front VALUES (?1, 1, ?2)",
	[STMT_FRONT_DROP] = "UPDATE t_front SET inside = 0 WHERE trial = ?1",
	[STMT_FRONT_EACH] =
	    "SELECT trial, inside, better FROM t_front ORDER BY trial",
	[STMT_FRONT_CLEAR] = "DELETE FROM t_front",

	[STMT_ATTEMPT_ADD] = row_attempt_add,
	[STMT_ATTEMPT_GET] = row_attempt_get,
	[STMT_ATTEMPT_OFFSETS] = row_attempt_offsets,
	[STMT_ATTEMPT_PUT] = row_attempt_put,
	[STMT_ATTEMPT_OPEN] = row_attempt_open,

	/* The triggers return what the attempt had committed of limits.cost. */
	[STMT_ATTEMPT_UNDO] = "UPDATE OR FAIL t_attempt SET cost = 0 "
			      "WHERE trial = ?1 AND attempt = ?2",
	[STMT_ATTEMPT_DROP] =
	    "DELETE FROM t_attempt WHERE trial = ?1 AND attempt = ?2",
	[STMT_ATTEMPT_TIMES] =
	    "SELECT total(d), total(u) FROM (SELECT "
	    "max(download_seconds) AS d, max(upload_seconds) AS u "
	    "FROM t_attempt WHERE backend = ?1)",

	[STMT_ATTEMPT_COST] = "UPDATE OR FAIL t_attempt SET cost = ?3 "
			      "WHERE trial = ?1 AND attempt = ?2 AND "
			      "cost IS NOT NULL",

	[STMT_ATTEMPT_PAST] =
	    "SELECT count(*) FILTER (WHERE end_class IN "
	    "('spot', 'capacity')), count(*) FILTER (WHERE "
	    "end_class IN ('capacity', 'quota') AND attempt > "
	    "coalesce((SELECT max(attempt) FROM t_attempt WHERE trial = ?1 "
	    "AND end_class NOT IN ('capacity', 'quota')), 0)) "
	    "FROM t_attempt WHERE trial = ?1",
	[STMT_ATTEMPT_LOOKS] =
	    "SELECT (SELECT count(rank) FROM t_stop WHERE trial = ?1) + "
	    "(SELECT count(*) FROM t_retry WHERE trial = ?1 AND "
	    "state = 'stopped')",

	[STMT_GPU_PUT] =
	    "INSERT OR REPLACE INTO t_gpu (uuid, gpu, name, memory, used, "
	    "temperature, utilization, power, state, why, owner, trials, "
	    "time_us) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, "
	    "?12, ?13)",
	[STMT_GPU_CLEAR] = "DELETE FROM t_gpu",
	[STMT_ARTIFACTS_PUT] = "INSERT OR REPLACE INTO t_left (trial, attempt, "
			       "model, output) VALUES (?1, ?2, ?3, ?4)",

	[STMT_NOTICE_ADD] =
	    "INSERT INTO t_notice (uuid, channel, moment, mark, text, detail, "
	    "time_us) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
	[STMT_NOTICE_NEXT] =
	    "SELECT id, uuid, moment, text, detail, time_us FROM t_notice "
	    "WHERE sent_us IS NULL AND channel = ?1 ORDER BY id LIMIT 1",
	[STMT_NOTICE_TOLD] =
	    "UPDATE t_notice SET sent_us = ?2, why = ?3 WHERE id = ?1",
	[STMT_NOTICE_MARK] =
	    "SELECT 1 FROM t_notice WHERE channel = ?1 AND moment = ?2 AND "
	    "mark = ?3",

	[STMT_COST_GET] = "SELECT committed FROM t_cost",
	[STMT_GPU_SECONDS_GET] = "SELECT sum(gpu_seconds) FROM t_total",

	[STMT_NAME_GET] = "SELECT id FROM t_name WHERE name = ?1",
	[STMT_NAME_EACH] = "SELECT name FROM t_name ORDER BY id",
	[STMT_NAME_ADD] = "INSERT INTO t_name (name) VALUES (?1)",
	[STMT_BLOCK_PUT] =
	    "INSERT OR REPLACE INTO t_block (name_id, trial, seq, attempt, "
	    "reports, step, last_step, old, time_us, last_us, steps, seqs, "
	    "times, " BLOCK_VALUES ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, "
	    "?9, ?10, ?11, ?12, ?13, ?14, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
	    "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
	[STMT_BLOCK_DROP] = "DELETE FROM t_block WHERE name_id = ?1 AND "
			    "trial = ?2 AND old = 0 AND step = ?3 AND seq = ?4",
	/* Of those that are not old, only this one can have the step. */
	[STMT_BLOCK_BEFORE] =
	    "SELECT attempt, time_us, times, " BLOCK_COLUMNS " FROM t_block "
	    "WHERE name_id = ?1 AND trial = ?2 AND old = ?3 AND step <= ?4 "
	    "ORDER BY step DESC, seq DESC LIMIT 1",
	[STMT_BLOCK_FILL] =
	    "SELECT name_id, trial, attempt, step, seq, time_us, value "
	    "FROM t_metric ORDER BY name_id, trial, seq",
	[STMT_SPENT_ADD] =
	    "INSERT INTO t_spent (seq, seconds, dollars) VALUES (?1, ?2, ?3)",
	[STMT_SPENT_PAST] =
	    "SELECT total(ended_us - started_us) / 1e6, total(cost) "
	    "FROM t_attempt WHERE trial = ?1 AND state = 'ended'",
#define THIS_REPORT                                                       \
	"name_id = ?1 AND trial = ?2 AND step = ?3 AND attempt = ?4 AND " \
	"value IS ?5 AND (?6 = 0 OR time_us = ?6)"
	[STMT_METRIC_EXISTS] =
	    "SELECT 1 FROM t_metric WHERE " THIS_REPORT " AND old = 0 AND "
	    "first_step = (SELECT max(b.step) FROM t_block AS b WHERE "
	    "b.name_id = ?1 AND b.trial = ?2 AND b.old = 0 AND b.step <= ?3) "
	    "UNION ALL SELECT 1 FROM t_metric WHERE " THIS_REPORT
	    " AND old = 1 AND first_step <= ?3 AND last_step >= ?3 LIMIT 1",
	[STMT_METRIC_EACH] =
	    "SELECT time_us, value FROM t_metric WHERE name_id = ?1 AND "
	    "trial = ?2 AND attempt = ?3 ORDER BY step, seq",
	[STMT_METRIC_LAST] =
	    "SELECT m.step, m.value FROM (SELECT b.name_id, b.step, "
	    "b.last_step FROM t_block AS b WHERE b.name_id = (SELECT id FROM "
	    "t_name WHERE name = ?2) AND b.trial = ?1 AND b.old = 0 "
	    "ORDER BY b.step DESC LIMIT 1) AS l CROSS JOIN t_metric AS m "
	    "WHERE m.name_id = l.name_id AND m.trial = ?1 AND m.old = 0 AND "
	    "m.first_step = l.step AND m.step = l.last_step",
	[STMT_METRIC_SERIES] =
	    "SELECT seq, attempt, step, value FROM t_metric WHERE name_id = "
	    "(SELECT id FROM t_name WHERE name = ?2) AND trial = ?1 AND "
	    "attempt > 0 ORDER BY seq",
	[STMT_SPEED] =
	    "SELECT steps_per_second FROM throughput WHERE trial = ?1 AND "
	    "steps_from = 'computed'",
	[STMT_MEDIAN_PUT] =
	    "INSERT INTO t_median VALUES (?1, ?2, ?3) ON CONFLICT (step) "
	    "DO UPDATE SET trials = ?2, median = ?3",
	[STMT_MEDIAN_EACH] = "SELECT step, trials FROM t_median ORDER BY step",
	[STMT_STOP_ADD] =
	    "INSERT INTO t_stop (seq, trial, step, rule, value, threshold, "
	    "pool, verdict, why, time_us, pause, rank, hindsight, budget, "
	    "price, spent, end_seq, metric, unit, at) VALUES (?1, ?2, ?3, ?4, "
	    "?5, ?6, ?7, ?8, ?9, ?10, "
	    "?11, ?12, ?13, ?14, ?15, ?16, iif(?12 IS NULL, NULL, "
	    "(SELECT end_seq FROM t_trial WHERE trial = ?2)), ?17, ?18, ?19)",
	/*
	 * Of the rows of stops and pauses, the last one must be a stop that
	 * took place: max_run stops trials, too, and a pause may be over.  A
	 * trial that diverged has no finite value there.
	 */
	[STMT_LOOK_EACH] =
	    "SELECT t.trial, coalesce(k.step, t.last_step), "
	    "k.trial IS NOT NULL, coalesce(k.price, 0), t.backend "
	    "FROM t_trial AS t LEFT JOIN t_stop AS k "
	    "ON k.trial = t.trial AND k.rank IS NOT NULL "
	    "WHERE t.forgotten = 0 AND (k.trial IS NOT NULL OR "
	    "(t.state = 'stopped' AND "
	    "(SELECT s.verdict = 'stop' AND NOT s.late AND s.value BETWEEN "
	    "-1.7976931348623157e308 AND 1.7976931348623157e308 "
	    "FROM t_stop AS s "
	    "WHERE s.trial = t.trial AND (s.verdict = 'stop' OR s.pause) "
	    "ORDER BY s.seq DESC LIMIT 1))) ORDER BY t.trial",
	[STMT_OWN_STEPS_PUT] =
	    "UPDATE t_trial SET own_steps = ?2 WHERE trial = ?1",
	[STMT_TRIAL_REVIVE] =
	    "UPDATE t_trial SET end_seq = NULL, ended_us = NULL, "
	    "steps_run = 0, steps_skipped = 0, pace_seconds = 0, "
	    "pace_steps = 0 WHERE trial = ?1",
	[STMT_RETRY_ADD] =
	    "INSERT INTO t_retry (seq, trial, attempt, state, objective, why, "
	    "end_seq, time_us) SELECT ?2, trial, attempts, state, objective, "
	    "why, end_seq, ?3 FROM t_trial WHERE trial = ?1",
	[STMT_TRIAL_FORGET] =
	    "UPDATE t_trial SET forgotten = ?2 WHERE trial = ?1",
	[STMT_MEDIAN_CLEAR] = "DELETE FROM t_median",
	[STMT_TRIAL_REFIT] =
	    "UPDATE t_trial SET params = coalesce(?2, params), outside = ?3 "
	    "WHERE trial = ?1",
	[STMT_TRIAL_NUMBER] = "UPDATE t_trial SET setting = trial, "
			      "replicate = 1 WHERE setting IS NULL",
	[STMT_PARAM_CLEAR] = "DELETE FROM t_param",
	[STMT_STUDY_RENAME] =
	    "UPDATE t_study SET name = ?1, json = json_set(json, '$.study', "
	    "?1), fixed = json_set(fixed, '$.study', ?1)",
	[STMT_LOGS_RENAME] =
	    "UPDATE t_attempt SET log = ?2 || substr(log, length(?1) + 1) "
	    "WHERE substr(log, 1, length(?1)) = ?1",
	[STMT_CHANGE_ADD] =
	    "INSERT INTO t_change VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
	[STMT_PROVENANCE_PUT] =
	    "INSERT OR REPLACE INTO t_provenance VALUES (?1, ?2, ?3, ?4, ?5, "
	    "?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, "
	    "(SELECT id FROM t_packages WHERE text = ?14), ?15)",
	[STMT_PROVENANCE_SETTLE] =
	    "DELETE FROM t_provenance AS t WHERE id = ?1 AND EXISTS (SELECT "
	    "1 FROM t_provenance AS p WHERE p.id = (SELECT max(id) FROM "
	    "t_provenance WHERE id < ?1) AND (p.host, p.user, p.system, "
	    "p.version, p.command, p.folder, p.workdir, p.git_commit, "
	    "p.git_branch, p.git_dirty, p.git_why, p.packages, "
	    "p.packages_why) IS (t.host, t.user, t.system, t.version, "
	    "t.command, t.folder, t.workdir, t.git_commit, t.git_branch, "
	    "t.git_dirty, t.git_why, t.packages, t.packages_why))",
	[STMT_PACKAGES_ADD] =
	    "INSERT OR IGNORE INTO t_packages (text) VALUES (?1)",
	[STMT_ASKER_PUT] =
	    "INSERT OR REPLACE INTO t_asker VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
	[STMT_CONTEST_PUT] =
	    "INSERT INTO t_contest (contest, kind, verdict, challenger, "
	    "baseline, metric, goal, alpha, searched, replicates, looks, "
	    "better, worse, difference, least, opened_us, ended_us, params, "
	    "caller, why, git_commit, git_base, diff) VALUES (?1, ?2, ?3, "
	    "?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, "
	    "?18, ?19, ?20, ?21, ?22, ?23) "
	    "ON CONFLICT (contest) DO UPDATE SET verdict = ?3, "
	    "challenger = ?4, baseline = ?5, looks = ?11, better = ?12, "
	    "worse = ?13, difference = ?14, least = ?15, ended_us = ?17, "
	    "params = ?18, why = ?20",
	[STMT_CONTEST_EACH] =
	    "SELECT contest, kind, verdict, challenger, baseline, metric, "
	    "goal, alpha, searched, replicates, looks, better, worse, "
	    "difference, least, opened_us, ended_us, params, caller, why, "
	    "git_commit "
	    "FROM t_contest ORDER BY contest",
	[STMT_NOTE_PUT] = "INSERT OR REPLACE INTO t_note VALUES (?1, ?2, ?3)",
	[STMT_NOTE_DROP] = "DELETE FROM t_note WHERE trial = ?1",
	[STMT_TAG_PUT] = "INSERT OR IGNORE INTO t_tag VALUES (?1, ?2)",
	[STMT_TAG_DROP] = "DELETE FROM t_tag WHERE trial = ?1 AND tag = ?2",
	[STMT_PLACE_PUT] = "INSERT OR REPLACE INTO t_place VALUES "
			   "(?1, ?2, ?3, ?4, ?5, ?6)",
	[STMT_PLACE_EACH] = "SELECT place, trials, worked, failed, works, "
			    "drained FROM t_place",
	[STMT_PLACE_FORGIVE] = "UPDATE t_place SET trials = '', worked = 0, "
			       "failed = 0, drained = 0",
	[STMT_ANY_REPORT] = "SELECT 1 FROM t_block LIMIT 1",
	[STMT_ANY_DOUBT] = "SELECT 1 FROM t_event WHERE area = 'doubt' AND "
			   "text = ?1 LIMIT 1",
	[STMT_STOP_LATE] =
	    "UPDATE t_stop SET late = 1 WHERE seq = (SELECT max(seq) FROM "
	    "t_stop WHERE trial = ?1 AND verdict = 'stop')",
	[STMT_EVENT_ADD] =
	    "INSERT INTO t_event (seq, time_us, level, area, trial, attempt, "
	    "text) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
	[STMT_REQUEST_ADD] =
	    "INSERT INTO t_request (time_us, caller, request, trial, asked, "
	    "good, answer) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
	[STMT_SUGGESTION_ADD] =
	    "INSERT INTO t_suggestion VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, "
	    "?8, ?9, ?10)",
	[STMT_QUEUE_ADD] =
	    "INSERT INTO t_queue (params, source) VALUES (?1, ?2)",
	[STMT_QUEUE_NEXT] =
	    "SELECT id, params, source FROM t_queue WHERE trial IS NULL "
	    "ORDER BY id LIMIT 1",
	[STMT_QUEUE_TAKE] =
	    "UPDATE t_queue SET trial = ?2 WHERE id = ?1 AND trial IS NULL",
	[STMT_QUEUE_LENGTH] =
	    "SELECT count(*) FROM t_queue WHERE trial IS NULL",
	[STMT_QUEUE_DROP] = "UPDATE t_queue SET trial = 0 WHERE trial IS NULL "
			    "AND (?1 = 0 OR id = ?1)",

	[STMT_CURVE_EACH] =
	    "SELECT trial, " BLOCK_COLUMNS " FROM t_block WHERE name_id = 1 "
	    "AND old = 0 "
	    "AND trial NOT IN (SELECT trial FROM t_trial WHERE forgotten = 1) "
	    "ORDER BY trial, old, step",
	[STMT_RECORD_BLOCK] =
	    "SELECT trial, " BLOCK_COLUMNS " FROM t_block WHERE name_id = 1 "
	    /* Asked once; most studies have none, and the list is for each. */
	    "AND (NOT EXISTS (SELECT 1 FROM t_trial WHERE forgotten = 1) OR "
	    "trial NOT IN (SELECT trial FROM t_trial WHERE forgotten = 1)) "
	    "ORDER BY trial, old, step, seq",
	/*
	 * The same of several metrics, whose names are a JSON array.  Where no
	 * rule compared by seconds or cost, they follow from the attempts.
	 */
	[STMT_RECORD_SERIES] =
	    "SELECT m.trial, m.step, m.seq, m.value, iif(m.name_id = 1, NULL, "
	    "n.key), coalesce(p.seconds, b.seconds + max(0, "
	    "m.time_us - a.started_us) / 1e6), coalesce(p.dollars, b.dollars + "
	    "max(0, m.time_us - a.started_us) * a.cost / "
	    "nullif(a.ended_us - a.started_us, 0)) FROM t_metric AS m "
	    "LEFT JOIN (SELECT t_name.id, j.key FROM json_each(?1) AS j JOIN "
	    "t_name ON t_name.name = j.value) AS n ON n.id = m.name_id "
	    "LEFT JOIN t_spent AS p ON p.seq = m.seq "
	    "LEFT JOIN t_attempt AS a ON a.trial = m.trial AND "
	    "a.attempt = m.attempt "
	    "LEFT JOIN (SELECT trial, attempt, total(ended_us - started_us) "
	    "OVER w / 1e6 AS seconds, total(cost) OVER w AS dollars "
	    "FROM t_attempt WINDOW w AS (PARTITION BY trial ORDER BY attempt "
	    "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)) AS b "
	    "ON b.trial = m.trial AND b.attempt = m.attempt "
	    "WHERE (m.name_id = 1 OR n.id IS NOT NULL) AND m.trial NOT IN "
	    "(SELECT trial FROM t_trial WHERE forgotten = 1) "
	    "ORDER BY m.trial, m.seq",
	[STMT_RECORD_TRIAL] =
	    "SELECT trial, begin_seq, iif(forgotten, NULL, end_seq), state, "
	    "objective FROM t_trial ORDER BY trial",
	[STMT_RECORD_LOOK] =
	    "SELECT trial, end_seq, seq FROM t_stop WHERE rank IS NOT NULL "
	    "AND trial NOT IN (SELECT trial FROM t_trial WHERE "
	    "forgotten = 1) ORDER BY trial",
	[STMT_RECORD_RETRY] =
	    "SELECT trial, end_seq, seq, state, objective FROM t_retry "
	    "WHERE trial NOT IN (SELECT trial FROM t_trial WHERE "
	    "forgotten = 1) ORDER BY trial, seq",
	[STMT_RECORD_STOP] =
	    "SELECT trial, step, (SELECT count(*) FROM t_trial), "
	    "verdict = 'late' FROM stops AS s WHERE verdict IN ('stop', "
	    "'late') AND NOT EXISTS (SELECT 1 FROM t_stop AS k "
	    "WHERE k.trial = s.trial AND k.rank IS NOT NULL) AND trial NOT IN "
	    "(SELECT trial FROM t_trial WHERE forgotten = 1 UNION "
	    "SELECT trial FROM t_retry)",
	[STMT_LAST_STEP] =
	    "SELECT n.name, max(m.last_step), sum(m.reports) FROM t_name AS n "
	    "CROSS JOIN t_block AS m ON m.name_id = n.id AND m.trial = ?1 "
	    "WHERE m.attempt = ?2 GROUP BY n.id",

	[STMT_WARM_ADD] =
	    "INSERT INTO t_warm (source, trial, state, objective, step, value, "
	    "params, metrics) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
	[STMT_WARM_COUNT] = "SELECT count(*) FROM warm",
	[STMT_WARM_EACH] =
	    "SELECT source, trial, state, objective, step, value, params, "
	    "metrics "
	    "FROM t_warm ORDER BY id",
};

/* Bytes: more than SQLite writes in one call. */
enum { LIMIT_NEAR = 128 << 10 };

static bool
no_space(struct store *s)
{
	int error = os_error(s);

	return error == ENOSPC || error == EDQUOT;
}

/*
 * Whether a write failed at the limit on file size (RLIMIT_FSIZE); SQLite does
 * not keep its errno.
 */
static bool
too_large(struct store *s)
{
	static const char *const ends[] = { "", "-wal" };
	struct rlimit most;
	struct stat st;
	bool is = false;
	char *path;
	size_t i;

	if (sqlite3_extended_errcode(s->db) != SQLITE_IOERR_WRITE ||
	    getrlimit(RLIMIT_FSIZE, &most) != 0 ||
	    most.rlim_cur == RLIM_INFINITY)
		return false;
	for (i = 0; i < sizeof ends / sizeof ends[0] && !is; i++) {
		path = xasprintf("%s%s", s->path, ends[i]);
		is = stat(path, &st) == 0 &&
		     (rlim_t)st.st_size + LIMIT_NEAR > most.rlim_cur;
		free(path);
	}
	return is;
}

static int
no_space_err(struct store *s, struct err *e)
{
	if (too_large(s))
		return err_set(e, ERR_FULL,
		    "%s: it would be larger than a file may be (ulimit -f)",
		    s->path);
	return err_set(e, ERR_FULL, "%s: no space left on the disk", s->path);
}

static int
no_locks_err(const struct store *s, struct err *e)
{
	return err_set(e, ERR_FILE,
	    "%s: the file system has no locks: copy the database to a local "
	    "folder",
	    s->path);
}

static int
describe(struct store *s, const char *what, struct err *e)
{
	char who[128];

	switch (sqlite3_errcode(s->db) & 0xff) {
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		if (!store_lock_holder(s, who, sizeof who) &&
		    store_lock_impossible(s))
			return no_locks_err(s, e);
		return err_set(e, ERR_BUSY, "%s: locked by %s", s->path, who);
	case SQLITE_INTERRUPT:
		return err_set(e, ERR_STORE,
		    "%s: the database is damaged: a query does not end",
		    s->path);
	case SQLITE_FULL:
		return no_space_err(s, e);
	case SQLITE_NOTADB:
		return err_set(
		    e, ERR_STORE, "%s: not a database of hpotune", s->path);
	case SQLITE_IOERR:
		if (no_space(s) || too_large(s))
			return no_space_err(s, e);
		if (store_lock_impossible(s))
			return no_locks_err(s, e);
		s->dead = s->mode == STORE_WRITE;
		if (os_error(s) == ENOMEM)
			return err_set(e, ERR_STORE, "%s: %s: out of memory",
			    s->path, what);
		break;
	case SQLITE_CORRUPT:
		s->dead = s->mode == STORE_WRITE;
		return err_set(e, ERR_STORE, "%s: the database is damaged: %s",
		    s->path, sqlite3_errmsg(s->db));
	default:
		break;
	}
	return err_set(
	    e, ERR_STORE, "%s: %s: %s", s->path, what, sqlite3_errmsg(s->db));
}

void
store_fail_with(struct store *s, const struct err *err)
{
	if (!s->begun || s->lost)
		return;
	s->lost = true;
	s->lost_err = *err;
}

bool
store_failed(const struct store *s)
{
	return s->begun && s->lost;
}

int
store_refuse(struct store *s, struct err *e, const char *fmt, ...)
{
	struct err err = ERR_INIT;
	char text[sizeof err.text];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	(void)err_set(&err, ERR_STORE, "%s: %s", s->path, text);
	store_fail_with(s, &err);
	if (e != NULL)
		*e = err;
	return -1;
}

int
store_fail(struct store *s, const char *what, struct err *e)
{
	struct err err = ERR_INIT;

	s->failed = true;
	(void)describe(s, what, &err);
	store_fail_with(s, &err);
	if (e != NULL)
		*e = err;
	return -1;
}

int
store_exec(struct store *s, const char *sql, struct err *e)
{
	query_limit_begin(s);
	if (sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK)
		return 0;
	return store_fail(s, "cannot be written", e);
}

/* Whether a statement reads blocks, of which some reports are in memory only. */
static bool
stmt_reads_blocks(enum stmt_id id)
{
	static const enum stmt_id readers[] = { STMT_TRIAL_END,
		STMT_METRIC_EXISTS, STMT_METRIC_EACH, STMT_METRIC_LAST,
		STMT_METRIC_SERIES, STMT_SPEED, STMT_ANY_REPORT,
		STMT_CURVE_EACH, STMT_RECORD_BLOCK, STMT_RECORD_SERIES,
		STMT_LAST_STEP };
	size_t i;

	for (i = 0; i < sizeof readers / sizeof readers[0]; i++)
		if (readers[i] == id)
			return true;
	return false;
}

sqlite3_stmt *
stmt_get(struct store *s, enum stmt_id id, struct err *e)
{
	if (s->n_dirty > 0 && stmt_reads_blocks(id) &&
	    row_blocks_write(s, e) != 0)
		return NULL;
	query_limit_begin(s);
	if (s->stmts[id] == NULL &&
	    sqlite3_prepare_v3(s->db, texts[id], -1, SQLITE_PREPARE_PERSISTENT,
		&s->stmts[id], NULL) != SQLITE_OK) {
		(void)store_fail(s, "cannot be read", e);
		return NULL;
	}
	return s->stmts[id];
}

int
stmt_step(struct store *s, sqlite3_stmt *st, struct err *e)
{
	switch (sqlite3_step(st)) {
	case SQLITE_ROW:
		return 1;
	case SQLITE_DONE:
		stmt_done(st);
		return 0;
	default:
		(void)store_fail(s,
		    sqlite3_stmt_readonly(st) ? "cannot be read"
					      : "cannot be written",
		    e);
		stmt_done(st);
		return -1;
	}
}

int
stmt_may_write(struct store *s, struct err *e)
{
	if (s->begun && s->lost) {
		if (e != NULL)
			*e = s->lost_err;
		return -1;
	}
	if (!s->begun || sqlite3_get_autocommit(s->db))
		return err_set(
		    e, ERR_STORE, "%s: no transaction is open", s->path);
	return 0;
}

int
stmt_write(struct store *s, sqlite3_stmt *st, struct err *e)
{
	if (stmt_may_write(s, e) != 0) {
		stmt_done(st);
		return -1;
	}
	return stmt_step(s, st, e) < 0 ? -1 : 0;
}

void
stmt_done(sqlite3_stmt *st)
{
	(void)sqlite3_reset(st);
	(void)sqlite3_clear_bindings(st);
}

void
stmt_finalize_all(struct store *s)
{
	int i;

	for (i = 0; i < STMT_COUNT; i++)
		(void)sqlite3_finalize(s->stmts[i]);
}

/* Whether s is valid UTF-8; a copy with U+FFFD for each byte that is not. */
static bool
utf8_valid(const char *s)
{
	size_t len = strlen(s);
	uint32_t code;
	int n;

	for (; len > 0; s += n, len -= (size_t)n) {
		n = (unsigned char)*s < 0x80 ? 1 : text_decode(s, len, &code);
		if (n <= 0)
			return false;
	}
	return true;
}

static char *
utf8_clean(const char *s)
{
	size_t len = strlen(s);
	struct buf b = { 0 };
	uint32_t code;
	int n;

	for (; len > 0; s += n, len -= (size_t)n)
		if ((n = text_decode(s, len, &code)) > 0) {
			buf_add(&b, s, (size_t)n);
		} else {
			buf_puts(&b, "\xef\xbf\xbd");
			n = 1;
		}
	return buf_take(&b);
}

void
stmt_text(sqlite3_stmt *st, int i, const char *s)
{
	if (s == NULL)
		(void)sqlite3_bind_null(st, i);
	else if (utf8_valid(s))
		(void)sqlite3_bind_text(st, i, s, -1, SQLITE_STATIC);
	else
		(void)sqlite3_bind_text(st, i, utf8_clean(s), -1, free);
}

void
stmt_line(sqlite3_stmt *st, int i, const char *s)
{
	struct buf b = { 0 };

	if (s == NULL) {
		(void)sqlite3_bind_null(st, i);
		return;
	}
	text_put_harmless(&b, s, strlen(s), TEXT_LINE);
	(void)sqlite3_bind_text(st, i, buf_take(&b), -1, free);
}

void
stmt_int(sqlite3_stmt *st, int i, int64_t v)
{
	(void)sqlite3_bind_int64(st, i, v);
}

void
stmt_int_or(sqlite3_stmt *st, int i, int64_t v, int64_t none)
{
	if (v == none)
		(void)sqlite3_bind_null(st, i);
	else
		(void)sqlite3_bind_int64(st, i, v);
}

void
stmt_real(sqlite3_stmt *st, int i, double v)
{
	(void)sqlite3_bind_double(st, i, v);
}

char *
stmt_col_text(sqlite3_stmt *st, int i)
{
	return (char *)(uintptr_t)sqlite3_column_text(st, i);
}

int64_t
stmt_col_int(sqlite3_stmt *st, int i, int64_t none)
{
	if (sqlite3_column_type(st, i) == SQLITE_NULL)
		return none;
	return sqlite3_column_int64(st, i);
}

double
stmt_col_real(sqlite3_stmt *st, int i)
{
	if (sqlite3_column_type(st, i) == SQLITE_NULL)
		return NAN;
	return sqlite3_column_double(st, i);
}

char *
stmt_dup(const char *s)
{
	return s != NULL ? xstrdup(s) : NULL;
}
