/*
 * One run: epochs, reports as lines, a checkpoint at the end of each epoch and
 * on a signal.  Among ranks, rank 0 reports and writes; a signal to one stops
 * all of them after the same step.
 */

#include <stdio.h>

#include "examples/fashion-mnist/pack/job.h"
#include "examples/fashion-mnist/pack/settings.h"

struct plain {
	const struct settings *settings;
	struct mlp_ranks *ranks; /* NULL: alone */
	struct job job;
	bool stopped;
};

static bool
plain_first(const struct plain *p)
{
	return p->ranks == NULL || p->ranks->rank == 0;
}

/* The line that hpotune reads; out at once, for it may be the last. */
static int
plain_report(struct plain *p, struct fail *f)
{
	struct job *job = &p->job;
	struct job_report r;

	if (!plain_first(p))
		return 0;
	job_save(job);
	if (jobs_measure(&job, 1, &r, f) == -1)
		return -1;
	printf("hpotune: step=%llu val_accuracy=%.4f val_loss=%.6f "
	       "loss=%.6f\n",
	    (unsigned long long)r.step, r.accuracy, r.val_loss, r.loss);
	if (fflush(stdout) != 0)
		return fail_set(f, "cannot write the report");
	return 0;
}

/* Some steps; then all ranks know whether one has got SIGTERM. */
static int
plain_advance(struct plain *p, struct fail *f)
{
	struct job *job = &p->job;
	bool told = *p->settings->signal != 0;

	if (p->ranks == NULL) {
		p->stopped = told;
		return told ? 0 : jobs_advance(&job, 1, f);
	}
	p->ranks->wish = told ? 1 : 0;
	if (jobs_advance(&job, 1, f) == -1)
		return fail_set(f, "a rank has exited, or its device failed");
	p->stopped = p->ranks->wished > 0;
	return 0;
}

static int
plain_train(struct plain *p, struct fail *f)
{
	if (job_at_epoch(&p->job) &&
	    p->job.place->epoch < (uint64_t)p->job.options.epochs &&
	    plain_report(p, f) == -1)
		return -1;
	while (!p->stopped && !job_done(&p->job)) {
		if (plain_advance(p, f) == -1)
			return -1;
		if (job_at_epoch(&p->job)) {
			if (plain_report(p, f) == -1)
				return -1;
		} else if (plain_first(p))
			job_save_in_time(&p->job);
	}
	if (p->stopped && plain_first(p)) {
		job_save(&p->job);
		fprintf(stderr,
		    "mlp: stopped in epoch %llu after %llu pictures\n",
		    (unsigned long long)p->job.place->epoch + 1,
		    (unsigned long long)p->job.place->position);
	}
	return 0;
}

static int
plain_test(struct plain *p, struct fail *f)
{
	struct job_report r;

	if (!plain_first(p))
		return 0;
	if (job_test(&p->job, &r, f) == -1)
		return -1;
	printf("test: accuracy=%.4f loss=%.6f\n", r.accuracy, r.val_loss);
	return 0;
}

/* Whether all ranks begin at the same place: each has read the checkpoint. */
static int
plain_agree(const struct plain *p, struct star *s, struct fail *f)
{
	const struct mlp_place *at = p->job.place;
	float mine[2] = { (float)at->epoch, (float)at->position };
	float all[2] = { mine[0], mine[1] };

	if (star_sum(s, all, 2) == -1)
		return fail_set(f, "a rank has exited");
	if (all[0] == mine[0] * (float)s->ranks &&
	    all[1] == mine[1] * (float)s->ranks)
		return 0;
	return fail_set(f, "the ranks have different checkpoints");
}

static int
plain_begin(struct plain *p, const struct options *o, struct machine *m,
    struct star *s, struct mlp_ranks *ranks, struct fail *f)
{
	p->job.options = *o;
	if (s->ranks > 1) {
		if (machine_ranks(
			m->kernels, s, p->settings->signal, ranks, f) == -1)
			return -1;
		p->ranks = ranks;
	}
	if (machine_open(m, o, 1, p->ranks, f) == -1 ||
	    job_begin(&p->job, m, 0, f) == -1)
		return -1;
	return p->ranks != NULL ? plain_agree(p, s, f) : 0;
}

/* No rank exits while another may still add gradients. */
static int
plain_leave(struct star *s, struct fail *f)
{
	float last = 0;

	if (s->ranks <= 1 || star_sum(s, &last, 1) == 0)
		return 0;
	return fail_set(f, "a rank has exited");
}

int
plain_run(const struct settings *settings, const struct options *o,
    struct machine *m, struct star *s, struct fail *f)
{
	struct plain p = { .settings = settings };
	struct mlp_ranks ranks = { .on_device = 0 };
	int rc = -1;

	if (plain_begin(&p, o, m, s, &ranks, f) == 0 &&
	    plain_train(&p, f) == 0 && plain_leave(s, f) == 0)
		rc = p.stopped ? 1 : o->test ? plain_test(&p, f) : 0;
	machine_ranks_close(&ranks, rc != -1);
	return rc;
}
