/*
 * Converts events of backends to rows.  Called from inside collect, between
 * the begin and the commit of one turn.
 */

#include <stdlib.h>

#include "src/engine/attempts/slots.h"
#include "src/engine/tuner/attempt-end.h"
#include "src/engine/tuner/backend-events.h"
#include "src/engine/tuner/live-trial.h"
#include "src/engine/tuner/start-failures.h"
#include "src/engine/tuner/stopping.h"
#include "src/engine/tuner/tuner-internal.h"
#include "src/model/study/study.h"

static void
on_event_up(
    struct tuner *t, struct live_trial *l, const struct launch_event *ev)
{
	live_trial_set_place(l, ev->u.up.place);
	if (l->metrics.n == 0)
		l->metrics.up_us = t->turn_us;
	live_trial_up(t, l,
	    ev->u.up.started_us != 0 ? ev->u.up.started_us : t->turn_us,
	    ev->u.up.cpus);
	start_failures_begun(t, l, START_RUNS);
}

static void
on_event_report(
    struct tuner *t, struct live_trial *l, const struct launch_event *ev)
{
	bool is_first = l->metrics.n == 0;

	stopping_report(t, l, ev);
	if (is_first && l->metrics.n > 0)
		attempt_end_place(t, l, true);
}

static void
on_event_artifacts(struct tuner *t, const struct launch_event *ev)
{
	(void)store_artifacts_put(t->store, ev->trial, ev->attempt,
	    ev->u.left.model, ev->u.left.output, NULL);
}

static void
on_event_gpu(struct tuner *t, const struct gpu_status *g)
{
	(void)store_gpu_put(t->store, g, t->turn_us, NULL);
}

/* The trial may have continued, or ended. */
static void
on_event_cost(struct tuner *t, const struct launch_event *ev)
{
	struct live_trial *l = live_set_find(&t->live, ev->trial);

	(void)store_attempt_cost(
	    t->store, ev->trial, ev->attempt, ev->u.cost, NULL);
	if (l != NULL && !l->open && l->att.attempt == ev->attempt &&
	    l->att.priced)
		live_trial_set_cost(l, ev->u.cost);
}

/* A backend has another number of slots; running trials are not affected. */
static void
on_event_slots(struct tuner *t)
{
	struct backend *b;
	int k, n;

	for (k = 0; k < t->n_backends; k++) {
		b = &t->backends[k];
		n = b->type->slots(b->ctx);
		/* Machines were added, or returned: reset their slots. */
		if (n > 0 && b->type->ready != NULL) {
			slots_restore(&b->slots);
			place_blame_new_slots(&t->blame, k);
		}
		if (n == b->slots.n)
			continue;
		tuner_event(t, LOG_LEVEL_INFO, "slot", 0, 0,
		    "%s: now %d slot%s, before %d", b->type->name, n,
		    n == 1 ? "" : "s", b->slots.n);
		slots_resize(&b->slots, n);
	}
}

static enum log_level
backend_events_level_of(enum launch_level level)
{
	static const enum log_level levels[] = { [LAUNCH_INFO] = LOG_LEVEL_INFO,
		[LAUNCH_WARNING] = LOG_LEVEL_WARN,
		[LAUNCH_ERROR] = LOG_LEVEL_ERROR };

	return levels[level];
}

/* Record a note about the study.  A doubt is recorded once in its life. */
static void
on_event_note(struct tuner *t, const struct launch_event *ev)
{
	const char *text = ev->u.note.text;

	if (!ev->u.note.doubt)
		tuner_event(t, backend_events_level_of(ev->u.note.level),
		    "launch", 0, 0, "%s", text);
	else if (!store_any_doubt(t->store, text, NULL))
		tuner_event(t, backend_events_level_of(ev->u.note.level),
		    "doubt", 0, 0, "%s", text);
}

/*
 * Handle an event of the study, or of an attempt that may be over; false: the
 * event is of an open one.
 */
static bool
on_study_event(struct tuner *t, const struct launch_event *ev)
{
	switch (ev->kind) {
	case LAUNCH_SLOTS:
		on_event_slots(t);
		return true;
	case LAUNCH_GPU:
		on_event_gpu(t, &ev->u.gpu);
		return true;
	case LAUNCH_COST:
		on_event_cost(t, ev);
		return true;
	case LAUNCH_NOTE:
		if (ev->trial != 0)
			return false;
		on_event_note(t, ev);
		return true;
	case LAUNCH_PLACE:
	case LAUNCH_WAITS:
	case LAUNCH_ACCEPTED:
	case LAUNCH_UP:
	case LAUNCH_REPORT:
	case LAUNCH_READ:
	case LAUNCH_ARTIFACTS:
	case LAUNCH_USAGE:
	case LAUNCH_EXIT:
	case LAUNCH_LOST:
		break;
	}
	return false;
}

static void
on_attempt_event(
    struct tuner *t, struct live_trial *l, const struct launch_event *ev)
{
	switch (ev->kind) {
	case LAUNCH_PLACE:
		live_trial_set_place(l, ev->u.place);
		break;
	case LAUNCH_WAITS:
		live_trial_set_waits(l, ev->u.waits);
		break;
	case LAUNCH_ACCEPTED:
		start_failures_begun(t, l, START_ACCEPTED);
		break;
	case LAUNCH_UP:
		on_event_up(t, l, ev);
		break;
	case LAUNCH_REPORT:
		on_event_report(t, l, ev);
		break;
	case LAUNCH_READ:
		live_trial_set_cursor(l, &ev->u.cursor);
		break;
	case LAUNCH_NOTE:
		tuner_event(t, backend_events_level_of(ev->u.note.level),
		    "launch", ev->trial, ev->attempt, "%s", ev->u.note.text);
		break;
	case LAUNCH_ARTIFACTS:
		on_event_artifacts(t, ev);
		break;
	case LAUNCH_USAGE:
		live_trial_set_usage(l, &ev->u.usage);
		break;
	case LAUNCH_GPU:
	case LAUNCH_SLOTS:
	case LAUNCH_COST:
		break;
	case LAUNCH_EXIT:
		attempt_end_handle(t, l, &ev->u.exit, NULL);
		break;
	case LAUNCH_LOST:
		attempt_end_handle(t, l, NULL, ev->u.lost.why);
		break;
	}
}

void
tuner_on_event(void *arg, const struct launch_event *ev)
{
	struct tuner *t = arg;
	struct live_trial *l;

	if (store_failed(t->store) || on_study_event(t, ev))
		return;
	l = live_set_find(&t->live, ev->trial);
	if (l != NULL && l->open && l->att.attempt == ev->attempt)
		on_attempt_event(t, l, ev);
}
