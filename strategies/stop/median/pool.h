/*
 * What the other trials had at the same place: for every step the numbers
 * that the trials of a pool show there, ready to be asked for a percentile
 * that leaves one trial out.
 *
 * Exact, and a cache only: the answer depends on the curves in the history
 * and on which trials belong to the pool, never on the order of the calls.
 */

#ifndef HPOTUNE_POOL_H
#define HPOTUNE_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "strategies/stop/median/curve-summary.h"

struct history;
struct pool;

/* Which reports of two trials stand beside each other. */
enum pool_key {
	POOL_CARRY, /* the last one at or before the step, up to its last step */
	POOL_STEP, /* exactly the same step */
	POOL_INDEX, /* the same number of reports, from 1 */
	POOL_ONCE /* one number a trial, whatever the step */
};

enum pool_aggregate {
	POOL_PERCENTILE, /* between the numbers around rank share * (n - 1) */
	POOL_MEAN,
	POOL_RANK, /* the worst that a share of all may be better than, all
		    * being these numbers and the judged one */
	POOL_MIDDLE /* the worse one of the two middle numbers */
};

struct pool_rule {
	struct curve_summary_rule value;
	enum pool_key key;
	enum pool_aggregate aggregate;
	double share; /* of POOL_PERCENTILE and POOL_RANK, 0 … 1, best first */
	bool completed; /* only completed trials belong to it */
	bool infinite; /* infinities are numbers like others */
	bool mirrored; /* share counts from the worst: ranks round that way */
};

struct pool_answer {
	int64_t n; /* other trials that have a number here */
	int64_t seen; /* the same, those with NaN included */
	/*
	 * The aggregate is first + share * (second - first); first = second
	 * when it is one number.  NaN: nothing to compare with.
	 */
	double first, second, share;
};

struct pool *pool_new(const struct pool_rule *);
void pool_free(struct pool *);
/* After each history_report. */
void pool_observe(
    struct pool *, const struct history *, int64_t trial, int64_t step);
/* After history_end and history_retry. */
void pool_ended(struct pool *, const struct history *, int64_t trial);
/* How many trials belong to it, with or without a number anywhere. */
int64_t pool_members(const struct pool *);
/*
 * What the trials but one (0 = none) have at this step; for POOL_INDEX at
 * this report, for POOL_ONCE anywhere.
 */
void pool_query(struct pool *, const struct history *, int64_t key, int64_t but,
    struct pool_answer *);
/*
 * Make ready for steps that hardly any two trials share.  The pool does it
 * by itself when that is less work; answers are the same.
 */
void pool_use_intervals(struct pool *, const struct history *);
/* The answer as one number; equal neighbours give that number itself. */
double pool_threshold(const struct pool_answer *);

#endif /* HPOTUNE_POOL_H */
