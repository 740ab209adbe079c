/*
 * Improvement per second: a process of the logarithm of what a trial lasts.
 * The score is log EI - w E log seconds, where w falls from 1 to 0 as the time
 * of the study is used.  Lee, Perrone, Archambeau and Seeger, "Cost-aware
 * Bayesian optimization", arXiv:2003.10870 (2020).
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/model/history/history.h"
#include "src/model/plugin-options.h"
#include "strategies/gp/gp.h"
#include "strategies/strategy.h"

enum { LEAST_KNOWN = 5 }; /* durations */

/* Durations that differ by less, as a logarithm, are alike. */
static const double least_spread = 0.05;

bool
gp_cost_counts(const struct gp_question *q)
{
	const struct option_value *o =
	    plugin_option_get(q->options, "cost_aware");

	return o->is_set ? o->number != 0 : q->ask->time_limited;
}

/* The rows whose durations are known, and the logarithms; returns how many. */
static size_t
known_fill(double *x, double *logs, const struct gp_question *q)
{
	size_t d = q->rows.d, n = 0, i;
	double seconds;

	for (i = 0; i < q->rows.n; i++) {
		seconds = history_seconds(q->ask->history, q->rows.trials[i]);
		if (q->rows.kinds[i] == GP_BAD || !(seconds > 0) ||
		    !isfinite(seconds))
			continue;
		memcpy(x + n * d, q->rows.x + i * d, d * sizeof *x);
		logs[n++] = log(seconds);
	}
	return n;
}

void
gp_cost_fit(struct gp_acquisition_goal *g, const struct gp_question *q)
{
	size_t d = q->rows.d, n;
	double *x = xcalloc(q->rows.n * (d + 1) + d + 3, sizeof *x);
	double *logs = x + q->rows.n * d, *theta = logs + q->rows.n;
	struct gp_targets values;

	n = known_fill(x, logs, q);
	gp_targets_from(&values, logs, n);
	if (n >= LEAST_KNOWN && values.scale > least_spread)
		g->cost = gp_models_of(q, x, n, &values, false, theta);
	g->cost_weight = (1 - q->ask->time_used) * values.scale;
	gp_targets_free(&values);
	free(x);
}
