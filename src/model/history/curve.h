/*
 * One curve that grows: reports in any order, kept by step, one value a step.
 * Steps are not stored while they follow a stride.  The reading side (struct
 * curve) is in history.h.
 */

#ifndef HPOTUNE_CURVE_H
#define HPOTUNE_CURVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct curve;

struct curve_buf {
	double *values;
	int64_t *steps; /* NULL while regular */
	int64_t first, stride; /* while regular */
	size_t n, cap;
};

/*
 * Put value at step.  Returns true when the step is new; otherwise stores the
 * replaced value in *old.
 */
bool curve_buf_put(struct curve_buf *, int64_t step, double value, double *old);
/* A copy of a curve that may grow; the buffer must be empty. */
void curve_buf_load(struct curve_buf *, const struct curve *);
/* Drop the explicit steps if they form a regular sequence by now. */
void curve_buf_settle(struct curve_buf *);
/* Borrowed until the next change. */
struct curve curve_buf_view(const struct curve_buf *);
/* Make it empty; a small one keeps its memory for the next curve. */
void curve_buf_clear(struct curve_buf *);
void curve_buf_free(struct curve_buf *);

#endif /* HPOTUNE_CURVE_H */
