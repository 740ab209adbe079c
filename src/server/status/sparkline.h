/*
 * A curve in one line of text.  Knows numbers and eight heights; where the
 * locale has no UTF-8, the heights are letters of ASCII.
 */

#ifndef HPOTUNE_SPARKLINE_H
#define HPOTUNE_SPARKLINE_H

#include <stddef.h>
#include <stdint.h>

struct buf;

/* A curve as it was read: n points, steps ascending. */
struct sparkline {
	int64_t *steps;
	double *values;
	size_t n, cap;
};
void sparkline_add(struct sparkline *, int64_t step, double value);
void sparkline_free(struct sparkline *);

/* Steps and values that one drawing has to hold. */
struct sparkline_frame {
	int64_t first, last;
	double low, high;
};
/*
 * The frame of several curves: all their steps, and the values between the
 * 5th and the 95th percentile, so that one wild value flattens nothing.
 */
void sparkline_frame_fit(
    struct sparkline_frame *, const struct sparkline *curves, size_t n);
/*
 * Append width columns: each shows the curve's last value up to there, a
 * blank where it has not come, and ! where the value is not finite.
 */
void sparkline_put(struct buf *, const struct sparkline *,
    const struct sparkline_frame *, size_t width);

#endif /* HPOTUNE_SPARKLINE_H */
