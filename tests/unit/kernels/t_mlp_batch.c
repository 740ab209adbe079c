/*
 * Packed training on the CPU: its gradient and its steps against the same in
 * double; and a slot does not depend on others: neither neighbours nor pauses
 * change a bit of it.
 */

#include <pthread.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "tests/support/mlp-reference.h"
#include "tests/support/tap.h"

static const struct mlp_kernels *k;

static const struct mlp_hyper hypers[] = {
	{ 1, 9, 4, MLP_SGD, 0.1f, 0.9f, 0.01f, 0, 1 },
	{ 2, 7, 3, MLP_ADAM, 0.02f, 0, 0.1f, 0, 2 },
	{ 2, 12, 7, MLP_SGD, 0.2f, 0.5f, 0, 0.4f, 3 },
	{ 1, 20, 50, MLP_ADAM, 0.01f, 0, 0, 0.2f, 4 },
};
enum { HYPERS = sizeof hypers / sizeof *hypers };

struct copy {
	struct mlp_state state;
	size_t count, memory;
};

static void
copy_init(struct copy *c, const struct mlp_data *d, const struct mlp_hyper *h)
{
	c->count = mlp_layout_count(d, h, &c->memory);
	c->state.params = xcalloc(c->count, sizeof *c->state.params);
	c->state.memory = xcalloc(c->memory, sizeof *c->state.memory);
}

static void
copy_free(struct copy *c)
{
	free(c->state.params);
	free(c->state.memory);
}

static bool
copy_same(const struct copy *a, const struct copy *b)
{
	return memcmp(&a->state.place, &b->state.place,
		   sizeof a->state.place) == 0 &&
	       memcmp(a->state.params, b->state.params,
		   a->count * sizeof(float)) == 0 &&
	       memcmp(a->state.memory, b->state.memory,
		   a->memory * sizeof(float)) == 0;
}

static void
test_order(void)
{
	const uint32_t sizes[] = { 1, 2, 3, 5, 64, 1000 };
	uint32_t i, n, at, fixed = 0, seen[1000];
	size_t s;
	bool once = true;

	for (s = 0; s < sizeof sizes / sizeof *sizes; s++) {
		n = sizes[s];
		memset(seen, 0, sizeof seen);
		for (i = 0; i < n; i++) {
			at = mlp_order(77, n, i);
			once = once && at < n && !seen[at];
			seen[at < n ? at : 0] = 1;
			fixed += n == 1000 && at == i;
		}
	}
	ok(once, "an order holds everything once");
	ok(fixed < 10, "and mixes it");
	for (i = 0, fixed = 0; i < 1000; i++)
		fixed += mlp_order(77, 1000, i) == mlp_order(78, 1000, i);
	ok(fixed < 10, "another key has another one");
}

/* Each epoch has its order, each step its dropout, each seed its own of both. */
static void
test_turns(void)
{
	struct mlp_hyper h = hypers[2];
	struct mlp_layout_step a, b, other;
	struct mlp_place p = { 0 }, q = { 0 };
	bool same = true;
	uint64_t first;

	mlp_layout_step(&a, &h, &p, 23, NULL);
	first = a.order;
	while (p.position < 23) {
		mlp_layout_step(&b, &h, &p, 23, NULL);
		same = same && b.order == a.order && b.mask != a.mask;
	}
	ok(same, "an epoch has one order, a step its own dropout");
	mlp_layout_step(&b, &h, &p, 23, NULL);
	ok(p.epoch == 1 && b.order != first, "the next has another");
	h.seed++;
	mlp_layout_step(&other, &h, &q, 23, NULL);
	ok(other.order != a.order && other.mask != a.mask,
	    "another seed gives another order");
}

/* With lr 1 and nothing else a step takes the gradient off. */
static void
test_gradient(const struct mlp_data *d, size_t i)
{
	struct mlp_hyper h = hypers[i];
	double worst = 0, largest = 0;
	const size_t slot = 0;
	struct mlp_reference ref;
	struct mlp_layout_step turn;
	struct copy before, after;
	struct mlp_batch *p;
	size_t n;

	h.optimizer = MLP_SGD;
	h.lr = 1;
	h.momentum = h.decay = 0;
	copy_init(&before, d, &h);
	copy_init(&after, d, &h);
	p = k->open(k->dev, d, 1, NULL);
	k->put(p, 0, &h, NULL);
	k->take(p, 0, &before.state);
	k->advance(p, &slot, 1, 1);
	k->take(p, 0, &after.state);
	mlp_reference_init(&ref, d, &h);
	mlp_layout_step(&turn, &h, &ref.place, d->train.n, NULL);
	ref.place.loss_sum = mlp_reference_gradient(&ref, &turn);
	for (n = 0; n < before.count; n++) {
		worst = fmax(worst,
		    fabs(ref.grads[n] - (double)(before.state.params[n] -
						 after.state.params[n])));
		largest = fmax(largest, fabs(ref.grads[n]));
	}
	ok(worst < 1e-6 && largest > 0.05, "gradient %zu: %.2g, off by %.1g", i,
	    largest, worst);
	is_near(after.state.place.loss_sum, ref.place.loss_sum, 1e-5,
	    "and the loss");
	mlp_reference_free(&ref);
	copy_free(&before);
	copy_free(&after);
	k->close(p);
}

static void
test_steps(const struct mlp_data *d, size_t i)
{
	const size_t slot = 0;
	struct mlp_reference ref;
	struct copy got;
	struct mlp_batch *p;
	double worst = 0;
	size_t n;

	copy_init(&got, d, &hypers[i]);
	mlp_reference_init(&ref, d, &hypers[i]);
	p = k->open(k->dev, d, 1, NULL);
	k->put(p, 0, &hypers[i], NULL);
	for (n = 0; n < 9; n++) {
		k->advance(p, &slot, 1, 1);
		mlp_reference_step(&ref);
	}
	k->take(p, 0, &got.state);
	for (n = 0; n < got.count; n++)
		worst = fmax(
		    worst, fabs(ref.params[n] - (double)got.state.params[n]));
	ok(worst < 1e-5, "nine steps %zu: off by %.1g", i, worst);
	ok(got.state.place.epoch == ref.place.epoch &&
		got.state.place.position == ref.place.position &&
		got.state.place.steps == 9,
	    "at the same place");
	mlp_reference_free(&ref);
	copy_free(&got);
	k->close(p);
}

/* Trains a slot alone for so many advances. */
static void
alone(struct copy *c, const struct mlp_data *d, const struct mlp_hyper *h,
    size_t advances, size_t steps)
{
	struct mlp_batch *p = k->open(k->dev, d, 3, NULL);
	const size_t slot = 2;

	copy_init(c, d, h);
	k->put(p, slot, h, NULL);
	while (advances-- > 0)
		k->advance(p, &slot, 1, steps);
	k->take(p, slot, &c->state);
	k->close(p);
}

static void
test_neighbours(const struct mlp_data *d)
{
	const size_t all[HYPERS] = { 3, 1, 0, 2 };
	struct mlp_batch *p = k->open(k->dev, d, HYPERS, NULL);
	struct mlp_score one[HYPERS], other;
	struct copy a, b;
	size_t i, n;

	for (i = 0; i < HYPERS; i++)
		k->put(p, i, &hypers[i], NULL);
	for (n = 0; n < 5; n++)
		k->advance(p, all, HYPERS, 4);
	k->measure(p, all, HYPERS, one);
	for (i = 0; i < HYPERS; i++) {
		alone(&a, d, &hypers[i], 5, 4);
		copy_init(&b, d, &hypers[i]);
		k->take(p, i, &b.state);
		ok(copy_same(&a, &b), "slot %zu is as if it were alone", i);
		k->measure(p, &i, 1, &other);
		for (n = 0; all[n] != i; n++)
			;
		ok(one[n].loss == other.loss &&
			one[n].accuracy == other.accuracy,
		    "and is measured so");
		copy_free(&a);
		copy_free(&b);
	}
	k->close(p);
}

/* Stopped anywhere, kept, and continued in another pack. */
static void
test_resume(const struct mlp_data *d, size_t i)
{
	struct mlp_batch *p = k->open(k->dev, d, 2, NULL);
	struct mlp_batch *q = k->open(k->dev, d, 2, NULL);
	struct copy whole, part;
	const size_t slot = 1, other = 0;
	size_t n;

	alone(&whole, d, &hypers[i], 13, 1);
	copy_init(&part, d, &hypers[i]);
	k->put(p, slot, &hypers[i], NULL);
	k->put(q, other, &hypers[(i + 1) % HYPERS], NULL);
	for (n = 0; n < 5; n++)
		k->advance(p, &slot, 1, 1);
	k->take(p, slot, &part.state);
	k->drop(q, other);
	ok(k->put(q, other, &hypers[i], &part.state) == 0,
	    "a freed slot is filled again");
	for (n = 0; n < 8; n++)
		k->advance(q, &other, 1, 1);
	k->take(q, other, &part.state);
	ok(copy_same(&whole, &part), "run %zu continues to the same bits", i);
	copy_free(&whole);
	copy_free(&part);
	k->close(p);
	k->close(q);
}

/* An advance ends with the epoch; the next one begins another. */
static void
test_epochs(const struct mlp_data *d)
{
	struct mlp_batch *p = k->open(k->dev, d, 1, NULL);
	const struct mlp_place *at = k->place(p, 0);
	struct mlp_score first, last;
	const size_t slot = 0;
	size_t n;

	k->put(p, 0, &hypers[0], NULL);
	k->measure(p, &slot, 1, &first);
	k->advance(p, &slot, 1, 1000);
	ok(at->position == d->train.n && at->epoch == 0 &&
		at->steps == (d->train.n + 3) / 4,
	    "an epoch, with what is left over at its end");
	k->advance(p, &slot, 1, 1);
	ok(at->position == 4 && at->epoch == 1, "and the next");
	for (n = 0; n < 30; n++)
		k->advance(p, &slot, 1, 1000);
	k->measure(p, &slot, 1, &last);
	ok(last.accuracy > 0.9 && first.accuracy < 0.5,
	    "it learns: %.3f to %.3f", first.accuracy, last.accuracy);
	k->close(p);
}

static void
test_not_finite(const struct mlp_data *d)
{
	struct mlp_hyper h = hypers[1];
	struct mlp_batch *p = k->open(k->dev, d, 1, NULL);
	struct mlp_score score;
	const size_t slot = 0;

	h.lr = INFINITY;
	k->put(p, 0, &h, NULL);
	k->advance(p, &slot, 1, 3);
	k->measure(p, &slot, 1, &score);
	ok(isnan(score.loss) && score.accuracy == 0,
	    "a result that is not finite is wrong");
	k->close(p);
}

/* Ranks as threads. */
struct shared {
	pthread_barrier_t gate;
	float *part[3];
};

struct one {
	struct shared *shared;
	const struct mlp_data *data;
	const struct mlp_hyper *hyper;
	struct mlp_ranks ranks;
	struct copy copy;
	pthread_t thread;
};

static int
one_sum(void *ctx, float *x, size_t n)
{
	struct one *o = ctx;
	struct shared *s = o->shared;
	float *sum = xcalloc(n, sizeof *sum);
	size_t i, r;

	s->part[o->ranks.rank] = x;
	pthread_barrier_wait(&s->gate);
	for (i = 0; i < n; i++)
		for (r = 0; r < o->ranks.ranks; r++)
			sum[i] += s->part[r][i];
	pthread_barrier_wait(&s->gate);
	memcpy(x, sum, n * sizeof *x);
	free(sum);
	return 0;
}

static void *
one_run(void *arg)
{
	struct one *o = arg;
	struct mlp_batch *p = k->open(k->dev, o->data, 1, &o->ranks);
	const size_t slot = 0;
	int n;

	k->put(p, 0, o->hyper, NULL);
	for (n = 0; n < 6; n++) {
		o->ranks.wish = n == 5 && o->ranks.rank == 1;
		k->advance(p, &slot, 1, 2);
	}
	k->take(p, 0, &o->copy.state);
	k->close(p);
	return NULL;
}

static void
test_ranks(const struct mlp_data *d, size_t i)
{
	struct shared shared;
	struct one one[3];
	struct copy whole;
	double worst = 0;
	size_t r, n;

	alone(&whole, d, &hypers[i], 6, 2);
	pthread_barrier_init(&shared.gate, NULL, 3);
	for (r = 0; r < 3; r++) {
		one[r] = (struct one){ .shared = &shared,
			.data = d,
			.hyper = &hypers[i],
			.ranks = { r, 3, 0, one_sum, &one[r], 0, 0 } };
		copy_init(&one[r].copy, d, &hypers[i]);
		pthread_create(&one[r].thread, NULL, one_run, &one[r]);
	}
	for (r = 0; r < 3; r++)
		pthread_join(one[r].thread, NULL);
	for (n = 0; n < whole.count; n++)
		worst = fmax(worst, (double)fabsf(whole.state.params[n] -
						  one[1].copy.state.params[n]));
	ok(worst < 1e-4, "three ranks are as one %zu: off by %.1g", i, worst);
	ok(copy_same(&one[0].copy, &one[1].copy) &&
		copy_same(&one[0].copy, &one[2].copy),
	    "and the same among them");
	is_near(one[2].copy.state.place.loss_sum, whole.state.place.loss_sum,
	    1e-4, "with the same loss");
	ok(one[0].ranks.wished > 0 && one[2].ranks.wished > 0,
	    "the stop request of one reaches all");
	for (r = 0; r < 3; r++)
		copy_free(&one[r].copy);
	copy_free(&whole);
	pthread_barrier_destroy(&shared.gate);
}

int
main(void)
{
	struct mlp_reference_data small, more;
	size_t i;

	k = mlp_batch_cpu();
	mlp_reference_data_init(&small, 7, 4, 23, 11, 5);
	mlp_reference_data_init(&more, 21, 5, 301, 300, 6);
	test_order();
	test_turns();
	for (i = 0; i < HYPERS; i++) {
		test_gradient(&small.data, i);
		test_steps(&small.data, i);
		test_resume(&small.data, i);
		test_ranks(&small.data, i);
	}
	test_neighbours(&more.data);
	test_epochs(&more.data);
	test_not_finite(&more.data);
	mlp_reference_data_free(&small);
	mlp_reference_data_free(&more);
	return done_testing();
}
