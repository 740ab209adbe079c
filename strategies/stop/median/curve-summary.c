/* Summaries of a curve at a report. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/model/history/history.h"
#include "strategies/stop/median/curve-summary.h"

static bool
curve_summary_counts(
    const struct curve_summary_rule *r, const struct curve *c, size_t i)
{
	if (r->infinite ? isnan(curve_value(c, i))
			: !isfinite(curve_value(c, i)))
		return false;
	if (r->kind == SUMMARY_MEAN_FROM)
		return curve_step(c, i) >= r->from;
	if (r->kind == SUMMARY_MEAN_FIRST)
		return i < r->count;
	return true;
}

/* Summed anew each time, so that equal windows give equal means. */
static double
window_mean(const struct curve_summary_rule *r, const struct curve *c, size_t i)
{
	double sum = 0, width = ceil(r->share * (double)(i + 1));
	size_t k, used = 0, n = width < 1 ? 1 : (size_t)width;

	for (k = n > i ? 0 : i + 1 - n; k <= i; k++)
		if (isfinite(curve_value(c, k))) {
			sum += curve_value(c, k);
			used++;
		}
	return used > 0 ? sum / (double)used : NAN;
}

static double
recent_best(const struct curve *c, size_t i)
{
	double best = NAN, v;
	size_t k;

	for (k = 0; k < CURVE_SUMMARY_RECENT && k <= i; k++) {
		v = curve_value(c, i - k);
		if (isfinite(v) && !(best <= v))
			best = v;
	}
	return best;
}

double
curve_summary_next(struct curve_summary_run *run,
    const struct curve_summary_rule *r, const struct curve *c)
{
	size_t i = run->n++;
	double v = curve_value(c, i);

	if (r->kind == SUMMARY_LAST)
		return v;
	if (r->kind == SUMMARY_WINDOW)
		return window_mean(r, c, i);
	if (r->kind == SUMMARY_RECENT)
		return recent_best(c, i);
	if (curve_summary_counts(r, c, i)) {
		run->best = run->used == 0 || v < run->best ? v : run->best;
		run->sum += v;
		run->used++;
	}
	if (run->used == 0)
		return NAN;
	return r->kind == SUMMARY_BEST ? run->best
				       : run->sum / (double)run->used;
}

double
curve_summary_at(
    const struct curve_summary_rule *r, const struct curve *c, size_t i)
{
	struct curve_summary_run run = { 0 };
	double v = NAN;

	if (r->kind == SUMMARY_LAST)
		return curve_value(c, i);
	if (r->kind == SUMMARY_WINDOW)
		return window_mean(r, c, i);
	if (r->kind == SUMMARY_RECENT)
		return recent_best(c, i);
	while (run.n <= i)
		v = curve_summary_next(&run, r, c);
	return v;
}

bool
curve_summary_parse(struct curve_summary_rule *r, const char *text)
{
	static const char window[] = "window:";

	*r = (struct curve_summary_rule){ .kind = SUMMARY_LAST };
	if (strcmp(text, "last") == 0)
		return true;
	if (strcmp(text, "best") == 0)
		r->kind = SUMMARY_BEST;
	else if (strcmp(text, "recent") == 0)
		r->kind = SUMMARY_RECENT;
	else if (strcmp(text, "mean") == 0)
		r->kind = SUMMARY_MEAN;
	else if (strncmp(text, window, sizeof(window) - 1) == 0) {
		r->kind = SUMMARY_WINDOW;
		r->share = strtod(text + sizeof(window) - 1, NULL) / 100;
		return r->share > 0 && r->share <= 1;
	} else
		return false;
	return true;
}

const char *
curve_summary_text(const struct curve_summary_rule *r)
{
	switch (r->kind) {
	case SUMMARY_LAST:
		return "";
	case SUMMARY_BEST:
		return "best";
	case SUMMARY_RECENT:
		return "recent best";
	case SUMMARY_MEAN:
	case SUMMARY_MEAN_FROM:
	case SUMMARY_MEAN_FIRST:
		return "mean";
	case SUMMARY_WINDOW:
		return "recent mean";
	}
	return "";
}

/*
 * Summaries of curves, cached by trial.  Each trial has one cache entry, which
 * another trial may replace: then it is computed again from the start.
 */

enum { PLACES = 1024 };

struct place {
	int64_t trial; /* 0 = empty */
	struct curve_summary_run run;
	double value; /* at the last report of the run */
};

struct curve_summary_cache {
	struct curve_summary_rule rule;
	struct place *places; /* NULL: such values need no walk */
};

struct curve_summary_cache *
curve_summary_cache_new(const struct curve_summary_rule *rule)
{
	struct curve_summary_cache *c = xcalloc(1, sizeof(*c));

	c->rule = *rule;
	if (rule->kind != SUMMARY_LAST && rule->kind != SUMMARY_WINDOW &&
	    rule->kind != SUMMARY_RECENT)
		c->places = xcalloc(PLACES, sizeof(*c->places));
	return c;
}

void
curve_summary_cache_free(struct curve_summary_cache *c)
{
	if (c != NULL)
		free(c->places);
	free(c);
}

double
curve_summary_cache_at(struct curve_summary_cache *c, int64_t trial,
    const struct curve *curve, size_t i)
{
	struct place *p;

	if (c->places == NULL)
		return curve_summary_at(&c->rule, curve, i);
	p = &c->places[trial % PLACES];
	if (p->trial != trial || p->run.n > i + 1)
		*p = (struct place){ .trial = trial };
	while (p->run.n <= i)
		p->value = curve_summary_next(&p->run, &c->rule, curve);
	return p->value;
}

void
curve_summary_cache_forget(struct curve_summary_cache *c, int64_t trial)
{
	if (c->places != NULL && c->places[trial % PLACES].trial == trial)
		c->places[trial % PLACES].trial = 0;
}
