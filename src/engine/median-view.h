/* The view medians: the median of each step over all trials. */

#ifndef HPOTUNE_MEDIAN_VIEW_H
#define HPOTUNE_MEDIAN_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct history;
struct option_value;
struct plugins;
struct stop_rule_set;
struct stopper;
struct stopper_env;
struct store;

/* A step with at least one report. */
struct median_view_step {
	int64_t step;
	bool old; /* its row in medians is outdated */
};

struct median_view {
	const struct history *history;
	struct stop_rule_set *rules; /* of the study */
	const struct stopper *median;
	bool begun; /* the pool counts stopped trials at later steps */
	void *state; /* NULL when the study's rule keeps the pool */
	struct option_value *options;
	struct median_view_step *steps; /* ascending */
	size_t n, cap;
	size_t next; /* where the next flush continues */
	size_t hint; /* where the next report of a start is expected */
	/* During a start: the last step of each trial, -1 = none. */
	int64_t *last;
	size_t n_last;
};

/*
 * For these rules of a study, with a pool for the view alone where they keep
 * none like it.  The view is all zero before; median_view_close even after -1.
 */
int median_view_open(struct median_view *, const struct plugins *,
    struct stop_rule_set *, const struct history *, const struct stopper_env *,
    struct err *);
void median_view_close(struct median_view *);
/* The trial has reported this step: mark rows of the view as outdated. */
void median_view_report(struct median_view *, int64_t trial, int64_t step);
/* The same for a report read from the database, in the order of records. */
void median_view_load(struct median_view *, int64_t trial, int64_t step);
/*
 * All reports were read: mark the rows that the last server has not written.  A
 * value counts from its step on, so a row that has as many trials as have reached
 * its step has their values, unless one of them was reported again (load has
 * marked it), or a step has another meaning than then: all = mark all rows.
 */
int median_view_loaded(
    struct median_view *, struct store *, bool all, struct err *);
/* The trial has ended, or runs again. */
void median_view_end(struct median_view *, int64_t trial);
/*
 * Write what is old: all of it, or so much that a turn may take.  Whether there
 * is more.
 */
bool median_view_flush(struct median_view *, struct store *, bool all);

#endif /* HPOTUNE_MEDIAN_VIEW_H */
