/*
 * The best share of a set, kept as two heaps that touch at the cut.  Knows
 * numbers; refuses to know whose they are.
 */

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "strategies/stop/halving/top-quantile.h"

static void
heap_swap(struct heap *h, size_t a, size_t b)
{
	double v = h->values[a];

	h->values[a] = h->values[b];
	h->values[b] = v;
}

static void
heap_up(struct heap *h, size_t i)
{
	for (; i > 0 && h->values[i] > h->values[(i - 1) / 2]; i = (i - 1) / 2)
		heap_swap(h, i, (i - 1) / 2);
}

static void
heap_down(struct heap *h, size_t i)
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
heap_push(struct heap *h, double v)
{
	if (h->n == h->cap) {
		h->cap = h->cap == 0 ? 16 : h->cap * 2;
		h->values =
		    xreallocarray(h->values, h->cap, sizeof(*h->values));
	}
	h->values[h->n++] = v;
	heap_up(h, h->n - 1);
}

static double
heap_take(struct heap *h, size_t i)
{
	double v = h->values[i];

	h->n--;
	if (i < h->n) {
		h->values[i] = h->values[h->n];
		heap_up(h, i);
		heap_down(h, i);
	}
	return v;
}

/* Index of a number, or n. */
static size_t
heap_find(const struct heap *h, double v)
{
	size_t i = 0;

	while (i < h->n && h->values[i] != v)
		i++;
	return i;
}

void
cut_init(struct cut *c, int64_t factor)
{
	*c = (struct cut){ .factor = factor };
}

void
cut_free(struct cut *c)
{
	free(c->best.values);
	free(c->rest.values);
}

size_t
cut_count(const struct cut *c)
{
	return c->best.n + c->rest.n;
}

/* Numbers cross the cut until the best are as many as they should be. */
static void
cut_settle(struct cut *c)
{
	size_t n = cut_count(c), want = (size_t)((int64_t)n / c->factor);

	if (want == 0 && n > 0)
		want = 1;
	while (c->best.n < want)
		heap_push(&c->best, -heap_take(&c->rest, 0));
	while (c->best.n > want)
		heap_push(&c->rest, -heap_take(&c->best, 0));
}

void
cut_add(struct cut *c, double v)
{
	assert(!isnan(v));
	if (c->best.n > 0 && v < c->best.values[0])
		heap_push(&c->best, v);
	else
		heap_push(&c->rest, -v);
	cut_settle(c);
}

void
cut_remove(struct cut *c, double v)
{
	size_t i = heap_find(&c->best, v);

	if (i < c->best.n)
		heap_take(&c->best, i);
	else {
		i = heap_find(&c->rest, -v);
		assert(i < c->rest.n);
		heap_take(&c->rest, i);
	}
	cut_settle(c);
}

size_t
cut_best(const struct cut *c)
{
	return c->best.n;
}

double
cut_worst(const struct cut *c)
{
	return c->best.n > 0 ? c->best.values[0] : NAN;
}
