/*
 * What TPE makes of a history, as numbers: for tests/optuna-tpe.t, which asks
 * Optuna the same.  Reads one JSON object,
 *	{ space, options: {…}, names: […], n_below,
 *	  trials: [{state, loss, params, curve: [[step, value], …]}, …],
 *	  points: [params, …] }
 * and prints for each point the logarithms of the densities of good trials and
 * of the others over the named parameters, in the units of study.json.
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json.h"
#include "src/base/mem.h"
#include "src/model/history.h"
#include "src/model/space.h"
#include "strategies/tpe.h"

enum { DIMS_MAX = 64 };

struct question {
	const struct json *root;
	struct space *space;
	struct history *history;
	struct parzen_rule rule;
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

static void
read_trial(struct question *q, const struct json *trial)
{
	static const enum trial_state states[] = { TRIAL_RUNNING,
		TRIAL_COMPLETED, TRIAL_STOPPED };
	int state = (int)number(trial, "state", 0);
	int64_t id = history_count(q->history) + 1;
	const struct json *report;
	double u[DIMS_MAX];

	read_point(q, json_get(trial, "params"), u);
	history_add(q->history, id, u);
	for (report = json_first(json_get(trial, "curve")); report != NULL;
	     report = json_next(report))
		history_report(q->history, id,
		    (int64_t)item(json_first(report)),
		    item(json_next(json_first(report))));
	if (state > 0)
		history_end(
		    q->history, id, states[state], number(trial, "loss", NAN));
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
	};
	for (j = json_first(json_get(q->root, "names")); j != NULL;
	     j = json_next(j)) {
		i = space_find(q->space, json_string(j));
		q->which[q->dims] = (size_t)i;
		if (!axis_init(&q->axes[q->dims], &q->space->params[i]))
			continue;
		if (q->axes[q->dims].kind == AXIS_NUMBER)
			q->width += log(q->axes[q->dims].width);
		q->dims++;
	}
	q->history =
	    history_new(q->space->n, false, HISTORY_POINTS | HISTORY_CURVES);
	for (j = json_first(json_get(q->root, "trials")); j != NULL;
	     j = json_next(j))
		read_trial(q, j);
}

static void
fit(struct parzen *p, const struct question *q, const int64_t *trials, size_t n)
{
	size_t kept;
	double *z = tpe_observe(
	    q->history, trials, n, q->axes, q->which, q->dims, &kept);

	parzen_fit(p, &q->rule, q->axes, q->dims, z, kept);
	free(z);
}

static void
answer(struct question *q)
{
	struct tpe_split split;
	struct parzen good, bad;
	const struct json *j;
	double u[DIMS_MAX], z[DIMS_MAX], l, g;
	size_t d;

	tpe_split(
	    &split, q->history, (size_t)number(q->root, "n_below", 1), true);
	fit(&good, q, split.below, split.n_below);
	fit(&bad, q, split.above, split.n_above);
	for (j = json_first(json_get(q->root, "points")); j != NULL;
	     j = json_next(j)) {
		read_point(q, j, u);
		for (d = 0; d < q->dims; d++)
			z[d] = axis_place(&q->axes[d], u[q->which[d]]);
		parzen_log_density(&good, z, 1, &l);
		parzen_log_density(&bad, z, 1, &g);
		printf("%.17g %.17g\n", l - q->width, g - q->width);
	}
	parzen_free(&good);
	parzen_free(&bad);
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
