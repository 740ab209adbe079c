/* Histories against plain arrays, and their running time. */

#include <malloc.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/model/history/history-serialize.h"
#include "src/model/history/history.h"
#include "tests/support/tap.h"

enum { TRIALS = 12, STEPS = 60 };

/* The oracle: value by trial and step number. */
struct plain {
	bool has[TRIALS][STEPS];
	double value[TRIALS][STEPS];
	int64_t step[STEPS]; /* of step number k */
	enum trial_state state[TRIALS];
	double loss[TRIALS];
};

static bool
same(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

static double
any_value(struct rng *r, int trial)
{
	/* The values of some trials can be packed. */
	if (trial % 3 == 1)
		return floor(rng_uniform(r) * 1e4) / 1e4;
	if (trial % 3 == 2 && rng_below(r, 30) > 0)
		return (double)(float)rng_uniform(r);
	switch (rng_below(r, 12)) {
	case 0:
		return NAN;
	case 1:
		return INFINITY;
	case 2:
		return -INFINITY;
	default:
		return floor(rng_uniform(r) * 8);
	}
}

static bool
curve_agrees(const struct history *h, const struct plain *p, int trial)
{
	struct curve c = history_curve(h, trial + 1);
	ptrdiff_t last = -1;
	size_t i = 0;
	int k;

	for (k = 0; k < STEPS; k++) {
		if (p->has[trial][k]) {
			if (i >= c.n || curve_step(&c, i) != p->step[k] ||
			    !same(curve_value(&c, i), p->value[trial][k]))
				return false;
			last = (ptrdiff_t)i++;
		}
		if (curve_at(&c, p->step[k]) != last)
			return false;
	}
	return i == c.n && curve_at(&c, INT64_MIN) == -1;
}

static int64_t
best_of(const struct plain *p, int64_t count)
{
	int64_t i, best = -1;

	for (i = 0; i < count; i++)
		if (p->state[i] == TRIAL_COMPLETED && !isnan(p->loss[i]) &&
		    (best < 0 || p->loss[i] < p->loss[best]))
			best = i;
	return best + 1;
}

static void
make_grid(struct plain *p, struct rng *r)
{
	int64_t stride = 1 + (int64_t)rng_below(r, 3) * 1000000000000;
	int64_t at = (int64_t)rng_below(r, 3) * 5000000000 - 2;
	int k;

	for (k = 0; k < STEPS; k++, at += stride)
		p->step[k] = at + (stride > 1 && rng_below(r, 40) == 0);
}

static bool
random_report(
    struct history *h, struct plain *p, struct rng *r, bool max, int64_t count)
{
	int t = (int)rng_below(r, (uint64_t)count);
	int k = (int)rng_below(r, STEPS);
	double v = any_value(r, t), old = 0;
	bool was, new_step;

	/* Mostly in order, as trials report. */
	if (rng_below(r, 4) > 0)
		for (k = 0; k < STEPS - 1 && p->has[t][k]; k++)
			;
	was = p->has[t][k];
	new_step = history_report(h, t + 1, p->step[k], max ? -v : v);
	if (new_step == was || history_replaced_value(h, &old) != was ||
	    (was && !same(old, p->value[t][k])))
		return false;
	p->has[t][k] = true;
	p->value[t][k] = v;
	return true;
}

static bool
random_end(
    struct history *h, struct plain *p, struct rng *r, bool max, int64_t count)
{
	int t = (int)rng_below(r, (uint64_t)count);
	double loss = floor(rng_uniform(r) * 6);

	if (p->state[t] != TRIAL_RUNNING) {
		history_retry(h, t + 1);
		p->state[t] = TRIAL_RUNNING;
		p->loss[t] = NAN;
	} else {
		p->state[t] = rng_below(r, 2) ? TRIAL_COMPLETED : TRIAL_STOPPED;
		p->loss[t] = rng_below(r, 5) ? loss : NAN;
		history_end(
		    h, t + 1, p->state[t], max ? -p->loss[t] : p->loss[t]);
	}
	return history_state(h, t + 1) == p->state[t] &&
	       same(history_loss(h, t + 1), p->loss[t]);
}

static bool
one_stream(uint64_t seed, int length)
{
	struct plain p = { 0 };
	struct history *h;
	struct rng r;
	int64_t count = 0;
	bool max, good = true;
	int i, t;

	rng_init(&r, seed, 0);
	max = rng_below(&r, 2);
	make_grid(&p, &r);
	h = history_new(0, max, HISTORY_CURVES);
	for (i = 0; i < length && good; i++) {
		if (count < TRIALS && rng_below(&r, 20) == 0) {
			p.state[count] = TRIAL_RUNNING;
			p.loss[count] = NAN;
			history_add(h, ++count, NULL);
		}
		if (count == 0)
			continue;
		good = rng_below(&r, 12) == 0
			   ? random_end(h, &p, &r, max, count)
			   : random_report(h, &p, &r, max, count);
		good = good && history_best(h) == best_of(&p, count);
		t = (int)rng_below(&r, (uint64_t)count);
		good = good && curve_agrees(h, &p, t);
	}
	for (t = 0; t < count && good; t++)
		good = curve_agrees(h, &p, t);
	history_free(h);
	return good;
}

static void
test_streams(void)
{
	uint64_t seed, bad = 0;

	for (seed = 1; seed <= 2000; seed++)
		if (!one_stream(seed, seed % 200 == 0 ? 20000 : 500)) {
			printf("# seed %llu\n", (unsigned long long)seed);
			bad++;
		}
	is_int((long long)bad, 0, "2,000 random streams agree with arrays");
}

/* Values of a report: all digits, float, four digits. */
enum printed { PRINTED_ALL, PRINTED_FLOAT, PRINTED_FOUR };

static double
value_of(enum printed how, int64_t n)
{
	double v = (double)(n * 7919 % 1000003) / 1000003;

	if (how == PRINTED_FLOAT)
		return (double)(float)v;
	return how == PRINTED_FOUR ? floor(v * 1e4) / 1e4 : v;
}

/* n finished trials of 20 reports; ten run at a time. */
static struct history *
many(int64_t n, enum printed how)
{
	struct history *h = history_new(0, false, HISTORY_CURVES);
	int64_t t, s, k;

	for (t = 1; t <= n; t += 10) {
		for (k = t; k < t + 10; k++)
			history_add(h, k, NULL);
		for (s = 1; s <= 20; s++)
			for (k = t; k < t + 10; k++)
				history_report(h, k, s, value_of(how, s + k));
		for (k = t; k < t + 10; k++)
			history_end(h, k, TRIAL_COMPLETED, 1.0);
	}
	return h;
}

/* Resident bytes of this process. */
static double
resident(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	double pages = 0;

	if (f == NULL || fscanf(f, "%*s %lf", &pages) != 1)
		pages = 0;
	if (f != NULL)
		fclose(f);
	return pages * 4096;
}

/* Whether a finished trial of 20 reports costs at most so many bytes. */
static bool
costs(enum printed how, double most)
{
	struct history *a, *b;
	double r0, r1, r2, each;

	r0 = resident();
	a = many(100000, how);
	r1 = resident();
	b = many(200000, how);
	r2 = resident();
	each = ((r2 - r1) - (r1 - r0)) / 100000;
	printf("# 100,000 trials: %.1f MiB; a further one: %.1f bytes\n",
	    (r1 - r0) / 1048576, each);
	history_free(a);
	history_free(b);
	return (r1 - r0) / 100000 <= most && each <= most;
}

/* In a process of its own, whose memory nobody used before. */
static void
is_cost(enum printed how, double most, const char *what)
{
#if defined(__SANITIZE_ADDRESS__)
	(void)costs;
	(void)how;
	(void)most;
	skip(what, "the address sanitizer has its own");
#else
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		bool good = costs(how, most);

		fflush(stdout);
		_exit(good ? 0 : 1);
	}
	ok(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0,
	    "%s: a finished trial of 20 reports costs at most %g bytes", what,
	    most);
#endif
}

static void
test_cost(void)
{
	is_cost(PRINTED_FOUR, 80, "four digits");
	is_cost(PRINTED_FLOAT, 120, "floats");
	is_cost(PRINTED_ALL, 200, "all digits");
}

static void
test_points(void)
{
	struct history *h = history_new(2, true, HISTORY_POINTS);
	double x[2] = { 0.25, 0.75 };
	struct curve c;

	history_add(h, 1, x);
	history_add(h, 3, x);
	is_int(history_count(h), 3, "a number that was passed over counts");
	is_int(history_state(h, 2), TRIAL_WAITING, "and waits");
	is_near(history_point(h, 3)[1], 0.75, 0, "points are kept");
	is_int(history_best(h), 0, "no trial is the best at first");
	ok(history_report(h, 1, 4, 2.0) && history_report(h, 1, 4, 2.0),
	    "without curves every step is new");
	c = history_curve(h, 1);
	is_int((long long)c.n, 0, "and no curve is kept");
	history_end(h, 1, TRIAL_COMPLETED, 5.0);
	history_end(h, 3, TRIAL_COMPLETED, 5.0);
	is_near(history_loss(h, 1), -5.0, 0, "a loss is smaller when better");
	is_int(history_best(h), 1, "the first of equals is best");
	history_retry(h, 1);
	is_int(history_best(h), 3, "until it runs again");
	history_add(h, 3, x);
	is_int(history_best(h), 0, "placed again is pending again");
	history_free(h);
}

/* One of two studies, with two objectives and a constraint. */
static struct history *
wide(void)
{
	static const bool goals[2] = { true, false };
	struct history *h =
	    history_new(2, true, HISTORY_POINTS | HISTORY_CURVES);
	double x[2] = { 0.25, 0.75 };

	history_set_objectives(h, 2, goals, 1);
	history_add_prior(h, 1);
	history_add(h, 0, x);
	history_results(h, 0, (double[]){ 9, 1 }, (double[]){ -1 });
	history_end(h, 0, TRIAL_COMPLETED, 9);
	history_add(h, 1, x);
	history_report(h, 1, 3, 4.0);
	history_report(h, 1, 7, NAN);
	history_results(h, 1, (double[]){ 5, 2 }, (double[]){ 0.5 });
	history_end(h, 1, TRIAL_COMPLETED, 5);
	history_add(h, 2, NULL);
	history_results(h, 2, (double[]){ 3, 2 }, (double[]){ 0 });
	history_end(h, 2, TRIAL_COMPLETED, 3);
	history_add(h, 4, x);
	history_report(h, 4, 0, 1.0);
	history_set_noise(h, 2, 0.25);
	history_set_seconds(h, 2, 12.5);
	return h;
}

static void
test_wide(void)
{
	struct history *h = wide();

	is_int(history_first(h), 0, "another study's trial comes first");
	is_int(history_count(h), 4, "the count is of our own");
	is_near(history_losses(h, 1)[0], -5, 0, "losses are turned by goal");
	is_near(history_losses(h, 1)[1], 2, 0, "each by its own");
	is_near(history_violation(h, 1), 0.5, 0, "violations add up");
	is_near(history_violation(h, 2), 0, 0, "what holds violates nothing");
	ok(isinf(history_violation(h, 4)), "what is not reported is violated");
	is_int(history_best(h), 2, "the best is feasible, and of our own");
	history_retry(h, 2);
	is_int(history_best(h), 1, "else the one that violates least");
	ok(isnan(history_losses(h, 2)[1]), "one that runs again has no losses");
	history_free(h);
}

/* Whether the bytes are a history with a word, or a byte, put in their place. */
static bool
unpacks_with(const struct buf *b, size_t at, const void *with, size_t len)
{
	struct history *h = NULL;
	struct err e = ERR_INIT;
	char *copy = xmalloc(b->len);
	int rc;

	memcpy(copy, b->data, b->len);
	memcpy(copy + at, with, len);
	rc = history_deserialize(&h, copy, b->len, &e);
	if (rc == 0)
		history_free(h);
	free(copy);
	return rc == 0;
}

/* A head of seven words, a goal for each objective, then trials. */
static void
test_pack_wrong(void)
{
	static const struct {
		const char *what;
		size_t at;
		int64_t word;
	} heads[] = {
		{ "parameters", 8, UINT32_MAX },
		{ "parameters for which there are no bytes", 8, 1 << 20 },
		{ "what is kept", 16, 1 << 7 },
		{ "objectives", 24, UINT32_MAX },
		{ "constraints", 32, UINT32_MAX },
		{ "constraints for which there are no bytes", 32, 1 << 20 },
		{ "the first trial", 40, INT64_MIN },
		{ "the first trial far back", 40, -(INT64_C(1) << 60) },
		{ "the last trial", 48, INT64_MAX },
		{ "trials for which there are no bytes", 48, 1 << 20 },
		{ "no trials", 48, INT64_MIN },
	};
	static const int64_t words[] = { INT64_MIN, -1, INT64_MAX,
		INT64_C(1) << 62 };
	struct history *h = wide();
	struct buf b = { 0 };
	unsigned char byte;
	size_t i, at, n = 0;

	history_serialize(&b, h, HISTORY_POINTS | HISTORY_CURVES);
	for (i = 0; i < sizeof heads / sizeof heads[0]; i++)
		ok(!unpacks_with(&b, heads[i].at, &heads[i].word, 8),
		    "no history: %s", heads[i].what);
	byte = 2;
	ok(!unpacks_with(&b, 56, &byte, 1), "no history: a goal of 2");
	byte = 0xff;
	ok(!unpacks_with(&b, 57, &byte, 1), "no history: a goal of 255");
	for (at = 0; at + 8 <= b.len; at++)
		for (i = 0; i < sizeof words / sizeof words[0]; i++)
			n += unpacks_with(&b, at, &words[i], 8);
	ok(n > 0, "whatever words stand there, it is one or none");
	/* The last report: step and value, then nothing. */
	ok(!unpacks_with(&b, b.len - 16, &words[1], 8),
	    "no history: a step below 0");
	ok(!unpacks_with(&b, b.len - 16, &words[2], 8),
	    "no history: a step beyond all");
	buf_free(&b);
	history_free(h);
}

static void
test_pack(void)
{
	struct history *h = wide(), *again = NULL;
	struct buf a = { 0 }, b = { 0 };
	struct err e = ERR_INIT;
	struct curve whole, last;
	size_t len, wrong = 0;

	history_serialize(&a, h, HISTORY_POINTS | HISTORY_CURVES);
	is_int(history_deserialize(&again, buf_str(&a), a.len, &e), 0,
	    "a history comes back from its bytes");
	history_serialize(&b, again, HISTORY_POINTS | HISTORY_CURVES);
	ok(a.len == b.len && memcmp(buf_str(&a), buf_str(&b), a.len) == 0,
	    "and is the same");
	is_int(history_state(again, 3), TRIAL_WAITING, "with its gap");
	is_int(history_best(again), history_best(h), "and its best");
	ok(history_noise(again, 2) == 0.25 && history_noise(again, 4) == 0,
	    "and what is known of the noise");
	ok(history_seconds(again, 2) == 12.5 &&
		history_seconds(again, 4) == 0 &&
		history_seconds(again, 0) == 0,
	    "and of the durations");
	history_free(again);
	for (len = 0; len < a.len; len++)
		wrong +=
		    history_deserialize(&again, buf_str(&a), len, &e) != -1;
	is_int((long long)wrong, 0, "bytes that end early are refused");
	buf_clear(&a);
	history_serialize(
	    &a, h, HISTORY_POINTS | HISTORY_CURVES | HISTORY_LAST);
	is_int(history_deserialize(&again, buf_str(&a), a.len, &e), 0,
	    "the last reports alone are enough");
	whole = history_curve(h, 1);
	last = history_curve(again, 1);
	ok(whole.n == 2 && last.n == 1 && isnan(curve_value(&last, 0)) &&
		curve_step(&last, 0) == curve_step(&whole, 1),
	    "one of two: the newer, with its step");
	history_free(again);
	buf_clear(&a);
	history_serialize(&a, h, HISTORY_POINTS);
	is_int(history_deserialize(&again, buf_str(&a), a.len, &e), 0,
	    "curves may be left out");
	is_int((long long)history_keeps(again), HISTORY_POINTS,
	    "and are not there then");
	is_int((long long)history_curve(again, 1).n, 0,
	    "a history without curves has no reports");
	history_free(again);
	buf_free(&a);
	buf_free(&b);
	history_free(h);
}

int
main(void)
{
	test_points();
	test_wide();
	test_pack();
	test_pack_wrong();
	test_streams();
	test_cost();
	return done_testing();
}
