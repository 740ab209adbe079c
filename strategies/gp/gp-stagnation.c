/*
 * Shorter length scales while there is no progress.  Scales that were fitted to
 * few trials may be too long: the model is then sure of places where no trial
 * was, and every suggestion is next to the best one.  With shorter scales the
 * variance there grows until such a place is tried.  F. Berkenkamp, A. P.
 * Schoellig and A. Krause, "No-regret Bayesian optimization with unknown
 * hyperparameters", J. Machine Learning Research 20 (2019), whose scales become
 * shorter with every trial; here they depend on the trials without progress,
 * and every fourth suggestion has those of the fit.  Continuous spaces do
 * without: there the search beside the best trial was as good.
 */

#include <math.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "src/model/history/history.h"
#include "strategies/gp/gp.h"
#include "strategies/strategy.h"

/* Of the distance from the median to the best value: less is no progress. */
static const double progress_least = 1e-3;
static const double factor_most = 16;

static int
by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Whether a trial completed with a number and breaks no constraint. */
static bool
is_good(const struct history *h, int64_t trial)
{
	return gp_training_kind(h, trial) == GP_COMPLETED &&
	       history_violation(h, trial) == 0;
}

/* The least improvement that is progress; NaN when there is no good trial. */
static double
least_of(const struct history *h)
{
	int64_t first = history_first(h), count = history_count(h), i;
	double *values, least = NAN;
	size_t n = 0;

	values = xcalloc((size_t)(count - first + 2), sizeof *values);
	for (i = first; i <= count; i++)
		if (is_good(h, i))
			values[n++] = history_loss(h, i);
	if (n > 0) {
		qsort(values, n, sizeof *values, by_value);
		least = progress_least * (values[n / 2] - values[0]);
	}
	free(values);
	return least;
}

size_t
gp_stagnation_trials(const struct history *h)
{
	int64_t count = history_count(h), i;
	double least = least_of(h), best = INFINITY;
	enum gp_training_kind kind;
	size_t n = 0;

	if (!isfinite(least))
		return 0;
	for (i = history_first(h); i <= count; i++) {
		kind = gp_training_kind(h, i);
		n += i > 0 && kind != GP_UNUSED && kind != GP_PENDING;
		if (is_good(h, i) && history_loss(h, i) < best - least) {
			best = history_loss(h, i);
			n = 0;
		}
	}
	return n;
}

double
gp_stagnation_factor(const struct strategy_ask *ask, const struct gp_axes *g,
    size_t after, double rate)
{
	size_t n;

	if (after == 0 || ask->trial % 4 == 1 || gp_axes_continuous(g) ||
	    history_n_objectives(ask->history) > 1)
		return 1;
	n = gp_stagnation_trials(ask->history);
	if (n <= after)
		return 1;
	return fmin(1 + rate * (double)(n - after) / (double)g->d, factor_most);
}
