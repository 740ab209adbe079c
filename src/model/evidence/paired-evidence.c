/* Paired evidence: bets on the signs of differences. */

#include <math.h>
#include <stdbool.h>

#include "src/model/evidence/paired-evidence.h"

/* Margins that are tried between 0 and the greatest difference. */
enum { MARGINS = 200 };

/*
 * The gamblers, whose fortunes are averaged, expect mean differences of half, one
 * and two standard deviations.  Against a normal distribution of mean m and
 * standard deviation s the best bet on the sign of a difference of size x is
 * tanh(m x / s^2), which is tanh(d sqrt(1 + d^2) x / r) with d = m / s and r the
 * root of the mean square.
 */
static const double gamblers[] = { 0.5, 1, 2 };
enum { GAMBLERS = sizeof gamblers / sizeof gamblers[0] };

/* What was bet so far. */
struct bets {
	double better[GAMBLERS], worse[GAMBLERS];
	double squares, sum; /* of finite differences */
	size_t pairs, finite;
};

static struct bets
bets_open(void)
{
	struct bets b = { .pairs = 0 };
	size_t i;

	for (i = 0; i < GAMBLERS; i++)
		b.better[i] = b.worse[i] = 1;
	return b;
}

/*
 * One pair more.  The bet may depend on the size of this difference and of all
 * before, as only its sign is by chance.
 */
static void
bets_add(struct bets *b, double loss, double other, double margin)
{
	double d = other - loss, size, bet;
	size_t i;

	if (isnan(loss) || isnan(other))
		return;
	b->pairs++;
	/* Both have failed: nothing is known. */
	if (isnan(d))
		return;
	size = 1; /* of a failure: as great as usual */
	if (isfinite(d)) {
		b->sum += d;
		b->finite++;
		d -= margin;
		b->squares += d * d;
		size = b->squares > 0
			   ? fabs(d) / sqrt(b->squares / (double)b->finite)
			   : 0;
	}
	for (i = 0; i < GAMBLERS; i++) {
		bet = tanh(
		    gamblers[i] * sqrt(1 + gamblers[i] * gamblers[i]) * size);
		bet = d > 0 ? bet : -bet;
		b->better[i] *= 1 + bet;
		b->worse[i] *= 1 - bet;
	}
}

static double
bets_mean(const double *fortunes)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < GAMBLERS; i++)
		sum += fortunes[i];
	return sum / GAMBLERS;
}

struct paired_evidence
paired_evidence_of(const double *a, const double *b, size_t n, double margin)
{
	struct bets bets = bets_open();
	size_t i;

	for (i = 0; i < n; i++)
		bets_add(&bets, a[i], b[i], margin);
	return (struct paired_evidence){ .pairs = bets.pairs,
		.better = bets_mean(bets.better),
		.worse = bets_mean(bets.worse),
		.difference =
		    bets.finite > 0 ? bets.sum / (double)bets.finite : NAN };
}

size_t
paired_evidence_decided(
    const double *a, const double *b, size_t n, double alpha)
{
	struct bets bets = bets_open();
	size_t i;

	for (i = 0; i < n; i++) {
		bets_add(&bets, a[i], b[i], 0);
		if (bets_mean(bets.better) >= 1 / alpha ||
		    bets_mean(bets.worse) >= 1 / alpha)
			return i + 1;
	}
	return 0;
}

/* Whether it was refuted after some pair that a is not better by so much. */
static bool
margin_refuted(
    const double *a, const double *b, size_t n, double margin, double alpha)
{
	struct bets bets = bets_open();
	size_t i;

	for (i = 0; i < n; i++) {
		bets_add(&bets, a[i], b[i], margin);
		if (bets_mean(bets.better) >= 1 / alpha)
			return true;
	}
	return false;
}

double
paired_evidence_least(const double *a, const double *b, size_t n, double alpha)
{
	double most = 0, margin;
	size_t i;

	for (i = 0; i < n; i++)
		if (isfinite(b[i] - a[i]) && b[i] - a[i] > most)
			most = b[i] - a[i];
	for (i = 0; i <= MARGINS; i++) {
		margin = most * (double)i / MARGINS;
		if (!margin_refuted(a, b, n, margin, alpha))
			break;
	}
	return i > 0 ? most * (double)(i - 1) / MARGINS : NAN;
}

size_t
paired_evidence_pairs_least(double alpha)
{
	double a[64], b[64];
	size_t n;

	for (n = 0; n < sizeof a / sizeof a[0]; n++) {
		a[n] = 0;
		b[n] = 1;
		if (paired_evidence_decided(a, b, n + 1, alpha) > 0)
			break;
	}
	return n + 1;
}
