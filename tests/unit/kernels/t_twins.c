/*
 * Each kernel on the CPU and on a GPU: the same random inputs, the largest
 * difference relative to the magnitude, and the tolerance of that kernel.
 * Skipped without a GPU; t_twins_fake runs it on a fake one.
 */

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kernels.h"
#include "src/base/mem.h"
#include "src/base/rng.h"
#include "tests/support/gp-reference.h"
#include "tests/support/tap.h"

/* What tests/support/fake-driver/fake-cuda-host.cc lets fail. */
extern long cuda_fake_left __attribute__((weak));

static const struct kernels *cpu, *gpu;

/* NULL with the reason in why when there is none. */
static const struct kernels *
gpu_open(char *why, size_t n)
{
#ifdef HAVE_CUDA
	return kernels_cuda(why, n);
#else
	(void)snprintf(why, n, "built without CUDA");
	return NULL;
#endif
}

/* The largest difference over the largest size; NaN differs from all. */
static double
apart(const double *a, const double *b, size_t n)
{
	double size = 1e-300, worst = 0, off;
	size_t i;

	for (i = 0; i < n; i++)
		if (isfinite(a[i]))
			size = fmax(size, fabs(a[i]));
	for (i = 0; i < n; i++) {
		off = a[i] == b[i] ? 0 : fabs(a[i] - b[i]);
		worst = fmax(worst, isnan(off) ? INFINITY : off);
	}
	return worst / size;
}

static void
close_to(double off, double limit, const char *what, size_t n)
{
	if (!ok(off <= limit, "%s, n=%zu", what, n))
		printf("# off by %g, at most %g\n", off, limit);
}

static void
twin_likelihood(const struct gp_reference *p, struct rng *rng, size_t r)
{
	size_t width = p->data.d + 3, i, n = p->data.n;
	double *theta = xcalloc(r * width, sizeof *theta);
	double *a = xcalloc(r * (width + 1), sizeof *a), *da = a + r;
	double *b = xcalloc(r * (width + 1), sizeof *b), *db = b + r;
	int *status = xcalloc(2 * r, sizeof *status);

	for (i = 0; i < r * width; i++)
		theta[i] = p->theta[i % width] + 0.3 * rng_normal(rng);
	cpu->gp_likelihood(cpu->dev, &p->data, theta, r, a, da, status);
	gpu->gp_likelihood(gpu->dev, &p->data, theta, r, b, db, status + r);
	close_to(apart(a, b, r), 1e-11, "likelihood", n);
	close_to(apart(da, db, r * width), 1e-8, "its gradient", n);
	for (i = 0; i < r && status[i] == status[r + i]; i++)
		;
	ok(i == r, "and status");
	free(theta);
	free(a);
	free(b);
	free(status);
}

struct asked {
	size_t m;
	double *x, *mean, *variance, *d_mean, *d_variance;
};

static void
asked_make(
    struct asked *a, const struct gp_reference *p, struct rng *rng, size_t m)
{
	size_t d = p->data.d, i;

	a->m = m;
	a->x = xcalloc(m * d, sizeof *a->x);
	for (i = 0; i < m; i++)
		gp_reference_point(p, rng, a->x + i * d);
	a->mean = xcalloc(m, sizeof *a->mean);
	a->variance = xcalloc(m, sizeof *a->variance);
	a->d_mean = xcalloc(m * d, sizeof *a->d_mean);
	a->d_variance = xcalloc(m * d, sizeof *a->d_variance);
}

static void
asked_free(struct asked *a)
{
	free(a->x);
	free(a->mean);
	free(a->variance);
	free(a->d_mean);
	free(a->d_variance);
}

static void
twin_predictions(const struct gp_reference *p, struct rng *rng,
    const struct gp *one, const struct gp *other)
{
	size_t d = p->data.d, n = p->data.n, m = 333;
	struct asked a, b;
	struct rng same = *rng;

	asked_make(&a, p, rng, m);
	asked_make(&b, p, &same, m);
	cpu->gp_predict(cpu->dev, one, a.x, m, a.mean, NULL);
	gpu->gp_predict(gpu->dev, other, b.x, m, b.mean, NULL);
	close_to(apart(a.mean, b.mean, m), 1e-10, "means alone", n);
	cpu->gp_predict(cpu->dev, one, a.x, m, a.mean, a.variance);
	gpu->gp_predict(gpu->dev, other, b.x, m, b.mean, b.variance);
	close_to(apart(a.mean, b.mean, m), 1e-10, "means", n);
	close_to(apart(a.variance, b.variance, m), 1e-10, "variances", n);
	cpu->gp_slope(
	    cpu->dev, one, a.x, m, a.mean, a.variance, a.d_mean, a.d_variance);
	gpu->gp_slope(gpu->dev, other, b.x, m, b.mean, b.variance, b.d_mean,
	    b.d_variance);
	close_to(
	    fmax(apart(a.mean, b.mean, m), apart(a.variance, b.variance, m)),
	    1e-10, "both beside their slopes", n);
	close_to(apart(a.d_mean, b.d_mean, m * d), 1e-9, "slopes of means", n);
	close_to(apart(a.d_variance, b.d_variance, m * d), 1e-9,
	    "slopes of variances", n);
	asked_free(&a);
	asked_free(&b);
}

static void
twin_top(const struct gp_reference *p, struct rng *rng, const struct gp *one,
    const struct gp *other)
{
	enum { M = 3000, K = 20 };
	double best = 0, a[K], b[K];
	struct gp_sweep said[2];
	size_t i, got, d = p->data.d, index[K];
	double *x = xcalloc(M * d, sizeof *x);

	for (i = 0; i < p->data.n; i++)
		best = fmin(best, p->y[i]);
	for (i = 0; i < M; i++)
		gp_reference_point(p, rng, x + i * d);
	got = cpu->gp_top(cpu->dev, one, x, M, best, K, index, a, &said[0]);
	got += gpu->gp_top(gpu->dev, other, x, M, best, K, index, b, &said[1]);
	ok(got == 2 * K, "as many candidates as asked for");
	close_to(apart(a, b, K), 1e-6, "the best scores", p->data.n);
	printf("# share of the work %g and %g\n", said[0].share, said[1].share);
	free(x);
}

static void
twin_all(size_t n, size_t d, size_t categories, size_t pending, bool rough,
    uint64_t seed)
{
	double *more = xcalloc(pending * d + 1, sizeof *more);
	struct gp *one, *other;
	struct gp_reference p;
	struct rng rng;
	size_t i;

	rng_init(&rng, 4, seed);
	gp_reference_make(&p, &rng, n, d, categories, 1e-6);
	p.data.rough = rough;
	for (i = 0; i < pending; i++)
		gp_reference_point(&p, &rng, more + i * d);
	twin_likelihood(&p, &rng, 3);
	one = cpu->gp_fit(cpu->dev, &p.data, p.theta);
	other = gpu->gp_fit(gpu->dev, &p.data, p.theta);
	twin_predictions(&p, &rng, one, other);
	cpu->gp_pend(cpu->dev, one, more, pending / 2);
	gpu->gp_pend(gpu->dev, other, more, pending / 2);
	cpu->gp_pend(
	    cpu->dev, one, more + pending / 2 * d, pending - pending / 2);
	gpu->gp_pend(
	    gpu->dev, other, more + pending / 2 * d, pending - pending / 2);
	if (pending > 0)
		twin_predictions(&p, &rng, one, other);
	twin_top(&p, &rng, one, other);
	cpu->gp_free(cpu->dev, one);
	gpu->gp_free(gpu->dev, other);
	gp_reference_free(&p);
	free(more);
}

/* What has no likelihood, and what has one with jitter only. */
static void
twin_trying(void)
{
	double value, gradient[5];
	struct gp_reference p;
	struct rng rng;
	size_t i;
	int status;

	rng_init(&rng, 4, 99);
	gp_reference_make(&p, &rng, 30, 2, 0, 0);
	p.data.extra = NULL;
	p.theta[3] = p.theta[4] = -80;
	for (i = 0; i < 60; i++)
		p.x[i] = p.x[i % 6];
	gpu->gp_likelihood(
	    gpu->dev, &p.data, p.theta, 1, &value, gradient, &status);
	ok(status > 0 && isfinite(value) && isfinite(gradient[0]),
	    "equal points need jitter");
	p.theta[0] = NAN;
	gpu->gp_likelihood(
	    gpu->dev, &p.data, p.theta, 1, &value, gradient, &status);
	ok(status == -1 && value == -INFINITY && gradient[0] == 0,
	    "a NaN has no likelihood");
	ok(gpu->gp_fit(gpu->dev, &p.data, p.theta) == NULL, "… and no process");
	is_str(gpu->name, "cuda", "the device is still there");
	gp_reference_free(&p);
}

static bool
same_after_failure(const struct gp_reference *p, long works)
{
	double x[4] = { 0.1, 0.7, 0.3, 0.2 }, a[2], b[2], va[2], vb[2], score;
	struct gp *one, *other;
	char why[256];
	size_t index;
	bool good;

	cuda_fake_left = -1;
	free(gpu->dev);
	gpu = gpu_open(why, sizeof why);
	cuda_fake_left = works;
	one = cpu->gp_fit(cpu->dev, &p->data, p->theta);
	other = gpu->gp_fit(gpu->dev, &p->data, p->theta);
	cpu->gp_pend(cpu->dev, one, x + 2, 1);
	gpu->gp_pend(gpu->dev, other, x + 2, 1);
	cpu->gp_predict(cpu->dev, one, x, 2, a, va);
	gpu->gp_predict(gpu->dev, other, x, 2, b, vb);
	good = apart(a, b, 2) < 1e-10 && apart(va, vb, 2) < 1e-10;
	good = good && gpu->gp_top(gpu->dev, other, x, 2, 0, 1, &index, &score,
			   NULL) == 1;
	cpu->gp_free(cpu->dev, one);
	gpu->gp_free(gpu->dev, other);
	return good;
}

/* Memory runs out at every place there is. */
static void
twin_failing(void)
{
	struct gp_reference p;
	struct rng rng;
	bool good = true;
	long works;

	if (&cuda_fake_left == NULL)
		return;
	rng_init(&rng, 4, 100);
	gp_reference_make(&p, &rng, 20, 2, 0, 1e-6);
	p.data.rough = true;
	for (works = 0; works < 40; works++)
		good = good && same_after_failure(&p, works);
	ok(good, "a device without memory is replaced by the CPU");
	(void)same_after_failure(&p, 7);
	is_str(gpu->name, "cpu", "… which the name says");
	gp_reference_free(&p);
}

int
main(void)
{
	char why[256] = "";

	cpu = kernels_cpu();
	gpu = gpu_open(why, sizeof why);
	if (gpu == NULL) {
		skip("the twins of all kernels", why);
		return done_testing();
	}
	printf("# %s: %s\n", gpu->name, gpu->device);
	twin_all(0, 2, 0, 3, false, 1);
	twin_all(1, 1, 0, 0, false, 2);
	twin_all(7, 3, 2, 5, true, 3);
	twin_all(130, 5, 2, 0, false, 4);
	twin_all(300, 12, 3, 40, false, 5);
	twin_all(300, 12, 0, 40, true, 5);
	twin_all(600, 4, 0, 0, true, 6);
	twin_trying();
	twin_failing();
	free(gpu->dev);
	return done_testing();
}
