/* One curve that grows. */

#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/search.h"
#include "src/model/history/history.h"
#include "src/model/history/curve.h"

enum { KEPT_MOST = 64 }; /* values for which a cleared buffer has room */

ptrdiff_t
curve_steps_at(const struct curve *c, int64_t step)
{
	size_t at;

	SEARCH_FIRST(at, c->n, c->steps[at] <= step);
	return (ptrdiff_t)at - 1;
}

static void
curve_buf_reserve(struct curve_buf *b)
{
	if (b->n < b->cap)
		return;
	b->cap = b->cap == 0 ? 16 : b->cap * 2;
	b->values = xreallocarray(b->values, b->cap, sizeof(double));
	if (b->steps != NULL)
		b->steps = xreallocarray(b->steps, b->cap, sizeof(int64_t));
}

/* Store the steps explicitly from now on. */
static void
curve_buf_spell_out(struct curve_buf *b)
{
	size_t i;

	if (b->steps != NULL)
		return;
	b->steps = xreallocarray(NULL, b->cap, sizeof(int64_t));
	for (i = 0; i < b->n; i++)
		b->steps[i] = b->first + (int64_t)i * b->stride;
}

/* Whether step is the next one of a regular curve; may fix the stride. */
static bool
curve_buf_continues(struct curve_buf *b, int64_t step)
{
	int64_t gap;

	if (b->steps != NULL)
		return false;
	if (b->n == 0) {
		b->first = step;
		b->stride = 1;
		return true;
	}
	if (__builtin_sub_overflow(
		step, b->first + (int64_t)(b->n - 1) * b->stride, &gap) ||
	    gap <= 0)
		return false;
	if (b->n == 1)
		b->stride = gap;
	return gap == b->stride;
}

static void
curve_buf_insert(struct curve_buf *b, size_t at, int64_t step, double value)
{
	size_t tail = b->n - at;

	memmove(b->values + at + 1, b->values + at, tail * sizeof(double));
	memmove(b->steps + at + 1, b->steps + at, tail * sizeof(int64_t));
	b->values[at] = value;
	b->steps[at] = step;
	b->n++;
}

/* Borrowed until the next change. */
struct curve
curve_buf_view(const struct curve_buf *b)
{
	return (struct curve){ .n = b->n,
		.steps = b->steps,
		.first = b->first,
		.stride = b->stride,
		.plain = b->values };
}

/*
 * Put value at step.  Returns true when the step is new; otherwise stores the
 * replaced value in *old.
 */
bool
curve_buf_put(struct curve_buf *b, int64_t step, double value, double *old)
{
	struct curve c;
	ptrdiff_t at;

	if (curve_buf_continues(b, step)) {
		curve_buf_reserve(b);
		b->values[b->n++] = value;
		return true;
	}
	c = curve_buf_view(b);
	at = curve_at(&c, step);
	if (at >= 0 && curve_step(&c, (size_t)at) == step) {
		*old = b->values[at];
		b->values[at] = value;
		return false;
	}
	curve_buf_reserve(b);
	curve_buf_spell_out(b);
	curve_buf_insert(b, (size_t)(at + 1), step, value);
	return true;
}

/* A copy of a curve that may grow; the buffer must be empty. */
void
curve_buf_load(struct curve_buf *b, const struct curve *c)
{
	size_t i;

	b->n = c->n;
	b->cap = c->n + 16;
	b->first = c->first;
	b->stride = c->stride;
	b->values = xreallocarray(b->values, b->cap, sizeof(double));
	for (i = 0; i < c->n; i++)
		b->values[i] = curve_value(c, i);
	if (c->steps == NULL)
		return;
	b->steps = xreallocarray(NULL, b->cap, sizeof(int64_t));
	memcpy(b->steps, c->steps, c->n * sizeof(int64_t));
}

/* Steps that came out of order may form a regular sequence after all. */
static bool
curve_buf_is_regular(const struct curve_buf *b, int64_t *stride)
{
	int64_t gap;
	size_t i;

	*stride = 1;
	for (i = 1; i < b->n; i++) {
		if (__builtin_sub_overflow(b->steps[i], b->steps[i - 1], &gap))
			return false;
		if (i == 1)
			*stride = gap;
		else if (gap != *stride)
			return false;
	}
	return true;
}

/* Drop the explicit steps if they form a regular sequence by now. */
void
curve_buf_settle(struct curve_buf *b)
{
	int64_t stride;

	if (b->steps == NULL || b->n == 0 || !curve_buf_is_regular(b, &stride))
		return;
	b->first = b->steps[0];
	b->stride = stride;
	free(b->steps);
	b->steps = NULL;
}

void
curve_buf_free(struct curve_buf *b)
{
	free(b->values);
	free(b->steps);
	*b = (struct curve_buf){ 0 };
}

/* Make a curve empty; a small one keeps its memory for the next curve. */
void
curve_buf_clear(struct curve_buf *b)
{
	struct curve_buf kept = { .values = b->values, .cap = b->cap };

	if (b->cap > KEPT_MOST) {
		curve_buf_free(b);
		return;
	}
	free(b->steps);
	*b = kept;
}
