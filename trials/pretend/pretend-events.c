/*
 * Events of the launcher pretend for its attempts and GPUs.  Each event is sent
 * once; struct pretend_watch records what was sent.
 */

#include <stdlib.h>
#include <string.h>

#include "src/base/loop.h"
#include "src/base/mem.h"
#include "trials/pretend/pretend-internal.h"

static void
tell(struct pretend *p, const struct pretend_watch *w, struct launch_event *ev)
{
	ev->trial = w->trial;
	ev->attempt = w->attempt;
	p->env.event(p->env.arg, ev);
}

/* GPU use up to the reports that were sent. */
static void
usage_emit(struct pretend *p, struct pretend_watch *w)
{
	struct launch_event ev = { .kind = LAUNCH_USAGE };
	size_t more = w->told > w->used_by ? w->told - w->used_by : 0;

	if (p->gpus == 0 || (more == 0 && w->used.gpus > 0))
		return;
	pretend_gpus_use(&w->used, more);
	w->used_by += more;
	ev.u.usage = w->used;
	tell(p, w, &ev);
}

static void
tell_up(struct pretend *p, struct pretend_watch *w)
{
	struct launch_event ev = { .kind = LAUNCH_UP };

	w->up = true;
	ev.u.up.started_us = w->of->exit.started_us;
	ev.u.up.place = "nowhere";
	tell(p, w, &ev);
	usage_emit(p, w);
}

/* The same step of the other metrics: smooth curves, better when smaller. */
static void
also_emit(struct pretend *p, const struct pretend_watch *w,
    struct launch_event *ev, int64_t step)
{
	size_t i;

	for (i = 0; i < p->env.n_also; i++) {
		ev->u.report.name = p->env.also[i];
		ev->u.report.value =
		    pretend_curve_loss(&p->script, w->trial, w->also[i], step);
		tell(p, w, ev);
	}
}

/* Send new reports, at most max; true when all are sent. */
static bool
reports_emit(struct pretend *p, struct pretend_watch *w, size_t max)
{
	struct launch_event ev = { .kind = LAUNCH_REPORT };
	const struct pretend_report *r;
	bool any = w->told < w->of->n_reports;

	for (; w->told < w->of->n_reports && max > 0; w->told++, max--) {
		r = &w->of->reports[w->told];
		ev.u.report.name = p->metric;
		ev.u.report.has_step = r->has_step;
		ev.u.report.step = r->step;
		ev.u.report.value = r->value;
		ev.u.report.again = w->of->life.again;
		ev.u.report.time_us = w->of->life.again ? r->time_us : 0;
		tell(p, w, &ev);
		ev.u.report.name = "second";
		if (w->of->life.second)
			tell(p, w, &ev);
		also_emit(p, w, &ev, r->step);
	}
	if (any) {
		ev = (struct launch_event){ .kind = LAUNCH_READ };
		ev.u.cursor.metrics = (int64_t)w->told;
		tell(p, w, &ev);
		usage_emit(p, w);
	}
	return w->told >= w->of->n_reports;
}

static void
lost_emit(struct pretend *p, const struct pretend_watch *w)
{
	struct launch_event ev = { .kind = LAUNCH_LOST };

	ev.u.lost.why = w->of != NULL
			    ? "it vanished from the pretended world"
			    : "its simulated state ended with the server";
	tell(p, w, &ev);
}

static void
tell_end(struct pretend *p, const struct pretend_watch *w)
{
	struct launch_event ev = { .kind = LAUNCH_EXIT };

	ev.u.exit = w->of->exit;
	tell(p, w, &ev);
}

/* Send what is new of one attempt; true when it is complete. */
static bool
watch_emit(struct pretend *p, struct pretend_watch *w)
{
	const struct pretend_faults *bad = pretend_world_faults(p->world);
	size_t max = SIZE_MAX;

	if (w->of == NULL) {
		lost_emit(p, w);
		return true;
	}
	if (w->of->started_ms < 0 || w->of->state == PRETEND_COMING)
		return false;
	if (!w->up && w->of->exit.ran)
		tell_up(p, w);
	if (pretend_world_dice(p->world, bad->dribble))
		max = 1;
	if (!reports_emit(p, w, max)) {
		loop_wake(p->env.loop);
		return false;
	}
	if (w->of->state == PRETEND_LOST)
		lost_emit(p, w);
	else if (w->of->state == PRETEND_ENDED)
		tell_end(p, w);
	return w->of->state != PRETEND_RUNS;
}

/* Send the GPUs whose number of trials has changed. */
static void
tell_gpus(struct pretend *p)
{
	struct launch_event ev = { .kind = LAUNCH_GPU };
	char uuid[24];
	int i, trials;
	size_t k;

	for (i = 0; i < p->gpus; i++) {
		for (k = 0, trials = 0; k < p->n; k++)
			trials += p->watches[k].slot % p->gpus == i &&
				  p->watches[k].up;
		if (trials == p->gpu_trials[i])
			continue;
		p->gpu_trials[i] = trials;
		pretend_gpus_show(&ev.u.gpu, i, trials, uuid);
		p->env.event(p->env.arg, &ev);
	}
}

void
pretend_events_collect(void *ctx)
{
	struct pretend *p = ctx;
	struct pretend_attempt *of;
	size_t i = 0;

	pretend_world_run(p->world);
	while (i < p->n) {
		if (!watch_emit(p, &p->watches[i])) {
			i++;
			continue;
		}
		of = p->watches[i].of;
		free(p->watches[i].also);
		memmove(&p->watches[i], &p->watches[i + 1],
		    (--p->n - i) * sizeof *p->watches);
		if (p->own && of != NULL)
			pretend_world_forget(p->world, of);
	}
	tell_gpus(p);
	pretend_arm(p);
}
