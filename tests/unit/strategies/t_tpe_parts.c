/*
 * The parts of TPE: the normal distribution in its tails, weights, bandwidths
 * and densities against published numbers, the split, the groups.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/model/history/history.h"
#include "src/model/space.h"
#include "strategies/startup.h"
#include "strategies/tpe/tpe-masses.h"
#include "strategies/tpe/tpe-normal.h"
#include "strategies/tpe/tpe.h"
#include "tests/support/tap.h"

static const struct parzen_rule rule = { 1, true, false, PARZEN_RECENT };

/* Numbers of mpmath, 50 digits. */
static void
check_normal(void)
{
	is_near(
	    tpe_normal_log_below(-1), -1.8410216450092635, 1e-15, "below -1");
	is_near(tpe_normal_log_below(-37.2), -696.45596862053305, 1e-11,
	    "below -37.2");
	is_near(tpe_normal_log_below(-1000), -500007.82669481218, 1e-8,
	    "below -1000");
	is_near(tpe_normal_log_below(9) / 1.1285884059538406e-19, -1, 1e-13,
	    "below 9");
	is_near(tpe_normal_log_between(-1, 2), -0.20016629432446258, 1e-15,
	    "between -1 and 2");
	is_near(tpe_normal_log_between(30, 31), -454.32124395634325, 1e-11,
	    "between 30 and 31");
	is_near(tpe_normal_log_between(-41, -40), -804.60844201375379, 1e-10,
	    "between -41 and -40");
	is_near(
	    tpe_normal_log_between(-INFINITY, INFINITY), 0, 0, "everything");
	is_near(tpe_normal_log_around(3, 1e-9), -25.449057189591139, 1e-12,
	    "a sliver");
	is_near(tpe_normal_log_around(3, 0.16),
	    tpe_normal_log_between(2.84, 3.16), 1e-11,
	    "an interval, both ways");
	is_near(
	    tpe_normal_quantile(0.975), 1.9599639845400542, 1e-14, "quantile");
	is_near(tpe_normal_quantile(1e-300), -37.047096299361199, 1e-12,
	    "quantile of next to nothing");
}

/* Many at a time, against one at a time: near 0, in the tails, short and long. */
static void
check_masses(void)
{
	enum { N = 20000 };
	double *middle = xcalloc(3 * N, sizeof *middle), *half = middle + N;
	double *got = half + N, want, worst = 0, off;
	struct rng rng;
	int i;

	rng_init(&rng, 1, 2);
	for (i = 0; i < N; i++) {
		middle[i] = pow(10, 5 * rng_uniform(&rng) - 3);
		if (i % 2 != 0)
			middle[i] = -middle[i];
		half[i] = pow(10, 7 * rng_uniform(&rng) - 5);
	}
	for (i = 0; i < 70; i++)
		tpe_masses_log(got, middle, half, (size_t)i);
	tpe_masses_log(got, middle, half, N);
	for (i = 0; i < N; i++) {
		want = tpe_normal_log_around(middle[i], half[i]);
		off = fabs(got[i] - want) / fmax(1, fabs(want));
		worst =
		    off <= worst ? worst : off; /* also of what is no number */
	}
	ok(worst < 1e-12, "masses of 20,000 intervals");
	printf("# at most %.3g from those of one at a time\n", worst);
	free(middle);
}

static void
check_cut(void)
{
	static const double a[] = { -1, -0.2, 0, 2, 20, 60, -70, -1e-5, 5 };
	static const double b[] = { 2, 0.1, 3, 2.5, 20.01, 61, -60, 1e-5, 90 };
	double x, q, part;
	size_t i;
	int k;
	bool good = true;

	for (i = 0; i < sizeof a / sizeof *a; i++)
		for (k = 1; k < 20; k++) {
			q = k / 20.0;
			x = tpe_normal_between_quantile(q, a[i], b[i]);
			part = tpe_normal_log_between(a[i], x) -
			       tpe_normal_log_between(a[i], b[i]);
			if (fabs(exp(part) - q) < 1e-8 && x > a[i] && x < b[i])
				continue;
			good = false;
			printf("# %g of [%g, %g]: %.17g, which has %g\n", q,
			    a[i], b[i], x, exp(part));
		}
	ok(good, "the share q of a cut normal lies below its quantile");
	is_near(tpe_normal_between_quantile(0, -1, 2), -1, 0, "quantile of 0");
	is_near(tpe_normal_between_quantile(1, -1, 2), 2, 0, "quantile of 1");
}

static void
check_weights(void)
{
	double w[30];
	int i;

	tpe_parzen_weigh(w, 30, PARZEN_RECENT);
	is_near(w[0], 1 / 30.0, 1e-15, "oldest of 30");
	is_near(w[1], 0.275, 1e-15, "second of 30");
	is_near(w[3], 0.75833333333333333, 1e-15, "fourth of 30");
	for (i = 4; i < 30 && w[i] == 1; i++)
		;
	is_int(i, 30, "the others count fully");
	tpe_parzen_weigh(w, 26, PARZEN_RECENT);
	is_near(w[0], 1 / 26.0, 1e-15, "oldest of 26");
	tpe_parzen_weigh(w, 30, PARZEN_UNIFORM);
	is_near(w[0], 1, 0, "uniform");
}

static double
bandwidth(const struct parzen *p, size_t k)
{
	return M_SQRT1_2 / p->scale[k] * p->axes[0].width;
}

/* ln density at z in the user's numbers. */
static double
density(const struct parzen *p, double z)
{
	double out;

	tpe_density_log(p, &z, 1, &out);
	if (p->axes[0].kind == TPE_AXIS_NUMBER)
		out -= log(p->axes[0].width);
	return out;
}

/* The golden vectors of Optuna 5. */
static void
check_float(void)
{
	struct axis axis = { .kind = TPE_AXIS_NUMBER, .width = 1 };
	static const double z[] = { 0.2, 0.25, 0.9 };
	static const double sigma[] = { 0.2, 0.65, 0.65, 1 };
	static const double at[] = { 0, 0.2, 0.5, 1 };
	static const double want[] = { -0.01650554, 0.27202065, -0.01036896,
		-0.36051584 };
	struct parzen p;
	size_t i;

	tpe_parzen_fit(&p, &rule, &axis, 1, z, 3);
	for (i = 0; i < 4; i++)
		is_near(bandwidth(&p, i), sigma[i], 1e-15, "sigma of a float");
	for (i = 0; i < 4; i++)
		is_near(
		    density(&p, at[i]), want[i], 5.1e-9, "density of a float");
	tpe_parzen_free(&p);
}

static void
check_log(void)
{
	struct axis axis = { .kind = TPE_AXIS_NUMBER, .width = log(1e4) };
	static const double z[] = { 0.25, 0.5 };
	static const double at[] = { 0, 0.25, 0.75 };
	static const double want[] = { -2.48693553, -1.95194652, -2.49436995 };
	struct parzen p;
	size_t i;

	tpe_parzen_fit(&p, &rule, &axis, 1, z, 2);
	is_near(bandwidth(&p, 0), log(10), 1e-14, "sigma on a log scale");
	is_near(bandwidth(&p, 2), log(1e4), 1e-14, "sigma of the prior");
	for (i = 0; i < 3; i++)
		is_near(density(&p, at[i]), want[i], 5.1e-9,
		    "density on a log scale");
	tpe_parzen_free(&p);
}

static void
check_int(void)
{
	struct axis axis = { .kind = TPE_AXIS_LEVELS, .levels = 4, .width = 4 };
	static const double z[] = { 0.375, 0.375, 0.875 };
	static const double sigma[] = { 0.8, 2, 2, 4 };
	static const double want[] = { -1.5319873, -1.16065887, -1.31377688,
		-1.60042057 };
	double sum = 0, mass;
	struct parzen p;
	size_t i;

	tpe_parzen_fit(&p, &rule, &axis, 1, z, 3);
	for (i = 0; i < 4; i++)
		is_near(bandwidth(&p, i), sigma[i], 1e-14, "sigma of an int");
	for (i = 0; i < 4; i++) {
		mass = density(&p, ((double)i + 0.5) / 4);
		is_near(mass, want[i], 5.1e-9, "mass of an int");
		sum += exp(mass);
	}
	is_near(sum, 1, 1e-14, "which add up to 1");
	tpe_parzen_free(&p);
}

static void
check_choice(void)
{
	struct axis axis = { .kind = TPE_AXIS_CHOICE, .levels = 3, .width = 3 };
	static const double z[] = { 0, 0, 2 };
	static const double want[] = { 0.47619048, 0.19047619, 0.33333333 };
	double drawn[3000], count[3] = { 0 };
	struct rng rng;
	struct parzen p;
	size_t i;

	tpe_parzen_fit(&p, &rule, &axis, 1, z, 3);
	rng_init(&rng, 1, 1);
	tpe_sample(&p, &rng, drawn, 3000);
	for (i = 0; i < 3000; i++)
		count[(int)drawn[i]]++;
	for (i = 0; i < 3; i++) {
		is_near(exp(density(&p, (double)i)), want[i], 5.1e-9,
		    "mass of a choice");
		is_near(count[i] / 3000, want[i], 0.04, "as often drawn");
	}
	tpe_parzen_free(&p);
	tpe_parzen_fit(&p, &rule, &axis, 1, NULL, 0);
	is_near(density(&p, 1), log(1 / 3.0), 1e-15, "the prior alone");
	tpe_parzen_free(&p);
}

/* What is drawn has the density that is told: moments by quadrature. */
static void
check_draw(void)
{
	struct axis axis = { .kind = TPE_AXIS_NUMBER, .width = 1 };
	static const double z[] = { 0.02, 0.05, 0.3, 0.31, 0.97 };
	enum { N = 20000 };
	double drawn[N], mean = 0, want = 0, low = 0, want_low = 0, mass;
	struct rng rng;
	struct parzen p;
	int i;

	tpe_parzen_fit(&p, &rule, &axis, 1, z, 5);
	rng_init(&rng, 3, 1);
	tpe_sample(&p, &rng, drawn, N);
	for (i = 0; i < N; i++) {
		mean += drawn[i] / N;
		low += (drawn[i] < 0.3) / (double)N;
		mass = exp(density(&p, (i + 0.5) / N)) / N;
		want += mass * (i + 0.5) / N;
		want_low += (i + 0.5) / N < 0.3 ? mass : 0;
	}
	is_near(mean, want, 0.01, "mean of what is drawn");
	is_near(low, want_low, 0.01, "share below 0.3 of what is drawn");
	tpe_parzen_free(&p);
}

static void
end(struct history *h, enum trial_state state, double loss)
{
	double point = 0.5;
	int64_t trial = history_count(h) + 1;

	history_add(h, trial, &point);
	if (state != TRIAL_RUNNING)
		history_end(h, trial, state, loss);
}

static void
is_list(const int64_t *got, size_t n, const char *want, const char *what)
{
	struct buf b = { 0 };
	size_t i;

	for (i = 0; i < n; i++)
		buf_printf(&b, "%s%d", i > 0 ? " " : "", (int)got[i]);
	is_str(buf_str(&b), want, what);
	buf_free(&b);
}

static void
split_is(const struct history *h, size_t n, bool liar, const char *below,
    const char *above)
{
	struct tpe_split s;

	tpe_split(&s, h, n, liar);
	is_list(s.below, s.n_below, below, "good trials");
	is_list(s.above, s.n_above, above, "others");
	tpe_split_free(&s);
}

static void
check_split(void)
{
	struct history *h =
	    history_new(1, true, HISTORY_POINTS | HISTORY_CURVES);

	is_int((long long)tpe_split_gamma(TPE_GAMMA_TENTH, 10, 1), 1,
	    "gamma of 10");
	is_int((long long)tpe_split_gamma(TPE_GAMMA_TENTH, 11, 1), 2,
	    "gamma of 11");
	is_int((long long)tpe_split_gamma(TPE_GAMMA_TENTH, 100, 1), 10,
	    "gamma of 100");
	is_int((long long)tpe_split_gamma(TPE_GAMMA_TENTH, 999, 1), 25,
	    "gamma of 999");
	is_int((long long)tpe_split_gamma(TPE_GAMMA_TENTH, 999, 2), 100,
	    "with several objectives a tenth of any number");
	is_int((long long)tpe_split_gamma(TPE_GAMMA_ROOT, 100, 1), 3,
	    "hyperopt's");
	end(h, TRIAL_COMPLETED, 1);
	end(h, TRIAL_STOPPED, NAN); /* 2: no report */
	end(h, TRIAL_COMPLETED, 3); /* the best: the goal is maximize */
	end(h, TRIAL_FAILED, NAN);
	end(h, TRIAL_STOPPED, 9); /* 5: step 2, good */
	end(h, TRIAL_STOPPED, 0); /* 6: step 4 */
	end(h, TRIAL_STOPPED, 0); /* 7: step 4, better */
	end(h, TRIAL_RUNNING, 0);
	end(h, TRIAL_COMPLETED, 1); /* 9: as trial 1 */
	end(h, TRIAL_CANCELLED, NAN);
	end(h, TRIAL_STOPPED, 0); /* 11: step 4, NaN */
	end(h, TRIAL_COMPLETED, NAN);
	history_report(h, 5, 2, 100);
	history_report(h, 6, 4, 0.1);
	history_report(h, 7, 4, 0.2);
	history_report(h, 11, 4, NAN);
	is_int((long long)startup_finished(h), 10, "finished trials");
	split_is(h, 0, true, "", "1 2 3 4 5 6 7 8 9 11 12");
	split_is(h, 2, true, "1 3", "2 4 5 6 7 8 9 11 12");
	split_is(h, 4, true, "1 3 7 9", "2 4 5 6 8 11 12");
	split_is(h, 6, false, "1 3 6 7 9 11", "2 4 5 12");
	split_is(h, 20, true, "1 2 3 5 6 7 9 11", "4 8 12");
	history_free(h);
}

/* With several objectives stopped trials come after all that completed. */
static void
check_split_several(void)
{
	static const bool goals[2] = { false, false };
	static const double losses[][2] = { { 1, 2 }, { 5, 5 }, { 2, 1 } };
	struct history *h =
	    history_new(1, false, HISTORY_POINTS | HISTORY_CURVES);
	double x = 0.5;
	int64_t t;

	history_set_objectives(h, 2, goals, 0);
	for (t = 1; t <= 6; t++) {
		history_add(h, t, &x);
		if (t <= 3)
			history_results(h, t, losses[t - 1], NULL);
		else
			history_report(h, t, t, 0.1);
		history_end(h, t, t <= 3 ? TRIAL_COMPLETED : TRIAL_STOPPED,
		    t <= 3 ? losses[t - 1][0] : 0.1);
	}
	split_is(h, 2, true, "1 3", "2 4 5 6");
	split_is(h, 3, true, "1 2 3", "4 5 6");
	split_is(h, 5, true, "1 2 3 5 6", "4");
	history_free(h);
}

static void
groups_are(const struct space *s, const struct history *h, enum tpe_joint joint,
    const char *want)
{
	int group[8];
	int64_t first[8];
	size_t i;

	/* Of each parameter the first one that shares its group. */
	tpe_groups(group, s, h, joint);
	for (i = 0; i < s->n; i++)
		for (first[i] = 0; group[first[i]] != group[i]; first[i]++)
			;
	is_list(first, s->n, want, "groups");
}

static void
check_groups(void)
{
	static const char text[] =
	    "{\"a\": {\"type\": \"choice\", \"values\": [1, 2, 3]},"
	    "\"b\": {\"type\": \"float\", \"min\": 0, \"max\": 1,"
	    " \"when\": {\"a\": [1, 2]}},"
	    "\"c\": {\"type\": \"float\", \"min\": 0, \"max\": 1,"
	    " \"when\": {\"a\": [1]}},"
	    "\"d\": {\"type\": \"float\", \"min\": 0, \"max\": 1,"
	    " \"when\": {\"a\": [1]}},"
	    "\"e\": {\"type\": \"float\", \"min\": 0, \"max\": 1},"
	    "\"f\": {\"type\": \"float\", \"min\": 0, \"max\": 1,"
	    " \"when\": {\"a\": [3]}}}";
	double x[6];
	struct history *h = history_new(6, false, HISTORY_POINTS);
	struct json_doc *doc = NULL;
	struct space *s = NULL;
	struct err e = ERR_INIT;
	int i, k;

	if (!ok(json_parse(&doc, text, strlen(text), NULL, false, &e) == 0 &&
		    space_read(&s, json_root(doc), &e) == 0,
		"a space with conditions"))
		return;
	for (i = 0; i < 2; i++) {
		for (k = 0; k < 6; k++)
			x[k] = 0.9 * i;
		space_snap(s, x);
		history_add(h, i + 1, x);
		if (i == 0)
			history_end(h, 1, TRIAL_COMPLETED, 1);
	}
	groups_are(s, h, TPE_JOINT, "0 0 0 0 0 5");
	groups_are(s, h, TPE_GROUPED, "0 0 0 0 0 5");
	history_end(h, 2, TRIAL_STOPPED, 1);
	groups_are(s, h, TPE_JOINT, "0 1 2 3 0 5");
	groups_are(s, h, TPE_GROUPED, "0 1 1 1 0 5");
	x[0] = x[1] = 0.5;
	space_snap(s, x);
	history_add(h, 3, x);
	history_end(h, 3, TRIAL_COMPLETED, 1);
	groups_are(s, h, TPE_GROUPED, "0 1 2 2 0 5");
	groups_are(s, h, TPE_ALONE, "0 1 2 3 4 5");
	history_free(h);
	space_free(s);
	json_free(doc);
}

/* The way to a coordinate and back, and masses that add up to 1. */
static void
check_axes(void)
{
	static const char text[] =
	    "{\"a\": {\"type\": \"int\", \"min\": 1, \"max\": 40,"
	    " \"scale\": \"log\"},"
	    "\"b\": {\"type\": \"int\", \"min\": -4, \"max\": 35},"
	    "\"c\": {\"type\": \"float\", \"min\": 0, \"max\": 3.9,"
	    " \"step\": 0.1},"
	    "\"d\": {\"type\": \"choice\", \"values\": [1, 2, 3, 4, 5],"
	    " \"ordered\": true}}";
	static const double z[] = { 0.03, 0.5, 0.52, 0.9 };
	struct json_doc *doc = NULL;
	struct space *s = NULL;
	struct err e = ERR_INIT;
	double place[4], u, back, sum, levels;
	struct axis axis;
	struct parzen p;
	size_t i, k;

	if (!ok(json_parse(&doc, text, strlen(text), NULL, false, &e) == 0 &&
		    space_read(&s, json_root(doc), &e) == 0,
		"a space of levels"))
		return;
	for (i = 0; i < s->n; i++) {
		ok(tpe_axis_init(&axis, &s->params[i]), "%s",
		    s->params[i].name);
		for (k = 0; k < 4; k++)
			place[k] = tpe_axis_from_cube(&axis, z[k]);
		tpe_parzen_fit(&p, &rule, &axis, 1, place, 4);
		back = -1;
		levels = sum = 0;
		for (k = 0; k < 4000; k++) {
			u = tpe_axis_from_cube(&axis, ((double)k + 0.5) / 4000);
			if (u == back)
				continue;
			back = u;
			levels++;
			sum += exp(density(&p, u));
		}
		is_near(levels, (double)param_levels(&s->params[i]), 0,
		    "every level has a coordinate");
		is_near(sum, 1, 1e-12, "its masses add up to 1");
		is_near(
		    tpe_axis_from_cube(&axis, tpe_axis_to_cube(&axis, back)),
		    back, 0, "a coordinate comes back");
		tpe_parzen_free(&p);
	}
	space_free(s);
	json_free(doc);
}

/* Without observations numbers are drawn from the user's normal distribution. */
static void
check_prior(void)
{
	enum { DRAWS = 3000 };
	struct param x = { .type = PARAM_FLOAT,
		.scale = SCALE_LOG,
		.min = exp(-10),
		.max = exp(-2),
		.mean = -8,
		.sd = 0.4 };
	double drawn[DRAWS], sum = 0, squares = 0;
	struct parzen p;
	struct axis axis;
	struct rng rng;
	size_t i;

	ok(tpe_axis_init(&axis, &x), "a number with a prior has an axis");
	tpe_parzen_fit(&p, &rule, &axis, 1, NULL, 0);
	rng_init(&rng, 3, 0);
	tpe_sample(&p, &rng, drawn, DRAWS);
	for (i = 0; i < DRAWS; i++) {
		sum += drawn[i] / DRAWS;
		squares += drawn[i] * drawn[i] / DRAWS;
	}
	is_near(sum, 0.25, 0.005, "their mean, in the cube");
	is_near(sqrt(squares - sum * sum), 0.05, 0.005, "their deviation");
	tpe_parzen_free(&p);
}

/* ln of what component k gives a point in all dimensions, one by one. */
static double
component_log(const struct parzen *p, const double *point, size_t k)
{
	double sum = p->base[k], left, right, by, mu, mass;
	const struct axis *a;
	size_t d, at;

	for (d = 0; d < p->dims; d++) {
		a = &p->axes[d];
		at = d * p->stride + k;
		mu = p->mu[at];
		by = p->scale[at] * M_SQRT2;
		if (a->kind == TPE_AXIS_NUMBER)
			sum -= pow((point[d] - mu) * p->scale[at], 2);
		else if (a->kind == TPE_AXIS_CHOICE) {
			mass = mu == point[d] ? p->own + p->other : p->other;
			sum += mu < a->levels
				   ? log(mass / (p->own + a->levels * p->other))
				   : -log(a->levels);
		} else {
			tpe_axis_share(a, point[d], &left, &right);
			sum += tpe_normal_log_around(
			    ((left + right) / 2 - mu) * by,
			    (right - left) / 2 * by);
		}
	}
	return sum;
}

/*
 * Densities of many points at once are those of one component and dimension
 * after the other: tables by distance where there are few levels, and several
 * tables in one pass, with some dimensions left over.
 */
static void
check_tables(void)
{
	enum { DIMS = 7, N = 400, POINTS = 40 };
	static const double levels[DIMS] = { 100, 3, 0, 7, 33, 5, 12 };
	static const double mean[DIMS] = { 0.31, 0, 0, 0, 0, 0, 0 };
	struct axis axes[DIMS] = { { .kind = TPE_AXIS_NUMBER } };
	double *z = xcalloc((N + POINTS) * DIMS, sizeof *z), *to = z + N * DIMS;
	double out[POINTS], got[POINTS], want, worst = 0, alone = 0, u;
	struct parzen p;
	struct rng rng;
	size_t i, d, k;

	rng_init(&rng, 5, 5);
	for (d = 0; d < DIMS; d++) {
		axes[d] = (struct axis){ .levels = levels[d],
			.width = fmax(levels[d], 1),
			.mean = mean[d],
			.sd = mean[d] / 3 };
		axes[d].kind = levels[d] == 0 ? TPE_AXIS_NUMBER
			       : d % 4 == 1   ? TPE_AXIS_CHOICE
					      : TPE_AXIS_LEVELS;
		for (i = 0; i < N + POINTS; i++) {
			u = rng_uniform(&rng);
			u = i % 3 == 0 ? u * u * u : u;
			if (axes[d].kind == TPE_AXIS_CHOICE)
				u = floor(u * levels[d]);
			else
				u = tpe_axis_round(&axes[d], u);
			*(i < N ? z + d * N + i : to + (i - N) * DIMS + d) = u;
		}
	}
	tpe_parzen_fit(&p, &rule, axes, DIMS, z, N);
	tpe_density_log(&p, to, POINTS, out);
	for (i = 0; i < POINTS; i++) {
		tpe_density_log(&p, to + i * DIMS, 1, &got[i]);
		alone = fmax(alone, fabs(got[i] - out[i]));
		for (want = 0, k = 0; k < p.n; k++)
			want +=
			    exp(component_log(&p, to + i * DIMS, k) - out[i]);
		worst = fmax(worst, fabs(log(want)));
	}
	ok(worst < 1e-11, "densities from tables");
	ok(alone < 1e-11, "and of one point alone");
	printf("# off by at most %.3g and %.3g\n", worst, alone);
	tpe_parzen_free(&p);
	free(z);
}

int
main(void)
{
	check_prior();
	check_normal();
	check_masses();
	check_cut();
	check_weights();
	check_float();
	check_log();
	check_int();
	check_choice();
	check_tables();
	check_draw();
	check_axes();
	check_split();
	check_split_several();
	check_groups();
	return done_testing();
}
