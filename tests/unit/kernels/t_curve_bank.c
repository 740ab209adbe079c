/*
 * The learning-curve bank against its definition in long double, curve by
 * curve, cell by cell; its probabilities against frequencies on random curves.
 */

#include <stdlib.h>

#include "kernels/kernels.h"
#include "src/base/rng.h"
#include "tests/support/tap.h"

enum { SLOTS = 40, CELLS_MOST = 500 };

static const struct kernels *k;

struct cell {
	long double weight, mean, variance;
};

/* Raw values of shape number s of all, or false. */
static bool
shape(int s, int slots, int u, long double *v, long double *prior)
{
	static const long double late[] = { 0, 0.05L, 0.3L };
	static const long double deltas[] = { 0.4L, 0.6L, 0.85L, 1.2L, 1.8L,
		3 };

	*prior = 1;
	if (s < 24) {
		*v = powl(
		    u + late[s % 3] * slots, -powl(10, -1.3L + 0.3L * (s / 3)));
		return true;
	}
	s -= 24;
	if (s < 5) {
		*prior = 0.2L;
		*v = 1 / logl(u + powl(3, s));
		return true;
	}
	s -= 5;
	*v = expl(-powl(
	    u / (slots * powl(10, -2.3L + 0.25L * (s / 6))), deltas[s % 6]));
	return s < 78;
}

static int
family(int s)
{
	return s < 24 ? 0 : s < 29 ? 1 : 2;
}

/* The posterior mode by Cramer's rule, the evidence by what is left there. */
static void
cell_brute(struct cell *c, int s, long double v, long double temper,
    const double *y, int n)
{
	long double one = 1, two = 1, mix = 0, ry = 0.5L, rg = 0.5L, rest = 0;
	long double sum = 0, first, last, g, w, det, mc, ma, prior;
	int u;

	shape(s, SLOTS, 1, &first, &prior);
	shape(s, SLOTS, SLOTS, &last, &prior);
	for (u = 1; u <= n; u++) {
		if (isnan(y[u - 1]))
			continue;
		shape(s, SLOTS, u, &g, &prior);
		g = (g - last) / (first - last);
		w = powl((long double)u / n, 3) / v;
		one += w;
		mix += w * g;
		two += w * g * g;
		ry += w * y[u - 1];
		rg += w * g * y[u - 1];
		sum += w * v;
	}
	det = one * two - mix * mix;
	mc = (two * ry - mix * rg) / det;
	ma = (one * rg - mix * ry) / det;
	for (u = 1; u <= n; u++) {
		if (isnan(y[u - 1]))
			continue;
		shape(s, SLOTS, u, &g, &prior);
		g = (g - last) / (first - last);
		w = powl((long double)u / n, 3) / v;
		rest += w * powl(y[u - 1] - mc - ma * g, 2);
	}
	rest += powl(mc - 0.5L, 2) + powl(ma - 0.5L, 2);
	c->weight = -temper / 2 * (rest + sum * logl(v) + logl(det));
	c->mean = mc;
	c->variance = two / det + v;
}

static struct curve_guess
brute(const double *y, int n, double temper, double threshold)
{
	static struct cell cells[CELLS_MOST];
	long double first, last, prior, best = -INFINITY, w, sum = 0, p = 0;
	long double mean = 0, square = 0, v;
	int count[3] = { 0 }, s, i, at = 0, pass;

	for (pass = 0; pass < 2; pass++)
		for (i = 0; i < 4; i++)
			for (s = 0; shape(s, SLOTS, 1, &first, &prior); s++) {
				shape(s, SLOTS, SLOTS, &last, &prior);
				if (fabsl(first - last) < 1e-9L)
					continue;
				if (pass == 0) {
					count[family(s)] += i == 0;
					continue;
				}
				v = powl(
				    0.004L * powl(0.25L / 0.004L, i / 3.0L), 2);
				cell_brute(&cells[at], s, v, temper, y, n);
				cells[at].weight +=
				    logl(prior / count[family(s)]);
				best = fmaxl(best, cells[at++].weight);
			}
	for (i = 0; i < at; i++) {
		w = expl(cells[i].weight - best);
		if (w < 1e-3L)
			continue;
		sum += w;
		mean += w * cells[i].mean;
		square += w * (cells[i].variance + powl(cells[i].mean, 2));
		p += w / 2 *
		     erfcl((cells[i].mean - threshold) /
			   sqrtl(2 * cells[i].variance));
	}
	mean /= sum;
	return (struct curve_guess){ (double)(p / sum), (double)mean,
		(double)sqrtl(square / sum - mean * mean) };
}

static struct curve_guess
guess(struct curve_bank *b, const double *y, size_t n, double temper,
    double threshold)
{
	struct curve_guess g;

	k->bank_guess(k->dev, b, y, n, temper, threshold, &g);
	return g;
}

/* A curve of the families, with noise; the last value without it. */
static double
draw(struct rng *r, double *y, size_t slots, double noise)
{
	double c = 0.1 + 0.6 * rng_uniform(r), a = 0.2 + rng_uniform(r);
	double kind = rng_uniform(r), q = rng_uniform(r), g, first = 0,
	       last = 0, u;
	size_t i;

	for (i = 0; i < slots; i++) {
		u = (double)(i + 1);
		g = kind < 0.5 ? pow(u, -0.1 - 1.5 * q)
			       : exp(-u / ((double)slots * (0.05 + q)));
		if (i == 0)
			first = g;
		y[i] = last = g;
	}
	for (i = 0; i < slots; i++)
		y[i] = c + a * (y[i] - last) / (first - last) +
		       noise * rng_normal(r);
	return c;
}

static void
test_brute(void)
{
	struct curve_bank *b = k->bank_new(k->dev, SLOTS);
	struct curve_guess got, want;
	double y[SLOTS], far = 0, threshold;
	struct rng r;
	int i, n;

	rng_init(&r, 1, 1);
	for (i = 0; i < 40; i++) {
		draw(&r, y, SLOTS, 0.05 * rng_uniform(&r));
		n = 1 + (int)rng_below(&r, SLOTS);
		if (i % 3 == 0)
			y[rng_below(&r, (uint64_t)n)] = NAN;
		if (i % 10 == 9)
			y[n - 1] = 1.5;
		threshold = 0.7 * rng_uniform(&r);
		got = guess(b, y, (size_t)n, 0.5, threshold);
		/* A last value that is not known is no last value. */
		while (n > 0 && isnan(y[n - 1]))
			n--;
		want = brute(y, n, 0.5, threshold);
		far = fmax(far, fabs(got.p - want.p));
		far = fmax(far, fabs(got.mean - want.mean));
		far = fmax(far, fabs(got.sd - want.sd));
	}
	ok(far < 1e-6, "chance, mean and deviation as defined (%g)", far);
	k->bank_free(k->dev, b);
}

/* Of random curves as many end below a threshold as the bank says. */
static void
test_calibration(void)
{
	struct curve_bank *b = k->bank_new(k->dev, SLOTS);
	double y[SLOTS], end, said[4] = { 0 }, did[4] = { 0 }, within = 0, t,
			      far = 0;
	struct curve_guess g;
	int count[4] = { 0 }, i, bin, bad = 0, n = 0;
	struct rng r;

	rng_init(&r, 2, 1);
	for (i = 0; i < 3000; i++) {
		end = draw(&r, y, SLOTS, 0.02);
		g = guess(b, y, 8 + rng_below(&r, 20), 0.5,
		    end + 0.3 * rng_normal(&r));
		n++;
		within += fabs(g.mean - end) < 2 * g.sd;
	}
	ok(within / n > 0.85, "two deviations hold most ends (%.3f)",
	    within / n);
	for (i = 0; i < 3000; i++) {
		end = draw(&r, y, SLOTS, 0.02);
		t = 0.1 + 0.6 * rng_uniform(&r);
		g = guess(b, y, 8 + rng_below(&r, 20), 0.5, t);
		bin = g.p < 0.05 ? 0 : g.p < 0.5 ? 1 : g.p < 0.95 ? 2 : 3;
		count[bin]++;
		said[bin] += g.p;
		did[bin] += end < t;
	}
	for (bin = 0; bin < 4; bin++) {
		bad += count[bin] < 50;
		far = fmax(far, fabs(said[bin] - did[bin]) / count[bin]);
	}
	ok(far < 0.2, "what is called likely is, and so on (%.3f off)", far);
	is_int(bad, 0, "every kind of answer is given");
	k->bank_free(k->dev, b);
}

static void
test_threshold(void)
{
	struct curve_bank *b = k->bank_new(k->dev, SLOTS);
	double y[SLOTS], t, before;
	struct curve_guess g;
	int i, bad = 0;
	struct rng r;

	rng_init(&r, 3, 1);
	for (i = 0; i < 20; i++) {
		draw(&r, y, SLOTS, 0.02);
		before = 0;
		for (t = -2; t <= 2; t += 0.05) {
			g = guess(b, y, 12, 0.5, t);
			bad += !(g.p >= before && g.p <= 1 + 1e-12);
			before = g.p;
		}
	}
	is_int(bad, 0, "a milder threshold is never less likely");
	k->bank_free(k->dev, b);
}

static void
test_odd(void)
{
	static const size_t sizes[] = { 2, 3, 64, 1000 };
	double y[SLOTS];
	struct curve_guess g, h;
	struct curve_bank *b = k->bank_new(k->dev, SLOTS);
	size_t i, n;
	int bad = 0;

	g = guess(b, NULL, 0, 0.5, 0.5);
	is_near(g.p, 0.5, 1e-12, "nothing known: as likely as not");
	is_near(g.mean, 0.5, 1e-12, "the prior's mean");
	for (i = 0; i < SLOTS; i++)
		y[i] = NAN;
	h = guess(b, y, SLOTS, 0.5, 0.5);
	is_near(h.sd, g.sd, 0, "unknown values say nothing");
	y[3] = 0.4;
	y[4] = INFINITY;
	y[5] = -INFINITY;
	h = guess(b, y, SLOTS, 0.5, 0.5);
	y[4] = y[5] = NAN;
	g = guess(b, y, SLOTS, 0.5, 0.5);
	ok(isfinite(h.p) && h.p == g.p && h.sd == g.sd,
	    "nor do infinite ones; one value is enough");
	for (i = 0; i < SLOTS; i++)
		y[i] = 0.3;
	g = guess(b, y, 20, 0.5, 0.2);
	ok(g.p < 0.02 && fabs(g.mean - 0.3) < 0.02, "flat stays flat");
	for (i = 0; i < SLOTS; i++)
		y[i] = 1.5 - 0.02 * (double)i;
	g = guess(b, y, 20, 0.5, 0.9);
	ok(g.p > 0.5, "a straight line is extrapolated");
	for (i = 0; i < SLOTS; i++)
		y[i] = i % 2 ? -1.5 : 1.5;
	for (n = 0; n <= SLOTS; n++) {
		g = guess(b, y, n, 1, -1e300);
		bad += !isfinite(g.p) || !isfinite(g.mean) || !(g.sd > 0);
	}
	k->bank_free(k->dev, b);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		b = k->bank_new(k->dev, sizes[i]);
		for (n = 0; n <= sizes[i] && n <= SLOTS; n++) {
			g = guess(b, y, n, 0.5, 0.1);
			bad += !isfinite(g.p) || !(g.sd > 0);
		}
		k->bank_free(k->dev, b);
	}
	is_int(bad, 0, "zigzags and curves of 2 or 1000 slots have an answer");
}

int
main(void)
{
	k = kernels_plain();
	test_brute();
	test_calibration();
	test_threshold();
	test_odd();
	return done_testing();
}
