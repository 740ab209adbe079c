/*
 * What a study used and saved, as text; and its GPUs, one line each.  Whether
 * stopping by the running median suits its curves: how many of its best
 * completed trials the rule would have stopped, and what second looks brought.
 * Reads views.
 */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/model/plugin-options.h"
#include "src/model/study/study.h"
#include "src/store/queries.h"
#include "src/store/store.h"
#include "src/view/likely-cost.h"
#include "src/view/rows.h"
#include "src/view/status.h"

enum { GPU_LINES = 16 };

#define JOULES_OF_KWH 3.6e6
#define GIB ((double)(INT64_C(1) << 30))

/* A duration in a readable unit. */
static void
energy_put(struct buf *out, double joules)
{
	if (joules >= JOULES_OF_KWH / 10)
		buf_printf(out, "%.3g kWh", joules / JOULES_OF_KWH);
	else if (joules >= 1000)
		buf_printf(out, "%.3g kJ", joules / 1000);
	else
		buf_printf(out, "%.3g J", joules);
}

int
status_put_savings(struct buf *out, struct store *store, struct err *e)
{
	static const char *const sql =
	    "SELECT steps_run, steps_skipped, share, seconds_saved, "
	    "cost_saved, energy_saved, "
	    "seconds_saved * (SELECT gpus FROM attempts WHERE gpus > 0 "
	    "AND " STORE_SQL_GPU_SECONDS " > 0 LIMIT 1) "
	    "FROM savings WHERE steps_skipped > 0";
	struct store_rows *rows;
	double seconds, gpu_seconds, cost, energy;
	int64_t run, skipped;
	int rc;

	if ((rc = rows_first(&rows, store, sql, NULL, e)) != 1)
		return rc;
	if (rows_count(rows, 0, &run, e) != 0 ||
	    rows_count(rows, 1, &skipped, e) != 0) {
		store_rows_close(rows);
		return -1;
	}
	buf_printf(out, "%.0f %% of the steps (%" PRId64 " of %" PRId64 ")",
	    100 * rows_real(rows, 2), skipped, run + skipped);
	seconds = rows_real(rows, 3);
	if (seconds >= 1) {
		buf_puts(out, ", about ");
		duration_put(out, (int64_t)llround(seconds * 1000));
		buf_puts(out, " of one slot");
	}
	gpu_seconds = rows_real(rows, 6);
	if (gpu_seconds >= 36)
		buf_printf(out, ", %.3g GPU hours", gpu_seconds / 3600);
	energy = rows_real(rows, 5);
	if (energy > 0) {
		buf_puts(out, ", ");
		energy_put(out, energy);
	}
	cost = rows_real(rows, 4);
	if (cost > 0)
		buf_printf(out, ", $%.2f", cost);
	store_rows_close(rows);
	return 0;
}

int
status_put_costs(
    struct buf *out, struct store *store, double limit, struct err *e)
{
	static const char *const sql =
	    "SELECT cost, committed, spot_saved, spot_share FROM costs "
	    "WHERE cost > 0 OR committed > 0";
	double x[4], cost, committed, saved;
	int rc = rows_numbers(x, 4, store, sql, e);

	if (rc != 1)
		return rc;
	cost = x[0] > 0 ? x[0] : 0;
	committed = x[1];
	saved = x[2];
	buf_printf(out, "$%.2f", cost);
	/* A difference of less than a cent is not shown. */
	if (committed > cost + 0.005)
		buf_printf(out,
		    ", at most $%.2f including running and unpriced "
		    "attempts",
		    committed);
	if (limit > 0)
		buf_printf(out, ", of $%.2f", limit);
	if (saved > 0)
		buf_printf(
		    out, "; spot saved $%.2f (%.0f %%)", saved, 100 * x[3]);
	return 0;
}

int
status_put_likely(struct buf *out, struct store *store,
    const struct store_study *row, struct err *e)
{
	struct likely_cost likely = { 0 };
	struct study *study;
	int rc;

	if (row->json == NULL ||
	    study_parse_recorded(&study, row->json, row->dir, NULL) != 0)
		return 0;
	if (row->run_trials > 0)
		study->limits.trials = row->run_trials;
	rc = likely_cost_read(&likely, store, &study->limits, e);
	if (rc == 0)
		likely_cost_put(out, &likely);
	buf_free(&likely.why);
	study_free(study);
	return rc;
}

int
status_put_usage(struct buf *out, struct store *store, struct err *e)
{
	static const char *const sql =
	    "SELECT " STORE_SQL_GPU_SECONDS ", " STORE_SQL_JOULES
	    ", (SELECT sum(cpu_seconds) FROM attempts WHERE cpus IS NOT NULL)";
	double x[3];
	int rc = rows_numbers(x, 3, store, sql, e);

	if (x[0] > 0)
		buf_printf(out, "%.3g GPU hours", x[0] / 3600);
	if (x[0] > 0 && x[1] > 0) {
		buf_puts(out, ", ");
		energy_put(out, x[1]);
	}
	if (x[2] > 0)
		buf_printf(
		    out, "%s%.3g CPU hours", x[0] > 0 ? ", " : "", x[2] / 3600);
	return rc < 0 ? -1 : 0;
}

/* "gpu 0  held         H100  62 C  34.1 of 79.6 GiB  1 trial" */
static void
gpu_line(struct buf *line, const struct store_rows *r)
{
	const char *name = store_rows_text(r, 2);
	int64_t trials = store_rows_int(r, 7);

	if (strncmp(name, "NVIDIA ", 7) == 0)
		name += 7;
	buf_printf(line, "gpu %s  %-11s", store_rows_text(r, 0),
	    store_rows_text(r, 1));
	if (*name != '\0')
		buf_printf(line, "  %s", name);
	if (!store_rows_null(r, 3))
		buf_printf(line, "  %s C", store_rows_text(r, 3));
	if (!store_rows_null(r, 4) && !store_rows_null(r, 5))
		buf_printf(line, "  %.1f of %.1f GiB",
		    store_rows_real(r, 4) / GIB, store_rows_real(r, 5) / GIB);
	else if (!store_rows_null(r, 5))
		buf_printf(line, "  %.1f GiB", store_rows_real(r, 5) / GIB);
	if (trials > 0)
		buf_printf(line, "  %" PRId64 " trial%s", trials,
		    trials == 1 ? "" : "s");
	if (!store_rows_null(r, 6))
		buf_printf(line, "  %s", store_rows_text(r, 6));
	else if (!store_rows_null(r, 8))
		buf_printf(line, "  %s", store_rows_text(r, 8));
}

/* The number of GPUs in each state, when there are too many for lines. */
static int
gpu_counts(struct store *store, status_gpu_line *put, void *arg, struct err *e)
{
	struct buf line = { 0 };
	struct store_rows *rows;
	int rc;

	if (store_rows_open(&rows, store,
		"SELECT state, count(*) FROM gpus GROUP BY state "
		"ORDER BY count(*) DESC, state",
		NULL, e) != 0)
		return -1;
	while ((rc = store_rows_next(rows, e)) == 1)
		buf_printf(&line, "%s%s %s", line.len == 0 ? "gpus " : ", ",
		    store_rows_text(rows, 1), store_rows_text(rows, 0));
	store_rows_close(rows);
	if (rc == 0)
		put(arg, false, buf_str(&line));
	buf_free(&line);
	return rc;
}

/* GPUs in order; with bad only those that trials cannot use. */
static int
gpu_lines(struct store *store, bool bad, status_gpu_line *put, void *arg,
    struct err *e)
{
	static const char *const all =
	    "SELECT gpu, state, name, temperature, used, memory, why, trials, "
	    "owner, state NOT IN ('free', 'held', 'settling', 'full', "
	    "'releasing') AS bad FROM gpus";
	char sql[400];
	struct store_rows *rows;
	struct buf line = { 0 };
	int rc;

	(void)snprintf(sql, sizeof sql, "%s%s LIMIT %d", all,
	    bad ? " WHERE bad" : "", GPU_LINES);
	if (store_rows_open(&rows, store, sql, NULL, e) != 0)
		return -1;
	while ((rc = store_rows_next(rows, e)) == 1) {
		buf_clear(&line);
		gpu_line(&line, rows);
		put(arg, store_rows_int(rows, 9) != 0, buf_str(&line));
	}
	store_rows_close(rows);
	buf_free(&line);
	return rc;
}

int
status_gpus(struct store *store, status_gpu_line *put, void *arg, struct err *e)
{
	double n;

	if (rows_numbers(&n, 1, store, "SELECT count(*) FROM gpus", e) != 1)
		return -1;
	if (n > GPU_LINES && gpu_counts(store, put, arg, e) != 0)
		return -1;
	return gpu_lines(store, n > GPU_LINES, put, arg, e);
}

int
status_doubts(struct store *store, status_doubt *put, void *arg, struct err *e)
{
	struct buf text = { 0 };
	struct store_rows *rows;
	int rc;

	if (store_list_doubts(&rows, store, e) != 0)
		return -1;
	while ((rc = store_rows_next(rows, e)) == 1) {
		buf_clear(&text);
		if (!store_rows_null(rows, 0))
			buf_printf(&text, "trial %" PRId64 ": ",
			    store_rows_int(rows, 0));
		buf_puts(&text, store_rows_text(rows, 1));
		put(arg, buf_str(&text));
	}
	store_rows_close(rows);
	buf_free(&text);
	return rc;
}

/*
 * Studies of simulated and of real curves have a mean share of 0.04 to 0.09
 * where few best trials are lost, and of 0.48 to 0.64 where many are.  With
 * five trials the limit lies between one and two of them.
 */
#define HINDSIGHT_CROSSING 0.3

enum { HINDSIGHT_TRIALS = 5 }; /* fewer give no advice when none is lost */

/* What follows for the rule of the study; careful: it is this one already. */
static void
status_usage_advice_put(struct buf *out, const struct store_hindsight *h)
{
	/* Only an order that has changed shows that curves cross. */
	if (h->crossed > HINDSIGHT_CROSSING * h->trials)
		buf_printf(out, "; curves cross late: %s; %s",
		    h->stops ? "a stopped trial may have been the best"
			     : "stopping may lose the best trial",
		    h->careful ? "a longer warmup_steps loses fewer"
			       : "the rule careful loses fewer");
	else if (h->stopped == 0 && h->trials == HINDSIGHT_TRIALS && !h->stops)
		buf_puts(out, "; stopping would save steps");
}

int
status_hindsight_long(struct store *store, struct err *e)
{
	enum { STEPS = 5000 };
	char sql[96];
	double n;

	(void)snprintf(sql, sizeof sql,
	    "SELECT count(*) FROM (SELECT 1 FROM medians LIMIT %d)", STEPS + 1);
	if (rows_numbers(&n, 1, store, sql, e) != 1)
		return -1;
	return n > STEPS;
}

int
status_put_hindsight(struct buf *out, struct store *store, struct err *e)
{
	int rc = status_hindsight_long(store, e);
	struct store_hindsight h;

	if (rc != 0)
		return rc < 0 ? -1 : 0;
	if (store_hindsight_get(store, &h, e) != 0)
		return -1;
	/* Without judged reports, nothing is known about the curves. */
	if (!(h.judged > 0))
		return 0;
	buf_printf(out,
	    "median would have stopped %.0f of the %.0f best completed trials",
	    h.stopped, h.trials);
	status_usage_advice_put(out, &h);
	return 0;
}

int
status_put_looks(struct buf *out, struct store *store, struct err *e)
{
	/* The row with the most spent is the latest decision. */
	static const char *const sql =
	    "SELECT count(*), max(spent + price), "
	    "(SELECT budget FROM stops WHERE rank IS NOT NULL "
	    "ORDER BY spent DESC LIMIT 1), "
	    "max(iif(trial = (SELECT best_trial FROM study), trial, NULL)) "
	    "FROM stops WHERE rank IS NOT NULL";
	struct store_rows *rows;
	int64_t n;

	if (rows_first(&rows, store, sql, NULL, e) != 1)
		return -1;
	n = store_rows_int(rows, 0);
	if (n > 0)
		buf_printf(out,
		    "%" PRId64 " stopped trial%s resumed, for %" PRId64
		    " of %" PRId64 " steps",
		    n, n == 1 ? " was" : "s were", store_rows_int(rows, 1),
		    store_rows_int(rows, 2));
	if (n > 0 && !store_rows_null(rows, 3))
		buf_printf(out, "; trial %" PRId64 " is the best now",
		    store_rows_int(rows, 3));
	store_rows_close(rows);
	return 0;
}
