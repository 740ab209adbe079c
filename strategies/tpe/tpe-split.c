/* Splits the trials into good ones and others. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/model/history/history.h"
#include "strategies/evolution/pareto.h"
#include "strategies/trial-rank.h"
#include "strategies/tpe/tpe.h"

enum { GOOD_MAX = 25 };

/* The best n of those that were shown, in order. */
struct least {
	struct trial_rank *told;
	size_t n, max;
};

/* Completed trials with several losses each. */
struct wide {
	int64_t *trials;
	double *losses; /* n x m */
	size_t n, m;
};

size_t
tpe_split_gamma(enum tpe_split_gamma gamma, size_t n, size_t n_objectives)
{
	double good = 0;

	switch (gamma) {
	case TPE_GAMMA_TENTH:
		good = ceil(0.1 * (double)n);
		if (n_objectives > 1)
			return (size_t)good;
		break;
	case TPE_GAMMA_ROOT:
		good = ceil(0.25 * sqrt((double)n));
		break;
	}
	return good < GOOD_MAX ? (size_t)good : GOOD_MAX;
}

static void
least_show(struct least *l, struct trial_rank told)
{
	size_t i;

	if (l->n == l->max) {
		if (l->n == 0 ||
		    !trial_rank_is_before(&told, &l->told[l->n - 1]))
			return;
		l->n--;
	}
	for (i = l->n++; i > 0 && trial_rank_is_before(&told, &l->told[i - 1]);
	     i--)
		l->told[i] = l->told[i - 1];
	l->told[i] = told;
}

/* Mark the best n by one loss and by what stands for it. */
static void
mark_least(bool *good, const struct history *h, size_t n, bool completed)
{
	int64_t i, first = history_first(h), count = history_count(h);
	struct least least = { .max = n };
	struct trial_rank told;
	size_t k;

	least.told = xcalloc(n + 1, sizeof *least.told);
	for (i = first; i <= count; i++) {
		told = trial_rank_of(h, i);
		if (told.kind < TRIAL_RANK_FAILED &&
		    (completed || told.kind != TRIAL_RANK_COMPLETED))
			least_show(&least, told);
	}
	for (k = 0; k < least.n; k++)
		good[least.told[k].trial - first] = true;
	free(least.told);
}

static void
wide_collect(struct wide *w, const struct history *h)
{
	int64_t i, first = history_first(h), count = history_count(h);
	size_t all = (size_t)(count - first + 1);

	*w = (struct wide){ .m = history_n_objectives(h) };
	w->trials = xcalloc(all + 1, sizeof *w->trials);
	w->losses = xcalloc(all * w->m + 1, sizeof *w->losses);
	for (i = first; i <= count; i++) {
		if (trial_rank_of(h, i).kind != TRIAL_RANK_COMPLETED)
			continue;
		w->trials[w->n] = i;
		memcpy(w->losses + w->n++ * w->m, history_losses(h, i),
		    w->m * sizeof *w->losses);
	}
}

/* Mark n trials of one rank, whose indices are listed. */
static void
mark_cut(bool *good, const struct wide *w, int64_t first, const size_t *list,
    size_t n_list, size_t n)
{
	double *losses = xcalloc(n_list * w->m + 1, sizeof *losses);
	double *reference = xcalloc(w->m, sizeof *reference);
	size_t *chosen = xcalloc(n + 1, sizeof *chosen), k;

	for (k = 0; k < n_list; k++)
		memcpy(losses + k * w->m, w->losses + list[k] * w->m,
		    w->m * sizeof *losses);
	hypervolume_reference(reference, losses, n_list, w->m);
	hypervolume_subset(chosen, n, losses, n_list, w->m, reference);
	for (k = 0; k < n; k++)
		good[w->trials[list[chosen[k]]] - first] = true;
	free(losses);
	free(reference);
	free(chosen);
}

/*
 * Mark the best n by several losses: whole ranks while they fit, of the next
 * one those that dominate much together.  Returns how many were marked.
 */
static size_t
mark_wide(bool *good, const struct history *h, size_t n)
{
	int64_t first = history_first(h);
	size_t *rank, *list, r, k, n_list, left;
	struct wide w;

	wide_collect(&w, h);
	rank = xcalloc(2 * w.n + 1, sizeof *rank);
	list = rank + w.n;
	pareto_ranks(rank, w.losses, w.n, w.m);
	left = n < w.n ? n : w.n;
	n = left;
	for (r = 0; left > 0; r++) {
		for (n_list = 0, k = 0; k < w.n; k++)
			if (rank[k] == r)
				list[n_list++] = k;
		if (n_list > left) {
			mark_cut(good, &w, first, list, n_list, left);
			break;
		}
		for (k = 0; k < n_list; k++)
			good[w.trials[list[k]] - first] = true;
		left -= n_list;
	}
	free(rank);
	free(w.trials);
	free(w.losses);
	return n;
}

void
tpe_split(struct tpe_split *s, const struct history *h, size_t n, bool liar)
{
	int64_t i, first = history_first(h), count = history_count(h);
	size_t all = (size_t)(count - first + 1), done = 0;
	bool *good = xcalloc(all + 1, sizeof *good);
	enum trial_rank_kind kind;

	if (history_n_objectives(h) > 1)
		done = mark_wide(good, h, n);
	mark_least(good, h, n - done, history_n_objectives(h) == 1);
	*s = (struct tpe_split){ 0 };
	s->below = xcalloc(n + 1, sizeof *s->below);
	s->above = xcalloc(all + 1, sizeof *s->above);
	for (i = first; i <= count; i++) {
		kind = trial_rank_of(h, i).kind;
		if (good[i - first])
			s->below[s->n_below++] = i;
		else if (kind != TRIAL_RANK_NONE &&
			 (kind != TRIAL_RANK_PENDING || liar))
			s->above[s->n_above++] = i;
	}
	free(good);
}

void
tpe_split_free(struct tpe_split *s)
{
	free(s->below);
	free(s->above);
}
