/*
 * Packed training on one core: one slot after the other, so that its weights
 * stay in the cache for all requested steps.  Reference for mlp-batch.cu.
 */

#include <stdlib.h>
#include <string.h>

#include "kernels/mlp-batch/mlp-internal.h"
#include "kernels/mlp-batch/mlp-product.h"
#include "kernels/mlp-batch/mlp-slot.h"

enum { FETCH_AHEAD = 4 }; /* pictures */

struct mlp_batch {
	struct mlp_data data;
	struct mlp_ranks *ranks;
	size_t slots;
	struct mlp_slot *slot;
};

static struct mlp_batch *
mlp_batch_open(void *dev, const struct mlp_data *data, size_t slots,
    struct mlp_ranks *ranks)
{
	struct mlp_batch *p = calloc(1, sizeof *p);

	(void)dev;
	if (p == NULL)
		return NULL;
	p->data = *data;
	p->ranks = ranks;
	p->slots = slots;
	p->slot = calloc(slots, sizeof *p->slot);
	if (p->slot == NULL) {
		free(p);
		return NULL;
	}
	return p;
}

static void
mlp_batch_drop(struct mlp_batch *p, size_t slot)
{
	struct mlp_slot *s = &p->slot[slot];

	free(s->numbers);
	free(s->labels);
	free(s->pictures);
	memset(s, 0, sizeof *s);
}

static void
mlp_batch_close(struct mlp_batch *p)
{
	size_t i;

	for (i = 0; i < p->slots; i++)
		mlp_batch_drop(p, i);
	free(p->slot);
	free(p);
}

/* n numbers end on a cache line. */
static size_t
whole(size_t n)
{
	return (n + 15) / 16 * 16;
}

static float *
cut(float **at, size_t n)
{
	float *here = *at;

	*at += whole(n);
	return here;
}

/* Numbers of the largest matrix after the first. */
static size_t
turned_size(const struct mlp_layout *h)
{
	size_t l, most = 0;

	for (l = 1; l < h->layers; l++)
		if (h->in[l] * h->out[l] > most)
			most = h->in[l] * h->out[l];
	return most;
}

static size_t
slot_size(const struct mlp_layout *h, size_t rows)
{
	size_t l, n = whole(h->count) + whole(h->count + MLP_TAIL) +
		      whole(h->memory) + whole(rows * h->in[0]) +
		      whole(turned_size(h));

	for (l = 0; l < h->layers; l++)
		n += 2 * whole(rows * h->out[l]);
	return n + MLP_PRODUCT_MORE;
}

static void
slot_lay(struct mlp_slot *s, size_t rows)
{
	const struct mlp_layout *h = &s->shape;
	float *at = s->numbers;
	size_t l;

	s->params = cut(&at, h->count);
	s->grads = cut(&at, h->count + MLP_TAIL);
	s->memory = cut(&at, h->memory);
	s->turned = cut(&at, turned_size(h));
	s->x = cut(&at, rows * h->in[0]);
	for (l = 0; l < h->layers; l++) {
		s->y[l] = cut(&at, rows * h->out[l]);
		s->dy[l] = cut(&at, rows * h->out[l]);
	}
}

static int
slot_alloc(struct mlp_slot *s)
{
	size_t rows = s->shape.rows > MLP_ROWS ? s->shape.rows : MLP_ROWS, n;
	void *room = NULL;

	rows =
	    (rows + MLP_PRODUCT_ROWS - 1) / MLP_PRODUCT_ROWS * MLP_PRODUCT_ROWS;
	n = slot_size(&s->shape, rows);
	s->labels = calloc(rows, 1);
	s->pictures = calloc(rows, sizeof *s->pictures);
	if (s->labels == NULL || s->pictures == NULL ||
	    posix_memalign(&room, 64, n * sizeof(float)) != 0)
		return -1;
	s->numbers = memset(room, 0, n * sizeof(float));
	slot_lay(s, rows);
	return 0;
}

static int
mlp_batch_put(struct mlp_batch *p, size_t slot, const struct mlp_hyper *hyper,
    const struct mlp_state *from)
{
	size_t ranks = p->ranks != NULL ? p->ranks->ranks : 1;
	struct mlp_slot *s = &p->slot[slot];

	s->hyper = *hyper;
	mlp_layout(&s->shape, &p->data, hyper, ranks);
	if (slot_alloc(s) != 0) {
		mlp_batch_drop(p, slot);
		return -1;
	}
	s->used = 1;
	if (from == NULL) {
		mlp_layout_draw(&s->shape, hyper, s->params);
		return 0;
	}
	s->place = from->place;
	memcpy(s->params, from->params, s->shape.count * sizeof(float));
	memcpy(s->memory, from->memory, s->shape.memory * sizeof(float));
	return 0;
}

static const struct mlp_place *
mlp_place(const struct mlp_batch *p, size_t slot)
{
	return &p->slot[slot].place;
}

static int
mlp_batch_take(struct mlp_batch *p, size_t slot, struct mlp_state *to)
{
	const struct mlp_slot *s = &p->slot[slot];

	to->place = s->place;
	memcpy(to->params, s->params, s->shape.count * sizeof(float));
	memcpy(to->memory, s->memory, s->shape.memory * sizeof(float));
	return 0;
}

/*
 * The pictures of a step, in an order that the processor cannot foresee: each is
 * fetched while those before it are converted.
 */
static void
slot_gather(
    struct mlp_batch *p, struct mlp_slot *s, const struct mlp_layout_step *t)
{
	const struct mlp_images *train = &p->data.train;
	size_t i;

	for (i = 0; i < t->rows; i++) {
		s->pictures[i] = mlp_order(
		    t->order, (uint32_t)train->n, t->first + (uint32_t)i);
		if (i < FETCH_AHEAD)
			mlp_network_fetch(&p->data, train, s->pictures[i]);
	}
	for (i = 0; i < t->rows; i++) {
		if (i + FETCH_AHEAD < t->rows)
			mlp_network_fetch(
			    &p->data, train, s->pictures[i + FETCH_AHEAD]);
		mlp_network_gather(s, &p->data, train, i, s->pictures[i]);
	}
}

/* The gradient of this rank's rows, with the loss and the wish after it. */
static void
slot_gradient(
    struct mlp_batch *p, struct mlp_slot *s, const struct mlp_layout_step *t)
{
	float *tail = s->grads + s->shape.count;
	size_t right = 0;

	memset(tail, 0, MLP_TAIL * sizeof *tail);
	tail[1] = p->ranks != NULL ? p->ranks->wish : 0;
	if (t->rows == 0) {
		memset(s->grads, 0, s->shape.count * sizeof *s->grads);
		return;
	}
	slot_gather(p, s, t);
	mlp_network_forward(s, t->rows, t);
	tail[0] = (float)mlp_network_loss(s, t->rows, t->share, &right);
	mlp_network_backward(s, t->rows);
}

static int
slot_step(struct mlp_batch *p, struct mlp_slot *s)
{
	struct mlp_ranks *r = p->ranks;
	struct mlp_layout_step turn;

	mlp_layout_step(&turn, &s->hyper, &s->place, p->data.train.n, r);
	slot_gradient(p, s, &turn);
	if (r != NULL &&
	    r->sum(r->ctx, s->grads, s->shape.count + MLP_TAIL) != 0)
		return -1;
	s->place.loss_sum += (double)s->grads[s->shape.count];
	if (r != NULL)
		r->wished += s->grads[s->shape.count + 1];
	mlp_network_update(s, &turn);
	return 0;
}

static int
mlp_batch_advance(
    struct mlp_batch *p, const size_t *slots, size_t n, size_t steps)
{
	struct mlp_slot *s;
	size_t i, k;

	if (p->ranks != NULL)
		p->ranks->wished = 0;
	for (i = 0; i < n; i++) {
		s = &p->slot[slots[i]];
		for (k = 0; k < steps; k++) {
			if (k > 0 && s->place.position >= p->data.train.n)
				break;
			if (slot_step(p, s) != 0)
				return -1;
		}
	}
	return 0;
}

static int
mlp_batch_measure(
    struct mlp_batch *p, const size_t *slots, size_t n, struct mlp_score *score)
{
	const struct mlp_images *valid = &p->data.valid;
	size_t i, k, at, some, right;
	double loss;

	for (i = 0; i < n; i++) {
		struct mlp_slot *s = &p->slot[slots[i]];

		loss = 0;
		right = 0;
		for (at = 0; at < valid->n; at += some) {
			some = valid->n - at;
			some = some < MLP_ROWS ? some : (size_t)MLP_ROWS;
			for (k = 0; k < some; k++)
				mlp_network_gather(
				    s, &p->data, valid, k, at + k);
			mlp_network_forward(s, some, NULL);
			loss += mlp_network_loss(s, some, 1, &right);
		}
		score[i].loss = loss / (double)valid->n;
		score[i].accuracy = (double)right / (double)valid->n;
	}
	return 0;
}

const struct mlp_kernels *
mlp_batch_cpu(void)
{
	static const struct mlp_kernels cpu = {
		.name = "cpu",
		.device = "this CPU",
		.open = mlp_batch_open,
		.close = mlp_batch_close,
		.put = mlp_batch_put,
		.drop = mlp_batch_drop,
		.place = mlp_place,
		.advance = mlp_batch_advance,
		.measure = mlp_batch_measure,
		.take = mlp_batch_take,
	};

	return &cpu;
}
