/*
 * bohb: the budget it learns from, its good trials, and the share of random
 * points.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/model/history/history.h"
#include "src/model/plugin-options.h"
#include "src/model/space.h"
#include "strategies/strategy.h"
#include "tests/support/tap.h"

static const char space_text[] =
    "{\"x\": {\"type\": \"float\", \"min\": 0, \"max\": 1},"
    " \"y\": {\"type\": \"float\", \"min\": 0, \"max\": 1}}";

struct rig {
	struct json_doc *doc;
	struct space *space;
	struct history *h;
};

static void
rig_open(struct rig *r)
{
	struct err e = ERR_INIT;

	if (json_parse(&r->doc, space_text, strlen(space_text), NULL, false,
		&e) != 0 ||
	    space_read(&r->space, json_root(r->doc), &e) != 0) {
		printf("Bail out! %s\n", e.text);
		exit(1);
	}
	r->h = history_new(2, false, HISTORY_POINTS | HISTORY_CURVES);
}

static void
rig_close(struct rig *r)
{
	history_free(r->h);
	space_free(r->space);
	json_free(r->doc);
}

/* Ask for one trial with these options; false: it failed. */
static bool
ask(const struct rig *r, const char *options, int64_t trial, double *x)
{
	const struct strategy *s = strategy_find("bohb");
	struct option_value *values = NULL;
	struct strategy_ask ask = {
		.space = r->space, .history = r->h, .seed = 7, .trial = trial
	};
	struct suggestion out = { .x = x, .made_by = "cpu" };
	struct json_doc *doc = NULL;
	struct err e = ERR_INIT;
	bool good;

	good =
	    json_parse(&doc, options, strlen(options), NULL, false, &e) == 0 &&
	    plugin_options_read(
		&values, s->options, json_root(doc), NULL, &e) == 0 &&
	    s->suggest(&out, &ask, values, &e) == 0;
	if (!good)
		printf("# %s\n", e.text);
	plugin_options_free(values);
	json_free(doc);
	return good;
}

/* The mean of x over 200 questions. */
static double
mean_x(const struct rig *r, const char *options)
{
	double x[2], sum = 0;
	int64_t t;

	for (t = 1; t <= 200; t++)
		sum += ask(r, options, 100 + t, x) ? x[0] : NAN;
	return sum / 200;
}

/* A trial at x that reports a loss at this step. */
static void
report(struct rig *r, int64_t trial, double x, int64_t step, double loss)
{
	double point[2] = { x, fmod((double)trial * 0.37, 1) };

	if (trial > history_count(r->h))
		history_add(r->h, trial, point);
	history_report(r->h, trial, step, loss);
}

static const char sure[] = "{\"random_fraction\": 0}";

/* At step 1 small x are good, at 3 large ones, in the end middle ones. */
static void
test_budgets(void)
{
	struct rig r;
	double x, m;
	int t;

	rig_open(&r);
	for (t = 1; t <= 4; t++)
		report(&r, t, 0.1 * t, 1, 0.1 * t);
	m = mean_x(&r, sure);
	ok(fabs(m - 0.5) < 0.06, "4 trials are too few for 2 parameters: %.2f",
	    m);
	for (t = 5; t <= 40; t++) {
		x = fmod(t * 0.618, 1);
		report(&r, t, x, 1, x);
	}
	m = mean_x(&r, sure);
	ok(m < 0.25, "what is good at step 1: %.2f", m);
	for (t = 1; t <= 4; t++)
		report(&r, t + 40, 0.2 * t, 3, -0.2 * t);
	ok(mean_x(&r, sure) < 0.25, "4 at step 3 are too few");
	for (t = 5; t <= 40; t++) {
		x = fmod(t * 0.618, 1);
		report(&r, t, x, 4, -x);
	}
	m = mean_x(&r, sure);
	ok(m > 0.75, "more of them, first seen past it, decide: %.2f", m);
	ok(mean_x(&r, "{\"random_fraction\": 0, \"min_resource\": 9}") > 0.4 &&
		mean_x(&r, "{\"random_fraction\": 0, \"min_resource\": 9}") <
		    0.6,
	    "no trial reached step 9");
	ok(mean_x(&r, "{\"random_fraction\": 0, \"reduction_factor\": 9}") <
		0.25,
	    "with a factor of 9 step 1 is the largest");
	for (t = 5; t <= 40; t++) {
		x = fmod(t * 0.618, 1);
		history_end(r.h, t, TRIAL_COMPLETED, fabs(x - 0.5));
	}
	m = mean_x(&r, sure);
	ok(fabs(m - 0.5) < 0.1, "completed trials go before all steps: %.2f",
	    m);
	rig_close(&r);
}

/* Failed ones are bad, and cancelled ones nothing. */
static void
test_states(void)
{
	struct rig r;
	double m, n;
	int t;

	rig_open(&r);
	for (t = 1; t <= 20; t++)
		report(&r, t, fmod(t * 0.618, 1), 1, -fmod(t * 0.618, 1));
	m = mean_x(&r, sure);
	for (t = 21; t <= 60; t++) {
		report(&r, t, 0.005 * (t - 21), 1, -9);
		history_end(r.h, t, TRIAL_CANCELLED, NAN);
	}
	is_near(mean_x(&r, sure), m, 0, "cancelled trials say nothing");
	for (t = 61; t <= 100; t++) {
		report(&r, t, 0.8 + 0.005 * (t - 61), 1, -9);
		history_end(r.h, t, TRIAL_FAILED, NAN);
	}
	n = mean_x(&r, sure);
	ok(n < m - 0.05, "failed ones are avoided: %.2f, before %.2f", n, m);
	for (t = 1; t <= 20; t++)
		history_report(r.h, t, 1, NAN);
	ok(isfinite(mean_x(&r, sure)), "nothing but NaN is no harm");
	rig_close(&r);
}

static void
test_chance(void)
{
	const struct strategy *random = strategy_find("random");
	double x[2], y[2];
	struct rig r;
	int t, n = 0, differ = 0;

	rig_open(&r);
	for (t = 1; t <= 30; t++)
		report(&r, t, 0.01 * t, 1, 0.01 * t);
	for (t = 1; t <= 600; t++) {
		struct strategy_ask a = {
			.space = r.space, .seed = 7, .trial = 100 + t
		};
		struct suggestion out = { .x = y };

		(void)random->suggest(&out, &a, NULL, NULL);
		if (!ask(&r, "{}", 100 + t, x))
			break;
		n += x[0] == y[0] && x[1] == y[1];
		(void)ask(&r, "{}", 100 + t, y);
		differ += x[0] != y[0] || x[1] != y[1];
	}
	ok(n > 160 && n < 240, "a third is random: %d of 600", n);
	is_int(differ, 0, "the same question has the same answer");
	ok(mean_x(&r, "{\"random_fraction\": 1}") > 0.4, "or all of them");
	rig_close(&r);
}

int
main(void)
{
	test_budgets();
	test_states();
	test_chance();
	return done_testing();
}
