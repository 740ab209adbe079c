/*
 * CatBoost: a line for each iteration that is printed.
 *
 *	2:	learn: 0.4916377	test: 0.4917664	best: 0.4917664 (2)	total: 267ms
 *
 * A model that goes on from another one begins at 0 again, a snapshot does not.
 */

#include "trials/metric-line/metric-format.h"

/* The state of one log. */
struct format_catboost {
	bool begun;
	int64_t first; /* iteration */
};

static enum metric_read
format_catboost_read(struct metric_line *r, struct metric_span s,
    const struct metric_reading *in)
{
	struct format_catboost *c = in->state;
	struct metric_span pair, name;
	int64_t step;

	s = metric_span_trim(s);
	if (!metric_span_take_count(&s, &step) || !metric_span_take(&s, ":\t"))
		return METRIC_READ_OTHER;
	while (s.p < s.end) {
		pair = metric_span_take_until(&s, "\t");
		name = metric_span_take_until(&pair, ": ");
		(void)metric_span_add(r, name, pair);
	}
	if (!metric_span_step(r, step))
		return METRIC_READ_OTHER;
	if (!c->begun)
		*c = (struct format_catboost){ true, step };
	r->restarts = true;
	r->first = c->first;
	return METRIC_READ_REPORT;
}

const struct metric_format metric_format_catboost = {
	.state = sizeof(struct format_catboost),
	.read = format_catboost_read,
};
