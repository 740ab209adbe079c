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
enum told_kind {
	TOLD_COMPLETED, /* by loss; with several objectives all the same */
	TOLD_STOPPED, /* who ran further is better, then by the last value */
	TOLD_INFEASIBLE, /* completed or stopped, by violation */
	TOLD_FAILED, /* or completed without a result */
	TOLD_PENDING, /* it runs */
	TOLD_NOTHING /* waiting, cancelled */
};

struct told {
	enum told_kind kind;
	double first, second;
	int64_t trial;
};

struct told told_about(const struct history *, int64_t trial);
/* Better; equals are not. */
bool told_is_before(const struct told *, const struct told *);
/* For qsort: the better ones first, equals by their numbers. */
int told_order(const void *, const void *);
/* It has ended in a way that says something. */
bool told_is_finished(enum told_kind);

#endif /* HPOTUNE_TRIAL_RANK_H */
