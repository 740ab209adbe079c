/*
 * Packed training on a device: the CUDA version of mlp-batch.c. Pictures are
 * stored as bytes; the host only selects the next steps, many at a time.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/mlp-batch/mlp-batch-cuda.h"

void *
mlp_batch_alloc(size_t bytes)
{
	void *at = NULL;

	return cudaMalloc(&at, bytes > 0 ? bytes : 1) == cudaSuccess ? at
								     : NULL;
}

int
mlp_batch_upload(void *to, const void *from, size_t n)
{
	return cudaMemcpy(to, from, n, cudaMemcpyHostToDevice) == cudaSuccess
		   ? 0
		   : -1;
}

int
mlp_batch_download(void *to, const void *from, size_t n)
{
	return cudaMemcpy(to, from, n, cudaMemcpyDeviceToHost) == cudaSuccess
		   ? 0
		   : -1;
}

struct mlp_launch
mlp_batch_of(const struct mlp_batch *p, const size_t *slots, size_t n)
{
	struct mlp_launch b;

	memset(&b, 0, sizeof b);
	b.views = p->views;
	b.slots = p->list;
	b.turns = p->turns;
	b.totals = p->totals;
	b.n = n;
	b.width = p->data.pixels;
	b.across = p->across;
	b.scale = p->data.scale;
	b.centre = 128 * p->data.scale + p->data.shift;
	b.stream = p->stream;
	for (size_t i = 0; i < n; i++) {
		const struct mlp_layout *s = &p->slot[slots[i]].view.shape;

		b.rows = s->rows > b.rows ? s->rows : b.rows;
		b.layers = s->layers > b.layers ? s->layers : b.layers;
		b.count = s->count > b.count ? s->count : b.count;
		b.units = s->units[0] > b.units ? s->units[0] : b.units;
		for (size_t l = 0; l < s->layers; l++) {
			b.in[l] = s->in[l] > b.in[l] ? s->in[l] : b.in[l];
			b.out[l] = s->out[l] > b.out[l] ? s->out[l] : b.out[l];
		}
	}
	return b;
}

/* Pictures across bytes apart, and their labels. */
static uint8_t *
images_give(const struct mlp_images *im, size_t pixels, size_t across)
{
	uint8_t *there = (uint8_t *)mlp_batch_alloc(im->n * (across + 1));

	if (there == NULL ||
	    cudaMemcpy2D(there, across, im->pixels, pixels, pixels, im->n,
		cudaMemcpyHostToDevice) != cudaSuccess ||
	    mlp_batch_upload(there + im->n * across, im->labels, im->n) != 0) {
		cudaFree(there);
		return NULL;
	}
	return there;
}

static int
pictures_give(struct mlp_batch *p)
{
	/* Kernels read 16 bytes of a picture at a time. */
	p->across = (p->data.pixels + 15) / 16 * 16;
	p->train = images_give(&p->data.train, p->data.pixels, p->across);
	p->valid = images_give(&p->data.valid, p->data.pixels, p->across);
	p->views =
	    (struct mlp_view *)mlp_batch_alloc(p->slots * sizeof *p->views);
	p->totals =
	    (struct mlp_total *)mlp_batch_alloc(p->slots * sizeof *p->totals);
	p->list = (uint32_t *)mlp_batch_alloc(p->slots * sizeof *p->list);
	if (p->train == NULL || p->valid == NULL || p->views == NULL ||
	    p->totals == NULL || p->list == NULL)
		return -1;
	return p->ranks != NULL || cudaStreamCreate(&p->stream) == cudaSuccess
		   ? 0
		   : -1;
}

static void
cuda_pack_drop(struct mlp_batch *p, size_t slot)
{
	struct mlp_cuda_slot *s = &p->slot[slot];

	cudaFree(s->numbers);
	cudaFree(s->rows);
	memset(s, 0, sizeof *s);
}

static void
cuda_pack_close(struct mlp_batch *p)
{
	for (size_t i = 0; i < p->slots; i++)
		cuda_pack_drop(p, i);
	cudaFree(p->train);
	cudaFree(p->valid);
	for (size_t i = 0; i < MLP_GRAPHS; i++)
		if (p->graphs[i].run != NULL)
			(void)cudaGraphExecDestroy(p->graphs[i].run);
	if (p->stream != NULL)
		(void)cudaStreamDestroy(p->stream);
	cudaFree(p->views);
	cudaFree(p->turns);
	cudaFree(p->totals);
	cudaFree(p->list);
	free(p->staging);
	free(p->slot);
	free(p);
}

static struct mlp_batch *
cuda_pack_open(void *dev, const struct mlp_data *data, size_t slots,
    struct mlp_ranks *ranks)
{
	struct mlp_batch *p = (struct mlp_batch *)calloc(1, sizeof *p);

	(void)dev;
	if (p == NULL)
		return NULL;
	p->data = *data;
	p->ranks = ranks;
	p->slots = slots;
	p->slot = (struct mlp_cuda_slot *)calloc(slots, sizeof *p->slot);
	if (p->slot == NULL) {
		free(p);
		return NULL;
	}
	if (pictures_give(p) != 0) {
		cuda_pack_close(p);
		return NULL;
	}
	return p;
}

/* Cuts n numbers off, in whole lines of 128 bytes; at NULL it only counts. */
static float *
cut(float *base, size_t *at, size_t n)
{
	float *here = base != NULL ? base + *at : NULL;

	*at += (n + 31) / 32 * 32;
	return here;
}

static size_t
view_lay(struct mlp_view *v, size_t rows, float *base)
{
	const struct mlp_layout *h = &v->shape;
	size_t at = 0;

	v->params = cut(base, &at, h->count);
	v->grads = cut(base, &at, h->count + MLP_TAIL);
	v->memory = cut(base, &at, h->memory);
	for (size_t l = 0; l < h->layers; l++) {
		v->y[l] = cut(base, &at, rows * h->out[l]);
		v->dy[l] = cut(base, &at, rows * h->out[l]);
	}
	return at;
}

static int
slot_alloc(struct mlp_cuda_slot *s)
{
	size_t rows = s->view.shape.rows;

	rows = rows > MLP_ROWS ? (rows + 7) / 8 * 8 : (size_t)MLP_ROWS;
	s->numbers = (float *)mlp_batch_alloc(
	    view_lay(&s->view, rows, NULL) * sizeof(float));
	s->rows = (double *)mlp_batch_alloc(rows * (sizeof(double) + 8));
	if (s->numbers == NULL || s->rows == NULL)
		return -1;
	(void)view_lay(&s->view, rows, s->numbers);
	/* What the widths are filled up with has no gradient. */
	if (cudaMemset(s->view.grads, 0,
		(s->view.shape.count + MLP_TAIL) * sizeof(float)) !=
	    cudaSuccess)
		return -1;
	s->view.loss = s->rows;
	s->view.picture = (uint32_t *)(s->rows + rows);
	s->view.right = s->view.picture + rows;
	return 0;
}

/* Initialise or restore the numbers of a slot. */
static int
slot_fill(struct mlp_cuda_slot *s, const struct mlp_state *from)
{
	const struct mlp_layout *h = &s->view.shape;
	float *made;
	int rc;

	if (from != NULL) {
		s->place = from->place;
		return mlp_batch_upload(s->view.params, from->params,
			   h->count * sizeof(float)) == 0 &&
			       mlp_batch_upload(s->view.memory, from->memory,
				   h->memory * sizeof(float)) == 0
			   ? 0
			   : -1;
	}
	made = (float *)calloc(h->count + h->memory, sizeof *made);
	if (made == NULL)
		return -1;
	mlp_layout_draw(h, &s->view.hyper, made);
	rc = mlp_batch_upload(s->view.params, made, h->count * sizeof(float));
	if (rc == 0)
		rc = mlp_batch_upload(
		    s->view.memory, made + h->count, h->memory * sizeof(float));
	free(made);
	return rc;
}

static int
cuda_pack_put(struct mlp_batch *p, size_t slot, const struct mlp_hyper *hyper,
    const struct mlp_state *from)
{
	struct mlp_cuda_slot *s = &p->slot[slot];

	s->view.hyper = *hyper;
	mlp_layout(&s->view.shape, &p->data, hyper,
	    p->ranks != NULL ? p->ranks->ranks : 1);
	if (slot_alloc(s) != 0 || slot_fill(s, from) != 0 ||
	    mlp_batch_upload(p->views + slot, &s->view, sizeof s->view) != 0) {
		cuda_pack_drop(p, slot);
		return -1;
	}
	s->used = true;
	return 0;
}

static const struct mlp_place *
cuda_pack_place(const struct mlp_batch *p, size_t slot)
{
	return &p->slot[slot].place;
}

static int
cuda_pack_take(struct mlp_batch *p, size_t slot, struct mlp_state *to)
{
	const struct mlp_cuda_slot *s = &p->slot[slot];
	const struct mlp_layout *h = &s->view.shape;

	to->place = s->place;
	TRY(mlp_batch_download(
	    to->params, s->view.params, h->count * sizeof(float)));
	return mlp_batch_download(
	    to->memory, s->view.memory, h->memory * sizeof(float));
}

extern "C" const struct mlp_kernels *
mlp_batch_cuda(int device, char *why, size_t n)
{
	static struct mlp_kernels cuda;
	static char name[256];

	if (cuda_driver_open(why, n) != 0 ||
	    cuda_device_open(device, name, sizeof name, why, n) != 0)
		return NULL;
	cuda.name = "cuda";
	cuda.device = name;
	cuda.open = cuda_pack_open;
	cuda.close = cuda_pack_close;
	cuda.put = cuda_pack_put;
	cuda.drop = cuda_pack_drop;
	cuda.place = cuda_pack_place;
	cuda.advance = mlp_steps_advance;
	cuda.measure = mlp_steps_measure;
	cuda.take = cuda_pack_take;
	return &cuda;
}
