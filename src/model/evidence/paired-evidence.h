/*
 * Whether one setting is better than another one, from losses of both on the same
 * seeds, looked at after each pair.
 *
 * Where two settings are equally good and scatter alike, the difference of a pair
 * is as often above 0 as below it, whatever its size: its sign is a fair coin.
 * The evidence is what a gambler has made of 1 who bets on these signs, more on
 * great differences than on small ones: an e-value.  By Ville's inequality
 * (Étude critique de la notion de collectif, 1939) it reaches 1 / alpha at any
 * time with a probability of at most alpha, so that one may look after each pair
 * and stop.  Tails may be as heavy as they like.  Tests of symmetry by e-values:
 * Vovk and Wang, Nonparametric e-tests of symmetry, New England Journal of
 * Statistics in Data Science 2, 2024; Ramdas et al., Admissible anytime-valid
 * sequential inference must rely on nonnegative martingales, arXiv 2009.03167.
 *
 * A loss is smaller when it is better; INFINITY is that of a run that failed,
 * worse than any; NaN is none, and its pair does not count.
 */

#ifndef HPOTUNE_PAIRED_EVIDENCE_H
#define HPOTUNE_PAIRED_EVIDENCE_H

#include <stddef.h>

struct paired_evidence {
	size_t pairs; /* that count */
	double better, worse; /* e-values: a is better than b; it is worse */
	/* Of b - a, where both are finite; NaN: nowhere. */
	double difference;
};

/*
 * The evidence of n pairs, in this order, that a is better than b by more than
 * margin, or worse than that.
 */
struct paired_evidence
paired_evidence_of(const double *a, const double *b, size_t n, double margin);
/*
 * The first number of pairs, from 1, after which one of the e-values, with margin
 * 0, has reached 1 / alpha; 0: none of n.
 */
size_t paired_evidence_decided(
    const double *a, const double *b, size_t n, double alpha);
/*
 * The greatest margin by which a is better, with confidence 1 - alpha, whatever
 * the number of looks: up to it each margin was refuted after some pair.  To a
 * 200th of the greatest difference.  NaN: not even 0 was.
 */
double
paired_evidence_least(const double *a, const double *b, size_t n, double alpha);
/* Without so many pairs nothing is ever decided at this level. */
size_t paired_evidence_pairs_least(double alpha);

#endif /* HPOTUNE_PAIRED_EVIDENCE_H */
