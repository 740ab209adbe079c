/* Selection in NSGA-II: by rank, and within a rank by crowding distance. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/model/history/history.h"
#include "strategies/evolution/nsga2.h"
#include "strategies/evolution/pareto.h"

static bool
nsga2_select_has_losses(const struct history *h, const struct nsga2_member *m)
{
	size_t i, n = history_n_objectives(h);

	if (history_state(h, m->told.trial) != TRIAL_COMPLETED)
		return false;
	for (i = 0; i < n; i++)
		if (isnan(history_losses(h, m->told.trial)[i]))
			return false;
	return true;
}

/* One objective: everything has its place in one order. */
static void
rank_line(struct nsga2_member *m, size_t n)
{
	size_t i;

	qsort(m, n, sizeof *m, trial_rank_order); /* told comes first in it */
	for (i = 0; i < n; i++) {
		m[i].rank = i;
		m[i].space = 0;
		if (i > 0 && !trial_rank_is_before(&m[i - 1].told, &m[i].told))
			m[i].rank = m[i - 1].rank;
	}
}

/* Trials without losses come last: stopped ones before failed ones. */
static size_t
rank_rows(const struct history *h, struct nsga2_member *m, size_t n,
    double *rows, size_t *where)
{
	size_t k = history_n_objectives(h), i, kept = 0, most = 0;
	double *violation = xcalloc(n + 1, sizeof *violation);
	size_t *rank = xcalloc(n + 1, sizeof *rank);

	for (i = 0; i < n; i++) {
		if (!nsga2_select_has_losses(h, &m[i]))
			continue;
		violation[kept] = history_violation(h, m[i].told.trial);
		memcpy(rows + kept * k, history_losses(h, m[i].told.trial),
		    k * sizeof *rows);
		where[kept++] = i;
	}
	pareto_ranks_constrained(rank, rows, violation, kept, k);
	for (i = 0; i < kept; i++)
		most = rank[i] > most ? rank[i] : most;
	for (i = 0; i < n; i++)
		m[i].rank = most + 1 + (m[i].told.kind == TRIAL_RANK_FAILED);
	for (i = 0; i < kept; i++)
		m[where[i]].rank = rank[i];
	free(violation);
	free(rank);
	return kept;
}

/* The space around the members of one rank. */
static void
spread(const struct history *h, struct nsga2_member *m, size_t n,
    const double *rows, const size_t *where, size_t kept, size_t rank)
{
	size_t k = history_n_objectives(h), i, found = 0;
	double *front = xcalloc(kept * (k + 1) + 1, sizeof *front);
	double *space = front + kept * k;
	size_t *list = xcalloc(n + 1, sizeof *list);

	for (i = 0; i < kept; i++) {
		if (m[where[i]].rank != rank)
			continue;
		memcpy(front + found * k, rows + i * k, k * sizeof *front);
		list[found++] = where[i];
	}
	pareto_crowding(space, front, found, k);
	for (i = 0; i < found; i++)
		m[list[i]].space = space[i];
	free(front);
	free(list);
}

static int
by_rank(const void *a, const void *b)
{
	const struct nsga2_member *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->space != y->space)
		return x->space > y->space ? -1 : 1;
	return (x->told.trial > y->told.trial) -
	       (x->told.trial < y->told.trial);
}

/* Put the best ones first; returns the number selected. */
static size_t
select_best(
    const struct history *h, struct nsga2_member *m, size_t n, size_t size)
{
	size_t k = history_n_objectives(h), i, kept, rank;
	double *rows;
	size_t *where;

	if (k == 1) {
		rank_line(m, n);
		return n < size ? n : size;
	}
	rows = xcalloc(n * k + 1, sizeof *rows);
	where = xcalloc(n + 1, sizeof *where);
	for (i = 0; i < n; i++)
		m[i].space = 0;
	(void)rank_rows(h, m, n, rows, where);
	qsort(m, n, sizeof *m, by_rank);
	/* The members were reordered: where is outdated. */
	kept = rank_rows(h, m, n, rows, where);
	for (i = 0; i < n && i < size; i++) {
		rank = m[i].rank;
		if (i == 0 || m[i - 1].rank != rank)
			spread(h, m, n, rows, where, kept, rank);
	}
	qsort(m, n, sizeof *m, by_rank);
	free(rows);
	free(where);
	return n < size ? n : size;
}

struct nsga2_member *
nsga2_select(const struct history *h, size_t size, size_t *n)
{
	int64_t i, count = history_count(h);
	struct nsga2_member *m = xcalloc(2 * size + 1, sizeof *m);
	struct trial_rank told;
	size_t fresh = 0;

	*n = 0;
	for (i = history_first(h); i <= count; i++) {
		told = trial_rank_of(h, i);
		if (!trial_rank_is_finished(told.kind))
			continue;
		m[*n + fresh++].told = told;
		if (fresh < size)
			continue;
		*n = select_best(h, m, *n + fresh, size);
		fresh = 0;
	}
	if (fresh > 0)
		*n = select_best(h, m, *n + fresh, size);
	return m;
}
