/*
 * Where trials fail: a process of 1 where a trial failed or had no result, and 0
 * where it had one.  What fails by chance is noise of this process, which then
 * is flat and says nothing of a place; where failures are beside one another, it
 * is high, and a place counts as much as it is likely to be below a limit, as
 * with a constraint.  Failed trials are left out of the processes of results: a
 * result that is made up is a cliff beside the best trials.  Gelbart, Snoek and Adams,
 * "Bayesian optimization with unknown constraints", UAI 2014, with a regression
 * in place of a classification, which needs no approximation.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "strategies/gp/gp.h"
#include "strategies/strategy.h"

enum { RESULTS_LEAST = 2 }; /* for a process of results alone */

/* Of the share of trials with a result: a place with less is to be left. */
static const double share_least = 0.5;

/* A process that is so sure of all places to be below its limit tells nothing. */
static const double sure = 0.9;

/* The noise of failures by chance is large; the prior leaves it free. */
static const double noise_weight = 1;

void
gp_failures_set_apart(struct gp_rows *rows, struct gp_failures *f)
{
	size_t d = rows->d, kept = 0, i;

	*f = (struct gp_failures){ 0 };
	for (i = 0; i < rows->n; i++)
		f->failed += rows->kinds[i] == GP_BAD;
	if (f->failed == 0 || rows->n - f->failed < RESULTS_LEAST) {
		f->failed = 0;
		return;
	}
	f->n = rows->n;
	f->x = xcalloc(f->n * (d + 1), sizeof *f->x);
	f->labels = f->x + f->n * d;
	memcpy(f->x, rows->x, f->n * d * sizeof *f->x);
	for (i = 0; i < rows->n; i++) {
		f->labels[i] = rows->kinds[i] == GP_BAD;
		if (rows->kinds[i] == GP_BAD)
			continue;
		rows->trials[kept] = rows->trials[i];
		rows->kinds[kept] = rows->kinds[i];
		memmove(
		    rows->x + kept * d, rows->x + i * d, d * sizeof *rows->x);
		kept++;
	}
	rows->n = kept;
}

void
gp_failures_free(struct gp_failures *f)
{
	free(f->x);
}

/*
 * Whether the process says something against a place: at one of the trials it is
 * likely to be above the limit.
 */
static bool
is_telling(const struct gp_failures *f, const struct gp_question *q,
    const struct gp *gp, double limit)
{
	const struct kernels *k = q->ask->kernels;
	double *mean = xcalloc(2 * f->n, sizeof *mean), by_mean, by_sd, sd;
	double *variance = mean + f->n, least = 0;
	size_t i;

	k->gp_predict(k->dev, gp, f->x, f->n, mean, variance);
	for (i = 0; i < f->n; i++) {
		sd = sqrt(fmax(variance[i], 1e-14));
		least = fmin(least, gp_acquisition_log_below(
					mean[i], sd, limit, &by_mean, &by_sd));
	}
	free(mean);
	return least < log(sure);
}

struct gp *
gp_failures_fit(const struct gp_question *q, double *theta, double *limit)
{
	const struct gp_failures *f = &q->failures;
	struct gp_question mine = *q;
	struct gp_targets values;
	struct gp *gp;
	double share;

	if (f->failed == 0)
		return NULL;
	mine.rule.noiseless = false;
	mine.rule.noise_weight = noise_weight;
	mine.rule.shorten = 0;
	gp_targets_from(&values, f->labels, f->n);
	gp = gp_models_of(&mine, f->x, f->n, &values, true, theta);
	share = 1 - (double)f->failed / (double)f->n;
	*limit = (1 - share_least * share - values.centre) / values.scale;
	gp_targets_free(&values);
	if (gp != NULL && !is_telling(f, q, gp, *limit)) {
		q->ask->kernels->gp_free(q->ask->kernels->dev, gp);
		gp = NULL;
	}
	return gp;
}
