/*
 * A run in a slot: its progress and its numbers are kept by the kernels, its
 * checkpoint is in the format of `train`.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "examples/fashion-mnist/checkpoint.h"
#include "examples/fashion-mnist/pack/job.h"

static double
job_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static struct mlp_hyper
job_hyper(const struct options *o)
{
	return (struct mlp_hyper){
		.layers = (size_t)o->layers,
		.hidden = (size_t)o->hidden,
		.batch = (size_t)o->batch,
		.optimizer = o->optimizer == OPTIM_ADAM ? MLP_ADAM : MLP_SGD,
		.lr = (float)o->lr,
		.momentum = (float)o->momentum,
		.decay = (float)o->weight_decay,
		.dropout = (float)o->dropout,
		.seed = (uint64_t)o->seed,
	};
}

/* Room for the numbers of a run; they are one block. */
static struct mlp_state
job_room(const struct job *j, size_t *count, size_t *memory)
{
	struct mlp_state s = { .params = NULL };

	*count = mlp_layout_count(&j->machine->about, &j->hyper, memory);
	s.params = mem_zero(*count + *memory, sizeof *s.params);
	s.memory = s.params + *count;
	return s;
}

static struct checkpoint
job_checkpoint(
    const struct job *j, const struct mlp_state *s, size_t count, size_t memory)
{
	return (struct checkpoint){
		.identity = j->identity,
		.epoch = s->place.epoch,
		.position = s->place.position,
		.steps = s->place.steps,
		.loss_sum = s->place.loss_sum,
		.part = { { s->params, count }, { s->memory, memory } },
	};
}

/* What the checkpoint holds: 1, or 0 when there is none. */
static int
job_read(const struct job *j, struct mlp_state *s, size_t count, size_t memory,
    struct fail *f)
{
	struct checkpoint c = job_checkpoint(j, s, count, memory);

	switch (checkpoint_read(&c, j->options.checkpoint_dir, f)) {
	case CHECKPOINT_NONE:
		return 0;
	case CHECKPOINT_DAMAGED:
		fprintf(stderr, "mlp: %s; starting anew\n", f->text);
		return 0;
	case CHECKPOINT_FOREIGN:
		return -1;
	case CHECKPOINT_GOOD:
		break;
	}
	s->place =
	    (struct mlp_place){ c.epoch, c.position, c.steps, c.loss_sum };
	fprintf(stderr, "mlp: continuing in epoch %llu after %llu pictures\n",
	    (unsigned long long)c.epoch + 1, (unsigned long long)c.position);
	return 1;
}

static int
job_put(struct job *j, struct fail *f)
{
	struct mlp_batch *pack = j->machine->pack;
	size_t count, memory;
	struct mlp_state s = job_room(j, &count, &memory);
	int found = 0, rc;

	if (j->options.checkpoint_dir != NULL)
		found = job_read(j, &s, count, memory, f);
	if (found == -1) {
		free(s.params);
		return -1;
	}
	rc = j->machine->kernels->put(
	    pack, j->slot, &j->hyper, found ? &s : NULL);
	free(s.params);
	if (rc == -1)
		return fail_set(f, "%s has too little memory for it",
		    j->machine->kernels->device);
	j->saved = found;
	return 0;
}

int
job_begin(struct job *j, struct machine *m, size_t slot, struct fail *f)
{
	static const char kind[] = "trainer=mlp ";

	j->machine = m;
	j->slot = slot;
	j->hyper = job_hyper(&j->options);
	memcpy(j->identity, kind, sizeof kind);
	options_identity(&j->options, j->identity + sizeof kind - 1);
	j->place = m->kernels->place(m->pack, slot);
	j->moment = machine_moment(m, &j->hyper);
	j->last_write = job_clock();
	return job_put(j, f);
}

void
job_end(struct job *j)
{
	j->machine->kernels->drop(j->machine->pack, j->slot);
}

static size_t *
jobs_slots(struct job *const *jobs, size_t n)
{
	size_t *slots = mem_zero(n, sizeof *slots), i;

	for (i = 0; i < n; i++)
		slots[i] = jobs[i]->slot;
	return slots;
}

int
jobs_advance(struct job *const *jobs, size_t n, struct fail *f)
{
	struct machine *m = jobs[0]->machine;
	size_t *slots = jobs_slots(jobs, n);
	size_t i, steps = jobs[0]->moment;
	int rc;

	for (i = 0; i < n; i++) {
		jobs[i]->saved = jobs[i]->measured = false;
		steps = jobs[i]->moment < steps ? jobs[i]->moment : steps;
	}
	rc = machine_advance(m, slots, n, steps);
	free(slots);
	return rc == 0 ? 0 : fail_set(f, "%s failed", m->kernels->device);
}

/* A checkpoint that cannot be written is no reason to lose the training. */
void
job_save(struct job *j)
{
	size_t count, memory;
	struct checkpoint c;
	struct mlp_state s;
	struct fail f;

	if (j->options.checkpoint_dir == NULL || j->saved)
		return;
	s = job_room(j, &count, &memory);
	if (j->machine->kernels->take(j->machine->pack, j->slot, &s) == -1) {
		fail_set(&f, "%s failed", j->machine->kernels->device);
		fprintf(stderr, "mlp: no checkpoint: %s\n", f.text);
	} else {
		c = job_checkpoint(j, &s, count, memory);
		if (checkpoint_write(&c, j->options.checkpoint_dir, &f) == -1)
			fprintf(stderr, "mlp: %s\n", f.text);
	}
	free(s.params);
	j->saved = true;
	j->last_write = job_clock();
}

void
job_save_in_time(struct job *j)
{
	if (job_clock() - j->last_write >= j->options.checkpoint_every)
		job_save(j);
}

bool
job_at_epoch(const struct job *j)
{
	return j->place->position >= j->machine->about.train.n;
}

bool
job_done(const struct job *j)
{
	uint64_t epochs = j->place->epoch + (job_at_epoch(j) ? 1 : 0);

	return epochs >= (uint64_t)j->options.epochs;
}

int
jobs_measure(
    struct job *const *jobs, size_t n, struct job_report *r, struct fail *f)
{
	struct machine *m = jobs[0]->machine;
	size_t *slots = jobs_slots(jobs, n), i;
	struct mlp_score *scores = mem_zero(n, sizeof *scores);
	int rc = machine_measure(m, slots, n, scores);

	for (i = 0; i < n; i++) {
		jobs[i]->measured = true;
		r[i].step = jobs[i]->place->epoch + 1;
		r[i].accuracy = scores[i].accuracy;
		r[i].val_loss = scores[i].loss;
		r[i].loss = jobs[i]->place->loss_sum / (double)m->about.train.n;
	}
	free(slots);
	free(scores);
	return rc == 0 ? 0 : fail_set(f, "%s failed", m->kernels->device);
}

/* The network moves to a machine that has those pictures. */
static int
job_move(struct job *j, struct machine *to, struct job_report *r)
{
	struct machine *m = j->machine;
	struct mlp_score score = { 0, 0 };
	size_t count, memory;
	const size_t slot = 0;
	struct mlp_state s = job_room(j, &count, &memory);
	int rc;

	rc = m->kernels->take(m->pack, j->slot, &s) == 0 &&
		     to->kernels->put(to->pack, slot, &j->hyper, &s) == 0 &&
		     to->kernels->measure(to->pack, &slot, 1, &score) == 0
		 ? 0
		 : -1;
	free(s.params);
	r->accuracy = score.accuracy;
	r->val_loss = score.loss;
	return rc;
}

int
job_test(struct job *j, struct job_report *r, struct fail *f)
{
	struct machine kept = *j->machine;
	struct images all;
	int rc;

	if (data_load(
		&kept.data, j->options.data, j->options.cache, "t10k", f) == -1)
		return -1;
	all = data_slice(&kept.data, 0, kept.data.labels.size[0]);
	kept.about.valid =
	    (struct mlp_images){ all.count, all.pixels, all.labels };
	kept.pack = kept.kernels->open(kept.kernels->dev, &kept.about, 1, NULL);
	rc = kept.pack == NULL ? -1 : job_move(j, &kept, r);
	machine_close(&kept);
	return rc == 0 ? 0 : fail_set(f, "%s failed", kept.kernels->device);
}
