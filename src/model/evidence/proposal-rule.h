/*
 * Whether a proposed setting takes the place of the baseline: from losses of both
 * on the same seeds, as in paired-evidence.h, looked at after each pair.
 *
 * A proposal is kept when its e-value reaches 1 / level.  The levels of those that
 * were not kept have a sum of at most alpha, and depend on nothing but how many there
 * were and which were kept: by Ville's inequality and the union bound a study keeps a
 * false one with a probability of at most alpha, however its proposals depend on one
 * another.  They share runs of the baseline.  The level of a proposal that was kept
 * passes to those that follow (Tian and Ramdas, Online control of the familywise error
 * rate, Statistical Methods in Medical Research 30, 2021).  Runs of a baseline
 * that was kept are better than its mean, as they are why it was kept: that makes
 * later false keeps rarer.
 *
 * The first PROPOSAL_RULE_NIGHT proposals share nine tenths of alpha evenly, and the
 * k-th that follows takes a k-th of what is left.  This holds for any sum that was
 * spent before, so that studies of an earlier version, whose levels fell from the
 * first one on, go on with it.
 *
 * A proposal is discarded when it would hardly be kept: when the mean of its
 * differences is below three quarters of that which as many pairs as its horizon would
 * show, less a bit that falls with the number of pairs.  This costs no error, as
 * discarding is no claim; so the horizon may depend on whatever is known.  It begins at
 * 30 pairs, which find great effects with the fewest runs, and grows by 4 with each
 * proposal that was not kept: where great effects are to be had they are found soon,
 * and where none are, smaller ones are looked for.
 */

#ifndef HPOTUNE_PROPOSAL_RULE_H
#define HPOTUNE_PROPOSAL_RULE_H

#include <stdbool.h>
#include <stddef.h>

enum {
	PROPOSAL_RULE_NIGHT = 100, /* proposals, which share most of alpha */
	PROPOSAL_RULE_BAND =
	    3, /* runs of the baseline show its noise at first */
	PROPOSAL_RULE_HORIZON = 30, /* pairs: of the first on a baseline */
	PROPOSAL_RULE_FARTHER = 4 /* … of each that follows */
};

enum proposal_verdict {
	PROPOSAL_OPEN,
	PROPOSAL_KEPT,
	PROPOSAL_DISCARDED,
	PROPOSAL_UNDECIDED /* after all pairs */
};

/* The level of proposal k, from 1; spent: by those before it that were not kept. */
double proposal_rule_level(double alpha, size_t k, double spent);
/* The horizon after so many others on this baseline, in pairs; most: of all. */
size_t proposal_rule_horizon(size_t others, size_t most);
/*
 * The verdict on a, of which n runs have ended, against b, of which as many and at
 * least PROPOSAL_RULE_BAND have; most: pairs at most; others: proposals before it on
 * this baseline.  looks: pairs that it rests on, the first ones, whatever n is.
 */
enum proposal_verdict proposal_rule_judge(const double *a, const double *b,
    size_t n, size_t most, size_t others, double level, size_t *looks);

/*
 * Whether a run in its middle is worse, at the same step, than all runs that show
 * the noise of the baseline, and than the one that it is paired with by three
 * deviations of a difference.  NaN: unknown.
 */
bool proposal_rule_behind(
    double loss, double paired, const double band[PROPOSAL_RULE_BAND]);

#endif /* HPOTUNE_PROPOSAL_RULE_H */
