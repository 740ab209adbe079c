/*
 * Which settings may still be the best: the race, and the order of settings.
 * With several objectives the best ones are a front.
 */

#include <math.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "src/engine/replicates/replicates.h"
#include "src/model/history/history.h"
#include "src/model/replicate-stats.h"
#include "src/model/study/study.h"

static bool
is_candidate(const struct setting *s)
{
	return (s->state == SETTING_OPEN || s->state == SETTING_COMPLETED) &&
	       s->completed > 0;
}

/* At least as good in each objective, and better in one. */
static bool
replicates_race_is_dominated(const struct replicates *r,
    const struct setting *s, const struct setting *by)
{
	bool less = false;
	size_t a;

	if (s->violation > 0 || by->violation > 0)
		return by->violation < s->violation;
	for (a = 0; a < r->study->n_objectives; a++) {
		if (!(by->values[a] <= s->values[a]))
			return false;
		less = less || by->values[a] < s->values[a];
	}
	return less;
}

/* How many of the candidates dominate it. */
static double
replicates_race_place_of(const struct replicates *r, size_t k)
{
	const struct setting *s = &r->list[k];
	double n = 0;
	size_t i;

	if (r->n_aims == 1)
		return s->value;
	for (i = 0; i < r->n; i++)
		n += is_candidate(&r->list[i]) &&
		     replicates_race_is_dominated(r, s, &r->list[i]);
	return n;
}

/*
 * The settings that others are compared with: of those that break no constraint,
 * if there are any, and have the most replicates, the best one, or the front.  A lucky first replicate is no measure for others.
 */
static size_t
leaders_find(const struct replicates *r, size_t *leaders)
{
	const struct setting *s;
	size_t i, k, most = 0, n = 0;
	bool any = false, out;

	for (i = 0; i < r->n; i++)
		any = any || (is_candidate(&r->list[i]) &&
				 !(r->list[i].violation > 0));
	for (i = 0; i < r->n; i++) {
		s = &r->list[i];
		if (is_candidate(s) && !(any && s->violation > 0) &&
		    s->completed > most)
			most = s->completed;
	}
	for (i = 0; i < r->n && most > 0; i++) {
		s = &r->list[i];
		if (!is_candidate(s) || (any && s->violation > 0) ||
		    s->completed < most)
			continue;
		out = false;
		for (k = 0; k < r->n && !out; k++)
			out = is_candidate(&r->list[k]) &&
			      r->list[k].completed == most &&
			      replicates_race_is_dominated(r, s, &r->list[k]);
		if (!out)
			leaders[n++] = i;
	}
	/* With one objective the first of equal settings leads. */
	return r->study->n_objectives == 1 && n > 1 ? 1 : n;
}

/* One setting against another one: a race for each aim. */
struct duel {
	size_t leader;
	struct replicate_race *races; /* n_aims of them */
	struct replicate_race violations; /* the sums, of replicates */
};

/* The sums of the violations of each replicate; infinite ones are NaN. */
static double *
violations_of(const struct replicates *r)
{
	size_t a, i, n = r->n * r->count;
	double *sums = xcalloc(n + 1, sizeof *sums);

	for (a = r->study->n_objectives; a < r->n_aims; a++)
		for (i = 0; i < n; i++)
			sums[i] += isfinite(r->losses[a][i])
				       ? fmax(r->losses[a][i], 0)
				       : NAN;
	return sums;
}

static bool
breaks_beyond_doubt(const struct replicates *r, const struct duel *d, size_t i)
{
	size_t a;

	for (a = r->study->n_objectives; a < r->n_aims; a++)
		if (r->list[i].values[a] == INFINITY ||
		    replicate_stats_positive(&d->races[a], i))
			return true;
	return false;
}

/*
 * Whether the setting has lost against the leader: it breaks a constraint, or is
 * worse in each objective beyond chance, or the same in some of them.
 */
static bool
has_lost(const struct replicates *r, const struct duel *d, size_t i)
{
	const struct setting *leader = &r->list[d->leader];
	bool worse = false;
	size_t a;

	if (i == d->leader)
		return false;
	if (leader->violation > 0)
		return leader->violation < INFINITY &&
		       (r->list[i].violation == INFINITY ||
			   !replicate_stats_may_win(&d->violations, i));
	if (breaks_beyond_doubt(r, d, i))
		return true;
	for (a = 0; a < r->study->n_objectives; a++) {
		if (!replicate_stats_may_win(&d->races[a], i))
			worse = true;
		else if (!replicate_stats_same(&d->races[a], i))
			return false;
	}
	return worse;
}

static void
race_against(
    struct replicates *r, size_t leader, const double *violations, bool *behind)
{
	struct duel d = { .leader = leader };
	size_t a, i;

	d.races = xcalloc(r->n_aims, sizeof *d.races);
	for (a = 0; a < r->n_aims; a++)
		d.races[a] =
		    replicate_stats_race(r->losses[a], r->n, r->count, leader);
	d.violations = replicate_stats_race(violations, r->n, r->count, leader);
	for (i = 0; i < r->n; i++)
		behind[i] = behind[i] || has_lost(r, &d, i);
	free(d.races);
}

/*
 * The standard errors that strategies see; none with several objectives, or
 * without a leader.
 */
static void
noises_set(struct replicates *r, const size_t *leaders, size_t n)
{
	struct replicate_race race = { .n = r->count };
	size_t i;

	if (r->study->n_objectives > 1)
		return;
	if (n > 0)
		race = replicate_stats_race(
		    r->losses[0], r->n, r->count, leaders[0]);
	for (i = 0; i < r->n; i++)
		history_set_noise(r->history, (int64_t)i + 1,
		    n > 0 && r->list[i].completed > 0
			? replicate_stats_noise(&race, r->list[i].completed)
			: 0);
}

void
replicates_race(struct replicates *r)
{
	size_t *leaders, i, n;
	double *violations;
	bool *behind;

	if (!r->race_due)
		return;
	r->race_due = false;
	leaders = xcalloc(r->n + 1, sizeof *leaders);
	behind = xcalloc(r->n + 1, sizeof *behind);
	violations = violations_of(r);
	n = leaders_find(r, leaders);
	for (i = 0; i < n && r->study->replicates.racing; i++)
		race_against(r, leaders[i], violations, behind);
	for (i = 0; i < r->n; i++) {
		r->list[i].dirty |= behind[i] != r->list[i].behind;
		r->list[i].behind = behind[i];
		r->list[i].place = replicates_race_place_of(r, i);
	}
	noises_set(r, leaders, n);
	free(violations);
	free(behind);
	free(leaders);
}

/* Whether view settings gives this setting a rank, or a place on the front. */
static bool
is_ranked(const struct setting *s)
{
	return s->completed > 0 && s->state != SETTING_STOPPED &&
	       s->state != SETTING_FAILED && s->state != SETTING_FORGOTTEN;
}

/* -1: a before b, as view settings has them; equal ones by their numbers. */
static int
rank_compare(const void *a, const void *b)
{
	const struct setting *x = *(const struct setting *const *)a;
	const struct setting *y = *(const struct setting *const *)b;
	bool open_x = x->state != SETTING_COMPLETED,
	     open_y = y->state != SETTING_COMPLETED;

	if ((x->violation > 0) != (y->violation > 0))
		return x->violation > 0 ? 1 : -1;
	if (open_x != open_y)
		return open_x ? 1 : -1;
	if (x->completed != y->completed)
		return x->completed < y->completed ? 1 : -1;
	if (x->violation < y->violation || x->violation > y->violation)
		return x->violation < y->violation ? -1 : 1;
	if (x->value < y->value || x->value > y->value)
		return x->value < y->value ? -1 : 1;
	return x < y ? -1 : x > y;
}

void
replicates_rank(const struct replicates *r, double *ranks)
{
	const struct setting **sorted = xcalloc(r->n + 1, sizeof *sorted);
	size_t i, n = 0;

	for (i = 0; i < r->n; i++) {
		ranks[i] = NAN;
		if (is_ranked(&r->list[i]))
			sorted[n++] = &r->list[i];
	}
	qsort(sorted, n, sizeof *sorted, rank_compare);
	for (i = 0; i < n; i++)
		ranks[sorted[i] - r->list] = (double)i + 1;
	free(sorted);
}

bool
replicates_hopeful(const struct replicates *r, size_t i)
{
	return r->list[i].state == SETTING_OPEN && !r->list[i].behind;
}

bool
replicates_on_front(const struct replicates *r, size_t k)
{
	const struct setting *s = &r->list[k], *other;
	size_t i;

	if (r->study->n_objectives < 2 || !is_ranked(s) || s->violation > 0)
		return false;
	for (i = 0; i < r->n; i++) {
		other = &r->list[i];
		if (is_ranked(other) && !(other->violation > 0) &&
		    (other->completed > s->completed ||
			(other->completed == s->completed &&
			    replicates_race_is_dominated(r, s, other))))
			return false;
	}
	return true;
}
