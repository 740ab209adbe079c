/*
 * How a history becomes the distribution of CMA-ES: generations, late, stopped
 * and failed trials, distant points, other studies, restarts, margins.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kernels.h"
#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/model/history/history.h"
#include "src/model/space.h"
#include "strategies/cmaes/cmaes.h"
#include "strategies/strategy.h"
#include "tests/support/search-run.h"
#include "tests/support/tap.h"

#define FLOAT "{\"type\": \"float\", \"min\": 0, \"max\": 1}"
#define INT "{\"type\": \"int\", \"min\": 0, \"max\": 9}"

enum { LAMBDA = 6 }; /* of two and three dimensions: 4 + floor(3 ln 2) */

static const char square[] = "{\"x\": " FLOAT ", \"y\": " FLOAT "}";
static const char levels[] = "{\"x\": " FLOAT ", \"n\": " INT "}";

static void
give(const struct value *v, double *losses, double *bounds)
{
	double x = v[0].real - 0.9, y = v[1].real - 0.2;

	(void)bounds;
	losses[0] = x * x + 3 * y * y;
}

static void
give_flat(const struct value *v, double *losses, double *bounds)
{
	(void)v;
	(void)bounds;
	losses[0] = 1;
}

static const struct function bowl = { "bowl", square, 1, 0, 0, { 0 }, give };
static const struct function plain = { "plain", square, 1, 0, 0, { 0 },
	give_flat };
static const struct function stairs = { "stairs", levels, 1, 0, 0, { 0 },
	give };

static struct cmaes_rule
rule(void)
{
	return (struct cmaes_rule){ .margin = true,
		.stopped = true,
		.restart = CMAES_IPOP,
		.grow = 2 };
}

/* The distribution after the history of s; trials 1 to known are others'. */
static int
recall_known(struct cmaes_distribution *c, struct axis axes[2],
    const struct search_run_state *s, const struct cmaes_rule *r, int64_t known)
{
	static size_t which[] = { 0, 1 };
	struct strategy_ask ask = { .space = s->space,
		.history = s->history,
		.seed = s->seed,
		.n_known = known,
		.kernels = s->kernels };
	struct cmaes_axes a = { axes, which, 2 };

	tpe_axis_init(&axes[0], &s->space->params[0]);
	tpe_axis_init(&axes[1], &s->space->params[1]);
	return cmaes_replay_history(c, &ask, r, &a);
}

static int
recall(struct cmaes_distribution *c, struct axis axes[2],
    const struct search_run_state *s, const struct cmaes_rule *r)
{
	return recall_known(c, axes, s, r, 0);
}

static void
add(struct search_run_state *s, double x, double y, enum trial_state state,
    double loss)
{
	int64_t trial = history_count(s->history) + 1;
	double point[] = { x, y };

	space_snap(s->space, point);
	history_add(s->history, trial, point);
	if (state != TRIAL_RUNNING)
		history_end(s->history, trial, state, loss);
}

static void
generations_are(const struct search_run_state *s, const struct cmaes_rule *r,
    long long want, const char *what)
{
	struct axis axes[2];
	struct cmaes_distribution c;

	if (!ok(recall(&c, axes, s, r) == 0, "%s", what))
		return;
	is_int(c.generation, want, "the number of generations");
	cmaes_distribution_free(&c);
}

static void
check_generations(void)
{
	struct cmaes_rule r = rule(), survivors = rule();
	struct search_run_state s;
	int i;

	survivors.stopped = false;
	(void)search_run_open(&s, &bowl, "cmaes", "{}", 1);
	generations_are(&s, &r, 0, "of nothing");
	for (i = 0; i < LAMBDA - 1; i++)
		add(&s, 0.1 * i, 0.5, TRIAL_COMPLETED, i);
	add(&s, 0.5, 0.5, TRIAL_RUNNING, 0);
	add(&s, 0.5, 0.5, TRIAL_CANCELLED, NAN);
	generations_are(&s, &r, 0, "one that runs, one that was cancelled");
	add(&s, 0.5, 0.9, TRIAL_STOPPED, NAN);
	generations_are(&s, &r, 1, "a stopped one");
	generations_are(&s, &survivors, 0, "which is not looked at");
	for (i = 0; i < LAMBDA; i++)
		add(&s, 0.1 * i, 0.5, TRIAL_FAILED, NAN);
	generations_are(&s, &r, 1, "a generation that failed is passed over");
	history_end(s.history, LAMBDA, TRIAL_COMPLETED, 0.5);
	generations_are(&s, &r, 2, "one that ends late has its place");
	search_run_close(&s);
}

/* Stopped trials are worse than completed ones, failed ones than those. */
static void
check_order(void)
{
	struct cmaes_rule r = rule();
	struct axis axes[2];
	struct search_run_state s;
	struct cmaes_distribution c;

	(void)search_run_open(&s, &bowl, "cmaes", "{}", 1);
	add(&s, 0.1, 0.5, TRIAL_FAILED, NAN);
	add(&s, 0.2, 0.5, TRIAL_STOPPED, NAN);
	add(&s, 0.8, 0.5, TRIAL_COMPLETED, 3);
	add(&s, 0.1, 0.5, TRIAL_COMPLETED, NAN);
	add(&s, 0.9, 0.5, TRIAL_COMPLETED, 2);
	add(&s, 0.8, 0.5, TRIAL_COMPLETED, 5);
	(void)recall(&c, axes, &s, &r);
	ok(c.mean[0] > 0.8, "it moves to those that completed (%g)", c.mean[0]);
	cmaes_distribution_free(&c);
	search_run_close(&s);
}

static void
check_far(void)
{
	struct cmaes_rule r = rule();
	struct axis axes[2];
	struct search_run_state s;
	struct cmaes_distribution c;
	int i;

	r.sigma = 1e-4;
	(void)search_run_open(&s, &bowl, "cmaes", "{}", 1);
	for (i = 0; i < LAMBDA; i++)
		add(&s, i % 2, i % 3 * 0.5, TRIAL_COMPLETED, i);
	(void)recall(&c, axes, &s, &r);
	ok(c.sigma > 1e-5 && c.sigma < 1e-3,
	    "points from far away do not burst it (%g)", c.sigma);
	cmaes_distribution_free(&c);
	search_run_close(&s);
}

/* The tenth of 20 trials: two points, whose middle and spread are known. */
static void
check_before(void)
{
	struct cmaes_rule r = rule();
	double point[2], a, b;
	struct axis axes[2];
	struct search_run_state s;
	struct cmaes_distribution c;
	int i;

	(void)search_run_open(&s, &bowl, "cmaes", "{}", 1);
	history_add_prior(s.history, 20);
	for (i = -19; i <= 0; i++) {
		point[0] = i == -7 ? 0.6 : i == -3 ? 0.8 : 0.1;
		point[1] = 0.4;
		space_snap(s.space, point);
		history_add(s.history, i, point);
		history_end(
		    s.history, i, TRIAL_COMPLETED, i == -7 || i == -3 ? -1 : 1);
	}
	ok(recall(&c, axes, &s, &r) == 0, "other studies' trials before");
	is_near(c.mean[0], 0.7, 1e-12, "the mean of the best");
	is_near(c.mean[1], 0.4, 1e-12, "in the other dimension");
	/* Variances 0.01 + 0.01 and 0.01. */
	a = c.sigma * c.sigma * c.cov[0];
	b = c.sigma * c.sigma * c.cov[3];
	is_near(a, 0.02, 1e-12, "their variance");
	is_near(b, 0.01, 1e-12, "and the least there is");
	is_near(c.cov[0] * c.cov[3], 1, 1e-12, "the shape has volume 1");
	is_int(c.generation, 0, "they are no generations");
	cmaes_distribution_free(&c);
	r.sigma = 0.3;
	(void)recall(&c, axes, &s, &r);
	is_near(c.sigma, 0.3, 0, "unless sigma0 is given");
	cmaes_distribution_free(&c);
	search_run_close(&s);
}

/* Of 20 usable trials two are the best: 0.6 weighs log 2.5, 0.8 log 1.25. */
static void
known_are(const struct search_run_state *s, const struct cmaes_rule *r,
    int64_t n_known, const char *what)
{
	double w = log(2.5) / (log(2.5) + log(1.25)), mean,
	       spread = 0.1 / sqrt(2);
	struct axis axes[2];
	struct cmaes_distribution c;

	mean = 0.6 * w + 0.8 * (1 - w);
	if (!ok(recall_known(&c, axes, s, r, n_known) == 0, "%s", what))
		return;
	is_near(c.mean[0], mean, 1e-9, "the mean of the best, by rank");
	is_near(c.mean[1], 0.4 * w + 0.5 * (1 - w), 1e-9, "of each number");
	is_near(c.sigma * c.sigma * c.cov[0],
	    spread * spread + w * (0.6 - mean) * (0.6 - mean) +
		(1 - w) * (0.8 - mean) * (0.8 - mean),
	    1e-9, "their variance");
	is_near(c.cov[1], 0, 0, "no covariance");
	is_int(c.generation, 0, "they are no generations");
	cmaes_distribution_free(&c);
}

/* Trials that another strategy suggested, and the first points. */
static void
check_known(void)
{
	struct cmaes_rule r = rule(), first = rule();
	struct axis axes[2];
	struct search_run_state s;
	struct cmaes_distribution c;
	int i;

	(void)search_run_open(&s, &bowl, "cmaes", "{}", 1);
	for (i = 1; i <= 21; i++)
		add(&s,
		    i == 7    ? 0.6
		    : i == 12 ? 0.8
			      : 0.1,
		    i == 7 ? 0.4 : 0.5, i == 3 ? TRIAL_FAILED : TRIAL_COMPLETED,
		    i == 7    ? -2
		    : i == 12 ? -1
			      : 1);
	add(&s, 0.9, 0.9, TRIAL_COMPLETED, -3);
	known_are(&s, &r, 21, "20 trials of another strategy");
	first.n_startup = 21;
	known_are(&s, &first, 0, "20 first points");
	for (i = 1; i < LAMBDA; i++)
		add(&s, 0.5, 0.5, TRIAL_COMPLETED, 0);
	generations_are(&s, &first, 1, "later ones are a generation");
	r.sigma = 0.3;
	(void)recall_known(&c, axes, &s, &r, 21);
	is_int(c.generation, 27 / LAMBDA, "with sigma0 all of them are");
	cmaes_distribution_free(&c);
	search_run_close(&s);
	r.sigma = 0;
	(void)search_run_open(&s, &bowl, "cmaes", "{}", 1);
	for (i = 1; i <= 20; i++)
		add(&s, 0.5, 0.5, TRIAL_FAILED, NAN);
	(void)recall_known(&c, axes, &s, &r, 20);
	is_near(c.sigma, 1 / 6.0, 0, "of failed ones: the usual start");
	cmaes_distribution_free(&c);
	search_run_close(&s);
}

/*
 * A server that starts again has the trials alone: it suggests what the first
 * one would have, before and after the first points and a restart.
 */
static void
check_same_again(void)
{
	static const char options[] =
	    "{\"n_startup_trials\": 12, \"restart_strategy\": \"bipop\"}";
	double x[2], y[2];
	struct search_run_state s, again;
	int64_t i, n;
	bool same = true;

	(void)search_run_open(&s, &plain, "cmaes", options, 1);
	for (n = 1; n <= 400; n++) {
		if (n % 40 == 11 || n == 12) {
			(void)search_run_open(
			    &again, &plain, "cmaes", options, 1);
			for (i = 1; i < n; i++) {
				const double *p = history_point(s.history, i);

				add(&again, p[0], p[1], TRIAL_COMPLETED, 1);
			}
			(void)search_run_ask(&s, x);
			(void)search_run_ask(&again, y);
			same = same && x[0] == y[0] && x[1] == y[1];
			search_run_close(&again);
		}
		(void)search_run_tell(&s, search_run_next(&s));
	}
	ok(same, "the same suggestions from the same trials");
	search_run_close(&s);
}

/* Whether a strategy with n floats goes on without kernels: no full matrix. */
static bool
is_separable(int n)
{
	struct function f = { .name = "many", .give = give };
	struct buf b = { 0 };
	struct search_run_state s;
	int i;
	bool good;

	for (i = 0; i < n; i++)
		buf_printf(&b, "%s\"p%d\": " FLOAT, i == 0 ? "{" : ", ", i);
	buf_putc(&b, '}');
	f.space = buf_str(&b);
	f.n_losses = 1;
	(void)search_run_open(
	    &s, &f, "cmaes", "{\"restart_strategy\": \"none\"}", 1);
	(void)search_run(&s, 20, 1);
	s.kernels = NULL;
	good = search_run_next(&s) > 0;
	search_run_close(&s);
	buf_free(&b);
	return good;
}

static void
check_many(void)
{
	ok(!is_separable(100), "100 parameters: a full covariance");
	ok(is_separable(101), "101 parameters: the widths alone");
}

static size_t
lambda_after(enum cmaes_restart restart, int trials)
{
	struct cmaes_rule r = rule();
	struct axis axes[2];
	struct search_run_state s;
	struct cmaes_distribution c;
	size_t lambda;

	r.restart = restart;
	(void)search_run_open(&s, &plain, "cmaes", "{}", 1);
	(void)search_run(&s, trials, 1);
	(void)recall(&c, axes, &s, &r);
	lambda = c.lambda;
	cmaes_distribution_free(&c);
	search_run_close(&s);
	return lambda;
}

/* The same loss everywhere: 10 + 30 d / lambda generations, and it is over. */
static void
check_restart(void)
{
	is_int((long long)lambda_after(CMAES_NO_RESTART, 300), LAMBDA,
	    "it never begins again");
	is_int((long long)lambda_after(CMAES_IPOP, 300), 2 * LAMBDA,
	    "it begins again with twice as many");
	ok(lambda_after(CMAES_BIPOP, 380) < 2 * LAMBDA,
	    "it begins again with few, by turns");
}

/* The int has converged on 3: other values keep being drawn. */
static void
check_margin(void)
{
	struct cmaes_rule r = rule();
	double x[2], at[2];
	int count[10] = { 0 }, i, others = 0;
	struct axis axes[2];
	struct search_run_state s;
	struct rng rng;
	struct cmaes_distribution c;

	(void)search_run_open(&s, &stairs, "cmaes", "{}", 1);
	for (i = 0; i < 40 * LAMBDA; i++)
		add(&s, 0.5 + (i % 7) * 1e-3, 0.35, TRIAL_COMPLETED,
		    (double)(i % 7));
	(void)recall(&c, axes, &s, &r);
	rng_init(&rng, 1, 1);
	for (i = 0; i < 2000; i++) {
		(void)cmaes_distribution_draw(&c, &rng, x, at);
		count[(int)(at[1] * 10)]++;
	}
	for (i = 0; i < 10; i++)
		others += i == 3 ? 0 : count[i];
	/* At least 1 / (2 lambda) of both sides together: 167 of 2000. */
	ok(count[3] > others && others > 80,
	    "other levels are drawn, %d times of 2000", others);
	ok(c.sigma * sqrt(c.cov[0]) < 0.05, "while the number converges");
	cmaes_distribution_free(&c);
	search_run_close(&s);
}

static void
check_options(void)
{
	double x[2], y[2];
	struct search_run_state s;

	ok(!search_run_open(&s, &bowl, "cmaes", "{\"x0\": {\"z\": 1}}", 1),
	    "x0 of a parameter that is not there: %s", s.err.text);
	search_run_close(&s);
	ok(!search_run_open(&s, &bowl, "cmaes", "{\"x0\": {\"x\": 2}}", 1),
	    "x0 out of range: %s", s.err.text);
	search_run_close(&s);
	(void)search_run_open(&s, &bowl, "cmaes",
	    "{\"x0\": {\"x\": 0.75}, \"sigma0\": 0.00001}", 1);
	(void)search_run_ask(&s, x);
	is_near(x[0], 0.75, 1e-3, "it begins at x0");
	is_near(x[1], 0.5, 1e-3, "or in the middle");
	s.kernels = NULL;
	(void)search_run_ask(&s, y);
	ok(x[0] == y[0] && x[1] == y[1], "kernels are not needed at first");
	search_run_close(&s);
}

int
main(void)
{
	check_generations();
	check_order();
	check_far();
	check_before();
	check_known();
	check_same_again();
	check_many();
	check_restart();
	check_margin();
	check_options();
	return done_testing();
}
