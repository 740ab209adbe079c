/*
 * The good trials and the others.  Knows states, losses and the ends of
 * curves; refuses to know parameters.
 */

#include <math.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "src/model/history.h"
#include "strategies/tpe.h"

enum { GOOD_MAX = 25 };

/* A trial as it is ranked: by first, then by second, then by number. */
struct rank {
	double first, second;
	int64_t trial;
};

/* The least n ranks of those that were shown, in order. */
struct least {
	struct rank *ranks;
	size_t n, max;
};

size_t
tpe_gamma(enum tpe_gamma gamma, size_t n)
{
	double good = 0;

	switch (gamma) {
	case TPE_GAMMA_TENTH:
		good = ceil(0.1 * (double)n);
		break;
	case TPE_GAMMA_ROOT:
		good = ceil(0.25 * sqrt((double)n));
		break;
	}
	return good < GOOD_MAX ? (size_t)good : GOOD_MAX;
}

static bool
is_before(const struct rank *a, const struct rank *b)
{
	return a->first < b->first ||
	       (a->first == b->first && a->second < b->second);
}

static void
least_show(struct least *l, struct rank rank)
{
	size_t i;

	if (l->n == l->max) {
		if (l->n == 0 || !is_before(&rank, &l->ranks[l->n - 1]))
			return;
		l->n--;
	}
	for (i = l->n++; i > 0 && is_before(&rank, &l->ranks[i - 1]); i--)
		l->ranks[i] = l->ranks[i - 1];
	l->ranks[i] = rank;
}

/* A stopped trial: the further it ran the better, then its last value. */
static struct rank
stopped_rank(const struct history *h, int64_t trial)
{
	struct rank rank = { 1, 0, trial };
	struct curve c = history_curve(h, trial);

	if (c.n == 0)
		return rank;
	rank.first = -(double)curve_step(&c, c.n - 1);
	rank.second = c.values[c.n - 1];
	if (isnan(rank.second))
		rank.second = INFINITY;
	return rank;
}

/* What a trial is to the split. */
enum kind {
	KIND_NOTHING, /* waiting, cancelled */
	KIND_COMPLETED,
	KIND_STOPPED,
	KIND_FAILED, /* or without a loss: never good */
	KIND_PENDING
};

static enum kind
trial_kind(const struct history *h, int64_t trial)
{
	switch (history_state(h, trial)) {
	case TRIAL_COMPLETED:
		return isnan(history_loss(h, trial)) ? KIND_FAILED
						     : KIND_COMPLETED;
	case TRIAL_STOPPED:
		return KIND_STOPPED;
	case TRIAL_FAILED:
		return KIND_FAILED;
	case TRIAL_STARTING:
	case TRIAL_RUNNING:
	case TRIAL_STOPPING:
		return KIND_PENDING;
	case TRIAL_WAITING:
	case TRIAL_CANCELLED:
	case TRIAL_STATES:
		break;
	}
	return KIND_NOTHING;
}

size_t
tpe_finished(const struct history *h)
{
	int64_t i, count = history_count(h);
	enum kind kind;
	size_t n = 0;

	for (i = 1; i <= count; i++) {
		kind = trial_kind(h, i);
		n += kind != KIND_NOTHING && kind != KIND_PENDING;
	}
	return n;
}

static void
rank_all(
    const struct history *h, struct least *completed, struct least *stopped)
{
	int64_t i, count = history_count(h);
	enum kind kind;

	for (i = 1; i <= count; i++) {
		kind = trial_kind(h, i);
		if (kind == KIND_COMPLETED)
			least_show(completed,
			    (struct rank){ history_loss(h, i), 0, i });
		else if (kind == KIND_STOPPED)
			least_show(stopped, stopped_rank(h, i));
	}
}

void
tpe_split(struct tpe_split *s, const struct history *h, size_t n, bool liar)
{
	int64_t i, count = history_count(h);
	struct least completed = { .max = n }, stopped = { .max = n };
	bool *good = xcalloc((size_t)count + 1, sizeof *good);
	enum kind kind;
	size_t k;

	completed.ranks = xcalloc(n + 1, sizeof *completed.ranks);
	stopped.ranks = xcalloc(n + 1, sizeof *stopped.ranks);
	rank_all(h, &completed, &stopped);
	for (k = 0; k < completed.n; k++)
		good[completed.ranks[k].trial] = true;
	for (k = 0; k < stopped.n && k + completed.n < n; k++)
		good[stopped.ranks[k].trial] = true;
	*s = (struct tpe_split){ 0 };
	s->below = xcalloc(n + 1, sizeof *s->below);
	s->above = xcalloc((size_t)count + 1, sizeof *s->above);
	for (i = 1; i <= count; i++) {
		kind = trial_kind(h, i);
		if (good[i])
			s->below[s->n_below++] = i;
		else if (kind != KIND_NOTHING && (kind != KIND_PENDING || liar))
			s->above[s->n_above++] = i;
	}
	free(completed.ranks);
	free(stopped.ranks);
	free(good);
}

void
tpe_split_free(struct tpe_split *s)
{
	free(s->below);
	free(s->above);
}
