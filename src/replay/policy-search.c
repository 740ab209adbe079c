/*
 * Converts curves and settings to flat arrays for the kernel, and its results
 * to sums.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kernels.h"
#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/replay/curve-file.h"
#include "src/replay/policy-search.h"
#include "src/replay/replay.h"

/* The default rule does not decide before this many reports. */
enum { WARMUP_REPORTS = 5, DIVERGED_AFTER = 3 };

struct flat {
	struct replay_curves curves;
	struct replay_studies studies;
	size_t *start, *order;
	int64_t *step;
	double *value;
};

static void
flat_curves(
    struct flat *f, const struct curve_file *b, const struct replay_plan *plan)
{
	const struct curve_file_curve *c;
	size_t i, k, at = 0;

	f->start = xcalloc(b->n + 1, sizeof(*f->start));
	for (i = 0; i < b->n; i++)
		f->start[i + 1] = f->start[i] + b->curves[i].n;
	f->step = xcalloc(f->start[b->n] + 1, sizeof(*f->step));
	f->value = xcalloc(f->start[b->n] + 1, sizeof(*f->value));
	for (i = 0; i < b->n; i++)
		for (c = &b->curves[i], k = 0; k < c->n; k++, at++) {
			f->step[at] = c->steps[k];
			f->value[at] =
			    plan->maximize ? -c->values[k] : c->values[k];
		}
	f->curves = (struct replay_curves){ .n = b->n,
		.start = f->start,
		.step = f->step,
		.value = f->value,
		.max_steps = b->max_steps,
		.last_step = curve_file_last_step(b),
		.value_last = plan->value_last };
}

static void
flat_studies(struct flat *f, size_t all, const struct replay_plan *plan)
{
	size_t trials = (size_t)plan->trials, n = (size_t)plan->seeds, k;
	size_t *order = xcalloc(all + 1, sizeof(*order));

	trials = trials > all ? all : trials;
	f->order = xcalloc(n * trials + 1, sizeof(*f->order));
	for (k = 0; k < n; k++) {
		rng_sample(order, all, trials, plan->seed, k);
		memcpy(f->order + k * trials, order, trials * sizeof(*order));
	}
	free(order);
	f->studies = (struct replay_studies){ .n = n,
		.trials = trials,
		.order = f->order,
		.workers = (size_t)plan->workers };
}

static void
flat_fini(struct flat *f)
{
	free(f->start);
	free(f->order);
	free(f->step);
	free(f->value);
}

static enum replay_value
policy_search_value_of(const char *name)
{
	return strcmp(name, "best") == 0   ? REPLAY_BEST
	       : strcmp(name, "mean") == 0 ? REPLAY_MEAN
					   : REPLAY_LAST;
}

static struct replay_policy
policy_of(const struct policy_setting *p, int64_t max_steps)
{
	double steps = p->warmup / 100.0 * (double)max_steps;

	return (struct replay_policy){ .own = policy_search_value_of(p->value),
		.reference = policy_search_value_of(p->reference),
		.completed = p->completed,
		.guard = p->guard,
		.share = p->percentile / 100.0,
		.min_trials = p->min_trials,
		.interval = p->interval,
		.diverged_after = DIVERGED_AFTER,
		.warmup_steps = (int64_t)ceil(steps - 1e-9),
		.warmup_reports = p->as_is ? WARMUP_REPORTS : 0 };
}

/* The best and the median result in a study, the same for all policies. */
struct there {
	int64_t reports;
	double best, middle; /* results; NaN = none */
};

static double
curve_result(const struct replay_curves *c, size_t curve)
{
	double v = NAN;
	size_t i;

	for (i = c->start[curve]; i < c->start[curve + 1]; i++)
		if (c->value_last ||
		    (isfinite(c->value[i]) && !(v <= c->value[i])))
			v = c->value[i];
	return v;
}

static struct there
recorded_results(const struct flat *f, size_t study)
{
	const size_t *order = f->order + study * f->studies.trials;
	double *v = xcalloc(f->studies.trials + 1, sizeof(*v));
	struct there t = { 0 };
	size_t i, n = 0;

	for (i = 0; i < f->studies.trials; i++) {
		t.reports +=
		    (int64_t)(f->start[order[i] + 1] - f->start[order[i]]);
		v[n] = curve_result(&f->curves, order[i]);
		n += isfinite(v[n]) != 0;
	}
	t.middle = replay_median(v, n);
	t.best = n > 0 ? v[0] : NAN;
	free(v);
	return t;
}

static void
policy_search_sum_add(struct replay_sum *sum, const struct flat *f,
    const struct replay_score *s, const struct there *t)
{
	double gap = t->middle - t->best;

	sum->studies++;
	sum->trials += (int64_t)f->studies.trials;
	sum->stopped += s->stopped;
	sum->reports += t->reports;
	sum->skipped += s->skipped;
	if (t->reports > 0)
		sum->saved += (double)s->skipped / (double)t->reports;
	sum->killed += s->killed;
	if (gap > 0 && isfinite(s->found))
		sum->regret += (s->found - t->best) / gap;
}

void
policy_search_run(struct policy_grid *t, const struct curve_file *b,
    const struct replay_plan *plan)
{
	const struct kernels *kernels = kernels_plain();
	struct replay_policy *policies = xcalloc(t->n, sizeof(*policies));
	struct replay_score *scores;
	struct there there;
	struct flat f;
	size_t i, k;

	flat_curves(&f, b, plan);
	flat_studies(&f, b->n, plan);
	for (i = 0; i < t->n; i++)
		policies[i] = policy_of(&t->policies[i], b->max_steps);
	scores = xcalloc(t->n * f.studies.n + 1, sizeof(*scores));
	kernels->replay(
	    kernels->dev, &f.curves, policies, t->n, &f.studies, scores);
	for (k = 0; k < f.studies.n; k++) {
		there = recorded_results(&f, k);
		for (i = 0; i < t->n; i++)
			policy_search_sum_add(&t->policies[i].sum, &f,
			    &scores[i * f.studies.n + k], &there);
	}
	flat_fini(&f);
	free(policies);
	free(scores);
}

void
policy_search_halves(struct policy_grid halves[2], const struct curve_file *b,
    const struct replay_plan *plan)
{
	size_t *order = xcalloc(b->n + 1, sizeof(*order)), i, h;
	struct curve_file half = *b; /* borrows the reports */

	rng_sample(order, b->n, b->n, plan->seed, 0);
	half.curves = xcalloc(b->n + 1, sizeof(*half.curves));
	for (h = 0; h < 2; h++) {
		half.n = 0;
		for (i = h; i < b->n; i += 2)
			half.curves[half.n++] = b->curves[order[i]];
		policy_search_run(&halves[h], &half, plan);
	}
	free(half.curves);
	free(order);
}
