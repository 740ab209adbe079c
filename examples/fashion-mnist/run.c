/*
 * One training run.  The position in the run (epoch, picture) determines all
 * random choices, so resuming from a checkpoint needs no further state.
 */

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "checkpoint.h"
#include "run.h"

enum { RUN_EVALUATE_ROWS = 500 };

static double
run_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static size_t
run_min(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* The order of an epoch hangs on seed and epoch alone. */
static void
run_shuffle(struct run *r)
{
	struct rng rng;

	rng = rng_stream((uint64_t)r->options->seed, RNG_ORDER, r->epoch);
	rng_order(&rng, r->order, r->train.count);
}

static struct checkpoint
run_checkpoint(const struct run *r)
{
	return (struct checkpoint){
		.identity = r->identity,
		.epoch = r->epoch,
		.position = r->position,
		.steps = r->optim.steps,
		.rng = r->dropout.state,
		.loss_sum = r->loss_sum,
		.part = { { r->net.params, r->net.count },
		    { r->optim.slots, r->optim.slot_count } },
	};
}

/* A checkpoint that cannot be written is no reason to lose the training. */
static void
run_save(struct run *r)
{
	struct checkpoint c;
	struct fail f;

	if (r->options->checkpoint_dir == NULL)
		return;
	c = run_checkpoint(r);
	if (checkpoint_write(&c, r->options->checkpoint_dir, &f) == -1)
		fprintf(stderr, "train: %s\n", f.text);
	r->last_write = run_clock();
}

/*
 * A damaged checkpoint is ignored; one of another run is not overwritten, because
 * it may be needed.
 */
static int
run_restore(struct run *r, struct fail *f)
{
	struct checkpoint c;

	if (r->options->checkpoint_dir == NULL)
		return 0;
	c = run_checkpoint(r);
	switch (checkpoint_read(&c, r->options->checkpoint_dir, f)) {
	case CHECKPOINT_NONE:
		return 0;
	case CHECKPOINT_DAMAGED:
		fprintf(stderr, "train: %s; starting anew\n", f->text);
		return 0;
	case CHECKPOINT_FOREIGN:
		return -1;
	case CHECKPOINT_GOOD:
		break;
	}
	r->epoch = c.epoch;
	r->position = run_min(c.position, r->train.count);
	r->optim.steps = c.steps;
	r->dropout.state = c.rng;
	r->loss_sum = c.loss_sum;
	fprintf(stderr,
	    "train: continuing in epoch %zu after %zu of %zu "
	    "pictures\n",
	    r->epoch + 1, r->position, r->train.count);
	return 0;
}

static int
run_load(struct run *r, struct fail *f)
{
	const struct options *o = r->options;

	if (data_load(&r->data, o->data, o->cache, "train", f) == -1)
		return -1;
	return data_split(&r->data, (size_t)o->train_size,
	    (size_t)o->validation_size, &r->train, &r->valid, f);
}

static void
run_build(struct run *r)
{
	const struct options *o = r->options;
	size_t hidden = (size_t)o->hidden, layers = (size_t)o->layers;
	size_t sizes[NET_LAYERS_MAX + 1] = { DATA_PIXELS, hidden, hidden };
	size_t rows = (size_t)o->batch;
	struct rng rng;

	if (rows < RUN_EVALUATE_ROWS)
		rows = RUN_EVALUATE_ROWS;
	sizes[layers + 1] = DATA_CLASSES;
	net_init(&r->net, sizes, layers + 1, rows);
	rng = rng_stream((uint64_t)o->seed, RNG_WEIGHTS, 0);
	net_draw(&r->net, &rng);
	r->dropout = rng_stream((uint64_t)o->seed, RNG_DROPOUT, 0);
	optim_init(&r->optim, (enum optim_kind)o->optimizer, r->net.count);
	r->optim.lr = (float)o->lr;
	r->optim.momentum = (float)o->momentum;
	r->optim.decay = (float)o->weight_decay;
	r->order = mem_zero(r->train.count, sizeof *r->order);
	r->x = mem_zero(rows * DATA_PIXELS, sizeof *r->x);
	r->labels = mem_zero(rows, sizeof *r->labels);
}

int
run_init(struct run *r, const struct options *o,
    const volatile sig_atomic_t *signal, struct fail *f)
{
	memset(r, 0, sizeof *r);
	r->options = o;
	r->signal = signal;
	options_identity(o, r->identity);
	if (run_load(r, f) == -1)
		return -1;
	run_build(r);
	if (run_restore(r, f) == -1)
		return -1;
	r->last_write = run_clock();
	return 0;
}

void
run_free(struct run *r)
{
	data_free(&r->data);
	net_free(&r->net);
	optim_free(&r->optim);
	free(r->order);
	free(r->x);
	free(r->labels);
}

/* One step on the next pictures of the epoch. */
static void
run_step(struct run *r)
{
	const float dropout = (float)r->options->dropout;
	size_t n, right = 0;

	n = run_min((size_t)r->options->batch, r->train.count - r->position);
	data_gather(&r->train, r->order, r->position, n, r->x, r->labels);
	net_forward(&r->net, r->x, n, dropout, &r->dropout);
	r->loss_sum += net_loss(&r->net, r->labels, n, &right);
	net_backward(&r->net, r->x, n, dropout);
	optim_step(&r->optim, r->net.params, r->net.grads);
	r->position += n;
}

/* Trains to the end of the epoch, or until a signal. */
static void
run_epoch(struct run *r)
{
	double every = r->options->checkpoint_every;

	run_shuffle(r);
	while (r->position < r->train.count && !*r->signal) {
		run_step(r);
		if (r->position < r->train.count &&
		    run_clock() - r->last_write >= every)
			run_save(r);
	}
}

/* The share of pictures classified as labelled; the mean loss as well. */
static double
run_evaluate(struct run *r, const struct images *im, double *loss)
{
	size_t i, n, right = 0;

	*loss = 0;
	for (i = 0; i < im->count; i += n) {
		n = run_min(RUN_EVALUATE_ROWS, im->count - i);
		data_gather(im, NULL, i, n, r->x, r->labels);
		net_forward(&r->net, r->x, n, 0, NULL);
		*loss += net_loss(&r->net, r->labels, n, &right);
	}
	*loss /= (double)im->count;
	return (double)right / (double)im->count;
}

/* The line that hpotune reads; out at once, for it may be the last. */
static int
run_report(struct run *r, struct fail *f)
{
	double accuracy, loss;

	accuracy = run_evaluate(r, &r->valid, &loss);
	printf("hpotune: step=%zu val_accuracy=%.4f val_loss=%.6f loss=%.6f\n",
	    r->epoch + 1, accuracy, loss, r->loss_sum / (double)r->train.count);
	if (fflush(stdout) != 0)
		return fail_set(f, "cannot write the report");
	return 0;
}

int
run_train(struct run *r, struct fail *f)
{
	while (r->epoch < (size_t)r->options->epochs) {
		run_epoch(r);
		run_save(r);
		if (*r->signal) {
			fprintf(stderr,
			    "train: stopped in epoch %zu after %zu "
			    "of %zu pictures\n",
			    r->epoch + 1, r->position, r->train.count);
			return 0;
		}
		if (run_report(r, f) == -1)
			return -1;
		r->epoch++;
		r->position = 0;
		r->loss_sum = 0;
	}
	return 0;
}

int
run_test(struct run *r, struct fail *f)
{
	struct data test;
	struct images all;
	double accuracy, loss;

	if (data_load(&test, r->options->data, r->options->cache, "t10k", f) ==
	    -1)
		return -1;
	all = data_slice(&test, 0, test.labels.size[0]);
	accuracy = run_evaluate(r, &all, &loss);
	printf("test: accuracy=%.4f loss=%.6f\n", accuracy, loss);
	data_free(&test);
	return 0;
}
