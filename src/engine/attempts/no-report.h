/* Why the end of an attempt has no result: each text states what is known. */

#ifndef HPOTUNE_NO_REPORT_H
#define HPOTUNE_NO_REPORT_H

#include <stddef.h>

struct curve;
struct backend_type;
struct study;

enum {
	NO_REPORT_NAMES = 3
}; /* metrics that are named when another is missing */

/* An attempt that has ended; all borrowed. */
struct no_report {
	const struct study *study;
	const struct backend_type *type; /* NULL: another program runs it */
	void *ctx; /* of the backend */
	const char *folder; /* of the attempt */
	const char *names[NO_REPORT_NAMES]; /* what it has reported */
	size_t n_names;
	const char *said; /* the last line of its log; "" = unknown */
};

/*
 * Write that the attempt ended without a report of this metric: what it
 * reported instead, and what its backend finds in its output.  why has room
 * for n bytes.
 */
void no_report_put(
    const struct no_report *, const char *metric, char *why, size_t n);
/* The same for a pattern of trial.metrics that has read nothing. */
void no_report_put_pattern(
    const struct no_report *, const char *metric, char *why, size_t n);
/*
 * Write that the objective was reported, and the result is not a finite number.
 */
void no_report_put_infinite(
    const struct study *, const struct curve *, char *why, size_t n);

#endif /* HPOTUNE_NO_REPORT_H */
