/*
 * What one number stands for a curve at one of its reports: the last value,
 * the best so far, a mean.  Smaller is better; only finite values (or all but NaN) enter a best
 * or a mean, and NaN says that there is none.
 */

#ifndef HPOTUNE_CURVE_SUMMARY_H
#define HPOTUNE_CURVE_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct curve;

enum value_kind {
	VALUE_LAST, /* as reported, finite or not */
	VALUE_BEST,
	VALUE_MEAN,
	VALUE_WINDOW, /* mean of the last share of the reports so far */
	VALUE_MEAN_FROM, /* mean of the reports at or after step from */
	VALUE_MEAN_FIRST /* mean of the first count reports */
};

struct value_rule {
	enum value_kind kind;
	double share; /* VALUE_WINDOW, in (0, 1] */
	int64_t from; /* VALUE_MEAN_FROM */
	size_t count; /* VALUE_MEAN_FIRST */
	bool infinite; /* infinities count as well */
};

/* What has been seen of a curve on a walk along it; starts as { 0 }. */
struct value_run {
	size_t n; /* reports so far */
	size_t used; /* finite ones among them that count */
	double best, sum;
};

/* The value at the next report of the walk. */
double
value_next(struct value_run *, const struct value_rule *, const struct curve *);
/* The value at report i; the same number that a walk gives. */
double value_at(const struct value_rule *, const struct curve *, size_t i);
/* "last", "best", "mean" or "window:P%"; false for anything else. */
bool value_parse(struct value_rule *, const char *);
/* "best", "mean", …, and "" for the last value: for the user. */
const char *value_words(const struct value_rule *);

#endif /* HPOTUNE_CURVE_SUMMARY_H */
