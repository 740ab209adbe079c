/*
 * TPE: two densities of the parameters are estimated, one of good trials and
 * one of all others; of some points drawn from the first, the one with the
 * largest ratio of the two is suggested.
 *
 * Bergstra, Bardenet, Bengio and Kegl, "Algorithms for hyper-parameter
 * optimization", NIPS 2011; Watanabe, "Tree-structured Parzen estimator",
 * arXiv:2304.11127 (2023); several objectives: Ozaki, Tanigaki, Watanabe and
 * Onishi, "Multiobjective tree-structured Parzen estimator" (2020).  Options,
 * defaults and densities are those of Optuna 5, but with one objective 64 points
 * are drawn instead of 24, which find slightly better values (strategies/README.md).
 */

#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/rng.h"
#include "src/model/history/history.h"
#include "src/model/plugin-options.h"
#include "src/model/space.h"
#include "strategies/startup.h"
#include "strategies/strategy.h"
#include "strategies/tpe/tpe.h"

enum { CANDIDATES = 64, CANDIDATES_SEVERAL = 24 };

static const char *const gammas[] = { "default", "hyperopt", NULL };
static const char *const weights[] = { "default", "uniform", NULL };

static const struct option options[] = {
	STARTUP_OPTIONS("10"),
	{ .name = "n_ei_candidates",
	    .type = OPTION_INT,
	    .min = 1,
	    .max = 1e6,
	    .help = "points drawn, of which the best is tried: 64 with one "
		    "objective, 24 with several" },
	{ .name = "multivariate",
	    .type = OPTION_BOOL,
	    .help = "sample the parameters jointly, not one by one: true with "
		    "one objective" },
	{ .name = "group",
	    .type = OPTION_BOOL,
	    .def = "false",
	    .help = "sample conditional parameters in groups, too" },
	{ .name = "constant_liar",
	    .type = OPTION_BOOL,
	    .def = "true",
	    .help = "count trials that still run among the bad ones" },
	{ .name = "gamma",
	    .type = OPTION_TEXT,
	    .choices = gammas,
	    .def = "default",
	    .help = "how many trials are good: a tenth, or a quarter of the "
		    "root (hyperopt); 25 at most, but of a tenth with several "
		    "objectives" },
	{ .name = "weights",
	    .type = OPTION_TEXT,
	    .choices = weights,
	    .def = "default",
	    .help = "whether older trials than the newest 25 count less, or "
		    "all the same (uniform)" },
	{ .name = "prior_weight",
	    .type = OPTION_REAL,
	    .max = 1e6,
	    .def = "1",
	    .help = "weight of the prior; that of a trial is 1" },
	{ .name = "consider_magic_clip",
	    .type = OPTION_BOOL,
	    .def = "true",
	    .help = "keep bandwidths above a share of the range" },
	{ .name = "consider_endpoints",
	    .type = OPTION_BOOL,
	    .def = "false",
	    .help = "let the bounds widen the outermost bandwidths" },
	{ .type = OPTION_END },
};

static size_t
option_candidates(const struct option_value *values, size_t n_objectives)
{
	if (plugin_option_get(values, "n_ei_candidates")->is_set)
		return (size_t)plugin_option_number(values, "n_ei_candidates");
	return n_objectives == 1 ? CANDIDATES : CANDIDATES_SEVERAL;
}

static enum tpe_joint
option_joint(const struct option_value *values, size_t n_objectives)
{
	bool group = plugin_option_is(values, "group");
	bool together = plugin_option_get(values, "multivariate")->is_set
			    ? plugin_option_is(values, "multivariate")
			    : group || n_objectives == 1;

	if (!together)
		return TPE_ALONE;
	return group ? TPE_GROUPED : TPE_JOINT;
}

static int
tpe_check(
    const struct option_value *values, const struct space *space, struct err *e)
{
	if (plugin_option_is(values, "group") &&
	    plugin_option_get(values, "multivariate")->is_set &&
	    !plugin_option_is(values, "multivariate"))
		return err_set(
		    e, ERR_USAGE, "tpe: group goes with multivariate only");
	return startup_check(values, space, e);
}

static int
tpe_suggest(struct suggestion *out, const struct strategy_ask *ask,
    const struct option_value *values, struct err *e)
{
	const struct history *h = ask->history;
	size_t m;
	enum tpe_split_gamma gamma =
	    plugin_option_says(values, "gamma", "default") ? TPE_GAMMA_TENTH
							   : TPE_GAMMA_ROOT;
	struct tpe_question t = { .ask = ask };

	if (startup_wanted_asked(values, h))
		return startup_suggest(out, ask, values, e);
	t.rule = (struct parzen_rule){
		.prior_weight = plugin_option_number(values, "prior_weight"),
		.magic_clip = plugin_option_is(values, "consider_magic_clip"),
		.endpoints = plugin_option_is(values, "consider_endpoints"),
		.weights = plugin_option_says(values, "weights", "default")
			       ? PARZEN_RECENT
			       : PARZEN_UNIFORM,
	};
	m = history_n_objectives(h);
	t.n_candidates = option_candidates(values, m);
	t.good_rule = t.rule;
	if (m > 1)
		t.good_rule.weights = PARZEN_UNIFORM;
	strategy_rng(&t.rng, ask);
	tpe_split(&t.split, h, tpe_split_gamma(gamma, startup_finished(h), m),
	    plugin_option_is(values, "constant_liar"));
	tpe_candidates_best(&t, out->x, option_joint(values, m));
	tpe_split_free(&t.split);
	return 0;
}

const struct strategy strategy_tpe = {
	.name = "tpe",
	.about = "where good trials are dense and others are not",
	.source = "Bergstra et al. 2011; Watanabe 2023; as Optuna 5",
	.options = options,
	.wants_points = true,
	.wants_curves = true,
	.several = true,
	.constraints = true,
	.check = tpe_check,
	.suggest = tpe_suggest,
};
