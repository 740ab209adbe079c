/*
 * Reports that a launcher may deliver twice: lines of a log far away are read
 * again after every restart.  With a step, the store is asked by its key; those
 * without one are kept in memory, by time.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/server/tuner/tuner-internal.h"

static bool
same_value(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

/* Index of the first that is not before time_us. */
static size_t
report_dedup_find(const struct live_metric *n, int64_t time_us)
{
	size_t low = 0, high = n->n_reports_seen, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (n->reports_seen[mid].time_us < time_us)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

void
report_dedup_add(struct live_metric *n, int64_t time_us, double value)
{
	size_t i = report_dedup_find(n, time_us);

	if (n->n_reports_seen == n->cap_reports_seen) {
		n->cap_reports_seen =
		    n->cap_reports_seen < 16 ? 16 : n->cap_reports_seen * 2;
		n->reports_seen = xreallocarray(n->reports_seen,
		    n->cap_reports_seen, sizeof *n->reports_seen);
	}
	memmove(n->reports_seen + i + 1, n->reports_seen + i,
	    (n->n_reports_seen - i) * sizeof *n->reports_seen);
	n->reports_seen[i] = (struct live_report){ time_us, value };
	n->n_reports_seen++;
}

static int
on_dedup_report(void *arg, int64_t time_us, double value)
{
	report_dedup_add(arg, time_us, value);
	return 0;
}

/* What earlier servers recorded of this metric in this attempt. */
static bool
report_dedup_read(
    struct tuner *t, const struct live_trial *l, struct live_metric *n)
{
	struct err e = ERR_INIT;

	if (n->reports_seen_read)
		return true;
	n->n_reports_seen = 0;
	if (store_walk_reports(t->store, l->row.number, l->att.attempt, n->name,
		on_dedup_report, n, &e) != 0) {
		tuner_store_failed(t, &e);
		return false;
	}
	n->reports_seen_read = true;
	return true;
}

bool
report_dedup_known(struct tuner *t, struct live_trial *l, struct live_metric *n,
    const struct launch_event *ev)
{
	double value = ev->u.report.value;
	int64_t time_us = ev->u.report.time_us;
	struct err e = ERR_INIT;
	size_t i;
	int rc;

	if (ev->u.report.has_step) {
		rc =
		    store_metric_exists(t->store, l->row.number, l->att.attempt,
			n->name, ev->u.report.step, value, time_us, &e);
		if (rc < 0)
			tuner_store_failed(t, &e);
		return rc != 0;
	}
	if (!report_dedup_read(t, l, n))
		return true;
	for (i = report_dedup_find(n, time_us);
	     i < n->n_reports_seen && n->reports_seen[i].time_us == time_us;
	     i++)
		if (same_value(n->reports_seen[i].value, value))
			return true;
	return false;
}
