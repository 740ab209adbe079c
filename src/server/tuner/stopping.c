/*
 * Stopping by rules: a report is judged when it is recorded, and the verdict is
 * carried out when everything that there was to read in the turn is read.
 */

#include "src/model/history/history.h"
#include "src/model/study/study.h"
#include "src/server/tuner/live-trial.h"
#include "src/server/tuner/stopping.h"
#include "src/server/tuner/tuner-internal.h"

static const char *
verdict_text(enum verdict v)
{
	switch (v) {
	case VERDICT_KEEP:
		return "keep";
	case VERDICT_STOP:
		return "stop";
	case VERDICT_PAUSE:
		return "pause";
	case VERDICT_SUSPENDED:
		break;
	}
	return "suspended";
}

void
stopping_record(struct tuner *t, const struct live_trial *l, int64_t step,
    const struct judgement *j, const char *verdict)
{
	struct store_stop row = {
		.trial = l->row.number,
		.step = step,
		.rule = j->rule,
		.value = j->value,
		.threshold = j->threshold,
		.pool = j->pool,
		.verdict = verdict,
		.why = j->why,
		.time_us = t->turn_us,
	};
	struct err e = ERR_INIT;

	if (store_stop_add(t->store, &row, &e) != 0)
		tuner_store_failed(t, &e);
}

void
stopping_judge(struct tuner *t, struct live_trial *l, int64_t step)
{
	struct judgement j = { .verdict = VERDICT_KEEP };
	int64_t max = t->study->trial.max_steps;

	if (l->row.cause != STOP_NONE || l->verdict_due ||
	    step < l->row.last_step || step <= l->judged_step ||
	    (max > 0 && l->row.reports >= max) || live_trial_segment_done(l))
		return;
	live_trial_set_judged(l, step);
	stop_rule_set_judge(t->rules, t->history, l->row.number, step, &j);
	/* A trial that another program runs cannot be resumed. */
	if (l->external && j.verdict == VERDICT_PAUSE)
		j.verdict = VERDICT_STOP;
	live_trial_set_verdict(l, &j);
	if (j.verdict == VERDICT_KEEP)
		return;
	stopping_record(t, l, step, &j, verdict_text(j.verdict));
}

static void
verdict_carry_out(struct tuner *t, struct live_trial *l)
{
	const struct judgement *j = &l->verdict;

	live_trial_verdict_taken(l);
	live_trial_stop(t, l, j->diverged ? STOP_DIVERGED : STOP_RULE, j->why);
}

void
stopping_verdict_late(struct tuner *t, struct live_trial *l)
{
	struct err e = ERR_INIT;

	live_trial_verdict_late(l);
	if (store_stop_late(t->store, l->row.number, &e) != 0)
		tuner_store_failed(t, &e);
}

void
stopping_settle(struct tuner *t, struct live_trial *l)
{
	if (!l->verdict_due)
		return;
	if (live_trial_all_steps(t, l) || live_trial_segment_done(l))
		stopping_verdict_late(t, l);
	else
		verdict_carry_out(t, l);
}
