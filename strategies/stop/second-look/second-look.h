/*
 * The second look: when a study begins no new trials, a part of what stopping
 * has saved is spent on stopped trials, the most promising first, in case the
 * rule was wrong.  How large a part is read from the study's own curves.
 *
 *	T     = trials with a report x max_steps (unknown: the most steps of a
 *		completed trial)
 *	best  = the 5 best completed trials, resumed ones included
 *	H     = share of best that the rule median (last value against the
 *		median of all trials that reached the step, at least 6 of them;
 *		from 20 % of max_steps and the 6th report on; no guard) would
 *		have stopped at any report, with all reports known now;
 *		1 when no trial has completed
 *	B     = min((2 % + share x H) x T, steps that stopping has skipped)
 *	s     = steps that a stopped trial has done, v = the best of its last 3
 *		reports
 *	rank  = other trials that reached s with a better best of the last 3
 *		reports there
 *	price = max_steps - s; without a checkpoint max_steps
 *	open  = H > 1/2, or one of the 8 best completed trials that reached s was
 *		not better than v there, or none of them reached it
 *
 * The next trial is the one with the smallest rank, then the smallest number,
 * of those with open and spent + price <= B, where spent are the prices of all
 * trials resumed so far.  All of these are numbers of steps, all values are losses.
 *
 * Source: our own simulation of 3226 studies over eight sets of curves, without
 * open; with share 25 %, median loses the best trial in 0.044 of the studies of
 * AlgoPerf instead of 0.216, for 9 % of the full cost.  What open changes:
 * strategies/README.md.  On curves that cross rarely a trial behind all of the
 * best does not become one of them.
 *
 * H compares with those that reached a step, where a rule has left survivors: it
 * is greater than the share that users are told (view hindsight), which judges
 * only where three quarters of the trials are.  That share is near 0 in a study
 * with stopping, whatever its curves, and says nothing about how much to spend.
 */

#ifndef HPOTUNE_SECOND_LOOK_H
#define HPOTUNE_SECOND_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct history;

enum {
	SECOND_LOOK_BEST = 5, /* completed trials that H looks at */
	SECOND_LOOK_NEAR = 8, /* those that a candidate must not be behind */
	SECOND_LOOK_LAST =
	    3 /* reports of which the best one stands for a trial */
};
#define SECOND_LOOK_FLOOR 0.02 /* of T, whatever H is */
#define SECOND_LOOK_SHARE 0.25 /* the default of the option second_look */

/* A trial that a rule has stopped, or paused for good. */
struct second_look_trial {
	int64_t trial;
	int64_t step; /* its last one when it was stopped */
	bool candidate; /* it may be resumed: not diverged, not resumed yet */
	bool checkpoint; /* it can continue from its last step */
	int64_t price; /* of its second look in steps; 0 = it had none */
};

/* The state of a study; nothing is owned. */
struct second_look_study {
	const struct history *history; /* with curves */
	int64_t max_steps; /* of a trial; 0 = unknown */
	double share; /* option second_look, 0 to 1; 0: off */
	const struct second_look_trial *stopped;
	size_t n_stopped;
};

/* H, and the two numbers it is made of. */
struct second_look_hurt {
	double share; /* H, 0 to 1 */
	int64_t trials; /* up to SECOND_LOOK_BEST */
	int64_t lost; /* of them */
};

struct second_look {
	struct second_look_hurt hurt;
	int64_t full; /* T */
	int64_t saved; /* steps that stopping has skipped before second looks */
	int64_t budget; /* B; 0 when the option is off */
	int64_t spent;
	int64_t trial; /* the next one; 0 = none, then the rest is unset */
	int64_t rank;
	int64_t reached; /* other trials that reached its last step */
	int64_t price; /* steps */
	double value; /* what stands for it, in the user's sign */
};

/*
 * H of the curves known.  Time: five times the reports of all trials; memory
 * for two numbers per report of one trial.
 */
void second_look_hurt(
    struct second_look_hurt *, const struct history *, int64_t max_steps);
/*
 * Which trial is resumed next.  A function of its arguments alone, whatever the
 * order of the stopped ones.  Time: that of H, and for each candidate the
 * trials that it takes to find as many better ones as the best candidate has
 * (at most all), log(reports) each.
 */
void second_look_decide(struct second_look *, const struct second_look_study *);

#endif /* HPOTUNE_SECOND_LOOK_H */
