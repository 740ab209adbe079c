/* Order statistics near one rank.  Values must not be NaN. */

#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/search.h"
#include "strategies/stop/median/order-window.h"

enum {
	MANY = 1024, /* numbers of which a sample is looked at */
	SAMPLE = 64,
	BESIDE = 6 /* in the sample: 1.5 deviations of the middle's place */
};

bool
order_window_add(struct order_window *w, double v)
{
	size_t at;

	if (w->n == 0 && w->below + w->above > 0)
		return false;
	if (w->below > 0 && v < w->values[0]) {
		w->below++;
		return true;
	}
	if (w->above > 0 && v > w->values[w->n - 1]) {
		w->above++;
		return true;
	}
	if (w->n == w->cap) {
		w->cap = w->cap == 0 ? 8 : w->cap * 2;
		w->values = xreallocarray(w->values, w->cap, sizeof(double));
	}
	at = search_lower_bound(w->values, w->n, v);
	memmove(
	    w->values + at + 1, w->values + at, (w->n - at) * sizeof(double));
	w->values[at] = v;
	w->n++;
	return true;
}

bool
order_window_remove(struct order_window *w, double v)
{
	size_t at = search_lower_bound(w->values, w->n, v);

	if (w->n > 0 && at < w->n && w->values[at] == v) {
		w->n--;
		memmove(w->values + at, w->values + at + 1,
		    (w->n - at) * sizeof(double));
		return w->n > 0 || w->below + w->above == 0;
	}
	if (w->n == 0)
		return false;
	if (at == 0)
		w->below--;
	else
		w->above--;
	return true;
}

bool
order_window_rank(
    const struct order_window *w, int64_t rank, const double *skip, double *out)
{
	int64_t i = rank - w->below;

	if (i < 0 || i >= (int64_t)w->n)
		return false;
	/* The skipped value is at or before this index: take the next. */
	if (skip != NULL && *skip <= w->values[i] && ++i >= (int64_t)w->n)
		return false;
	*out = w->values[i];
	return true;
}

/* First rank of a window of size numbers, of n in all, around rank. */
static size_t
order_window_start(size_t n, int64_t rank, size_t size)
{
	size_t half = size / 2, r = rank < 0 ? 0 : (size_t)rank;

	if (n <= size || r <= half)
		return 0;
	return r - half > n - size ? n - size : r - half;
}

void
order_window_trim(struct order_window *w, int64_t rank, size_t size)
{
	size_t from;

	if (w->n <= size)
		return;
	from = order_window_start(w->n, rank - w->below, size);
	w->below += (int64_t)from;
	w->above += (int64_t)(w->n - from - size);
	memmove(w->values, w->values + from, size * sizeof(double));
	w->n = size;
}

/*
 * One of n numbers, where to part them to find the k smallest.  Of many it is
 * that of a sample which is a little nearer to the middle than the one sought:
 * nearly all on the other side of it are out at once, and after the next cut,
 * from the other side, few are left (Floyd and Rivest, "Expected time bounds for
 * selection", Communications of the ACM 18, 1975).
 */
static double
pivot_of(const double *v, size_t n, size_t k)
{
	double sample[SAMPLE], one;
	size_t i, j, at = k * SAMPLE / n;

	if (n < MANY)
		return v[n / 2];
	for (i = 0; i < SAMPLE; i++) {
		one = v[i * n / SAMPLE];
		for (j = i; j > 0 && sample[j - 1] > one; j--)
			sample[j] = sample[j - 1];
		sample[j] = one;
	}
	if (k < n / 2)
		return sample[at + BESIDE];
	return sample[at < BESIDE ? 0 : at - BESIDE];
}

/* Move the k smallest of v to its front, the others behind them (Hoare). */
static void
split_at(double *v, size_t n, size_t k)
{
	size_t lo = 0, hi = n, i, j;
	double pivot, t;

	while (hi - lo > 1) {
		pivot = pivot_of(v + lo, hi - lo, k - lo);
		i = lo;
		j = hi - 1;
		for (;;) {
			while (v[i] < pivot)
				i++;
			while (v[j] > pivot)
				j--;
			if (i >= j)
				break;
			t = v[i];
			v[i++] = v[j];
			v[j--] = t;
		}
		/* v[lo..i) <= pivot <= v[i..hi), and neither half is all. */
		if (i == lo)
			i++;
		if (k <= i)
			hi = i;
		else
			lo = i;
		if (k == i)
			return;
	}
}

void
order_window_fill(struct order_window *w, double *numbers, size_t n,
    int64_t rank, size_t size)
{
	size_t from = order_window_start(n, rank, size);
	size_t take = n - from < size ? n - from : size;

	if (from > 0)
		split_at(numbers, n, from);
	if (from + take < n)
		split_at(numbers + from, n - from, take);
	if (w->cap < take) {
		w->cap = take;
		w->values = xreallocarray(w->values, w->cap, sizeof(double));
	}
	if (take > 0) {
		memcpy(w->values, numbers + from, take * sizeof(double));
		qsort(w->values, take, sizeof(double), search_by_double);
	}
	w->n = take;
	w->below = (int64_t)from;
	w->above = (int64_t)(n - from - take);
}

void
order_window_free(struct order_window *w)
{
	free(w->values);
	*w = (struct order_window){ 0 };
}
