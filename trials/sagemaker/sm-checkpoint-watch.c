/*
 * Warns, once per attempt, if a trial reports but no new checkpoints appear:
 * the upload by SageMaker may fail silently, and then a spot interruption
 * loses everything since.
 */

#include <inttypes.h>
#include <stdlib.h>

#include "src/base/loop.h"
#include "trials/sagemaker/sm-checkpoint-watch.h"
#include "trials/sagemaker/sm-internal.h"

enum {
	REPORTS_LEAST = 2 /* fewer reports are no progress */
};

static void
checkpoint_watch_on_list(void *arg, const struct aws_answer *r,
    const struct aws_s3_object *objects, size_t n)
{
	struct sm_attempt *a = arg;
	struct sm *sm = a->sm;
	int64_t now = loop_now_ms(sm->loop), newest = 0;
	size_t i;

	a->checkpoint_call = NULL;
	if (!r->good)
		return;
	for (i = 0; i < n; i++)
		if (objects[i].modified_s > newest)
			newest = objects[i].modified_s;
	if (newest > a->sync_s) {
		a->sync_s = newest;
		a->sync_ms = now;
		a->reports = 0;
		return;
	}
	if (a->noted_checkpoint || a->reports < REPORTS_LEAST ||
	    now - a->sync_ms < sm_ms(sm, SM_CHECKPOINT_LATE_S))
		return;
	a->noted_checkpoint = true;
	sm_events_note(sm, a, LAUNCH_WARNING,
	    "%s for %" PRId64 " min, while %" PRId64 " reports came: an "
	    "interruption would lose them",
	    newest != 0 ? "no new checkpoint reached S3"
			: "no checkpoint reached S3",
	    (now - a->sync_ms) / 60000, a->reports);
}

static bool
wants_check(const struct sm_attempt *a)
{
	return a->state == SM_RUNNING && !a->stop && !a->noted_checkpoint &&
	       a->checkpoint_call == NULL && a->reports >= REPORTS_LEAST;
}

void
sm_checkpoint_watch_poll(void *arg)
{
	struct sm *sm = arg;
	struct sm_attempt *a;
	char *prefix;
	size_t i;

	for (i = 0; i < sm->n; i++) {
		a = sm->attempts[i];
		if (!wants_check(a))
			continue;
		prefix = xasprintf(
		    "%s/ckpt/%05" PRId64 "/", sm->study_key, a->trial);
		a->checkpoint_call = aws_s3_list(sm->aws, sm->set->bucket,
		    prefix, 0, checkpoint_watch_on_list, a);
		free(prefix);
	}
}

void
sm_checkpoint_watch_report(struct sm_attempt *a)
{
	struct sm *sm = a->sm;

	if (a->reports++ == 0)
		/* Progress is measured from here. */
		a->sync_ms = loop_now_ms(sm->loop);
	if (sm->set->checkpoints && a->plan.spot &&
	    !loop_timer_pending(sm->checkpoint_timer))
		loop_timer_set(
		    sm->checkpoint_timer, sm_ms(sm, SM_CHECKPOINT_WATCH_S));
}
