/* The pictures in the kernels, and threads. */

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "examples/fashion-mnist/pack/machine.h"

enum { MACHINE_THREADS_MAX = 256, MACHINE_STEPS_MAX = 32 };

static struct mlp_images
images_of(const struct images *im)
{
	return (struct mlp_images){ im->count, im->pixels, im->labels };
}

static void *
load_work(void *arg)
{
	struct machine *m = arg;
	const struct options *o = m->load.options;

	m->load.rc =
	    data_load(&m->data, o->data, o->cache, "train", &m->load.why);
	return NULL;
}

void
machine_load(struct machine *m, const struct options *o)
{
	m->load.options = o;
	m->load.begun =
	    pthread_create(&m->load.thread, NULL, load_work, m) == 0;
	if (!m->load.begun)
		load_work(m);
}

static void
load_wait(struct machine *m)
{
	if (m->load.begun)
		pthread_join(m->load.thread, NULL);
	m->load.begun = false;
}

int
machine_open(struct machine *m, const struct options *o, size_t slots,
    struct mlp_ranks *ranks, struct fail *f)
{
	struct images train, valid;

	m->slots = slots;
	load_wait(m);
	if (m->load.rc == -1) {
		*f = m->load.why;
		return -1;
	}
	if (data_split(&m->data, (size_t)o->train_size,
		(size_t)o->validation_size, &train, &valid, f) == -1)
		return -1;
	m->about = (struct mlp_data){
		.pixels = DATA_PIXELS,
		.classes = DATA_CLASSES,
		.scale = DATA_SCALE,
		.shift = DATA_SHIFT,
		.train = images_of(&train),
		.valid = images_of(&valid),
	};
	m->pack = m->kernels->open(m->kernels->dev, &m->about, slots, ranks);
	if (m->pack == NULL)
		return fail_set(f, "%s has too little memory for the pictures",
		    m->kernels->device);
	return 0;
}

void
machine_close(struct machine *m)
{
	if (m->pack != NULL)
		m->kernels->close(m->pack);
	m->pack = NULL;
	load_wait(m);
	data_free(&m->data);
}

/* Slots that threads take one by one: some networks are larger than others. */
struct share {
	struct machine *machine;
	const size_t *slots;
	size_t n, steps;
	struct mlp_score *scores; /* NULL: to be trained, not measured */
	atomic_size_t next;
	atomic_int bad;
};

static int
share_one(const struct share *s, size_t i, size_t n)
{
	const struct machine *m = s->machine;

	if (s->scores != NULL)
		return m->kernels->measure(
		    m->pack, s->slots + i, n, s->scores + i);
	return m->kernels->advance(m->pack, s->slots + i, n, s->steps);
}

static void *
share_work(void *arg)
{
	struct share *s = arg;
	size_t i;

	while ((i = atomic_fetch_add(&s->next, 1)) < s->n)
		if (share_one(s, i, 1) == -1)
			atomic_store(&s->bad, 1);
	return NULL;
}

static int
share_out(struct share *s)
{
	size_t threads = s->machine->threads, started = 0;
	size_t want = threads < s->n ? threads : s->n;
	pthread_t thread[MACHINE_THREADS_MAX];

	if (threads <= 1)
		return s->n > 0 ? share_one(s, 0, s->n) : 0;
	while (started + 1 < want && started < MACHINE_THREADS_MAX &&
	       pthread_create(&thread[started], NULL, share_work, s) == 0)
		started++;
	share_work(s);
	while (started > 0)
		pthread_join(thread[--started], NULL);
	return atomic_load(&s->bad) ? -1 : 0;
}

int
machine_advance(struct machine *m, const size_t *slots, size_t n, size_t steps)
{
	struct share s = {
		.machine = m, .slots = slots, .n = n, .steps = steps
	};

	return share_out(&s);
}

int
machine_measure(
    struct machine *m, const size_t *slots, size_t n, struct mlp_score *scores)
{
	struct share s = {
		.machine = m, .slots = slots, .n = n, .scores = scores
	};

	return share_out(&s);
}

size_t
machine_moment(const struct machine *m, const struct mlp_hyper *h)
{
	const double moment = strcmp(m->kernels->name, "cpu") == 0 ? 2e9 : 4e11;
	size_t memory;
	double work;

	work = 6.0 * (double)h->batch *
	       (double)mlp_layout_count(&m->about, h, &memory);
	if (moment / work >= MACHINE_STEPS_MAX)
		return MACHINE_STEPS_MAX;
	return moment / work > 1 ? (size_t)(moment / work) : 1;
}
