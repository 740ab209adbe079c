/* Events kept until collect; and the time scale of the backend. */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/loop.h"
#include "src/base/text.h"
#include "trials/sagemaker/sm-internal.h"

int64_t
sm_ms(const struct sm *sm, int seconds)
{
	double ms = 1000.0 * seconds / sm->set->pace;

	return ms < 10 ? 10 : (int64_t)ms;
}

int64_t
sm_pause_ms(const struct sm *sm, int n)
{
	int s = SM_RETRY_S;

	while (n-- > 0 && s < SM_RETRY_MOST_S)
		s *= 2;
	return sm_ms(sm, s < SM_RETRY_MOST_S ? s : SM_RETRY_MOST_S);
}

struct sm_attempt *
sm_find(struct sm *sm, int64_t trial, int attempt)
{
	size_t i;

	for (i = 0; i < sm->n; i++)
		if (sm->attempts[i]->trial == trial &&
		    sm->attempts[i]->attempt == attempt)
			return sm->attempts[i];
	return NULL;
}

/* The text that an event borrows, or NULL. */
static const char **
event_text(struct launch_event *ev)
{
	switch (ev->kind) {
	case LAUNCH_PLACE:
		return &ev->u.place;
	case LAUNCH_WAITS:
		return &ev->u.waits;
	case LAUNCH_UP:
		return &ev->u.up.place;
	case LAUNCH_REPORT:
		return &ev->u.report.name;
	case LAUNCH_NOTE:
		return &ev->u.note.text;
	case LAUNCH_LOST:
		return &ev->u.lost.why;
	case LAUNCH_ACCEPTED:
	case LAUNCH_ARTIFACTS: /* it has two: artifacts_copy */
	case LAUNCH_READ:
	case LAUNCH_USAGE:
	case LAUNCH_GPU:
	case LAUNCH_SLOTS:
	case LAUNCH_COST:
	case LAUNCH_EXIT:
		break;
	}
	return NULL;
}

/* Copy both texts, one behind the other. */
static void
artifacts_copy(struct sm_event *to)
{
	size_t n = strlen(to->ev.u.left.model) + 1,
	       m = strlen(to->ev.u.left.output) + 1;

	to->text = xmalloc(n + m);
	memcpy(to->text, to->ev.u.left.model, n);
	memcpy(to->text + n, to->ev.u.left.output, m);
	to->ev.u.left.model = to->text;
	to->ev.u.left.output = to->text + n;
}

void
sm_events_emit(struct sm *sm, const struct launch_event *ev)
{
	struct sm_event *to;
	const char **text;

	if (sm->n_queue == sm->cap_queue) {
		sm->cap_queue = sm->cap_queue * 2 + 64;
		sm->queue =
		    xreallocarray(sm->queue, sm->cap_queue, sizeof *sm->queue);
	}
	to = &sm->queue[sm->n_queue++];
	*to = (struct sm_event){ .ev = *ev };
	if (ev->kind == LAUNCH_ARTIFACTS)
		artifacts_copy(to);
	text = event_text(&to->ev);
	if (text != NULL && *text != NULL)
		*text = to->text = xstrdup(*text);
	loop_wake(sm->loop);
}

void
sm_events_note(struct sm *sm, const struct sm_attempt *a,
    enum launch_level level, const char *fmt, ...)
{
	struct launch_event ev = { .kind = LAUNCH_NOTE };
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (a != NULL) {
		ev.trial = a->trial;
		ev.attempt = a->attempt;
	}
	ev.u.note.level = level;
	ev.u.note.text = text;
	sm_events_emit(sm, &ev);
}

void
sm_events_place_text(const struct sm_attempt *a, char *buf, size_t n)
{
	(void)snprintf(buf, n, "%s%s %s",
	    a->plan.type != NULL ? a->plan.type->name : "instance groups",
	    a->plan.spot ? " spot" : "", a->job);
}

void
sm_events_place(struct sm_attempt *a)
{
	struct launch_event ev = {
		.kind = LAUNCH_PLACE, .trial = a->trial, .attempt = a->attempt
	};
	char place[160];

	if (a->placed)
		return;
	a->placed = true;
	sm_events_place_text(a, place, sizeof place);
	ev.u.place = place;
	sm_events_emit(a->sm, &ev);
}

void
sm_events_over(struct sm_attempt *a)
{
	struct launch_event ev = {
		.kind = LAUNCH_EXIT, .trial = a->trial, .attempt = a->attempt
	};

	if (a->state == SM_OVER)
		return;
	sm_events_place(a);
	a->state = SM_OVER;
	loop_timer_stop(a->timer);
	loop_timer_stop(a->stop_timer);
	if (a->lost) {
		ev.kind = LAUNCH_LOST;
		ev.u.lost.why = a->lost_why;
	} else
		ev.u.exit = a->exit;
	sm_events_emit(a->sm, &ev);
	sm_warm_pool_add(a);
}

void
sm_events_accepted(struct sm_attempt *a)
{
	struct launch_event ev = { .kind = LAUNCH_ACCEPTED,
		.trial = a->trial,
		.attempt = a->attempt };

	sm_events_emit(a->sm, &ev);
}

void
sm_events_over_unmade(struct sm_attempt *a, const char *why)
{
	a->exit = (struct launch_exit){
		.exit_code = -1,
		.not_yet = true,
		.unmade = true,
		.billed = true,
		.priced = true,
	};
	text_cut(a->exit.why, sizeof a->exit.why, why);
	sm_events_over(a);
}
