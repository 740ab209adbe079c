/*
 * What TPE makes of a history, as numbers: for tests/peers/optuna-tpe.t, which asks
 * Optuna the same.  Reads one JSON object,
 *	{ space, options: {…}, names: […], maximize: [0 or 1, …], bounds: n,
 *	  trials: [{state, losses, violations, params,
 *	    curve: [[step, value], …]}, …],
 *	  points: [params, …] }
 * and prints the numbers of the good trials, those of the others, for each
 * parameter the first one of its group (of those that are sampled together), and
 * for each point the logarithms of the densities of good trials and of the
 * others over the named parameters, in the units of study.json.
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/history/history.h"
#include "src/model/space.h"
#include "strategies/startup.h"
#include "strategies/tpe/tpe.h"

enum { DIMS_MAX = 64, LIST_MAX = 8 };

struct question {
	const struct json *root;
	struct space *space;
	struct history *history;
	struct parzen_rule rule, good_rule;
	size_t n_losses, n_bounds;
	struct axis axes[DIMS_MAX];
	size_t which[DIMS_MAX], dims;
	double width; /* ln of the product over the continuous ones */
	struct err err;
};

static void
die(const struct err *e)
{
	fprintf(stderr, "tpe-density: %s\n", e->text);
	exit(1);
}

static double
number(const struct json *block, const char *key, double def)
{
	const struct json *j = json_get(block, key);

	if (j != NULL)
		(void)json_number(j, &def);
	return def;
}

static double
item(const struct json *j)
{
	double x = NAN; /* null is NaN, too */

	(void)json_number(j, &x);
	return x;
}

static void
read_point(struct question *q, const struct json *params, double *u)
{
	struct value values[DIMS_MAX];

	if (space_read_values(q->space, params, values, &q->err) != 0)
		die(&q->err);
	space_encode(q->space, values, u);
}

static size_t
read_list(const struct json *list, double *out)
{
	const struct json *j;
	size_t n = 0;

	for (j = json_first(list); j != NULL && n < LIST_MAX; j = json_next(j))
		out[n++] = item(j);
	return n;
}

static void
read_trial(struct question *q, const struct json *trial)
{
	static const enum trial_state states[] = { TRIAL_RUNNING,
		TRIAL_COMPLETED, TRIAL_STOPPED };
	int state = (int)number(trial, "state", 0);
	int64_t id = history_count(q->history) + 1;
	double u[DIMS_MAX], losses[LIST_MAX] = { NAN }, bounds[LIST_MAX];
	const struct json *report;

	read_point(q, json_get(trial, "params"), u);
	history_add(q->history, id, u);
	for (report = json_first(json_get(trial, "curve")); report != NULL;
	     report = json_next(report))
		history_report(q->history, id,
		    (int64_t)item(json_first(report)),
		    item(json_next(json_first(report))));
	if (state == 0)
		return;
	read_list(json_get(trial, "losses"), losses);
	read_list(json_get(trial, "violations"), bounds);
	if (q->n_losses > 1 || q->n_bounds > 0)
		history_results(q->history, id, losses, bounds);
	history_end(q->history, id, states[state], losses[0]);
}

/* History and rule, as the strategy makes them of its options. */
static void
read_aims(struct question *q)
{
	double maximize[LIST_MAX] = { 0 };
	bool goals[LIST_MAX];
	size_t i;

	q->n_losses = read_list(json_get(q->root, "maximize"), maximize);
	q->n_bounds = (size_t)number(q->root, "bounds", 0);
	for (i = 0; i < q->n_losses; i++)
		goals[i] = maximize[i] != 0;
	q->history =
	    history_new(q->space->n, goals[0], HISTORY_POINTS | HISTORY_CURVES);
	if (q->n_losses > 1 || q->n_bounds > 0)
		history_set_objectives(
		    q->history, q->n_losses, goals, q->n_bounds);
	q->good_rule = q->rule;
	if (q->n_losses > 1)
		q->good_rule.weights = PARZEN_UNIFORM;
}

static void
read_question(struct question *q)
{
	const struct json *options = json_get(q->root, "options"), *j;
	int i;

	if (space_read(&q->space, json_get(q->root, "space"), &q->err) != 0)
		die(&q->err);
	q->rule = (struct parzen_rule){
		.prior_weight = number(options, "prior_weight", 1),
		.magic_clip = number(options, "consider_magic_clip", 1) != 0,
		.endpoints = number(options, "consider_endpoints", 0) != 0,
		.weights = number(options, "uniform", 0) != 0 ? PARZEN_UNIFORM
							      : PARZEN_RECENT,
	};
	read_aims(q);
	for (j = json_first(json_get(q->root, "names")); j != NULL;
	     j = json_next(j)) {
		i = space_find(q->space, json_string(j));
		q->which[q->dims] = (size_t)i;
		if (!tpe_axis_init(&q->axes[q->dims], &q->space->params[i]))
			continue;
		if (q->axes[q->dims].kind == TPE_AXIS_NUMBER)
			q->width += log(q->axes[q->dims].width);
		q->dims++;
	}
	for (j = json_first(json_get(q->root, "trials")); j != NULL;
	     j = json_next(j))
		read_trial(q, j);
}

static void
fit(struct parzen *p, const struct question *q, const struct parzen_rule *rule,
    const int64_t *trials, size_t n)
{
	size_t kept;
	double *z = tpe_groups_observations(
	    q->history, trials, n, q->axes, q->which, q->dims, &kept);

	tpe_parzen_fit(p, rule, q->axes, q->dims, z, kept);
	free(z);
}

static void
print_list(const int64_t *trials, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		printf("%s%d", i > 0 ? " " : "", (int)trials[i]);
	putchar('\n');
}

static void
print_groups(struct question *q)
{
	static const enum tpe_joint joints[] = { TPE_ALONE, TPE_JOINT,
		TPE_GROUPED };
	int joint = (int)number(q->root, "joint", 1), group[DIMS_MAX];
	int64_t first[DIMS_MAX];
	size_t i;

	tpe_groups(group, q->space, q->history, joints[joint]);
	for (i = 0; i < q->space->n; i++)
		for (first[i] = 0; group[first[i]] != group[i]; first[i]++)
			;
	print_list(first, q->space->n);
}

static size_t
n_below(const struct question *q)
{
	const struct json *options = json_get(q->root, "options");
	enum tpe_split_gamma gamma = number(options, "hyperopt", 0) != 0
					 ? TPE_GAMMA_ROOT
					 : TPE_GAMMA_TENTH;

	return tpe_split_gamma(
	    gamma, startup_finished(q->history), q->n_losses);
}

static void
answer(struct question *q)
{
	bool liar =
	    number(json_get(q->root, "options"), "constant_liar", 1) != 0;
	struct tpe_split split;
	struct parzen good, bad;
	const struct json *j;
	double u[DIMS_MAX], z[DIMS_MAX], l, g;
	size_t d;

	tpe_split(&split, q->history, n_below(q), liar);
	print_list(split.below, split.n_below);
	print_list(split.above, split.n_above);
	print_groups(q);
	fit(&good, q, &q->good_rule, split.below, split.n_below);
	fit(&bad, q, &q->rule, split.above, split.n_above);
	for (j = json_first(json_get(q->root, "points")); j != NULL;
	     j = json_next(j)) {
		read_point(q, j, u);
		for (d = 0; d < q->dims; d++)
			z[d] = tpe_axis_from_cube(&q->axes[d], u[q->which[d]]);
		tpe_density_log(&good, z, 1, &l);
		tpe_density_log(&bad, z, 1, &g);
		printf("%.17g %.17g\n", l - q->width, g - q->width);
	}
	tpe_parzen_free(&good);
	tpe_parzen_free(&bad);
	tpe_split_free(&split);
}

int
main(void)
{
	struct question q = { .err = ERR_INIT };
	struct json_doc *doc = NULL;
	struct buf text = { 0 };
	char part[65536];
	size_t n;

	while ((n = fread(part, 1, sizeof part, stdin)) > 0)
		buf_add(&text, part, n);
	if (json_parse(
		&doc, buf_str(&text), text.len, "stdin", false, &q.err) != 0)
		die(&q.err);
	q.root = json_root(doc);
	read_question(&q);
	answer(&q);
	history_free(q.history);
	space_free(q.space);
	json_free(doc);
	buf_free(&text);
	return 0;
}
