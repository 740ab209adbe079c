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

/*
 * Capture the steps, which have to be on the device when the graph is run.  With
 * flags: the other form has other arguments before CUDA 12.
 */
static int
graph_make(struct mlp_graph *g, const struct mlp_launch *given, size_t steps)
{
	struct mlp_launch b = *given;
	cudaGraph_t graph = NULL;
	int rc = 0;

	if (g->run != NULL)
		(void)cudaGraphExecDestroy(g->run);
	g->run = NULL;
	if (cudaStreamBeginCapture(
		b.stream, cudaStreamCaptureModeThreadLocal) != cudaSuccess)
		return -1;
	for (size_t k = 0; rc == 0 && k < steps; k++) {
		b.turns = given->turns + k * b.n;
		b.first = k == 0;
		rc = mlp_network_gradient(&b);
	}
	if (cudaStreamEndCapture(b.stream, &graph) != cudaSuccess)
		rc = -1;
	if (rc == 0 &&
	    cudaGraphInstantiateWithFlags(&g->run, graph, 0) != cudaSuccess) {
		g->run = NULL;
		rc = -1;
	}
	if (graph != NULL)
		(void)cudaGraphDestroy(graph);
	g->of = *given;
	g->steps = steps;
	return rc;
}

/* All steps in one launch. */
static int
steps_captured(struct mlp_batch *p, const struct mlp_launch *b, size_t steps)
{
	struct mlp_graph *g = NULL;

	for (size_t i = 0; g == NULL && i < MLP_GRAPHS; i++)
		if (p->graphs[i].run != NULL && p->graphs[i].steps == steps &&
		    memcmp(&p->graphs[i].of, b, sizeof *b) == 0)
			g = &p->graphs[i];
	if (g == NULL) {
		g = &p->graphs[p->graphs_made++ % MLP_GRAPHS];
		TRY(graph_make(g, b, steps));
	}
	return cudaGraphLaunch(g->run, p->stream) == cudaSuccess ? 0 : -1;
}

/* Ranks add up gradients between the kernels of a step. */
static int
steps_ranks(struct mlp_batch *p, const size_t *slots,
    const struct mlp_launch *given, const struct mlp_layout_step *turns,
    size_t steps)
{
	struct mlp_launch b = *given;

	for (size_t k = 0; k < steps; k++) {
		b.turns = p->turns + k * b.n;
		b.first = k == 0;
		TRY(mlp_network_gradient(&b));
		TRY(gradients_sum(p, slots, b.n, turns + k * b.n));
		TRY(mlp_network_update_all(&b));
	}
	p->ranks->wished = 0;
	return 0;
}

static int
steps_run(struct mlp_batch *p, const size_t *slots, size_t n,
    const struct mlp_layout_step *turns, size_t steps)
{
	struct mlp_launch b = mlp_batch_of(p, slots, n);

	TRY(list_give(p, slots, n, turns, steps));
	b.turns = p->turns;
	b.pixels = p->train;
	b.labels = p->train + p->data.train.n * p->across;
	b.pictures = p->data.train.n;
	b.wish = p->ranks != NULL ? p->ranks->wish : 0;
	b.moves = p->ranks == NULL;
	TRY(p->ranks == NULL ? steps_captured(p, &b, steps)
			     : steps_ranks(p, slots, &b, turns, steps));
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

/* Measuring is a step of MLP_ROWS pictures, in their order, without dropout. */
static int
pictures_measure(struct mlp_batch *p, const size_t *slots, size_t n,
    struct mlp_layout_step *turns)
{
	struct mlp_launch b = mlp_batch_of(p, slots, n);
	const size_t all = p->data.valid.n;
	const size_t steps = (all + MLP_ROWS - 1) / MLP_ROWS;

	for (size_t k = 0; k < steps; k++)
		for (size_t i = 0; i < n; i++) {
			struct mlp_layout_step *t = &turns[k * n + i];

			t->first = (uint32_t)(k * MLP_ROWS);
			t->rows = all - t->first < MLP_ROWS
				      ? (uint32_t)(all - t->first)
				      : (uint32_t)MLP_ROWS;
			t->share = 1;
		}
	TRY(list_give(p, slots, n, turns, steps));
	b.pixels = p->valid;
	b.labels = p->valid + all * p->across;
	b.pictures = all;
	b.rows = MLP_ROWS;
	b.measures = true;
	for (size_t k = 0; k < steps; k++) {
		b.turns = p->turns + k * n;
		b.first = k == 0;
		TRY(mlp_network_measure(&b));
	}
	return 0;
}

int
mlp_steps_measure(
    struct mlp_batch *p, const size_t *slots, size_t n, struct mlp_score *score)
{
	const size_t steps = (p->data.valid.n + MLP_ROWS - 1) / MLP_ROWS;
	struct mlp_layout_step *turns =
	    (struct mlp_layout_step *)calloc(n * steps, sizeof *turns);
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
