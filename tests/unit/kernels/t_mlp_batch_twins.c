/*
 * Packed training on the CPU and on a GPU: slots of all kinds, the same data,
 * the same seeds; results may differ by rounding.  Skipped without a GPU;
 * t_mlp_batch_twins_fake runs it on a fake one.
 */

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "tests/support/mlp-reference.h"
#include "tests/support/tap.h"

/* What tests/support/fake-driver/fake-cuda-host.cc lets fail. */
extern long cuda_fake_left __attribute__((weak));

static const struct mlp_hyper hypers[] = {
	{ 1, 9, 4, MLP_SGD, 0.1f, 0.9f, 0.01f, 0, 1 },
	{ 2, 7, 3, MLP_ADAM, 0.01f, 0, 0.1f, 0, 2 },
	{ 2, 30, 17, MLP_SGD, 0.1f, 0.5f, 0, 0.4f, 3 },
	{ 1, 64, 400, MLP_ADAM, 0.01f, 0, 0, 0.2f, 4 },
	{ 1, 100, 64, MLP_SGD, 0.05f, 0.9f, 0, 0, 5 },
};
enum { HYPERS = sizeof hypers / sizeof *hypers };

/* How far apart the slots are. */
struct difference {
	/* The largest, in units of what rounding does: */
	double params, loss;
	double accuracy;
	bool places; /* the same */
	bool alone; /* each is as if it were alone, to the bit */
};

struct side {
	const struct mlp_kernels *k;
	struct mlp_batch *pack;
	struct mlp_ranks ranks;
	struct mlp_state state[HYPERS];
	struct mlp_score score[HYPERS];
};

/* As if the other ranks had no gradient at all. */
static int
sum_alone(void *ctx, float *x, size_t n)
{
	(void)ctx;
	(void)x;
	(void)n;
	return 0;
}

static void
state_init(
    struct mlp_state *s, const struct mlp_data *d, const struct mlp_hyper *h)
{
	size_t memory, count = mlp_layout_count(d, h, &memory);

	s->params = xcalloc(count, sizeof *s->params);
	s->memory = xcalloc(memory, sizeof *s->memory);
}

/* The last bit of every weight goes up or down. */
static int
side_shake(struct side *s, const struct mlp_data *d, size_t slot)
{
	struct mlp_state *state = &s->state[slot];
	size_t memory, count = mlp_layout_count(d, &hypers[slot], &memory), i;

	if (s->k->take(s->pack, slot, state) != 0)
		return -1;
	for (i = 0; i < count; i++)
		state->params[i] = nextafterf(state->params[i],
		    (i * 2654435761u >> 16 & 1) != 0 ? 9 : -9);
	s->k->drop(s->pack, slot);
	return s->k->put(s->pack, slot, &hypers[slot], state);
}

static int
side_train(struct side *s, const struct mlp_data *d, size_t steps, bool shaken)
{
	size_t all[HYPERS], i;
	int rc = 0;

	for (i = 0; i < HYPERS; i++) {
		rc += s->k->put(s->pack, i, &hypers[i], NULL);
		if (shaken)
			rc += side_shake(s, d, i);
		all[i] = HYPERS - 1 - i;
	}
	for (i = 0; rc == 0 && i < steps; i += 5)
		rc = s->k->advance(s->pack, all, HYPERS, 5);
	for (i = 0; rc == 0 && i < HYPERS; i++)
		rc = s->k->take(s->pack, i, &s->state[i]);
	for (i = 0; i < HYPERS; i++)
		all[i] = i;
	return rc == 0 ? s->k->measure(s->pack, all, HYPERS, s->score) : rc;
}

static int
side_open(struct side *s, const struct mlp_kernels *k, const struct mlp_data *d,
    size_t ranks, size_t steps, bool shaken)
{
	size_t i;

	memset(s, 0, sizeof *s);
	s->k = k;
	s->ranks =
	    (struct mlp_ranks){ ranks / 2, ranks, 0, sum_alone, NULL, 0, 0 };
	for (i = 0; i < HYPERS; i++)
		state_init(&s->state[i], d, &hypers[i]);
	s->pack = k->open(k->dev, d, HYPERS, ranks > 1 ? &s->ranks : NULL);
	return s->pack == NULL ? -1 : side_train(s, d, steps, shaken);
}

static void
side_close(struct side *s)
{
	size_t i;

	if (s->pack != NULL)
		s->k->close(s->pack);
	for (i = 0; i < HYPERS; i++) {
		free(s->state[i].params);
		free(s->state[i].memory);
	}
}

/* Whether a slot by itself has the same numbers. */
static bool
same_alone(const struct side *s, const struct mlp_data *d, size_t i,
    size_t steps, struct mlp_ranks *ranks)
{
	size_t memory, count = mlp_layout_count(d, &hypers[i], &memory), n;
	struct mlp_batch *p = s->k->open(s->k->dev, d, 1, ranks);
	struct mlp_state state;
	const size_t slot = 0;
	int rc;

	if (p == NULL)
		return false;
	state_init(&state, d, &hypers[i]);
	rc = s->k->put(p, 0, &hypers[i], NULL);
	for (n = 0; rc == 0 && n < steps; n += 5)
		rc = s->k->advance(p, &slot, 1, 5);
	if (rc == 0)
		rc = s->k->take(p, 0, &state);
	rc = rc == 0 &&
	     memcmp(state.params, s->state[i].params, count * sizeof(float)) ==
		 0 &&
	     memcmp(state.memory, s->state[i].memory, memory * sizeof(float)) ==
		 0;
	free(state.params);
	free(state.memory);
	s->k->close(p);
	return rc;
}

/* NaN is far from all. */
static double
far(double a, double b)
{
	double off = fabs(a - b);

	return isnan(off) ? INFINITY : off;
}

static double
apart(const float *a, const float *b, size_t n)
{
	double worst = 0;
	size_t i;

	for (i = 0; i < n; i++)
		worst = fmax(worst, far((double)a[i], (double)b[i]));
	return worst;
}

/* How far apart the losses of slot i are, in training and when measured. */
static double
losses_apart(const struct side *a, const struct side *b, size_t i,
    const struct mlp_data *d)
{
	return fmax(far(a->score[i].loss, b->score[i].loss),
	    far(a->state[i].place.loss_sum, b->state[i].place.loss_sum) /
		(double)d->train.n);
}

/* c: what a comes to from weights that differ in their last bits. */
static void
compare(struct difference *t, const struct side *a, const struct side *b,
    const struct side *c, const struct mlp_data *d)
{
	const struct mlp_place *p, *q;
	const float *params;
	double shaken = FLT_EPSILON;
	size_t i, memory, count;

	for (i = 0; i < HYPERS; i++) {
		p = &a->state[i].place;
		q = &b->state[i].place;
		params = a->state[i].params;
		count = mlp_layout_count(d, &hypers[i], &memory);
		t->params = fmax(t->params,
		    apart(params, b->state[i].params, count) /
			fmax(FLT_EPSILON,
			    apart(params, c->state[i].params, count)));
		t->loss = fmax(t->loss, losses_apart(a, b, i, d));
		shaken = fmax(shaken, losses_apart(a, c, i, d));
		t->accuracy = fmax(t->accuracy,
		    far(a->score[i].accuracy, b->score[i].accuracy));
		t->places = t->places && p->epoch == q->epoch &&
			    p->position == q->position && p->steps == q->steps;
	}
	t->loss /= shaken;
}

static int
twins(struct difference *t, const struct mlp_kernels *one,
    const struct mlp_kernels *other, size_t steps, size_t ranks)
{
	struct side a, b, c;
	struct mlp_reference_data made;
	size_t i;
	int rc;

	*t = (struct difference){ .places = true, .alone = true };
	mlp_reference_data_init(&made, 150, 10, 301, 523, 7);
	rc = side_open(&a, one, &made.data, ranks, steps, false);
	rc += side_open(&b, other, &made.data, ranks, steps, false);
	rc += side_open(&c, one, &made.data, ranks, steps, true);
	if (rc == 0)
		compare(t, &a, &b, &c, &made.data);
	for (i = 0; rc == 0 && i < HYPERS; i++)
		t->alone = t->alone && same_alone(&b, &made.data, i, steps,
					   ranks > 1 ? &b.ranks : NULL);
	side_close(&a);
	side_close(&b);
	side_close(&c);
	mlp_reference_data_free(&made);
	return rc == 0 ? 0 : -1;
}

/* NULL with the reason in why when there is none. */
static const struct mlp_kernels *
gpu_open(char *why, size_t n)
{
#ifdef HAVE_CUDA
	return mlp_batch_cuda(0, why, n);
#else
	(void)snprintf(why, n, "built without CUDA");
	return NULL;
#endif
}

static void
close_to(double off, double limit, const char *what)
{
	if (!ok(off <= limit, "%s", what))
		printf("# off by %g, at most %g\n", off, limit);
}

/*
 * Steps add up what rounding leaves, and Adam makes much of a gradient near 0; so
 * weights and losses are measured by what one changed bit of each does to the same training.
 */
static void
test_twins(const struct mlp_kernels *gpu, size_t steps, size_t ranks)
{
	struct difference t;

	ok(twins(&t, mlp_batch_cpu(), gpu, steps, ranks) == 0,
	    "%zu steps in %zu ranks", steps, ranks);
	close_to(t.params, 16, "weights");
	close_to(t.loss, 16, "losses");
	close_to(t.accuracy, 0.002, "accuracies");
	ok(t.places, "at the same places");
	ok(t.alone, "each as if it were alone");
}

/* Memory runs out at every place there is. */
static void
test_failing(const struct mlp_kernels *gpu)
{
	struct difference t;
	long works;
	int refused = 0;

	if (&cuda_fake_left == NULL)
		return;
	for (works = 0; works < 17; works++) {
		cuda_fake_left = works;
		refused += twins(&t, mlp_batch_cpu(), gpu, 5, 1) == -1;
	}
	is_int(refused, 16, "what has no memory is refused");
	cuda_fake_left = -1;
	ok(twins(&t, mlp_batch_cpu(), gpu, 5, 1) == 0, "and it works again");
}

int
main(void)
{
	const struct mlp_kernels *gpu;
	char why[256] = "";

	gpu = gpu_open(why, sizeof why);
	if (gpu == NULL) {
		skip("the twins of packed training", why);
		return done_testing();
	}
	printf("# %s: %s\n", gpu->name, gpu->device);
	test_twins(gpu, 5, 1);
	test_twins(gpu, 60, 1);
	test_twins(gpu, 10, 3);
	test_failing(gpu);
	return done_testing();
}
