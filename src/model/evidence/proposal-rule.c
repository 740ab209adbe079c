/* Whether a proposal is kept or discarded, and the error it may cost. */

#include <math.h>

#include "src/model/evidence/paired-evidence.h"
#include "src/model/evidence/proposal-rule.h"

/*
 * Standard errors above the mean: of 0.5, 0.75, 1 and 1.25 the one with the most
 * true keeps for its runs, in nights as those of t_proposal_rule.c.
 */
#define PROPOSAL_RULE_HOPE 0.75
#define PROPOSAL_RULE_FAR 3 /* deviations of a difference */

double
proposal_rule_levels(double alpha, size_t k)
{
	return alpha * (double)k / (PROPOSAL_RULE_NIGHT + (double)k);
}

/* Twice the variance of the baseline: that of differences without pairing. */
static double
proposal_rule_band(const double *b, size_t n)
{
	double sum = 0, squares = 0, mean;
	size_t i, finite = 0;

	for (i = 0; i < n; i++) {
		if (!isfinite(b[i]))
			continue;
		sum += b[i];
		finite++;
	}
	if (finite < 2)
		return 0;
	mean = sum / (double)finite;
	for (i = 0; i < n; i++)
		if (isfinite(b[i]))
			squares += (b[i] - mean) * (b[i] - mean);
	return 2 * squares / (double)(finite - 1);
}

/*
 * Whether the proposal would hardly be kept.  An effect of d standard deviations
 * of a difference is shown by about 2 ln(1 / level) / d^2 pairs.
 */
static bool
proposal_rule_hopeless(
    const double *a, const double *b, size_t n, size_t most, double level)
{
	double sum = 0, squares = 0, mean, deviation, d;
	double band = proposal_rule_band(b, PROPOSAL_RULE_BAND);
	size_t i, finite = 0;

	for (i = 0; i < n; i++) {
		if (isinf(a[i]) && !isinf(b[i]) && !isnan(b[i]))
			return true;
		d = b[i] - a[i];
		if (!isfinite(d))
			continue;
		sum += d;
		finite++;
	}
	if (finite == 0)
		return false;
	mean = sum / (double)finite;
	for (i = 0; i < n; i++) {
		d = b[i] - a[i];
		if (isfinite(d))
			squares += (d - mean) * (d - mean);
	}
	/* The band counts as one difference: pairing may make them smaller. */
	deviation = sqrt((band + squares) / (double)finite);
	d = sqrt(2 * log(1 / level) / (double)most);
	mean += PROPOSAL_RULE_HOPE * deviation / sqrt((double)finite);
	return !(mean > d * deviation);
}

enum proposal_verdict
proposal_rule_judge(const double *a, const double *b, size_t n, size_t most,
    double level, size_t *looks)
{
	for (*looks = 1; *looks <= n; (*looks)++) {
		if (paired_evidence_of(a, b, *looks, 0).better >= 1 / level)
			return PROPOSAL_KEPT;
		if (proposal_rule_hopeless(a, b, *looks, most, level))
			return PROPOSAL_DISCARDED;
	}
	*looks = n;
	return n >= most ? PROPOSAL_UNDECIDED : PROPOSAL_OPEN;
}

bool
proposal_rule_behind(
    double loss, double paired, const double band[PROPOSAL_RULE_BAND])
{
	double noise = sqrt(proposal_rule_band(band, PROPOSAL_RULE_BAND));
	size_t i;

	for (i = 0; i < PROPOSAL_RULE_BAND; i++)
		if (!(loss > band[i]) || !isfinite(band[i]))
			return false;
	return noise > 0 && loss - paired > PROPOSAL_RULE_FAR * noise;
}
