/* Whether a proposal is kept or discarded, and the error it may cost. */

#include <math.h>

#include "src/model/evidence/paired-evidence.h"
#include "src/model/evidence/proposal-rule.h"

/*
 * Of a night, the share of alpha and the share that one proposal may have at most, in
 * even shares.
 */
#define PROPOSAL_RULE_SHARE 0.9
#define PROPOSAL_RULE_SHARE_MOST 2
/*
 * The line of what is discarded, as in Wald's sequential test (Annals of Mathematical
 * Statistics 16, 1945): its rise for a pair, in effects, and its depth at no pairs, in
 * 1 / effect.  These, the horizon and the shares have the most true keeps for their
 * runs at effects of 0.5, 1 and 2, together, in nights of normal, Laplace,
 * Student and contaminated noise: of rises of 0.5 to 1, depths of 0.1 to 0.4, 25 and 30
 * pairs and 0 to 8 more.
 */
#define PROPOSAL_RULE_RISE 0.75
#define PROPOSAL_RULE_DEPTH 0.15
#define PROPOSAL_RULE_FAR 3 /* deviations of a difference */

double
proposal_rule_level(double alpha, size_t k, double spent)
{
	double level, most = PROPOSAL_RULE_SHARE_MOST * alpha;

	if (k > PROPOSAL_RULE_NIGHT)
		level = (alpha - spent) / (double)k;
	else
		level = (PROPOSAL_RULE_SHARE * alpha - spent) /
			(double)(PROPOSAL_RULE_NIGHT + 1 - k);
	return fmin(level, most / PROPOSAL_RULE_NIGHT);
}

size_t
proposal_rule_horizon(size_t others, size_t most)
{
	if (most <= PROPOSAL_RULE_HORIZON ||
	    others >= (most - PROPOSAL_RULE_HORIZON) / PROPOSAL_RULE_FARTHER)
		return most;
	return PROPOSAL_RULE_HORIZON + PROPOSAL_RULE_FARTHER * others;
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
    const double *a, const double *b, size_t n, size_t horizon, double level)
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
	d = sqrt(2 * log(1 / level) / (double)horizon);
	return !(
	    mean > deviation * (PROPOSAL_RULE_RISE * d -
				   PROPOSAL_RULE_DEPTH / (d * (double)finite)));
}

enum proposal_verdict
proposal_rule_judge(const double *a, const double *b, size_t n, size_t most,
    size_t others, double level, size_t *looks)
{
	size_t horizon = proposal_rule_horizon(others, most);

	for (*looks = 1; *looks <= n; (*looks)++) {
		if (paired_evidence_of(a, b, *looks, 0).better >= 1 / level)
			return PROPOSAL_KEPT;
		if (proposal_rule_hopeless(a, b, *looks, horizon, level))
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
