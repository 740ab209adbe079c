/*
 * One number for a curve at one of its reports: the last value, the best so
 * far, a mean.  Smaller is better; only finite values (or all but NaN) are used
 * for a best or a mean; NaN = none.
 */

#ifndef HPOTUNE_CURVE_SUMMARY_H
#define HPOTUNE_CURVE_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct curve;

enum curve_summary_kind {
	SUMMARY_LAST, /* as reported, also if not finite */
	SUMMARY_BEST,
	SUMMARY_RECENT, /* the best of the last CURVE_SUMMARY_RECENT reports */
	SUMMARY_MEAN,
	SUMMARY_WINDOW, /* mean of the last share of the reports so far */
	SUMMARY_MEAN_FROM, /* mean of the reports at or after step from */
	SUMMARY_MEAN_FIRST /* mean of the first count reports */
};

/* Reports of which one may be bad without the trial being so. */
enum { CURVE_SUMMARY_RECENT = 3 };

struct curve_summary_rule {
	enum curve_summary_kind kind;
	double share; /* SUMMARY_WINDOW, in (0, 1] */
	int64_t from; /* SUMMARY_MEAN_FROM */
	size_t count; /* SUMMARY_MEAN_FIRST */
	bool infinite; /* include infinities */
};

/* State of a pass over a curve; starts as { 0 }. */
struct curve_summary_run {
	size_t n; /* reports so far */
	size_t used; /* … of which values are used */
	double best, sum;
};

/* The value at the next report of the pass. */
double curve_summary_next(struct curve_summary_run *,
    const struct curve_summary_rule *, const struct curve *);
/* The value at report i; equal to that of a pass. */
double curve_summary_at(
    const struct curve_summary_rule *, const struct curve *, size_t i);
/* "last", "best", "recent", "mean" or "window:P%"; false for anything else. */
bool curve_summary_parse(struct curve_summary_rule *, const char *);
/* "best", "mean", …, and "" for the last value, for messages. */
const char *curve_summary_text(const struct curve_summary_rule *);

/*
 * Values of curves for successive reports, each computed from the previous
 * one.  The numbers equal those of curve_summary_at.
 */
struct curve_summary_cache;

struct curve_summary_cache *
curve_summary_cache_new(const struct curve_summary_rule *);
void curve_summary_cache_free(struct curve_summary_cache *);
/* The value of this trial's curve at report i. */
double curve_summary_cache_at(struct curve_summary_cache *, int64_t trial,
    const struct curve *, size_t i);
/* The curve changed before its end: drop the entry. */
void curve_summary_cache_forget(struct curve_summary_cache *, int64_t trial);

#endif /* HPOTUNE_CURVE_SUMMARY_H */
