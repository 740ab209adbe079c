/*
 * What every file of the folder may do in a turn: record an event or what is to
 * be done after the commit, and ask for another turn.
 */

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "src/base/log.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/engine/tuner/live-trial.h"
#include "src/engine/tuner/tuner-internal.h"
#include "src/model/history/history.h"

int64_t
tuner_elapsed_ms(const struct tuner *t)
{
	return t->clock.elapsed_ms + loop_now_ms(t->env.loop) -
	       t->clock.opened_ms;
}

int64_t
tuner_best(const struct tuner *t)
{
	return t->replicates.count > 0 ? t->outcomes.best_trial
				       : history_best(t->history);
}

struct announce_facts
tuner_facts(const struct tuner *t, const char *why)
{
	return (struct announce_facts){ .state = t->row.state,
		.why = why,
		.time_us = t->turn_us,
		.elapsed_ms = tuner_elapsed_ms(t),
		.trials = t->n_trials,
		.failed = (int64_t)t->outcomes.n_failed,
		.best = tuner_best(t) };
}

void
tuner_event(struct tuner *t, enum log_level level, const char *area,
    int64_t trial, int attempt, const char *fmt, ...)
{
	char text[512], who[40] = "";
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (trial > 0)
		(void)snprintf(who, sizeof who, "trial %" PRId64 ": ", trial);
	log_at(level, area, "%s%s", who, text);
	if (store_in_transaction(t->store))
		(void)store_event_add(t->store, t->turn_us, level, area, trial,
		    attempt, text, NULL);
}

void
tuner_queue_event(
    struct tuner *t, enum log_level level, const char *area, const char *text)
{
	t->notes = xreallocarray(t->notes, t->n_notes + 1, sizeof *t->notes);
	t->notes[t->n_notes++] = (struct pending_event){
		.level = level, .area = area, .text = xstrdup(text)
	};
	loop_wake(t->env.loop);
}

void
tuner_wake_in(struct tuner *t, int64_t ms)
{
	int64_t due = loop_now_ms(t->env.loop) + (ms > 0 ? ms : 1);

	if (loop_timer_pending(t->clock.wake) && t->clock.wake_ms <= due)
		return;
	t->clock.wake_ms = due;
	loop_timer_set(t->clock.wake, ms > 0 ? ms : 1);
}

void
tuner_effect(struct tuner *t, enum effect_kind kind, const struct live_trial *l)
{
	struct effects *list = &t->effects;

	list->list = xreallocarray(list->list, list->n + 1, sizeof *list->list);
	list->list[list->n++] = (struct effect){
		.kind = kind,
		.trial = l->row.number,
		.attempt = l->att.attempt,
	};
}
