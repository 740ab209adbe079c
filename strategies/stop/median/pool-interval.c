/*
 * Intervals of steps with a value each, sorted by value in blocks.  A block
 * also has its starts and its ends sorted: the intervals that contain a step
 * are counted by two binary searches.
 */

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/search.h"
#include "strategies/stop/median/pool-interval.h"

struct span {
	double v;
	int64_t from, to;
};

struct block {
	struct span *spans; /* by value, from, to */
	int64_t *from, *to; /* each ascending */
	size_t n, cap;
	int64_t held; /* at the step of the newest pool_intervals_at */
};

struct pool_intervals {
	struct block *blocks; /* none empty */
	size_t n, cap;
	size_t total;
	int64_t step; /* of the newest pool_intervals_at */
};

enum { BLOCK_LEAST = 256 };

struct pool_intervals *
pool_intervals_new(void)
{
	return xcalloc(1, sizeof(struct pool_intervals));
}

static void
pool_interval_block_free(struct block *b)
{
	free(b->spans);
	free(b->from);
	free(b->to);
}

void
pool_intervals_free(struct pool_intervals *s)
{
	size_t i;

	if (s == NULL)
		return;
	for (i = 0; i < s->n; i++)
		pool_interval_block_free(&s->blocks[i]);
	free(s->blocks);
	free(s);
}

static int
span_order(const struct span *a, const struct span *b)
{
	if (a->v != b->v)
		return a->v < b->v ? -1 : 1;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return (a->to > b->to) - (a->to < b->to);
}

/* How many of n ascending steps are smaller than step. */
static size_t
pool_interval_steps_below(const int64_t *steps, size_t n, int64_t step)
{
	size_t at;

	SEARCH_FIRST(at, n, steps[at] < step);
	return at;
}

/* First span of the block that is not before x. */
static size_t
block_find(const struct block *b, const struct span *x)
{
	size_t at;

	SEARCH_FIRST(at, b->n, span_order(&b->spans[at], x) < 0);
	return at;
}

static const struct span *
block_last(const struct block *b)
{
	return &b->spans[b->n - 1];
}

/* The block of x: the first that does not end before it. */
static size_t
pool_intervals_find(const struct pool_intervals *s, const struct span *x)
{
	size_t at;

	SEARCH_FIRST(at, s->n, span_order(block_last(&s->blocks[at]), x) < 0);
	return at == s->n && at > 0 ? at - 1 : at;
}

static void
block_reserve(struct block *b, size_t cap)
{
	b->cap = cap;
	b->spans = xreallocarray(b->spans, cap, sizeof(*b->spans));
	b->from = xreallocarray(b->from, cap, sizeof(*b->from));
	b->to = xreallocarray(b->to, cap, sizeof(*b->to));
}

static void
steps_insert(int64_t *steps, size_t n, int64_t step)
{
	size_t at = pool_interval_steps_below(steps, n, step);

	memmove(steps + at + 1, steps + at, (n - at) * sizeof(*steps));
	steps[at] = step;
}

static void
steps_delete(int64_t *steps, size_t n, int64_t step)
{
	size_t at = pool_interval_steps_below(steps, n, step);

	assert(at < n && steps[at] == step);
	memmove(steps + at, steps + at + 1, (n - at - 1) * sizeof(*steps));
}

/* After its spans were set: the two orders beside them. */
static void
block_sort(struct block *b)
{
	size_t i;

	for (i = 0; i < b->n; i++) {
		b->from[i] = b->spans[i].from;
		b->to[i] = b->spans[i].to;
	}
	qsort(b->from, b->n, sizeof(*b->from), search_by_int64);
	qsort(b->to, b->n, sizeof(*b->to), search_by_int64);
}

/* A new empty block at this place. */
static struct block *
pool_intervals_open(struct pool_intervals *s, size_t at)
{
	XGROW(s->blocks, s->n, s->cap);
	memmove(s->blocks + at + 1, s->blocks + at,
	    (s->n - at) * sizeof(*s->blocks));
	s->blocks[at] = (struct block){ 0 };
	s->n++;
	return &s->blocks[at];
}

static void
pool_intervals_split(struct pool_intervals *s, size_t at)
{
	struct block *right = pool_intervals_open(s, at + 1),
		     *left = &s->blocks[at];
	size_t half = left->n / 2;

	block_reserve(right, left->cap);
	right->n = left->n - half;
	memcpy(
	    right->spans, left->spans + half, right->n * sizeof(*right->spans));
	left->n = half;
	block_sort(left);
	block_sort(right);
}

void
pool_intervals_add(struct pool_intervals *s, int64_t from, int64_t to, double v)
{
	struct span x = { v, from, to };
	size_t at = pool_intervals_find(s, &x), i;
	struct block *b =
	    s->n == 0 ? pool_intervals_open(s, 0) : &s->blocks[at];

	if (b->n == b->cap)
		block_reserve(b, b->cap == 0 ? 16 : b->cap * 2);
	i = block_find(b, &x);
	memmove(b->spans + i + 1, b->spans + i, (b->n - i) * sizeof(x));
	b->spans[i] = x;
	steps_insert(b->from, b->n, from);
	steps_insert(b->to, b->n, to);
	b->n++;
	s->total++;
	if (b->n > BLOCK_LEAST + 2 * (size_t)sqrt((double)s->total))
		pool_intervals_split(s, at);
}

void
pool_intervals_remove(
    struct pool_intervals *s, int64_t from, int64_t to, double v)
{
	struct span x = { v, from, to };
	size_t at = pool_intervals_find(s, &x), i;
	struct block *b;

	assert(at < s->n);
	b = &s->blocks[at];
	i = block_find(b, &x);
	assert(i < b->n && span_order(&b->spans[i], &x) == 0);
	steps_delete(b->from, b->n, from);
	steps_delete(b->to, b->n, to);
	b->n--;
	memmove(b->spans + i, b->spans + i + 1, (b->n - i) * sizeof(x));
	s->total--;
	if (b->n > 0)
		return;
	pool_interval_block_free(b);
	s->n--;
	memmove(b, b + 1, (s->n - at) * sizeof(*b));
}

int64_t
pool_intervals_at(struct pool_intervals *s, int64_t step)
{
	struct block *b;
	size_t i, begun;
	int64_t n = 0;

	s->step = step;
	for (i = 0; i < s->n; i++) {
		b = &s->blocks[i];
		begun = step == INT64_MAX ? b->n
					  : pool_interval_steps_below(
						b->from, b->n, step + 1);
		b->held = (int64_t)(begun - pool_interval_steps_below(
						b->to, b->n, step));
		n += b->held;
	}
	return n;
}

/* The value of this rank at the step, nothing skipped. */
static double
rank_plain(const struct pool_intervals *s, int64_t rank)
{
	const struct span *x;
	const struct block *b;
	size_t i, k;

	for (i = 0; i < s->n; i++) {
		b = &s->blocks[i];
		if (rank >= b->held) {
			rank -= b->held;
			continue;
		}
		for (k = 0; k < b->n; k++) {
			x = &b->spans[k];
			if (x->from <= s->step && x->to >= s->step &&
			    rank-- == 0)
				return x->v;
		}
	}
	return NAN;
}

double
pool_intervals_rank(
    const struct pool_intervals *s, int64_t rank, const double *skip)
{
	double v = rank_plain(s, rank);

	/* The skipped value is at or before this rank: take the next. */
	return skip != NULL && *skip <= v ? rank_plain(s, rank + 1) : v;
}
