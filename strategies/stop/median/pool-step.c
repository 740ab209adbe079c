/* One step of a pool: order statistics and sums. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/search.h"
#include "strategies/stop/median/pool-step.h"

size_t
pool_steps_from(const struct pool_steps *s, int64_t key)
{
	size_t at;

	if (s->n > 0 && s->all[s->n - 1]->key < key)
		return s->n;
	SEARCH_FIRST(at, s->n, s->all[at]->key < key);
	return at;
}

struct pool_step *
pool_steps_find(struct pool_steps *s, int64_t key)
{
	size_t at;

	/* The same step as last time, or the one after it. */
	for (at = s->hint; at < s->n && at <= s->hint + 1; at++)
		if (s->all[at]->key == key)
			break;
	if (at >= s->n || at > s->hint + 1)
		at = pool_steps_from(s, key);
	if (at == s->n || s->all[at]->key != key)
		return NULL;
	s->hint = at;
	return s->all[at];
}

struct pool_step *
pool_steps_make(
    struct pool_steps *s, const struct pool_rule *r, int64_t key, bool filled)
{
	struct pool_step *c = pool_steps_find(s, key);
	size_t at;

	if (c != NULL)
		return c;
	c = xcalloc(1, sizeof(*c));
	c->key = key;
	c->share = pool_share_at(r, key);
	c->filled = filled;
	XGROW(s->all, s->n, s->cap);
	at = pool_steps_from(s, key);
	memmove(s->all + at + 1, s->all + at, (s->n - at) * sizeof(*s->all));
	s->all[at] = c;
	s->n++;
	s->hint = at;
	return c;
}

void
pool_steps_free(struct pool_steps *s)
{
	size_t i;

	for (i = 0; i < s->n; i++) {
		order_window_free(&s->all[i]->window);
		free(s->all[i]);
	}
	free(s->all);
	*s = (struct pool_steps){ 0 };
}

bool
pool_step_counts(const struct pool_rule *r, double v)
{
	return r->infinite ? !isnan(v) : isfinite(v);
}

/* The greatest k with k / n <= share, in floating point. */
static int64_t
rank_below(double share, int64_t n)
{
	int64_t k = (int64_t)(share * (double)n);

	if ((double)k / (double)n > share)
		return k - 1;
	if ((double)(k + 1) / (double)n <= share)
		k++;
	return k;
}

double
pool_share_at(const struct pool_rule *r, int64_t key)
{
	double past;

	if (r->narrow_share <= 0 || key <= r->narrow_from)
		return r->share;
	if (key >= r->narrow_to)
		return r->narrow_share;
	past = (double)(key - r->narrow_from) /
	       (double)(r->narrow_to - r->narrow_from);
	return r->share * pow(r->narrow_share / r->share, past);
}

static struct pool_ranks
ranks_of_percentile(const struct pool_rule *r, double share, int64_t n)
{
	double h = (double)(n - 1) * share;
	struct pool_ranks w = { .first = (int64_t)h };

	w.share = h - floor(h);
	w.second = w.first + 1 < n ? w.first + 1 : w.first;
	/* No part of a number that is infinite for who is gone. */
	if (r->begun && w.share == 0)
		w.second = w.first;
	if (r->mirrored) {
		w.first = n - 1 - w.first;
		w.second = n - 1 - w.second;
	}
	return w;
}

struct pool_ranks
pool_step_ranks(const struct pool_rule *r, double share, int64_t n)
{
	struct pool_ranks w = { 0, 0, 0 };

	switch (r->aggregate) {
	case POOL_PERCENTILE:
		return ranks_of_percentile(r, share, n);
	case POOL_MEAN:
		break;
	case POOL_RANK:
		w.first = rank_below(share, n + 1);
		break;
	case POOL_MIDDLE:
		w.first = n / 2;
		break;
	}
	w.second = w.first;
	return w;
}

/* Add to a sum without losing digits (Knuth's two-sum). */
static void
pool_step_sum(struct pool_step *c, double v)
{
	double s = c->sum + v, t = s - c->sum;

	c->rest += (c->sum - (s - t)) + (v - t);
	c->sum = s;
}

void
pool_step_change(struct pool_step *c, const struct pool_rule *r, double v,
    int sign, size_t size)
{
	if (!c->filled)
		return;
	c->seen += sign;
	if (!pool_step_counts(r, v))
		return;
	c->n += sign;
	if (r->aggregate == POOL_MEAN) {
		pool_step_sum(c, sign > 0 ? v : -v);
		return;
	}
	c->filled = sign > 0 ? order_window_add(&c->window, v)
			     : order_window_remove(&c->window, v);
	if (c->window.n > 2 * size)
		order_window_trim(&c->window,
		    pool_step_ranks(r, c->share, c->n + c->gone).first, size);
}

void
pool_step_fill(struct pool_step *c, const struct pool_rule *r, double *values,
    size_t n, int64_t seen, size_t size)
{
	size_t i;

	c->filled = true;
	c->seen = seen;
	c->n = (int64_t)n;
	c->sum = c->rest = 0;
	if (r->aggregate == POOL_MEAN)
		for (i = 0; i < n; i++)
			pool_step_sum(c, values[i]);
	else
		order_window_fill(&c->window, values, n,
		    pool_step_ranks(r, c->share, c->n + c->gone).first, size);
}

/* The two numbers at these ranks of a->n, of which gone have none. */
static bool
pool_step_pick(const struct pool_step *c, const struct pool_ranks *w,
    int64_t gone, const double *skip, struct pool_answer *a)
{
	int64_t real = a->n - gone;

	a->share = w->share;
	if (w->first >= a->n)
		return true;
	a->first = a->second = INFINITY;
	if (w->first < real &&
	    !order_window_rank(&c->window, w->first, skip, &a->first))
		return false;
	return w->second >= real ||
	       order_window_rank(&c->window, w->second, skip, &a->second);
}

bool
pool_step_answer(const struct pool_step *c, const struct pool_rule *r,
    double share, int64_t gone, const double *skip, struct pool_answer *a)
{
	struct pool_ranks w;
	double sum;

	if (r->aggregate == POOL_MEAN) {
		sum = skip != NULL ? c->sum - *skip : c->sum;
		a->first = a->second = (sum + c->rest) / (double)a->n;
		return true;
	}
	w = pool_step_ranks(r, share, a->n);
	return pool_step_pick(c, &w, gone, skip, a);
}
