/*
 * Each trial to come is taken to cost as much as those that have ended did on
 * average, which has in it how long they trained, what stopping spared, what
 * attempts were repeated, and what spot was not billed.
 */

#include <math.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/model/study/study.h"
#include "src/store/queries.h"
#include "src/store/store.h"
#include "src/view/likely-cost.h"
#include "src/view/rows.h"

enum {
	SO_FAR, /* dollars of all trials */
	ENDED, /* trials */
	ENDED_COST,
	COMPLETED, /* trials */
	ELAPSED, /* seconds */
	SKIPPED, /* share of the steps that stopping has spared */
	SPOT, /* share of the seconds that spot was not billed */
	NUMBERS
};

static const char likely_cost_sql[] =
    "SELECT cost, " STORE_SQL_ENDED("trials") ", " STORE_SQL_ENDED(
	"cost") ", "
		"completed, elapsed, (SELECT share FROM savings WHERE "
		"cost_saved > 0), "
		"(SELECT spot_share FROM costs WHERE spot_saved > 0) "
		"FROM study WHERE state NOT IN ('finished', 'failed')";

/*
 * How many trials there will be, more than have ended or as many; INFINITY when
 * no limit says so.
 */
static double
likely_trials(
    const double *x, const struct study_limits *limits, const char **why)
{
	double most = INFINITY, n;

	if (limits->trials > 0)
		most = (double)limits->trials;
	if (limits->completed > 0 && x[COMPLETED] > 0) {
		n = (double)limits->completed * x[ENDED] / x[COMPLETED];
		if (n < most) {
			most = n;
			*why = " until limits.completed";
		}
	}
	if (limits->wall_time_ms > 0 && x[ELAPSED] > 0) {
		n = (double)limits->wall_time_ms / 1000 * x[ENDED] / x[ELAPSED];
		if (n < most) {
			most = n;
			*why = " until limits.wall_time";
		}
	}
	return fmax(most, x[ENDED]);
}

int
likely_cost_read(struct likely_cost *l, struct store *store,
    const struct study_limits *limits, struct err *e)
{
	const char *until = "";
	double x[NUMBERS], mean, to_come;
	int rc = rows_numbers(x, NUMBERS, store, likely_cost_sql, e);

	l->dollars = NAN;
	if (rc != 1 || !(x[ENDED_COST] > 0))
		return rc < 0 ? -1 : 0;
	mean = x[ENDED_COST] / x[ENDED];
	to_come = likely_trials(x, limits, &until) - x[ENDED];
	l->dollars = fmax(x[SO_FAR], x[ENDED_COST] + to_come * mean);
	if (limits->cost > 0 && l->dollars >= limits->cost) {
		l->dollars = limits->cost;
		to_come = fmax(0, (limits->cost - x[ENDED_COST]) / mean);
		until = " until limits.cost";
	}
	if (isinf(l->dollars)) {
		l->dollars = NAN;
		return 0;
	}
	buf_printf(&l->why, "%.0f ended trial%s cost $", x[ENDED],
	    x[ENDED] == 1 ? "" : "s");
	buf_printf(&l->why, mean < 0.1 ? "%.2g" : "%.2f", mean);
	buf_puts(&l->why, x[ENDED] == 1 ? "" : " each");
	if (x[SKIPPED] > 0)
		buf_printf(&l->why, ", with %.0f %% of the steps stopped",
		    100 * x[SKIPPED]);
	if (x[SPOT] > 0)
		buf_printf(&l->why, "%s %.0f %% of the time not billed by spot",
		    x[SKIPPED] > 0 ? " and" : ", with", 100 * x[SPOT]);
	buf_printf(&l->why, ", and %s%.0f %s to come%s",
	    *until != '\0' ? "about " : "", to_come,
	    round(to_come) == 1 ? "is" : "are", until);
	return 0;
}

void
likely_cost_put(struct buf *out, const struct likely_cost *l)
{
	if (!isnan(l->dollars))
		buf_printf(
		    out, "likely $%.2f: %s", l->dollars, buf_str(&l->why));
}
