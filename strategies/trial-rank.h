/*
 * Rank of a trial for strategies, as a sort key, better ones first: from state,
 * losses, violations and the end of its curve.
 */

#ifndef HPOTUNE_TRIAL_RANK_H
#define HPOTUNE_TRIAL_RANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct history;

/* In descending order. */
enum trial_rank_kind {
	TRIAL_RANK_COMPLETED, /* by loss; with several objectives all the same */
	/* by last step (more is better), then by last value */
	TRIAL_RANK_STOPPED,
	TRIAL_RANK_INFEASIBLE, /* completed or stopped, by violation */
	TRIAL_RANK_FAILED, /* or completed without a result */
	TRIAL_RANK_PENDING, /* running */
	TRIAL_RANK_NONE /* waiting or cancelled */
};

struct trial_rank {
	enum trial_rank_kind kind;
	double first, second;
	int64_t trial;
};

struct trial_rank trial_rank_of(const struct history *, int64_t trial);
/* Strictly better. */
bool trial_rank_is_before(const struct trial_rank *, const struct trial_rank *);
/* For qsort: better ones first, ties by number. */
int trial_rank_order(const void *, const void *);
/* Ended with a usable result. */
bool trial_rank_is_finished(enum trial_rank_kind);

#endif /* HPOTUNE_TRIAL_RANK_H */
