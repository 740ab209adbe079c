/*
 * Policies on studies on the device: the CUDA version of replay-policies.c. One
 * thread runs one study under one policy, with the same functions.
 */

#include <stdlib.h>
#include <string.h>

#include "kernels/cuda/cuda.h"

extern "C" {
#include "kernels/alloc.h"
#include "kernels/replay/replay-policies.h"
}
#include "kernels/replay/replay-one.h"

enum {
	TOGETHER = 32768, /* studies on the device at a time */
	NUMBERS_MOST = 1 << 28 /* of their pools */
};

/* The work, all on the device. */
struct work {
	struct replay_one one; /* without policy, order and room */
	const struct replay_policy *policy;
	const size_t *order;
	size_t studies;
	double *row;
	int32_t *room;
	struct replay_score *score;
};

/* Studies from number at on, of all policies. */
static __global__ void
replay_kernel(struct work w, size_t at, size_t count)
{
	CUDA_PLACE(i, count);
	struct replay_one one = w.one;

	one.policy = w.policy[(at + i) / w.studies];
	one.order = w.order + (at + i) % w.studies * one.trials;
	w.score[i] = one_run(&one, w.row + i * one.slots * one.trials,
	    w.room + i * ONE_ROOM(one.trials, one.workers, one.slots));
}

/* n bytes to the device. */
static int
put(void *to, const void *from, size_t n)
{
	return n == 0 || cudaMemcpy(to, from, n, cudaMemcpyHostToDevice) ==
			     cudaSuccess
		   ? 0
		   : -1;
}

static int
curves_put(
    struct cuda *c, const struct replay_curves *curves, struct replay_one *one)
{
	size_t all = curves->start[curves->n];
	double *stands = kernel_alloc(REPLAY_VALUES, all);
	double *there =
	    cuda_numbers(c, CUDA_BUFFER_MATRIX, REPLAY_VALUES * all);
	int rc = -1;

	replay_report_values(curves, stands);
	if (there != NULL)
		rc = cuda_upload(there, stands, REPLAY_VALUES * all);
	free(stands);
	one->curves = *curves;
	one->stands = there;
	one->curves.value = there + REPLAY_LAST * all;
	one->all = all;
	return rc;
}

/* Copy integer arrays: starts of curves, steps, curves of studies. */
static int
places_put(struct cuda *c, const struct replay_studies *s, struct work *w)
{
	size_t starts = w->one.curves.n + 1, orders = s->n * s->trials;
	size_t all = w->one.all;
	char *room = (char *)cuda_bytes(
	    c, CUDA_BUFFER_POINTERS, (starts + orders + all) * sizeof(size_t));
	size_t *start = (size_t *)room, *order = start + starts;
	int64_t *step = (int64_t *)(order + orders);

	if (room == NULL)
		return -1;
	TRY(put(start, w->one.curves.start, starts * sizeof *start));
	TRY(put(order, s->order, orders * sizeof *order));
	TRY(put(step, w->one.curves.step, all * sizeof *step));
	w->one.curves.start = start;
	w->one.curves.step = step;
	w->order = order;
	return 0;
}

static int
slots_put(
    struct cuda *c, const struct replay_curves *curves, struct replay_one *one)
{
	size_t all = curves->start[curves->n];
	int32_t *slot = (int32_t *)kernel_alloc(1, all);
	int32_t *there =
	    (int32_t *)cuda_bytes(c, CUDA_BUFFER_COLUMNS, all * sizeof *slot);
	int rc = -1;

	one->slots = replay_slots(curves, slot);
	one->slot = there;
	if (there != NULL)
		rc = put(there, slot, all * sizeof *slot);
	free(slot);
	return rc;
}

/* Number of studies that fit into memory at a time. */
static size_t
work_together(const struct replay_one *one, size_t all)
{
	size_t most = NUMBERS_MOST / (one->slots * one->trials + 1);

	most = most < TOGETHER ? most : (size_t)TOGETHER;
	most = most > 0 ? most : 1;
	return all < most ? all : most;
}

static int
work_put(struct cuda *c, const struct replay_policy *policy, size_t n,
    const struct replay_studies *s, size_t together, struct work *w)
{
	size_t room =
	    ONE_ROOM(s->trials, s->workers, w->one.slots) * sizeof(int32_t);
	void *there;

	TRY(places_put(c, s, w));
	there = cuda_bytes(c, CUDA_BUFFER_POINTS, n * sizeof *policy);
	w->room = (int32_t *)cuda_bytes(c, CUDA_BUFFER_WORK, together * room);
	w->score = (struct replay_score *)cuda_bytes(
	    c, CUDA_BUFFER_SCALARS, together * sizeof *w->score);
	w->row = cuda_numbers(
	    c, CUDA_BUFFER_INVERSE, together * w->one.slots * s->trials);
	if (there == NULL || w->room == NULL || w->score == NULL ||
	    w->row == NULL)
		return -1;
	w->policy = (const struct replay_policy *)there;
	return put(there, policy, n * sizeof *policy);
}

static int
replay(struct cuda *c, const struct replay_curves *curves,
    const struct replay_policy *policy, size_t n,
    const struct replay_studies *s, struct replay_score *out)
{
	size_t all = n * s->n, at, some, together;
	struct work w;

	memset(&w, 0, sizeof w);
	TRY(curves_put(c, curves, &w.one));
	TRY(slots_put(c, curves, &w.one));
	w.one.trials = s->trials;
	w.one.workers = s->workers;
	w.studies = s->n;
	together = work_together(&w.one, all);
	TRY(work_put(c, policy, n, s, together, &w));
	for (at = 0; at < all; at += some) {
		some = all - at < together ? all - at : together;
		CUDA_LAUNCH(
		    replay_kernel, some, (size_t)1, (size_t)1, w, at, some);
		TRY(cudaGetLastError());
		TRY(cudaMemcpy(out + at, w.score, some * sizeof *out,
		    cudaMemcpyDeviceToHost));
	}
	return 0;
}

extern "C" void
cuda_replay_policies(void *dev, const struct replay_curves *curves,
    const struct replay_policy *policy, size_t n,
    const struct replay_studies *s, struct replay_score *out)
{
	struct cuda *c = (struct cuda *)dev;

	if (!c->failed && replay(c, curves, policy, n, s, out) == 0)
		return;
	if (!c->failed)
		cuda_fail(c);
	replay_policies(NULL, curves, policy, n, s, out);
}
