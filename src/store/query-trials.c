/* What is asked about trials, their attempts and their results. */

#include <stdio.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/store/queries.h"
#include "src/store/store-internal.h"

int
store_list_counts(struct store_rows **rows, struct store *s, struct err *e)
{
	/*
	 * Not a view: counting rows would be too slow for a screen that is
	 * drawn several times a second.
	 */
	return store_rows_open(rows, s,
	    "SELECT state, trials FROM t_total WHERE trials > 0 ORDER BY state",
	    NULL, e);
}

int64_t
store_trials_count(struct store *s)
{
	double n;

	return query_numbers(&n, 1, s, "SELECT count(*) FROM t_trial", NULL) ==
		       1
		   ? (int64_t)n
		   : 0;
}

int64_t
store_trials_last(struct store *s)
{
	static const char *const sql =
	    "SELECT coalesce(max(trial), 0) FROM t_trial";
	double n;

	return query_numbers(&n, 1, s, sql, NULL) == 1 && n > 0 ? (int64_t)n
								: 0;
}

#define ENDED "total(state IN ('completed', 'stopped', 'failed', 'cancelled'))"

bool
store_trials_mark(struct store *s, bool end, char *mark, size_t n)
{
	static const char *const of_end =
	    "SELECT printf('end %d %d %d', count(*), total(attempts), " ENDED
	    ") FROM t_trial";
	static const char *const of_wait =
	    "SELECT printf('wait %d ', " ENDED ") FROM t_trial";
	struct store_rows *rows;
	bool there;

	if (store_rows_open(&rows, s, end ? of_end : of_wait, NULL, NULL) != 0)
		return false;
	there = store_rows_next(rows, NULL) == 1;
	if (there)
		(void)snprintf(mark, n, "%s", store_rows_text(rows, 0));
	store_rows_close(rows);
	return there;
}

int64_t
store_settings_completed(struct store *s)
{
	static const char sql[] =
	    "SELECT count(DISTINCT iif(setting > 0, setting, params)) "
	    "FROM t_trial "
	    "WHERE state = 'completed' AND forgotten = 0 AND reports > 0";
	double n;

	return query_numbers(&n, 1, s, sql, NULL) == 1 ? (int64_t)n : 0;
}

double
store_seconds_lately(struct store *s)
{
	static const char *const sql =
	    "SELECT avg(seconds) FROM (SELECT seconds FROM t_trial "
	    "WHERE end_seq IS NOT NULL ORDER BY trial DESC LIMIT 20)";
	double mean;

	return query_numbers(&mean, 1, s, sql, NULL) == 1 && mean > 0 ? mean
								      : 0;
}

int
store_seconds_used(
    struct store *s, double *seconds, double *gpu_seconds, struct err *e)
{
	static const char *const sql =
	    "SELECT total(seconds), total(gpu_seconds) FROM t_trial "
	    "WHERE end_seq IS NOT NULL";
	double sums[2];
	int rc = query_numbers(sums, 2, s, sql, e);

	*seconds = sums[0];
	*gpu_seconds = sums[1];
	return rc < 0 ? -1 : 0;
}

#define WHOLE                                                         \
	"seconds + coalesce(steps_skipped * coalesce(pace_seconds / " \
	"nullif(pace_steps, 0), seconds / nullif(steps_run, 0)), 0)"
#define KNOWN "seconds > 0 AND state IN ('completed', 'stopped')"

int
store_list_durations(
    struct store_rows **rows, struct store *s, bool settings, struct err *e)
{
	/* The seconds of a step are explained in schema/006-pace.sql. */
	static const char *const of_trials =
	    "SELECT trial, " WHOLE " FROM t_trial WHERE " KNOWN;
	static const char *const of_settings =
	    "SELECT setting, avg(" WHOLE ") FROM t_trial WHERE " KNOWN
	    " AND setting IS NOT NULL GROUP BY setting";

	return store_rows_open(
	    rows, s, settings ? of_settings : of_trials, NULL, e);
}

/* How the exceptions of frameworks and of allocators are told. */
#define OF_GPU                                                            \
	"(a.why LIKE '%CUDA%out of memory%' OR "                          \
	"a.why LIKE '%HIP out of memory%' OR "                            \
	"a.why LIKE '%OutOfMemoryError%' OR "                             \
	"a.why LIKE '%CUDA\\_ERROR\\_OUT\\_OF\\_MEMORY%' ESCAPE '\\' OR " \
	"a.why LIKE '%RESOURCE\\_EXHAUSTED%' ESCAPE '\\')"
#define OF_MACHINE                                               \
	"(a.end_class = 'oom' OR a.why LIKE '%MemoryError%' OR " \
	"a.why LIKE '%bad\\_alloc%' ESCAPE '\\' OR "             \
	"a.why LIKE '%annot allocate memory%' OR "               \
	"a.why LIKE '%can''t allocate memory%')"

/* The last attempts of the newest trials, as many as a model reads. */
#define LAST_ATTEMPTS                                                       \
	"FROM t_trial AS t JOIN t_attempt AS a ON a.trial = t.trial AND "   \
	"a.attempt = (SELECT max(attempt) FROM t_attempt AS b "             \
	"WHERE b.trial = t.trial) WHERE t.end_seq IS NOT NULL AND "         \
	"t.forgotten = 0 AND t.trial > (SELECT max(trial) FROM t_trial) - " \
	"1024"

int
store_memory_overruns(
    struct store *s, double *of_gpu, double *of_machine, struct err *e)
{
	static const char *const sql =
	    "SELECT total(" OF_GPU "), total(" OF_MACHINE " AND NOT " OF_GPU
	    ") " LAST_ATTEMPTS " AND t.state = 'failed'";
	double over[2];
	int rc = query_numbers(over, 2, s, sql, e);

	*of_gpu = over[0];
	*of_machine = over[1];
	return rc < 0 ? -1 : 0;
}

int
store_list_memory_peaks(struct store_rows **rows, struct store *s, bool of_gpu,
    bool settings, struct err *e)
{
	static const char *const sql =
	    "WITH p AS (SELECT iif(?2 = '1', t.setting, t.trial) AS number, "
	    "iif(?1 = '1', a.gpu_memory, a.max_rss) AS peak, "
	    "t.state = 'failed' AS failed, t.state = 'failed' AND "
	    "iif(?1 = '1', " OF_GPU ", " OF_MACHINE " AND NOT " OF_GPU
	    ") AS over, t.params AS params " LAST_ATTEMPTS
	    " AND t.state <> 'cancelled') "
	    "SELECT number, coalesce(max(peak), 0), max(over), max(params) "
	    "FROM p "
	    "WHERE number IS NOT NULL AND (over OR NOT failed) "
	    "GROUP BY number";
	const char *params[] = { of_gpu ? "1" : "0", settings ? "1" : "0",
		NULL };

	return store_rows_open(rows, s, sql, params, e);
}

int
store_list_failed(struct store_rows **rows, struct store *s, struct err *e)
{
	return store_rows_open(rows, s,
	    "SELECT trial FROM t_trial WHERE state = 'failed' AND "
	    "forgotten = 0 ORDER BY trial",
	    NULL, e);
}

int
store_list_feasible(struct store_rows **rows, struct store *s, struct err *e)
{
	return store_rows_open(rows, s,
	    "SELECT trial FROM t_trial WHERE state = 'completed' AND "
	    "violation = 0 AND forgotten = 0 ORDER BY end_seq",
	    NULL, e);
}

int
store_list_later_replicates(
    struct store_rows **rows, struct store *s, struct err *e)
{
	return store_rows_open(rows, s,
	    "SELECT trial FROM t_trial WHERE replicate > 1 ORDER BY trial",
	    NULL, e);
}

int
store_list_own_steps(struct store_rows **rows, struct store *s, struct err *e)
{
	return store_rows_open(rows, s,
	    "SELECT trial, coalesce(own_steps, 0) FROM t_trial ORDER BY trial",
	    NULL, e);
}

static int
query_trials_count(struct store *s, const char *sql, int64_t *n, struct err *e)
{
	double count;

	if (query_numbers(&count, 1, s, sql, e) != 1)
		return -1;
	*n = (int64_t)count;
	return 0;
}

int
store_trials_forgotten(struct store *s, int64_t *n, struct err *e)
{
	return query_trials_count(
	    s, "SELECT count(*) FROM t_trial WHERE forgotten = 1", n, e);
}

int
store_attempts_asked(struct store *s, int64_t *n, struct err *e)
{
	return query_trials_count(s,
	    "SELECT count(*) FROM t_attempt WHERE state <> 'ended' AND "
	    "backend = 'ask'",
	    n, e);
}

int
store_trials_waiting(
    struct store *s, int64_t *machine, int64_t *paused, struct err *e)
{
	static const char *const waits =
	    "SELECT count(*) FROM t_trial AS t JOIN t_attempt AS a "
	    "ON a.trial = t.trial AND a.attempt = t.attempts "
	    "WHERE t.state = 'waiting' AND "
	    "a.end_class IN ('capacity', 'quota')";
	static const char *const pauses =
	    "SELECT count(*) FROM t_trial WHERE state = 'waiting' AND "
	    "paused_step IS NOT NULL";

	return query_trials_count(s, waits, machine, e) != 0
		   ? -1
		   : query_trials_count(s, pauses, paused, e);
}

int
store_attempt_is_open(struct store *s, const char *uuid, struct err *e)
{
	static const char *const sql =
	    "SELECT 1 FROM t_attempt WHERE uuid = ? AND state <> 'ended'";
	const char *params[] = { uuid, NULL };
	struct store_rows *rows;
	int rc;

	if (store_rows_open(&rows, s, sql, params, e) != 0)
		return -1;
	rc = store_rows_next(rows, e);
	store_rows_close(rows);
	return rc;
}

int
store_list_attempt_times(
    struct store_rows **rows, struct store *s, struct err *e)
{
	return store_rows_open(rows, s,
	    "SELECT trial, attempt, coalesce(place, backend), backend, "
	    "started_us / 1e6, ended_us / 1e6, end_class, gpus "
	    "FROM t_attempt WHERE started_us IS NOT NULL "
	    "ORDER BY trial, attempt",
	    NULL, e);
}

int
store_list_python_starts(
    struct store_rows **rows, struct store *s, struct err *e)
{
	return store_rows_open(rows, s,
	    "SELECT (SELECT time_us FROM t_block AS b WHERE name_id = 1 AND "
	    "old = 0 AND b.trial = a.trial ORDER BY step LIMIT 1) - "
	    "started_us, "
	    "ended_us - started_us, backend = 'local' FROM t_attempt AS a "
	    "WHERE trial <= 100 AND attempt = 1 AND "
	    "backend IN ('local', 'slurm') AND end_class = 'ok' AND "
	    "(SELECT json_extract(json, '$.trial.command[0]') LIKE '%python%' "
	    "AND coalesce(json_extract(json, '$.trial.warm'), 0) = 0 "
	    "FROM t_study) ORDER BY trial LIMIT 20",
	    NULL, e);
}

int
store_curves_whole(struct store *s, bool *whole, struct err *e)
{
	/* No more than 1333 trials are possible then: others are not read. */
	static const char *const sql =
	    "SELECT count(*) FROM (SELECT count(*) AS trials, "
	    "sum(state = 'completed') AS completed, "
	    "sum(iif(state = 'completed', reports, 0)) AS reports FROM "
	    "(SELECT state, reports FROM t_trial "
	    "WHERE reports > 0 AND forgotten = 0 AND "
	    "coalesce(replicate, 1) = 1 LIMIT 1334)) "
	    "WHERE trials <= 1333 AND completed >= 20 AND "
	    "4 * completed >= 3 * trials AND reports >= 2 * completed AND "
	    "reports <= 2000 AND (SELECT state FROM t_study) = 'finished' AND "
	    "(SELECT count(*) FROM t_aim WHERE goal IS NOT NULL) = 1";
	double fits = 0;
	int rc = query_numbers(&fits, 1, s, sql, e);

	*whole = fits > 0;
	return rc < 0 ? -1 : 0;
}

int
store_list_results(struct store_rows **rows, struct store *s, struct err *e)
{
	return store_rows_open(rows, s,
	    "SELECT o.trial, a.goal, o.value, o.violation FROM t_outcome AS o "
	    "JOIN t_aim AS a USING (position) ORDER BY o.trial, o.position",
	    NULL, e);
}

char *
store_front_sql(size_t objectives, bool maximize)
{
	struct buf b = { 0 };
	size_t i;

	buf_puts(&b, "SELECT f.trial");
	for (i = 1; i <= objectives; i++)
		buf_printf(&b,
		    ", coalesce((SELECT value FROM t_setting_outcome AS s "
		    "WHERE s.setting = t.setting AND s.position = %zu), "
		    "(SELECT value FROM t_outcome AS o WHERE "
		    "o.trial = f.trial AND o.position = %zu))",
		    i, i);
	buf_printf(&b,
	    ", params FROM t_front AS f JOIN t_trial AS t USING (trial) "
	    "WHERE f.inside = 1 ORDER BY 2 %s, 1",
	    maximize ? "DESC" : "ASC");
	return buf_take(&b);
}

int
store_list_front_ranges(
    struct store_rows **rows, struct store *s, size_t objectives, struct err *e)
{
	return query_openf(rows, s, e,
	    "SELECT position, count(*), min(value), max(value) FROM "
	    "(SELECT o.position, coalesce(s.value, o.value) AS value "
	    "FROM t_front AS f JOIN t_outcome AS o USING (trial) "
	    "JOIN t_trial AS t USING (trial) "
	    "LEFT JOIN t_setting_outcome AS s ON s.setting = t.setting "
	    "AND s.position = o.position "
	    "WHERE f.inside = 1 AND o.position <= %zu) "
	    "GROUP BY position ORDER BY position",
	    objectives);
}
