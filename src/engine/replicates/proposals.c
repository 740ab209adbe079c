/* Proposals: what is due, the verdict, and the baseline that follows. */

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
#include "src/model/evidence/proposal-rule.h"
#include "src/model/history/history.h"
#include "src/model/space.h"
#include "src/model/study/study.h"

/* How often the setting became the baseline more than it was replaced. */
static int
proposal_balance(const struct contests *all, int64_t setting)
{
	const struct contest *c = all->list;
	int n = 0;
	size_t i;

	for (i = 0; i < all->n; i++, c++)
		if (c->verdict == CONTEST_KEPT)
			n += (c->challenger == setting) -
			     (c->baseline == setting);
	return n;
}

/* From the rows alone: they are no list of times, as clocks are set back. */
int64_t
proposals_baseline(const struct contests *all)
{
	const struct contest *c = all->list;
	size_t i;

	for (i = 0; i < all->n; i++, c++)
		if (c->verdict == CONTEST_KEPT &&
		    proposal_balance(all, c->challenger) > 0)
			return c->challenger;
	return contests_baseline(all);
}

/* Whether both hashes are the same, or there is none. */
static bool
proposal_same_commit(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* Whether setting s is this one: JSON without the parameter of replicates. */
static bool
proposal_is_setting(const struct contests *all, size_t s, const char *params,
    const char *commit)
{
	const struct replicates *r = all->replicates;
	const struct space *space = r->study->space;
	struct value *values = xcalloc(space->n, sizeof *values);
	struct buf b = { 0 };
	bool same;

	if (!proposal_same_commit(r->list[s].commit, commit)) {
		free(values);
		return false;
	}
	space_decode(space, history_point(r->history, (int64_t)s + 1), values);
	values[r->study->replicates.param].kind = VALUE_NONE;
	space_put_json(&b, space, values);
	same = strcmp(buf_str(&b), params) == 0;
	buf_free(&b);
	free(values);
	return same;
}

static int64_t
proposal_find_setting(
    const struct contests *all, const char *params, const char *commit)
{
	const struct replicates *r = all->replicates;
	size_t s;

	for (s = 0; s < r->n; s++)
		if (r->list[s].tried && !r->list[s].outside &&
		    proposal_is_setting(all, s, params, commit))
			return (int64_t)s + 1;
	return 0;
}

/* The proposal of this setting that is open, or decided on this baseline. */
static const struct contest *
proposal_find(const struct contests *all, int64_t challenger, int64_t baseline,
    const char *params, const char *commit)
{
	const struct contest *c;
	size_t i;

	for (i = all->n; i-- > 0;) {
		c = &all->list[i];
		if (!c->proposal ||
		    (c->verdict != CONTEST_OPEN && c->baseline != baseline))
			continue;
		if (challenger > 0
			? c->challenger == challenger
			: c->challenger == 0 &&
			      strcmp(c->params, params) == 0 &&
			      proposal_same_commit(c->commit, commit))
			return c;
	}
	return NULL;
}

/* What the next proposal may cost: what all so far have left of their share. */
static double
proposal_level(const struct contests *all)
{
	double spent = 0;
	size_t i, k = 1;

	for (i = 0; i < all->n; i++)
		if (all->list[i].proposal) {
			k++;
			if (all->list[i].verdict != CONTEST_KEPT)
				spent += all->list[i].alpha;
		}
	return proposal_rule_level(
	    all->replicates->study->confirm.alpha, k, spent);
}

/* Whether nothing could be kept at this level: a clause. */
static bool
proposal_in_vain(const struct contests *all, char *why, size_t n)
{
	double level = proposal_level(all);
	size_t least, pairs = all->replicates->study->confirm.pairs;

	least = level > 0 ? paired_evidence_pairs_least(level) : SIZE_MAX;
	if (least <= pairs)
		return false;
	if (level > 0)
		(void)snprintf(why, n,
		    "nothing could be kept: after %zu contest%s the level of "
		    "a proposal is %.2g, which takes %zu replicates, and "
		    "confirm.replicates is %zu",
		    all->n, all->n == 1 ? "" : "s", level, least, pairs);
	else
		(void)snprintf(
		    why, n, "nothing could be kept: confirm.alpha is spent");
	return true;
}

bool
proposals_allowed(const struct contests *all, const char *params,
    const char *commit, int64_t *challenger, char *why, size_t n)
{
	int64_t baseline = proposals_baseline(all);
	const struct contest *c;

	*challenger = proposal_find_setting(all, params, commit);
	if (*challenger == baseline) {
		(void)snprintf(why, n,
		    "setting %" PRId64 " is the baseline itself", baseline);
		return false;
	}
	c = proposal_find(all, *challenger, baseline, params, commit);
	if (c != NULL) {
		(void)snprintf(why, n,
		    "the same setting is proposal %" PRId64 ", which %s",
		    c->number,
		    c->verdict == CONTEST_OPEN ? "is open" : "has its verdict");
		return false;
	}
	return !proposal_in_vain(all, why, n);
}

const struct contest *
proposals_begin(struct contests *all, struct store *store,
    const struct proposal *p, int64_t now_us)
{
	double level = proposal_level(all);
	struct contest *c = contests_append(all);

	c->proposal = true;
	c->challenger = p->challenger;
	c->baseline = proposals_baseline(all);
	c->alpha = level;
	c->params = xstrdup(p->params);
	c->commit = p->commit != NULL ? xstrdup(p->commit) : NULL;
	c->caller = p->caller != NULL ? xstrdup(p->caller) : NULL;
	c->opened_us = now_us;
	contests_write_new(all, c,
	    p->diff != NULL ? proposals_commit(all, c->baseline) : NULL,
	    p->diff, store);
	return c;
}

/* The first one whose setting has no trial yet. */
static struct contest *
proposal_waiting(struct contests *all)
{
	size_t i;

	for (i = 0; i < all->n; i++)
		if (all->list[i].verdict == CONTEST_OPEN &&
		    all->list[i].challenger == 0)
			return &all->list[i];
	return NULL;
}

const char *
proposals_commit(const struct contests *all, int64_t setting)
{
	const struct replicates *r = all->replicates;
	size_t i;

	if (setting <= (int64_t)r->n)
		return r->list[setting - 1].commit;
	/* A new one: that of the proposal that begins it. */
	for (i = 0; i < all->n; i++)
		if (all->list[i].verdict == CONTEST_OPEN &&
		    all->list[i].challenger == 0)
			return all->list[i].commit;
	return NULL;
}

void
proposals_begun(struct contests *all, struct store *store, int64_t setting)
{
	struct contest *c = proposal_waiting(all);

	if (c == NULL)
		return;
	c->challenger = setting;
	contests_write(all, c, store);
}

/* Whether the space still has the setting. */
static bool
proposal_fits(const struct contests *all, const struct contest *c)
{
	const struct space *space = all->replicates->study->space;
	struct value *values = xcalloc(space->n, sizeof *values);
	struct err e = ERR_INIT;
	bool fits = space_parse_values(space, c->params, values, &e) == 0;

	free(values);
	return fits;
}

void
proposals_values(
    const struct contests *all, const struct contest *c, struct value *values)
{
	struct err e = ERR_INIT;

	(void)space_parse_values(
	    all->replicates->study->space, c->params, values, &e);
}

/* Pairs that may be begun: one, then twice as many as have ended. */
static size_t
proposal_allowed(const struct contests *all, const struct contest *c)
{
	size_t most = all->replicates->study->confirm.pairs, n;

	n = c->challenger > 0 ? 2 * contests_ended(all, c) : 0;
	n = n > 0 ? n : 1;
	if (most > c->pairs)
		most = c->pairs;
	return n < most ? n : most;
}

static bool
proposal_missing(const struct contests *all, int64_t setting, size_t k)
{
	return setting == 0 || contests_run(all, setting, k) == NULL;
}

bool
proposals_due(const struct contests *all, const struct contest *c,
    int64_t *setting, size_t *k)
{
	size_t n = proposal_allowed(all, c);

	if (n == 0 || (c->challenger == 0 && !proposal_fits(all, c)))
		return false;
	*setting = c->baseline;
	for (*k = 0; *k < PROPOSAL_RULE_BAND; (*k)++)
		if (proposal_missing(all, *setting, *k))
			return true;
	for (*k = 0; *k < n; (*k)++) {
		*setting = c->challenger;
		if (proposal_missing(all, *setting, *k)) {
			if (*setting == 0)
				*setting = (int64_t)all->replicates->n + 1;
			return true;
		}
		*setting = c->baseline;
		if (proposal_missing(all, *setting, *k))
			return true;
	}
	return false;
}

int64_t
proposals_runs(const struct contests *all)
{
	const struct contest *c = all->list;
	int64_t n = 0;
	size_t i, k;

	for (i = 0; i < all->n; i++, c++)
		for (k = 0;
		     c->proposal && c->verdict == CONTEST_OPEN && k < c->pairs;
		     k++)
			n += proposal_missing(all, c->challenger, k);
	return n;
}

/* Pairs that have ended, with those runs that show the noise of the baseline. */
static size_t
proposal_ended(const struct contests *all, const struct contest *c)
{
	size_t k;

	for (k = 0; k < PROPOSAL_RULE_BAND; k++)
		if (!contests_run_ended(contests_run(all, c->baseline, k)))
			return 0;
	return c->challenger > 0 ? contests_ended(all, c) : 0;
}

/* The open proposal whose run this is, and no other contest's; NULL: none. */
static const struct contest *
proposal_of(const struct contests *all, int64_t setting, size_t k)
{
	const struct contest *c = all->list, *found = NULL;
	size_t i;

	for (i = 0; i < all->n; i++, c++) {
		if (c->verdict != CONTEST_OPEN ||
		    (c->challenger != setting && c->baseline != setting))
			continue;
		if (!c->proposal || c->baseline == setting || k >= c->pairs)
			return NULL;
		found = c;
	}
	return found;
}

/* The loss of a baseline's run at a step; NaN: it has not completed, or none. */
static double
proposal_loss_at(const struct contests *all, const struct contest *c, size_t k,
    int64_t step, int64_t *last)
{
	const struct replicate *run = contests_run(all, c->baseline, k);
	struct curve curve;
	ptrdiff_t i;

	if (run == NULL || run->state != TRIAL_COMPLETED)
		return NAN;
	curve = history_curve(all->replicates->trials, run->trial);
	i = curve_at(&curve, step);
	if (i < 0)
		return NAN;
	*last = curve_step(&curve, curve.n - 1);
	return curve_value(&curve, (size_t)i);
}

bool
proposals_behind(const struct contests *all, int64_t trial, int64_t step,
    double *value, double *threshold, char *why, size_t n)
{
	const struct replicates *r = all->replicates;
	size_t i, k = (size_t)r->number_of[trial] - r->count - 1;
	const struct contest *c = proposal_of(all, r->setting_of[trial], k);
	double band[PROPOSAL_RULE_BAND], paired, loss;
	struct curve curve = history_curve(r->trials, trial);
	int64_t last = 0;

	if (c == NULL || curve.n == 0 ||
	    strcmp(c->metric, r->study->metric) != 0)
		return false;
	loss = curve_value(&curve, curve.n - 1);
	for (i = 0; i < PROPOSAL_RULE_BAND; i++)
		band[i] = proposal_loss_at(all, c, i, step, &last);
	paired = proposal_loss_at(all, c, k, step, &last);
	/* At the last step nothing is left to save. */
	if (step < last - last / 2 || step >= last ||
	    !proposal_rule_behind(loss, paired, band))
		return false;
	*value = history_flip_sign(r->trials, loss);
	*threshold = history_flip_sign(r->trials, paired);
	(void)snprintf(why, n,
	    "at step %" PRId64 " it is behind all runs of the baseline by more "
	    "than the noise",
	    step);
	return true;
}

/* The same setting once more, beside the baseline that is now. */
static void
proposal_succeed(struct contests *all, size_t i, int64_t baseline,
    struct store *store, int64_t now_us)
{
	double level = proposal_level(all);
	struct contest *next = contests_append(all);
	const struct contest *old = &all->list[i];

	next->proposal = true;
	next->challenger = old->challenger;
	next->baseline = baseline;
	next->alpha = level;
	next->params = xstrdup(old->params);
	next->commit = old->commit != NULL ? xstrdup(old->commit) : NULL;
	next->caller = old->caller != NULL ? xstrdup(old->caller) : NULL;
	next->opened_us = now_us;
	contests_write(all, next, store);
}

/* Whether there is a level left for one that goes on. */
static bool
proposal_end(struct contests *all, struct contest *c, int64_t now_us)
{
	char why[200];
	bool vain = proposal_in_vain(all, why, sizeof why);

	c->verdict = CONTEST_UNDECIDED;
	c->ended_us = now_us;
	c->why = vain ? xasprintf("another one was kept, and %s", why)
		      : xasprintf("another one was kept: proposal %zu goes on "
				  "beside that",
			    all->n + 1);
	return !vain;
}

void
proposals_kept(struct contests *all, int64_t baseline, struct store *store,
    int64_t now_us, void (*f)(void *arg, const struct contest *), void *arg)
{
	size_t i, n = all->n;
	struct contest *c;
	bool goes_on;

	for (i = 0; i < n; i++) {
		c = &all->list[i];
		if (!c->proposal || c->verdict != CONTEST_OPEN)
			continue;
		goes_on = c->looks > 0 && proposal_end(all, c, now_us);
		if (c->looks == 0)
			c->baseline = baseline;
		contests_write(all, c, store);
		if (c->verdict != CONTEST_OPEN)
			f(arg, c);
		if (goes_on)
			proposal_succeed(all, i, baseline, store, now_us);
	}
	all->replicates->contests_due = true;
}

static void
proposal_put_why(struct contest *c, double last, const struct replicate *run)
{
	if (c->verdict == CONTEST_DISCARDED && isinf(last))
		c->why = xasprintf("its run of pair %zu %s", c->looks,
		    run->state == TRIAL_STOPPED ? "was stopped" : "failed");
	else if (c->verdict == CONTEST_DISCARDED)
		c->why = xasprintf("mean difference %.3g after %zu pair%s: it "
				   "would hardly be shown to be better",
		    c->evidence.difference, c->looks, c->looks == 1 ? "" : "s");
	else
		c->why =
		    xasprintf("e-value %.4g after %zu pairs; 1 / level is %.4g",
			c->evidence.better, c->looks, 1 / c->alpha);
}

/* The proposals before this one on its baseline, none of which is kept. */
static size_t
proposal_others(const struct contests *all, const struct contest *c)
{
	size_t i, n = 0;

	for (i = 0; &all->list[i] < c; i++)
		n += all->list[i].proposal &&
		     all->list[i].baseline == c->baseline;
	return n;
}

/* a and b: room for c->pairs losses each. */
static void
proposal_judge_runs(struct contests *all, struct contest *c,
    struct store *store, double *a, double *b)
{
	static const enum contest_verdict verdicts[] = {
		[PROPOSAL_OPEN] = CONTEST_OPEN,
		[PROPOSAL_KEPT] = CONTEST_KEPT,
		[PROPOSAL_DISCARDED] = CONTEST_DISCARDED,
		[PROPOSAL_UNDECIDED] = CONTEST_UNDECIDED,
	};
	size_t k, n = proposal_ended(all, c);

	for (k = 0; n > 0 && (k < n || k < PROPOSAL_RULE_BAND); k++)
		b[k] = contests_loss(
		    all, c, contests_run(all, c->baseline, k), store);
	for (k = 0; k < n; k++)
		a[k] = contests_loss(
		    all, c, contests_run(all, c->challenger, k), store);
	c->verdict = verdicts[proposal_rule_judge(
	    a, b, n, c->pairs, proposal_others(all, c), c->alpha, &c->looks)];
	c->evidence = paired_evidence_of(a, b, c->looks, 0);
	if (c->verdict == CONTEST_KEPT)
		c->least = paired_evidence_least(a, b, c->looks, c->alpha);
	if (c->verdict != CONTEST_OPEN)
		proposal_put_why(c, a[c->looks - 1],
		    contests_run(all, c->challenger, c->looks - 1));
}

void
proposals_judge(struct contests *all, struct contest *c, struct store *store,
    int64_t now_us)
{
	size_t room = c->pairs + PROPOSAL_RULE_BAND;
	double *a;

	if (c->challenger == 0) {
		if (proposal_fits(all, c))
			return;
		c->verdict = CONTEST_UNDECIDED;
		c->why = xstrdup("the space has changed and lacks it");
	} else {
		a = xcalloc(2 * room, sizeof *a);
		proposal_judge_runs(all, c, store, a, a + room);
		free(a);
	}
	if (c->verdict == CONTEST_OPEN)
		return;
	c->ended_us = now_us;
}
