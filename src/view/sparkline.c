/* Curves drawn with characters of eight heights. */

#include <math.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "src/base/search.h"
#include "src/base/text.h"
#include "src/view/sparkline.h"

enum { SPARK_HEIGHTS = 8 };

void
sparkline_add(struct sparkline *curve, int64_t step, double value)
{
	if (curve->n == curve->cap) {
		curve->cap = curve->cap == 0 ? 32 : curve->cap * 2;
		curve->steps = xreallocarray(
		    curve->steps, curve->cap, sizeof *curve->steps);
		curve->values = xreallocarray(
		    curve->values, curve->cap, sizeof *curve->values);
	}
	curve->steps[curve->n] = step;
	curve->values[curve->n++] = value;
}

void
sparkline_free(struct sparkline *curve)
{
	free(curve->steps);
	free(curve->values);
	*curve = (struct sparkline){ 0 };
}

void
sparkline_frame_fit(
    struct sparkline_frame *frame, const struct sparkline *curves, size_t n)
{
	size_t i, k, count = 0, all = 0;
	double *values;

	*frame =
	    (struct sparkline_frame){ .first = INT64_MAX, .last = INT64_MIN };
	for (i = 0; i < n; i++) {
		all += curves[i].n;
		if (curves[i].n == 0)
			continue;
		if (curves[i].steps[0] < frame->first)
			frame->first = curves[i].steps[0];
		if (curves[i].steps[curves[i].n - 1] > frame->last)
			frame->last = curves[i].steps[curves[i].n - 1];
	}
	values = xcalloc(all + 1, sizeof *values);
	for (i = 0; i < n; i++)
		for (k = 0; k < curves[i].n; k++)
			if (isfinite(curves[i].values[k]))
				values[count++] = curves[i].values[k];
	qsort(values, count, sizeof *values, search_by_double);
	if (count > 0) {
		frame->low = values[count / 20];
		frame->high = values[count - 1 - count / 20];
	}
	free(values);
}

static const char *
sparkline_height(const struct sparkline_frame *frame, double value)
{
	static const char *const blocks[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇",
		"█" };
	static const char *const letters[] = { "_", ".", "-", "~", "=", "+",
		"*", "#" };
	double share = 0.5;
	int height;

	if (!isfinite(value))
		return "!";
	if (frame->high > frame->low)
		share = value / (frame->high - frame->low) -
			frame->low / (frame->high - frame->low);
	height = (int)floor(fmin(fmax(share, 0), 1) * SPARK_HEIGHTS);
	if (height == SPARK_HEIGHTS)
		height--;
	return text_is_utf8() ? blocks[height] : letters[height];
}

/*
 * Steps since the first one of the frame: exact also where steps exceed the
 * precision of a double.
 */
static double
frame_at(const struct sparkline_frame *frame, int64_t step)
{
	return (double)((uint64_t)step - (uint64_t)frame->first);
}

/* How far the last point extends: one distance further. */
static double
curve_end(const struct sparkline *curve, const struct sparkline_frame *frame)
{
	double last, gap = 1;

	if (curve->n == 0)
		return -INFINITY;
	last = frame_at(frame, curve->steps[curve->n - 1]);
	if (curve->n > 1)
		gap = last - frame_at(frame, curve->steps[curve->n - 2]);
	return last + gap;
}

void
sparkline_put(struct buf *out, const struct sparkline *curve,
    const struct sparkline_frame *frame, size_t width)
{
	double begin, share, end = curve_end(curve, frame);
	size_t column, at = 0;

	share = (frame_at(frame, frame->last) + 1) / (double)width;
	for (column = 0; column < width; column++) {
		begin = share * (double)column;
		while (at < curve->n &&
		       frame_at(frame, curve->steps[at]) < begin + share)
			at++;
		if (at == 0 || begin >= end)
			buf_putc(out, ' ');
		else
			buf_puts(out,
			    sparkline_height(frame, curve->values[at - 1]));
	}
}
