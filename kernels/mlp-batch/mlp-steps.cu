/*
 * Steps and measurements of packed training on a device: the host computes the
 * parameters of many steps at a time and launches them.
 */

#include <stdlib.h>
#include <string.h>

#include "kernels/mlp-batch/mlp-batch-cuda.h"

/* Copy the slots of a batch, and their steps, to the device. */
static int
list_give(struct mlp_batch *p, const size_t *slots, size_t n,
    const struct mlp_layout_step *turns, size_t steps)
{
	uint32_t *list = (uint32_t *)calloc(n, sizeof *list);
	int rc;

	if (list == NULL)
		return -1;
	for (size_t i = 0; i < n; i++)
		list[i] = (uint32_t)slots[i];
	rc = mlp_batch_upload(p->list, list, n * sizeof *list);
	free(list);
	TRY(rc);
	if (p->turns_room < n * steps) {
		cudaFree(p->turns);
		p->turns_room = 0;
		p->turns = (struct mlp_layout_step *)mlp_batch_alloc(
		    n * steps * sizeof *turns);
		if (p->turns == NULL)
			return -1;
		p->turns_room = n * steps;
	}
	return mlp_batch_upload(p->turns, turns, n * steps * sizeof *turns);
}

/* Sum the gradients of all ranks through host memory. */
static int
sum_staged(struct mlp_batch *p, float *there, size_t n)
{
	struct mlp_ranks *r = p->ranks;

	if (p->staging_room < n) {
		free(p->staging);
		p->staging = (float *)calloc(n, sizeof *p->staging);
		p->staging_room = p->staging != NULL ? n : 0;
	}
	if (p->staging == NULL)
		return -1;
	TRY(mlp_batch_download(p->staging, there, n * sizeof(float)));
	TRY(r->sum(r->ctx, p->staging, n));
	return mlp_batch_upload(there, p->staging, n * sizeof(float));
}

static int
gradients_sum(struct mlp_batch *p, const size_t *slots, size_t n,
    const struct mlp_layout_step *turns)
{
	struct mlp_ranks *r = p->ranks;

	for (size_t i = 0; r != NULL && i < n; i++) {
		const struct mlp_view *v = &p->slot[slots[i]].view;
		const size_t count = v->shape.count + MLP_TAIL;

		if (turns[i].share == 0)
			continue;
		if (r->on_device)
			TRY(r->sum(r->ctx, v->grads, count));
		else
			TRY(sum_staged(p, v->grads, count));
	}
	return 0;
}

/*
 * Compute the steps: steps x n, with share 0 for a slot that waits at the end
 * of its epoch.  Returns the number of steps until all wait.
 */
static size_t
turns_make(struct mlp_batch *p, const size_t *slots, size_t n, size_t steps,
    struct mlp_layout_step *turns)
{
	size_t k, i, most = 0;

	for (i = 0; i < n; i++) {
		struct mlp_cuda_slot *s = &p->slot[slots[i]];

		for (k = 0; k < steps; k++) {
			if (k > 0 && s->place.position >= p->data.train.n)
				break;
			mlp_layout_step(&turns[k * n + i], &s->view.hyper,
			    &s->place, p->data.train.n, p->ranks);
		}
		most = k > most ? k : most;
	}
	return most;
}

/* What the steps summed up; the sums of an epoch are on the host. */
static int
totals_take(struct mlp_batch *p, const size_t *slots, size_t n)
{
	struct mlp_total *t = (struct mlp_total *)calloc(n, sizeof *t);
	int rc;

	if (t == NULL)
		return -1;
	rc = mlp_batch_download(t, p->totals, n * sizeof *t);
	for (size_t i = 0; rc == 0 && i < n; i++) {
		p->slot[slots[i]].place.loss_sum += t[i].loss;
		if (p->ranks != NULL)
			p->ranks->wished += (float)t[i].wished;
	}
	free(t);
	return rc;
}

static int
steps_run(struct mlp_batch *p, const size_t *slots, size_t n,
    const struct mlp_layout_step *turns, size_t steps)
{
	struct mlp_launch b = mlp_batch_of(p, slots, n);

	b.pixels = p->train;
	b.labels = p->train + p->data.train.n * p->data.pixels;
	b.pictures = p->data.train.n;
	b.wish = p->ranks != NULL ? p->ranks->wish : 0;
	TRY(list_give(p, slots, n, turns, steps));
	for (size_t k = 0; k < steps; k++) {
		b.turns = p->turns + k * n;
		b.first = k == 0;
		TRY(mlp_network_gradient(&b));
		TRY(gradients_sum(p, slots, n, turns + k * n));
		TRY(mlp_network_update_all(&b));
	}
	if (p->ranks != NULL)
		p->ranks->wished = 0;
	return totals_take(p, slots, n);
}

int
mlp_steps_advance(
    struct mlp_batch *p, const size_t *slots, size_t n, size_t steps)
{
	struct mlp_layout_step *turns;
	size_t most;
	int rc;

	if (n == 0 || steps == 0)
		return 0;
	turns = (struct mlp_layout_step *)calloc(n * steps, sizeof *turns);
	if (turns == NULL)
		return -1;
	most = turns_make(p, slots, n, steps, turns);
	rc = steps_run(p, slots, n, turns, most);
	free(turns);
	return rc;
}

/* Measuring is a step of MLP_ROWS pictures without dropout. */
static int
pictures_measure(struct mlp_batch *p, const size_t *slots, size_t n,
    struct mlp_layout_step *turns)
{
	struct mlp_launch b = mlp_batch_of(p, slots, n);
	const size_t all = p->data.valid.n;

	for (size_t at = 0; at < all; at += b.rows) {
		b.rows = all - at < MLP_ROWS ? all - at : (size_t)MLP_ROWS;
		b.x = p->x + at * p->width;
		b.labels = p->valid + all * p->data.pixels + at;
		b.first = at == 0;
		for (size_t i = 0; i < n; i++) {
			turns[i].rows = (uint32_t)b.rows;
			turns[i].share = 1;
		}
		if (at == 0 || b.rows < MLP_ROWS)
			TRY(list_give(p, slots, n, turns, 1));
		b.turns = p->turns;
		TRY(mlp_network_measure(&b));
	}
	return 0;
}

int
mlp_steps_measure(
    struct mlp_batch *p, const size_t *slots, size_t n, struct mlp_score *score)
{
	struct mlp_layout_step *turns =
	    (struct mlp_layout_step *)calloc(n, sizeof *turns);
	struct mlp_total *t = (struct mlp_total *)calloc(n, sizeof *t);
	const double all = (double)p->data.valid.n;
	int rc = -1;

	if (turns != NULL && t != NULL)
		rc = pictures_measure(p, slots, n, turns);
	if (rc == 0)
		rc = mlp_batch_download(t, p->totals, n * sizeof *t);
	for (size_t i = 0; rc == 0 && i < n; i++) {
		score[i].loss = t[i].loss / all;
		score[i].accuracy = (double)t[i].right / all;
	}
	free(turns);
	free(t);
	return rc;
}
