/* Streaming quantile by two heaps that meet at the cut. */

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "strategies/stop/halving/top-quantile.h"

static void
heap_swap(struct top_quantile_heap *h, size_t a, size_t b)
{
	double v = h->values[a];

	h->values[a] = h->values[b];
	h->values[b] = v;
}

static void
top_quantile_heap_up(struct top_quantile_heap *h, size_t i)
{
	for (; i > 0 && h->values[i] > h->values[(i - 1) / 2]; i = (i - 1) / 2)
		heap_swap(h, i, (i - 1) / 2);
}

static void
top_quantile_heap_down(struct top_quantile_heap *h, size_t i)
{
	size_t child;

	while ((child = 2 * i + 1) < h->n) {
		if (child + 1 < h->n && h->values[child + 1] > h->values[child])
			child++;
		if (h->values[i] >= h->values[child])
			return;
		heap_swap(h, i, child);
		i = child;
	}
}

static void
heap_push(struct top_quantile_heap *h, double v)
{
	XGROW(h->values, h->n, h->cap);
	h->values[h->n++] = v;
	top_quantile_heap_up(h, h->n - 1);
}

static double
heap_take(struct top_quantile_heap *h, size_t i)
{
	double v = h->values[i];

	h->n--;
	if (i < h->n) {
		h->values[i] = h->values[h->n];
		top_quantile_heap_up(h, i);
		top_quantile_heap_down(h, i);
	}
	return v;
}

/* Index of a number, or n. */
static size_t
heap_find(const struct top_quantile_heap *h, double v)
{
	size_t i = 0;

	while (i < h->n && h->values[i] != v)
		i++;
	return i;
}

void
top_quantile_init(struct top_quantile *c, int64_t factor)
{
	*c = (struct top_quantile){ .factor = factor };
}

void
top_quantile_free(struct top_quantile *c)
{
	free(c->best.values);
	free(c->rest.values);
}

size_t
top_quantile_count(const struct top_quantile *c)
{
	return c->best.n + c->rest.n;
}

/* Numbers cross the cut until the best are as many as they should be. */
static void
top_quantile_settle(struct top_quantile *c)
{
	size_t n = top_quantile_count(c),
	       want = (size_t)((int64_t)n / c->factor);

	if (want == 0 && n > 0)
		want = 1;
	while (c->best.n < want)
		heap_push(&c->best, -heap_take(&c->rest, 0));
	while (c->best.n > want)
		heap_push(&c->rest, -heap_take(&c->best, 0));
}

void
top_quantile_add(struct top_quantile *c, double v)
{
	assert(!isnan(v));
	if (c->best.n > 0 && v < c->best.values[0])
		heap_push(&c->best, v);
	else
		heap_push(&c->rest, -v);
	top_quantile_settle(c);
}

void
top_quantile_remove(struct top_quantile *c, double v)
{
	size_t i = heap_find(&c->best, v);

	if (i < c->best.n)
		heap_take(&c->best, i);
	else {
		i = heap_find(&c->rest, -v);
		assert(i < c->rest.n);
		heap_take(&c->rest, i);
	}
	top_quantile_settle(c);
}

size_t
top_quantile_best(const struct top_quantile *c)
{
	return c->best.n;
}

double
top_quantile_worst(const struct top_quantile *c)
{
	return c->best.n > 0 ? c->best.values[0] : NAN;
}
