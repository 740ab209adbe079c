/*
 * The default: asks the strategy that suits the study best at this trial.
 *
 * The table below decides, from top to bottom, by the space, the number of
 * finished trials and their mean duration: all of it is recorded, so a restart
 * comes to the same row.  Its numbers come from the experiments in
 * strategies/README.md, "What the constants rest on".
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/model/history/history.h"
#include "src/model/plugin-options.h"
#include "src/model/space.h"
#include "strategies/gp/gp.h"
#include "strategies/startup.h"
#include "strategies/strategy.h"

enum {
	SMALL = 20, /* settings: trying each costs two startups */
	STARTUP = 10, /* trials before a model is used, with choices */
	GP_TRIALS = 500, /* finished ones up to which gp is asked */
	GP_TRIALS_SEVERAL = 200, /* … with several objectives */
	SEVERAL_TRIALS = 1000, /* as many for tpe with several objectives */
	STUCK_FROM = 100, /* finished trials from which tpe has turns … */
	STUCK_TRIALS = 10 /* … when so many had no progress */
};

/* A trial that gp does not delay: it needs 7 to 20 ms for a suggestion, a tenth. */
static const double long_seconds = 0.2;

struct facts {
	const struct strategy_ask *ask;
	size_t finished;
	size_t parameters; /* with more than one value */
	size_t choices; /* unordered ones among them */
	double settings; /* of the space; infinite = continuous */
};

static struct facts
facts_of(const struct strategy_ask *ask)
{
	struct facts f = { .ask = ask, .settings = 1 };
	const struct param *p;
	uint64_t levels;
	size_t i;

	f.finished = ask->history != NULL ? startup_finished(ask->history) : 0;
	for (i = 0; i < ask->space->n; i++) {
		p = &ask->space->params[i];
		levels = param_levels(p);
		if (levels == 1)
			continue;
		f.parameters++;
		f.choices += p->type == PARAM_CHOICE && !p->ordered;
		f.settings *= levels > 0 ? (double)levels : 1.0 / 0.0;
	}
	return f;
}

static bool
is_small(const struct facts *f)
{
	return f->settings <= SMALL;
}

static bool
is_without_worker(const struct facts *f)
{
	return f->ask->no_worker;
}

static bool
auto_is_short(const struct facts *f)
{
	return f->ask->trial_seconds > 0 &&
	       f->ask->trial_seconds < long_seconds;
}

static bool
auto_is_several(const struct facts *f)
{
	return f->ask->history != NULL &&
	       history_n_objectives(f->ask->history) > 1;
}

static bool
is_of_numbers(const struct facts *f)
{
	return startup_is_of_numbers(f->ask->space, f->ask->history);
}

/*
 * The trials before the first model: with choices gp needs fewer than another.
 */
static double
start_trials(const struct facts *f)
{
	if (!is_of_numbers(f) && (is_without_worker(f) || auto_is_short(f)))
		return STARTUP;
	return startup_trials(f->ask->space, f->ask->history);
}

static bool
auto_is_starting(const struct facts *f)
{
	return f->ask->history == NULL ||
	       startup_lasts(f->ask->history, start_trials(f));
}

static bool
is_starting_of_numbers(const struct facts *f)
{
	return is_of_numbers(f) && auto_is_starting(f);
}

static bool
is_starting_of_few(const struct facts *f)
{
	return start_trials(f) < STARTUP && auto_is_starting(f);
}

static bool
is_of_choices(const struct facts *f)
{
	return f->choices == f->parameters;
}

static bool
is_few(const struct facts *f)
{
	return f->finished < GP_TRIALS;
}

/*
 * Two of four trials: of the other two one is for the surroundings of the best
 * trial, which gp asks for in every other one (gp_region_wanted).
 */
static bool
is_turn(const struct facts *f)
{
	return f->ask->trial % 4 == 0 || f->ask->trial % 4 == 3;
}

/*
 * gp has no progress with numbers: tpe searches otherwise, and gp learns from it.
 * With choices it was no better.
 */
static bool
is_stuck(const struct facts *f)
{
	return is_of_numbers(f) && is_few(f) && f->finished >= STUCK_FROM &&
	       is_turn(f) &&
	       gp_stagnation_trials(f->ask->history) >= STUCK_TRIALS;
}

/* gp can be asked, and delays no trial. */
static bool
is_several_of_gp(const struct facts *f)
{
	return auto_is_several(f) && f->finished < GP_TRIALS_SEVERAL &&
	       !is_without_worker(f) && !auto_is_short(f) && !is_of_choices(f);
}

static bool
is_several_few(const struct facts *f)
{
	return auto_is_several(f) && f->finished < SEVERAL_TRIALS;
}

static bool
is_any(const struct facts *f)
{
	(void)f;
	return true;
}

extern const struct strategy strategy_cmaes;
extern const struct strategy strategy_gp;
extern const struct strategy strategy_grid;
extern const struct strategy strategy_nsga2;
extern const struct strategy strategy_middle;
extern const struct strategy strategy_sobol;
extern const struct strategy strategy_tpe;

/* The first row that holds; hpotune-strategies(7) has the same rows. */
static const struct {
	bool (*holds)(const struct facts *);
	const struct strategy *use;
	const char *why;
} rows[] = {
	{ is_small, &strategy_grid, "at most 20 settings: each once" },
	{ is_starting_of_numbers, &strategy_middle,
	    "numbers alone, fewer than 6 trials, or fewer than 5 finished: the "
	    "middle of all ranges, then evenly spread points" },
	{ is_starting_of_few, &strategy_sobol,
	    "fewer than 5 finished trials, most parameters are choices or have "
	    "few values: evenly spread points" },
	{ auto_is_starting, &strategy_sobol,
	    "fewer than 10 trials, or fewer than 5 finished: evenly spread "
	    "points" },
	{ is_several_of_gp, &strategy_gp,
	    "several objectives, fewer than 200 finished trials" },
	{ is_several_few, &strategy_tpe,
	    "several objectives, fewer than 1000 finished trials" },
	{ auto_is_several, &strategy_nsga2,
	    "several objectives, 1000 finished trials or more" },
	{ is_without_worker, &strategy_tpe, "hpotune-worker cannot be used" },
	{ auto_is_short, &strategy_tpe,
	    "trials take less than 0.2 s on average" },
	{ is_stuck, &strategy_tpe,
	    "100 finished trials or more, the last 10 without progress, all "
	    "parameters are numbers: tpe for every other trial" },
	{ is_few, &strategy_gp, "fewer than 500 finished trials" },
	{ is_of_numbers, &strategy_cmaes,
	    "500 finished trials or more, all parameters are numbers" },
	{ is_any, &strategy_tpe,
	    "500 finished trials or more, some parameters are choices or have "
	    "conditions" },
};

static const struct strategy *
auto_choose(struct strategy_ask *ask, const char **why)
{
	struct facts f = facts_of(ask);
	size_t i = 0;

	while (!rows[i].holds(&f))
		i++;
	*why = rows[i].why;
	/* cmaes starts from the best of the trials before it. */
	if (rows[i].use == &strategy_cmaes)
		ask->n_known = startup_last(ask->history, GP_TRIALS);
	return rows[i].use;
}

/* With the defaults of the chosen strategy. */
static int
auto_suggest(struct suggestion *out, const struct strategy_ask *ask,
    const struct option_value *values, struct err *e)
{
	struct option_value *theirs;
	struct strategy_ask question = *ask;
	const struct strategy *use;
	const char *why;
	int rc;

	(void)values;
	use = auto_choose(&question, &why);
	if (plugin_options_read(&theirs, use->options, NULL, NULL, e) != 0)
		return -1;
	rc = use->suggest(out, &question, theirs, e);
	plugin_options_free(theirs);
	return rc;
}

const struct strategy strategy_auto = {
	.name = "auto",
	.about = "the strategy that suits the study, trial by trial",
	.source = "strategies/README.md",
	.wants_points = true,
	.wants_curves = true,
	.wants_seconds = true,
	.several = true,
	.constraints = true,
	.choose = auto_choose,
	.suggest = auto_suggest,
};
