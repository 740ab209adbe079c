/*
 * The second look in a replay: when all trials are over, stopped ones are
 * resumed one after the other, with the reports that the rule had skipped.
 */

#include <stdlib.h>

#include "src/base/mem.h"
#include "src/model/history/history.h"
#include "src/server/replay/replay-internal.h"
#include "strategies/stop/second-look/second-look.h"

void
replay_look_keep(struct replay_rerun_trial *t, int64_t step, double value)
{
	XGROW(t->rest, t->n_rest, t->cap_rest);
	t->rest[t->n_rest++] = (struct replay_report){ step, value };
}

/* The stopped trials, as second_look_decide takes them; returns the number. */
static size_t
look_list(const struct replay_rerun *r, struct second_look_trial *list)
{
	const struct replay_rerun_trial *t;
	size_t i, n = 0;

	for (i = 0; i < r->n; i++) {
		t = &r->trials[i];
		if (!t->stopped)
			continue;
		list[n++] = (struct second_look_trial){
			.trial = (int64_t)i + 1,
			.step = t->last,
			/* What a trial never reported cannot be replayed. */
			.candidate = t->n_rest > 0 && !t->diverged,
			.checkpoint = true,
		};
	}
	return n;
}

/* All further reports of the trial, and its end. */
static void
look_resume(struct replay_rerun *r, int64_t trial)
{
	struct replay_rerun_trial *t = &r->trials[trial - 1];
	size_t i;

	history_retry(r->history, trial);
	for (i = 0; i < t->n_rest; i++)
		history_report(
		    r->history, trial, t->rest[i].step, t->rest[i].value);
	history_end(r->history, trial,
	    t->failed ? TRIAL_STOPPED : TRIAL_COMPLETED,
	    history_flip_sign(r->history, t->full));
	t->resumed = true;
}

void
replay_look(struct replay_rerun *r)
{
	struct second_look_trial *list = xcalloc(r->n + 1, sizeof *list);
	struct second_look_study study = { .history = r->history,
		.max_steps = r->max_steps,
		.share = r->look_share,
		.stopped = list };
	struct second_look look;
	size_t i;

	study.n_stopped = look_list(r, list);
	second_look_hurt(&r->hurt, r->history, r->max_steps);
	for (;;) {
		second_look_decide(&look, &study);
		if (look.trial == 0)
			break;
		look_resume(r, look.trial);
		for (i = 0; list[i].trial != look.trial; i++)
			;
		list[i].price = look.price;
		list[i].candidate = false;
	}
	free(list);
}
