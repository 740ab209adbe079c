/* Contests of two settings: which runs are due, and the verdict. */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/engine/replicates/contests-internal.h"
#include "src/engine/replicates/contests.h"
#include "src/engine/replicates/proposals.h"
#include "src/engine/replicates/replicates.h"
#include "src/model/history/history.h"
#include "src/model/replicate-stats.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/store/store.h"

static const char *const verdict_names[CONTEST_VERDICTS] = {
	[CONTEST_OPEN] = "open",
	[CONTEST_BETTER] = "better",
	[CONTEST_WORSE] = "worse",
	[CONTEST_NOT_SHOWN] = "not shown",
	[CONTEST_KEPT] = "kept",
	[CONTEST_DISCARDED] = "discarded",
	[CONTEST_UNDECIDED] = "undecided",
};

void
contests_open(struct contests *all, struct replicates *r)
{
	*all = (struct contests){ .replicates = r };
}

void
contests_close(struct contests *all)
{
	size_t i;

	for (i = 0; i < all->n; i++) {
		free(all->list[i].metric);
		free(all->list[i].params);
		free(all->list[i].commit);
		free(all->list[i].caller);
		free(all->list[i].why);
	}
	free(all->list);
	*all = (struct contests){ .n = 0 };
}

/* The setting is one that a trial has. */
static bool
contest_setting_exists(const struct contests *all, int64_t setting)
{
	return setting >= 1 && (uint64_t)setting <= all->replicates->n &&
	       all->replicates->list[setting - 1].tried;
}

static struct contest *
contest_next(struct contests *all)
{
	all->list = xreallocarray(all->list, all->n + 1, sizeof *all->list);
	all->list[all->n] =
	    (struct contest){ .number = (int64_t)all->n + 1, .least = NAN };
	return &all->list[all->n++];
}

struct contest *
contests_append(struct contests *all)
{
	const struct study_confirm *confirm = &all->replicates->study->confirm;
	struct contest *c = contest_next(all);

	c->metric = xstrdup(confirm->metric);
	c->maximize = confirm->maximize;
	c->pairs = confirm->pairs;
	c->evidence = paired_evidence_of(NULL, NULL, 0, 0);
	/* Runs of its settings may be there, from another contest. */
	all->replicates->contests_due = true;
	return c;
}

struct contest_load {
	struct contests *all;
	struct err *err;
};

static int
contest_on_row(void *arg, const struct store_contest *row)
{
	struct contest_load *load = arg;
	struct contest *c;
	bool proposal;
	size_t v;

	for (v = 0; v < CONTEST_VERDICTS; v++)
		if (strcmp(verdict_names[v], row->verdict) == 0)
			break;
	proposal = strcmp(row->kind, "propose") == 0;
	if (v == CONTEST_VERDICTS || row->number != (int64_t)load->all->n + 1 ||
	    !(contest_setting_exists(load->all, row->challenger) ||
		(proposal && row->challenger == 0)) ||
	    !contest_setting_exists(load->all, row->baseline))
		return err_set(load->err, ERR_STORE,
		    "contest %" PRId64 " in the database is damaged",
		    row->number);
	c = contest_next(load->all);
	c->proposal = proposal;
	c->verdict = (enum contest_verdict)v;
	c->challenger = row->challenger;
	c->baseline = row->baseline;
	c->metric = xstrdup(row->metric);
	c->maximize = row->maximize;
	c->alpha = row->alpha;
	c->pairs = (size_t)row->pairs;
	c->pairs_least = paired_evidence_pairs_least(row->alpha);
	c->looks = (size_t)row->looks;
	c->evidence = (struct paired_evidence){ .pairs = c->looks,
		.better = row->better,
		.worse = row->worse,
		.difference = row->difference };
	c->least = row->least;
	c->opened_us = row->opened_us;
	c->ended_us = row->ended_us;
	c->params = row->params != NULL ? xstrdup(row->params) : NULL;
	c->commit = row->commit != NULL ? xstrdup(row->commit) : NULL;
	c->caller = row->caller != NULL ? xstrdup(row->caller) : NULL;
	c->why = row->why != NULL ? xstrdup(row->why) : NULL;
	return 0;
}

int
contests_load(struct contests *all, struct store *store, struct err *e)
{
	struct contest_load load = { .all = all, .err = e };

	if (all->replicates->count == 0)
		return 0;
	all->replicates->contests_due = true;
	return store_walk_contests(store, contest_on_row, &load, e);
}

void
contests_write(
    const struct contests *all, const struct contest *c, struct store *store)
{
	contests_write_new(all, c, NULL, NULL, store);
}

void
contests_write_new(const struct contests *all, const struct contest *c,
    const char *base, const char *diff, struct store *store)
{
	struct store_contest row = { .number = c->number,
		.kind = c->proposal ? "propose" : "confirm",
		.verdict = verdict_names[c->verdict],
		.challenger = c->challenger,
		.baseline = c->baseline,
		.metric = c->metric,
		.maximize = c->maximize,
		.alpha = c->alpha,
		.searched = (int64_t)all->replicates->count,
		.pairs = (int64_t)c->pairs,
		.looks = (int64_t)c->looks,
		.better = c->evidence.better,
		.worse = c->evidence.worse,
		.difference = c->evidence.difference,
		.least = c->least,
		.opened_us = c->opened_us,
		.ended_us = c->ended_us,
		.params = c->params,
		.caller = c->caller,
		.why = c->why,
		.commit = c->commit,
		.base = base,
		.diff = diff };

	(void)store_contest_put(store, &row, NULL);
}

int64_t
contests_best(const struct contests *all)
{
	const struct replicates *r = all->replicates;
	double *ranks = xcalloc(r->n + 1, sizeof *ranks);
	int64_t best = 0;
	size_t i;

	replicates_rank(r, ranks);
	for (i = 0; i < r->n; i++)
		if (ranks[i] <= 1 && !(r->list[i].violation > 0))
			best = (int64_t)i + 1;
	free(ranks);
	return best;
}

int64_t
contests_baseline(const struct contests *all)
{
	const struct replicates *r = all->replicates;
	int64_t trial = r->study->confirm.baseline;

	if (trial == 0)
		return r->default_setting;
	return trial <= r->n_trials ? r->setting_of[trial] : 0;
}

const struct contest *
contests_find(const struct contests *all, int64_t challenger)
{
	const struct study_confirm *confirm = &all->replicates->study->confirm;
	int64_t baseline = contests_baseline(all);
	size_t i;

	for (i = all->n; i-- > 0;)
		if (!all->list[i].proposal &&
		    all->list[i].challenger == challenger &&
		    all->list[i].baseline == baseline &&
		    strcmp(all->list[i].metric, confirm->metric) == 0)
			return &all->list[i];
	return NULL;
}

const struct contest *
contests_begin(struct contests *all, struct store *store, int64_t challenger,
    int64_t now_us)
{
	struct contest *c = contests_append(all);

	c->challenger = challenger;
	c->baseline = contests_baseline(all);
	c->alpha = all->replicates->study->confirm.alpha;
	c->pairs_least = paired_evidence_pairs_least(c->alpha);
	c->opened_us = now_us;
	contests_write(all, c, store);
	return c;
}

const struct replicate *
contests_run(const struct contests *all, int64_t setting, size_t k)
{
	const struct setting *s = &all->replicates->list[setting - 1];

	return s->held != NULL && s->held[k].trial != 0 ? &s->held[k] : NULL;
}

bool
contests_run_ended(const struct replicate *run)
{
	return run != NULL && run->state != TRIAL_RUNNING;
}

size_t
contests_ended(const struct contests *all, const struct contest *c)
{
	size_t k;

	for (k = 0; k < c->pairs; k++)
		if (!contests_run_ended(contests_run(all, c->challenger, k)) ||
		    !contests_run_ended(contests_run(all, c->baseline, k)))
			break;
	return k;
}

/*
 * How many pairs may be begun: as many as a decision takes at least, then as
 * many more as have ended.
 */
static size_t
contest_allowed(const struct contests *all, const struct contest *c)
{
	size_t n = 2 * contests_ended(all, c), most = c->pairs;

	/* study.json gives fewer now. */
	if (most > all->replicates->study->confirm.pairs)
		most = all->replicates->study->confirm.pairs;
	n = n > c->pairs_least ? n : c->pairs_least;
	return n < most ? n : most;
}

/* The values of a setting, if it is begun, with those of replicate k. */
static void
contest_values(
    const struct contests *all, int64_t setting, size_t k, struct value *values)
{
	const struct replicates *r = all->replicates;
	const struct space *space = r->study->space;
	size_t p = r->study->replicates.param;

	if (setting <= (int64_t)r->n)
		space_decode(space, history_point(r->history, setting), values);
	values[p] = space->params[p].values[r->count + k];
}

static bool
contest_due(const struct contests *all, const struct contest *c,
    int64_t *setting, size_t *k)
{
	size_t n = contest_allowed(all, c);

	for (*k = 0; *k < n; (*k)++) {
		*setting = c->challenger;
		if (contests_run(all, *setting, *k) == NULL)
			return true;
		*setting = c->baseline;
		if (contests_run(all, *setting, *k) == NULL)
			return true;
	}
	return false;
}

bool
contests_due(const struct contests *all, int64_t *setting, int *replicate,
    struct value *values)
{
	const struct contest *c = all->list;
	int64_t next = 0;
	size_t i, k = 0;

	for (i = 0; i < all->n; i++, c++)
		if (c->verdict == CONTEST_OPEN &&
		    (c->proposal ? proposals_due(all, c, &next, &k)
				 : contest_due(all, c, &next, &k)))
			break;
	if (i == all->n)
		return false;
	*setting = next;
	*replicate = (int)(all->replicates->count + k) + 1;
	if (values == NULL)
		return true;
	if (*setting > (int64_t)all->replicates->n)
		proposals_values(all, c, values);
	contest_values(all, *setting, k, values);
	return true;
}

bool
contests_any_open(const struct contests *all)
{
	size_t i;

	for (i = 0; i < all->n; i++)
		if (all->list[i].verdict == CONTEST_OPEN)
			return true;
	return false;
}

double
contests_loss(const struct contests *all, const struct contest *c,
    const struct replicate *run, struct store *store)
{
	const struct replicates *r = all->replicates;
	double value = NAN;
	int64_t step;

	if (run->state == TRIAL_CANCELLED)
		return NAN;
	if (run->state != TRIAL_COMPLETED)
		return INFINITY;
	if (strcmp(c->metric, r->study->metric) == 0)
		value = replicates_loss(r, run->trial);
	else if (store_metric_last(
		     store, run->trial, c->metric, &step, &value, NULL) == 1)
		value = c->maximize ? -value : value;
	return value > -INFINITY && value < INFINITY ? value : INFINITY;
}

/* What is known of an open contest; with a verdict when it is decided. */
static void
contest_judge(const struct contests *all, struct contest *c,
    struct store *store, int64_t now_us)
{
	size_t k, decided, n = contests_ended(all, c);
	double *a = xcalloc(2 * c->pairs + 1, sizeof *a), *b = a + c->pairs;

	for (k = 0; k < n; k++) {
		a[k] = contests_loss(
		    all, c, contests_run(all, c->challenger, k), store);
		b[k] = contests_loss(
		    all, c, contests_run(all, c->baseline, k), store);
	}
	decided = paired_evidence_decided(a, b, n, c->alpha);
	c->looks = decided > 0 ? decided : n;
	c->evidence = paired_evidence_of(a, b, c->looks, 0);
	if (decided > 0 && c->evidence.better > c->evidence.worse) {
		c->verdict = CONTEST_BETTER;
		c->least = paired_evidence_least(a, b, c->looks, c->alpha);
	} else if (decided > 0)
		c->verdict = CONTEST_WORSE;
	else if (n == c->pairs)
		c->verdict = CONTEST_NOT_SHOWN;
	free(a);
	if (c->verdict == CONTEST_OPEN)
		return;
	c->ended_us = now_us;
	c->why = xasprintf("e-value %.3g after %zu pairs; 1 / alpha is %.3g",
	    c->verdict == CONTEST_WORSE ? c->evidence.worse
					: c->evidence.better,
	    c->looks, 1 / c->alpha);
}

void
contests_judge(struct contests *all, struct store *store, int64_t now_us,
    void (*f)(void *arg, const struct contest *), void *arg)
{
	struct contest *c;
	size_t i, looks;
	int64_t kept;

	/* A proposal that is kept is another baseline for the others. */
	while (all->replicates->contests_due) {
		all->replicates->contests_due = false;
		for (i = 0; i < all->n; i++) {
			c = &all->list[i];
			if (c->verdict != CONTEST_OPEN)
				continue;
			looks = c->looks;
			if (c->proposal)
				proposals_judge(all, c, store, now_us);
			else
				contest_judge(all, c, store, now_us);
			if (c->looks != looks || c->verdict != CONTEST_OPEN)
				contests_write(all, c, store);
			if (c->verdict != CONTEST_OPEN)
				f(arg, c);
			kept = c->verdict == CONTEST_KEPT ? c->challenger : 0;
			if (kept != 0)
				proposals_kept(
				    all, kept, store, now_us, f, arg);
		}
	}
}

bool
contests_over(const struct contests *all, int64_t trial, char *why, size_t n)
{
	const struct replicates *r = all->replicates;
	int64_t setting = r->setting_of[trial];
	size_t k = (size_t)r->number_of[trial] - r->count - 1, i;
	const struct contest *c, *last = NULL;

	for (i = 0; i < all->n; i++) {
		c = &all->list[i];
		if (c->challenger != setting && c->baseline != setting)
			continue;
		if (c->verdict == CONTEST_OPEN && k < c->pairs)
			return false;
		last = c;
	}
	(void)snprintf(why, n, "its contest is decided: %s",
	    last != NULL ? verdict_names[last->verdict] : "there is none");
	return true;
}
