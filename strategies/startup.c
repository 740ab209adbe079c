/* The first points: random or evenly spread, the first of all in the middle. */

#include <string.h>

#include "src/base/err.h"
#include "src/model/history/history.h"
#include "src/model/prior.h"
#include "src/model/space.h"
#include "strategies/startup.h"
#include "strategies/strategy.h"

/* A model of fewer results is no better than the start: strategies/README.md. */
static const double least_finished = 5;

/* Trials before a Gaussian process is used: strategies/README.md. */
static const double of_numbers = 6, of_few_values = 5, of_others = 10;

enum { FEW_LEVELS = 16 }; /* a number with so many is like a choice */

extern const struct strategy strategy_random;
extern const struct strategy strategy_sobol;

const char *const startup_choices[] = { "random", "sobol", "middle", NULL };

static bool
startup_is_several(const struct history *h)
{
	return h != NULL && history_n_objectives(h) > 1;
}

bool
startup_is_of_numbers(const struct space *space, const struct history *h)
{
	const struct param *p;
	size_t i;

	for (i = 0; i < space->n; i++) {
		p = &space->params[i];
		if (param_levels(p) != 1 &&
		    (p->when != NULL ||
			(p->type == PARAM_CHOICE && !p->ordered)))
			return false;
	}
	return !startup_is_several(h);
}

/*
 * Suggest a point of sobol, with its defaults; but the first of a study of
 * numbers is the middle of all ranges, where a prior counts as its median.
 */
static int
middle_suggest(struct suggestion *out, const struct strategy_ask *ask,
    const struct option_value *values, struct err *e)
{
	struct option_value *defaults;
	size_t i;
	int rc;

	(void)values;
	if (plugin_options_read(
		&defaults, strategy_sobol.options, NULL, NULL, e) != 0)
		return -1;
	rc = strategy_sobol.suggest(out, ask, defaults, e);
	plugin_options_free(defaults);
	if (rc != 0 || ask->redraw > 0 || ask->trial > 1 + ask->n_enqueued ||
	    !startup_is_of_numbers(ask->space, ask->history))
		return rc;
	for (i = 0; i < ask->space->n; i++)
		out->x[i] = prior_move_one(&ask->space->params[i], 0.5);
	return 0;
}

const struct strategy strategy_middle = {
	.name = "middle",
	.about = "the middle of all ranges, then evenly spread points",
	.several = true,
	.suggest = middle_suggest,
};

static const struct strategy *
startup_strategy(const struct option_value *values)
{
	const char *name = plugin_option_text(values, "startup");

	if (strcmp(name, "middle") == 0)
		return &strategy_middle;
	return strcmp(name, "sobol") == 0 ? &strategy_sobol : &strategy_random;
}

int
startup_check(
    const struct option_value *values, const struct space *space, struct err *e)
{
	const struct strategy *first = startup_strategy(values);

	return first->check != NULL ? first->check(NULL, space, e) : 0;
}

static bool
is_finished(const struct history *h, int64_t trial)
{
	enum trial_state state = history_state(h, trial);

	return state == TRIAL_COMPLETED || state == TRIAL_STOPPED ||
	       state == TRIAL_FAILED;
}

size_t
startup_finished(const struct history *h)
{
	int64_t i, count = history_count(h);
	size_t n = 0;

	for (i = history_first(h); i <= count; i++)
		n += is_finished(h, i);
	return n;
}

int64_t
startup_last(const struct history *h, size_t n)
{
	int64_t i, count = history_count(h);

	for (i = history_first(h); i <= count && n > 0; i++)
		n -= is_finished(h, i);
	return i > 1 ? i - 1 : 0;
}

bool
startup_wanted(const struct option_value *values, const struct history *h)
{
	return h == NULL ||
	       (double)startup_finished(h) <
		   plugin_option_number(values, "n_startup_trials");
}

static size_t
count_running(const struct history *h)
{
	int64_t i, count = history_count(h);
	enum trial_state state;
	size_t n = 0;

	for (i = history_first(h); i <= count; i++) {
		state = history_state(h, i);
		n += state == TRIAL_STARTING || state == TRIAL_RUNNING ||
		     state == TRIAL_STOPPING;
	}
	return n;
}

bool
startup_lasts(const struct history *h, double n)
{
	double finished = (double)startup_finished(h);

	if (finished >= n)
		return false;
	return finished < least_finished ||
	       finished + (double)count_running(h) < n;
}

double
startup_trials(const struct space *space, const struct history *h)
{
	const struct param *p;
	size_t n = 0, few = 0, i;
	uint64_t levels;

	if (startup_is_of_numbers(space, h))
		return of_numbers;
	for (i = 0; i < space->n; i++) {
		p = &space->params[i];
		levels = param_levels(p);
		if (levels == 1)
			continue;
		if (p->when != NULL)
			return of_others;
		n++;
		few += p->type == PARAM_CHOICE ||
		       (levels > 0 && levels <= FEW_LEVELS);
	}
	return 2 * few < n || startup_is_several(h) ? of_others : of_few_values;
}

bool
startup_wanted_asked(const struct option_value *values, const struct history *h)
{
	return h == NULL || startup_lasts(h, plugin_option_number(
						 values, "n_startup_trials"));
}

int
startup_suggest(struct suggestion *out, const struct strategy_ask *ask,
    const struct option_value *values, struct err *e)
{
	const struct strategy *first = startup_strategy(values);
	struct option_value *defaults;
	int rc;

	if (plugin_options_read(&defaults, first->options, NULL, NULL, e) != 0)
		return -1;
	rc = first->suggest(out, ask, defaults, e);
	plugin_options_free(defaults);
	return rc;
}
