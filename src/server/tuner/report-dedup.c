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
said_find(const struct live_name *n, int64_t time_us)
{
	size_t low = 0, high = n->n_said, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (n->said[mid].time_us < time_us)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

void
tuner_say(struct live_name *n, int64_t time_us, double value)
{
	size_t i = said_find(n, time_us);

	if (n->n_said == n->cap_said) {
		n->cap_said = n->cap_said < 16 ? 16 : n->cap_said * 2;
		n->said = xreallocarray(n->said, n->cap_said, sizeof *n->said);
	}
	memmove(
	    n->said + i + 1, n->said + i, (n->n_said - i) * sizeof *n->said);
	n->said[i] = (struct live_said){ time_us, value };
	n->n_said++;
}

static int
on_said(void *arg, int64_t time_us, double value)
{
	tuner_say(arg, time_us, value);
	return 0;
}

/* What earlier servers recorded of this metric in this attempt. */
static bool
said_read(struct tuner *t, const struct live *l, struct live_name *n)
{
	struct err e = ERR_INIT;

	if (n->said_read)
		return true;
	n->n_said = 0;
	if (store_each_report(t->store, l->row.number, l->att.attempt, n->name,
		on_said, n, &e) != 0) {
		tuner_break(t, &e);
		return false;
	}
	n->said_read = true;
	return true;
}

bool
tuner_said(struct tuner *t, struct live *l, struct live_name *n,
    const struct launch_event *ev)
{
	double value = ev->u.report.value;
	int64_t time_us = ev->u.report.time_us;
	struct err e = ERR_INIT;
	size_t i;
	int rc;

	if (ev->u.report.has_step) {
		rc = store_metric_there(t->store, l->row.number, l->att.attempt,
		    n->name, ev->u.report.step, value, time_us, &e);
		if (rc < 0)
			tuner_break(t, &e);
		return rc != 0;
	}
	if (!said_read(t, l, n))
		return true;
	for (i = said_find(n, time_us);
	     i < n->n_said && n->said[i].time_us == time_us; i++)
		if (same_value(n->said[i].value, value))
			return true;
	return false;
}
