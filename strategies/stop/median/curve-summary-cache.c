/*
 * Summaries of curves, cached by trial.  Each trial has one cache entry, which
 * another trial may replace: then it is computed again from the start.
 */

#include <stdlib.h>

#include "src/base/mem.h"
#include "src/model/history/history.h"
#include "strategies/stop/median/curve-summary.h"

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
