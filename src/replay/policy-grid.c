/* The settings to try, and the choice of the best by their sums. */

#include <stdlib.h>
#include <string.h>

#include "src/base/json/json-writer.h"
#include "src/base/mem.h"
#include "src/replay/policy-search.h"

static const char *const values[][2] = {
	{ "last", "last" },
	{ "best", "best" },
	{ "mean", "mean" },
	{ "best", "mean" },
};
static const int warmups[] = { 5, 10, 20, 30, 40 };
static const int percentiles[] = { 35, 50, 65, 80 };
static const int pools[] = { 5, 10 };

/* The share of studies whose best trial may be stopped. */
static const double killed_most = 0.01;

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

/* Setting number i of the grid. */
static struct policy_setting
grid_policy(size_t i)
{
	struct policy_setting p = { .guard = i % 2 == 0, .interval = 1 };

	i /= 2;
	p.completed = i % 2 == 1;
	i /= 2;
	p.min_trials = pools[i % COUNT(pools)];
	i /= COUNT(pools);
	p.percentile = percentiles[i % COUNT(percentiles)];
	i /= COUNT(percentiles);
	p.warmup = warmups[i % COUNT(warmups)];
	i /= COUNT(warmups);
	p.value = values[i][0];
	p.reference = values[i][1];
	return p;
}

void
policy_grid_open(struct policy_grid *t)
{
	size_t i;

	t->n = 1 + 2 * 2 * COUNT(pools) * COUNT(percentiles) * COUNT(warmups) *
		       COUNT(values);
	t->policies = xcalloc(t->n, sizeof(*t->policies));
	t->policies[0] = (struct policy_setting){ .value = "last",
		.reference = "last",
		.guard = true,
		.as_is = true,
		.percentile = 50,
		.min_trials = 5,
		.interval = 1,
		.warmup = 20 };
	for (i = 1; i < t->n; i++)
		t->policies[i] = grid_policy(i - 1);
}

void
policy_grid_close(struct policy_grid *t)
{
	free(t->policies);
}

static double
policy_grid_mean_of(const struct policy_setting *p, double total)
{
	return p->sum.studies > 0 ? total / (double)p->sum.studies : 0;
}

struct policy_means
policy_grid_means(const struct policy_setting *p)
{
	return (
	    struct policy_means){ .saved = policy_grid_mean_of(p, p->sum.saved),
		.killed = policy_grid_mean_of(p, (double)p->sum.killed),
		.regret = policy_grid_mean_of(p, p->sum.regret) };
}

/*
 * Fewer kills; or as many and more savings; or equal in both and less regret.
 */
static int
policy_order(const struct policy_setting *a, const struct policy_setting *b)
{
	if (a->sum.killed != b->sum.killed)
		return a->sum.killed < b->sum.killed ? -1 : 1;
	if (a->sum.saved != b->sum.saved)
		return a->sum.saved > b->sum.saved ? -1 : 1;
	return (a->sum.regret > b->sum.regret) -
	       (a->sum.regret < b->sum.regret);
}

/* Whether another one is as good in both and better in one, or came first. */
static bool
is_beaten(const struct policy_grid *t, size_t i)
{
	const struct policy_setting *p = &t->policies[i], *q;
	size_t k;

	for (k = 0; k < t->n; k++) {
		q = &t->policies[k];
		if (k == i || q->sum.killed > p->sum.killed ||
		    q->sum.saved < p->sum.saved)
			continue;
		if (policy_order(q, p) < 0 ||
		    (policy_order(q, p) == 0 && k < i))
			return true;
	}
	return false;
}

const struct policy_setting *
policy_grid_choose(struct policy_grid *t)
{
	struct policy_setting *p;
	const struct policy_setting *best = NULL;
	size_t i;

	for (i = 0; i < t->n; i++) {
		p = &t->policies[i];
		p->best = !is_beaten(t, i);
		if (!p->best)
			continue;
		/* Among the admissible ones, more kills mean more savings. */
		if (best == NULL ||
		    (policy_grid_means(p).killed <= killed_most
			    ? policy_order(best, p) < 0 ||
				  policy_grid_means(best).killed > killed_most
			    : policy_grid_means(best).killed > killed_most &&
				  policy_order(p, best) < 0))
			best = p;
	}
	return best;
}

void
policy_grid_add(struct policy_grid *t, const struct policy_grid *more)
{
	const struct replay_sum *from;
	struct replay_sum *to;
	size_t i;

	for (i = 0; i < t->n; i++) {
		to = &t->policies[i].sum;
		from = &more->policies[i].sum;
		to->studies += from->studies;
		to->trials += from->trials;
		to->stopped += from->stopped;
		to->reports += from->reports;
		to->skipped += from->skipped;
		to->saved += from->saved;
		to->killed += from->killed;
		to->regret += from->regret;
	}
}

/* Whether a setting loses the best trial too often on these files. */
static bool
is_contradicted(
    const struct policy_setting *held, const struct policy_setting *plain)
{
	double killed = policy_grid_means(held).killed;

	return killed > killed_most && killed > policy_grid_means(plain).killed;
}

const struct policy_setting *
policy_grid_validate(
    struct policy_held *v, struct policy_grid *all, struct policy_grid *halves)
{
	const struct policy_setting *best = NULL, *use, *chosen, *held;
	int k;

	*v = (struct policy_held){ .chosen = NULL };
	for (k = 0; k < 2; k++) {
		chosen = policy_grid_choose(&halves[k]);
		held = &halves[1 - k].policies[chosen - halves[k].policies];
		use = &all->policies[chosen - halves[k].policies];
		if (is_contradicted(held, &halves[1 - k].policies[0])) {
			v->lost = chosen;
			v->lost_held = held;
			continue;
		}
		if (best != NULL && policy_grid_means(use).saved <=
					policy_grid_means(best).saved)
			continue;
		best = use;
		v->chosen = chosen;
		v->held = held;
	}
	(void)policy_grid_choose(all);
	return best != NULL ? best : &all->policies[0];
}

void
policy_grid_put_rule(struct buf *out, const struct policy_setting *p)
{
	struct json_writer w = { .out = out, .spacing = JSON_SPACED };

	json_writer_object(&w, NULL);
	json_writer_text(&w, "rule", "median");
	if (!p->as_is) {
		json_writer_text(&w, "value", p->value);
		json_writer_text(&w, "reference", p->reference);
		json_writer_text(
		    &w, "pool", p->completed ? "completed" : "reached");
		json_writer_integer(&w, "percentile", p->percentile);
		json_writer_integer(&w, "min_trials", p->min_trials);
		buf_printf(json_writer_value(&w, "warmup_steps"), "\"%d%%\"",
		    p->warmup);
		json_writer_bool(&w, "guard", p->guard);
		if (p->interval > 1)
			json_writer_integer(&w, "interval_steps", p->interval);
	}
	json_writer_end(&w);
}
