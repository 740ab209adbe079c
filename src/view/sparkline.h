/*
 * A curve in one line of text, with eight heights; ASCII letters where the
 * locale has no UTF-8.
 */

#ifndef HPOTUNE_SPARKLINE_H
#define HPOTUNE_SPARKLINE_H

#include <stddef.h>
#include <stdint.h>

struct buf;

/* A curve: n points, steps ascending. */
struct sparkline {
	int64_t *steps;
	double *values;
	size_t n, cap;
};
void sparkline_add(struct sparkline *, int64_t step, double value);
void sparkline_free(struct sparkline *);

/* The range of steps and values of a drawing. */
struct sparkline_frame {
	int64_t first, last;
	double low, high;
};
/*
 * The common range of several curves: all their steps, and the values between
 * the 5th and the 95th percentile, so that an outlier does not flatten the
 * rest.
 */
void sparkline_frame_fit(
    struct sparkline_frame *, const struct sparkline *curves, size_t n);
/*
 * Append width columns: each shows the curve's last value up to there, a blank
 * before its first, and ! where the value is not finite.
 */
void sparkline_put(struct buf *, const struct sparkline *,
    const struct sparkline_frame *, size_t width);

#endif /* HPOTUNE_SPARKLINE_H */
