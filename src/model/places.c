/* Which places fail trials that nothing else explains: see places.h. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/model/places.h"

/* A place is drained when chance gives it such a row more rarely than this. */
static const double by_chance = 1e-6;

void
places_free(struct places *ps)
{
	size_t i;

	for (i = 0; i < ps->n; i++)
		free(ps->list[i].name);
	free(ps->list);
	*ps = (struct places){ 0 };
}

struct place *
places_find(const struct places *ps, const char *name)
{
	size_t i;

	for (i = 0; i < ps->n; i++)
		if (strcmp(ps->list[i].name, name) == 0)
			return &ps->list[i];
	return NULL;
}

static struct place *
places_at(struct places *ps, const char *name)
{
	struct place *p = places_find(ps, name);
	size_t i;

	if (p != NULL)
		return p;
	ps->list = xreallocarray(ps->list, ps->n + 1, sizeof *ps->list);
	for (i = ps->n++; i > 0 && strcmp(ps->list[i - 1].name, name) > 0; i--)
		ps->list[i] = ps->list[i - 1];
	ps->list[i] = (struct place){ .name = xstrdup(name) };
	return &ps->list[i];
}

int
places_row(const struct place *p)
{
	int i, n = 0;

	for (i = 0; i < p->n_trials; i++)
		n += p->trials[i] > 0;
	return n;
}

/* Where the trial is remembered, in its row or not; -1 = nowhere. */
static int
places_index(const struct place *p, int64_t trial)
{
	int i;

	for (i = p->n_trials - 1; i >= 0; i--)
		if (p->trials[i] == trial || p->trials[i] == -trial)
			return i;
	return -1;
}

/*
 * The row of failures of a place begins again; the trials in it are explained
 * by their settings.
 */
static void
places_end_row(struct place *p)
{
	int i;

	for (i = 0; i < p->n_trials; i++)
		if (p->trials[i] > 0) {
			p->trials[i] = -p->trials[i];
			p->dirty = true;
		}
	p->dirty = p->dirty || p->worked + p->failed > 0;
	p->worked = p->failed = 0;
}

static void
places_remember(struct place *p, int64_t trial)
{
	if (p->n_trials == PLACES_KEPT)
		memmove(p->trials, p->trials + 1,
		    (size_t)--p->n_trials * sizeof *p->trials);
	p->trials[p->n_trials++] = trial;
	p->dirty = true;
}

/* The trial failed at once elsewhere, too: take it out of the rows. */
static bool
places_explain(struct places *ps, const struct place *except, int64_t trial)
{
	bool any = false;
	size_t k;
	int i;

	for (k = 0; k < ps->n; k++) {
		i = &ps->list[k] != except ? places_index(&ps->list[k], trial)
					   : -1;
		if (i < 0)
			continue;
		any = true;
		if (ps->list[k].trials[i] > 0) {
			ps->list[k].trials[i] = -trial;
			ps->list[k].dirty = true;
			if (places_row(&ps->list[k]) == 0)
				places_end_row(&ps->list[k]);
		}
	}
	return any;
}

/* Something happened at one place: all others with a row compare with it. */
static void
places_compare(struct places *ps, const struct place *at, bool worked)
{
	struct place *p;
	size_t i;

	for (i = 0; i < ps->n; i++) {
		p = &ps->list[i];
		if (p == at || p->drained || places_row(p) == 0)
			continue;
		*(worked ? &p->worked : &p->failed) += 1;
		p->dirty = true;
	}
}

void
places_worked(struct places *ps, const char *name)
{
	struct place *p = places_at(ps, name);

	p->dirty = p->dirty || !p->works || p->drained;
	p->works = true;
	p->drained = false;
	places_end_row(p);
	places_compare(ps, p, true);
}

void
places_failed(struct places *ps, const char *name, int64_t trial)
{
	struct place *p = places_at(ps, name);
	bool explained;

	/* Another failed attempt of the same trial is no further evidence. */
	if (places_index(p, trial) >= 0)
		return;
	explained = places_explain(ps, p, trial);
	places_remember(p, explained ? -trial : trial);
	/* What fails at a place that is out of use says nothing of others. */
	if (!p->drained)
		places_compare(ps, p, false);
}

/*
 * The probability that all trials of its row failed and only so many of the
 * others, if each of them all is as likely to fail (Fisher's exact test).
 */
static double
places_chance(const struct place *p, int row)
{
	double chance = 1, others = (double)(p->worked + p->failed);
	int i;

	for (i = 0; i < row; i++)
		chance *= ((double)p->failed + row - i) / (others + row - i);
	return chance;
}

enum place_verdict
places_verdict(const struct place *p)
{
	int row = places_row(p);

	if (p->drained)
		return PLACE_DRAINED;
	if (row < PLACES_ROW)
		return PLACE_USED;
	if (places_chance(p, row) < by_chance)
		return PLACE_DRAINED;
	return p->worked + p->failed < row ? PLACE_HELD : PLACE_USED;
}

const struct place *
places_next_drained(struct places *ps)
{
	struct place *p;
	size_t i;

	for (i = 0; i < ps->n; i++) {
		p = &ps->list[i];
		if (!p->drained && places_verdict(p) == PLACE_DRAINED) {
			p->drained = p->dirty = true;
			return p;
		}
	}
	return NULL;
}

void
places_settle(struct places *ps, const char *name)
{
	struct place *p = places_find(ps, name);

	if (p == NULL)
		return;
	places_end_row(p);
	p->dirty = p->dirty || p->drained;
	p->drained = false;
}

void
places_forgive(struct places *ps)
{
	struct place *p;
	size_t i;

	for (i = 0; i < ps->n; i++) {
		p = &ps->list[i];
		p->dirty = p->dirty || p->n_trials > 0 || p->drained;
		p->n_trials = 0;
		p->worked = p->failed = 0;
		p->drained = false;
	}
}

int
places_count_failed(const struct places *ps)
{
	const struct place *p;
	size_t k, j;
	int i, n = 0;

	for (k = 0; k < ps->n; k++) {
		p = &ps->list[k];
		for (i = 0; i < p->n_trials; i++) {
			for (j = 0; j < k; j++)
				if (places_index(
					&ps->list[j], llabs(p->trials[i])) >= 0)
					break;
			n += j == k;
		}
	}
	return n;
}

bool
places_any_works(const struct places *ps)
{
	size_t i;

	for (i = 0; i < ps->n; i++)
		if (ps->list[i].works)
			return true;
	return false;
}

void
places_put_trials(struct buf *b, const struct place *p)
{
	int i;

	for (i = 0; i < p->n_trials; i++)
		buf_printf(b, "%s%" PRId64, i > 0 ? " " : "", p->trials[i]);
}

void
places_restore(
    struct places *ps, const struct place *recorded, const char *trials)
{
	struct place *p = places_at(ps, recorded->name);
	char *end;
	int64_t trial;

	p->worked = recorded->worked;
	p->failed = recorded->failed;
	p->works = recorded->works;
	p->drained = recorded->drained;
	p->n_trials = 0;
	for (; p->n_trials < PLACES_KEPT; trials = end) {
		trial = strtoll(trials, &end, 10);
		if (end == trials)
			break;
		if (trial != 0)
			p->trials[p->n_trials++] = trial;
	}
	p->dirty = false;
}
