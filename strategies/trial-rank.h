/*
 * What a history tells a strategy about one trial, as a key that sorts: the
 * better ones first.  Knows states, losses, violations and the ends of curves;
 * refuses to know parameters.
 */

#ifndef HPOTUNE_TRIAL_RANK_H
#define HPOTUNE_TRIAL_RANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct history;

/* In the order of their worth. */
enum trial_rank_kind {
	TRIAL_RANK_COMPLETED, /* by loss; with several objectives all the same */
	TRIAL_RANK_STOPPED, /* who ran further is better, then by the last value */
	TRIAL_RANK_INFEASIBLE, /* completed or stopped, by violation */
	TRIAL_RANK_FAILED, /* or completed without a result */
	TRIAL_RANK_PENDING, /* it runs */
	TRIAL_RANK_NONE /* waiting, cancelled */
};

struct trial_rank {
	enum trial_rank_kind kind;
	double first, second;
	int64_t trial;
};

struct trial_rank trial_rank_of(const struct history *, int64_t trial);
/* Better; equals are not. */
bool trial_rank_is_before(const struct trial_rank *, const struct trial_rank *);
/* For qsort: the better ones first, equals by their numbers. */
int trial_rank_order(const void *, const void *);
/* It has ended in a way that says something. */
bool trial_rank_is_finished(enum trial_rank_kind);

#endif /* HPOTUNE_TRIAL_RANK_H */
