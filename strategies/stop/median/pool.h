/*
 * The values of other trials at the same position: for every step the numbers
 * of the trials of a pool, for a percentile that leaves one trial out.
 *
 * Exact, and a cache: results depend on the curves in the history and on which
 * trials belong to the pool, not on the order of the calls.
 */

#ifndef HPOTUNE_POOL_H
#define HPOTUNE_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "strategies/stop/median/curve-summary.h"

struct history;
struct pool;

/* Which reports of two trials are compared. */
enum pool_key {
	/* the last one at or before the step, up to its last step */
	POOL_CARRY,
	POOL_STEP, /* exactly the same step */
	POOL_INDEX, /* the same number of reports, from 1 */
	POOL_ONCE /* one number per trial, at any step */
};

enum pool_aggregate {
	POOL_PERCENTILE, /* between the numbers around rank share * (n - 1) */
	POOL_MEAN,
	/* the worst value better than share of all, counting the judged one */
	POOL_RANK,
	POOL_MIDDLE /* the worse one of the two middle numbers */
};

struct pool_rule {
	struct curve_summary_rule value;
	enum pool_key key;
	enum pool_aggregate aggregate;
	/* for POOL_PERCENTILE and POOL_RANK, 0 to 1, best first */
	double share;
	/*
	 * From step narrow_from to narrow_to the share falls to narrow_share,
	 * by the same factor at each step; narrow_share 0: it stays.
	 */
	double narrow_share;
	int64_t narrow_from, narrow_to;
	bool completed; /* completed trials only */
	/*
	 * Trials that were stopped before a step are counted there, as worse
	 * than all others; for POOL_CARRY with POOL_PERCENTILE or POOL_RANK.
	 */
	bool begun;
	bool infinite; /* infinities count as numbers */
	/* share counts from the worst: ranks are rounded that way */
	bool mirrored;
};

struct pool_answer {
	int64_t n; /* other trials with a number here, or stopped before */
	int64_t seen; /* the same, including NaN */
	/*
	 * The aggregate is first + share * (second - first); first = second
	 * when it is one number.  NaN: nothing to compare with; infinite: it
	 * is among the trials that were stopped before.
	 */
	double first, second, share;
};

struct pool *pool_new(const struct pool_rule *);
void pool_free(struct pool *);
/* Whether a step was asked about; until then curves are not looked at. */
bool pool_asked(const struct pool *);
/* Call after each history_report. */
void pool_observe(
    struct pool *, const struct history *, int64_t trial, int64_t step);
/* Call after history_end and history_retry. */
void pool_ended(struct pool *, const struct history *, int64_t trial);
/* Number of trials in the pool, with or without a value. */
int64_t pool_members(const struct pool *);
/*
 * The values of all trials but one (0 = none) at this step; for POOL_INDEX at
 * this report, for POOL_ONCE anywhere.
 */
void pool_query(struct pool *, const struct history *, int64_t key, int64_t but,
    struct pool_answer *);
/* The share of the rule at this step. */
double pool_share_at(const struct pool_rule *, int64_t key);
/* The same as pool_query of all trials with another share. */
void pool_query_share(struct pool *, const struct history *, int64_t key,
    double share, struct pool_answer *);
/*
 * How many trials but one (0 = none) have a better number than v at the step;
 * not exact: at least so many.  Time: log of the trials, or all of them when it
 * is to be exact and v is not near the rank of the share.
 */
int64_t pool_better(struct pool *, const struct history *, int64_t key,
    int64_t but, double v, bool exact);
/*
 * Switch to intervals, for steps that hardly any two trials share.  The pool
 * does it by itself when that is less work; results are equal.
 */
void pool_use_intervals(struct pool *, const struct history *);
/* The result as one number; equal neighbours give exactly that number. */
double pool_threshold(const struct pool_answer *);

#endif /* HPOTUNE_POOL_H */
