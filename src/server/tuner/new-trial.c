/*
 * The setting of the next trial: one that the user put in the queue, filled up
 * by the strategy, or what the strategy suggests.  Knows settings and their
 * rows; refuses to know where a trial runs.
 */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/fail.h"
#include "src/base/json/json.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/model/history/history.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/server/suggest/suggest.h"
#include "src/server/status/rows.h"
#include "src/model/partial-setting.h"
#include "src/server/tuner/tried-settings.h"
#include "src/server/tuner/tuner-internal.h"

enum {
	REDRAWS_MOST = 100, /* of the strategy, for one trial */
	REDRAWS_AT_ONCE = 16, /* in one turn */
	REUSED_AT_ONCE = 100
};

/* A setting on its way to a trial. */
struct next {
	struct value *values; /* one per parameter */
	struct answer answer;
	bool asked; /* the strategy had a part in it */
	int64_t queue_id; /* 0 = not of the queue */
	int64_t same_as; /* trial whose result it is given; 0 = none */
	const char *source;
};

/* Whether this is the last thing that was recorded about the strategy. */
static bool
event_known(const struct tuner *t, const char *text)
{
	static const char *const sql =
	    "SELECT text FROM t_event WHERE area = 'strategy' "
	    "ORDER BY seq DESC LIMIT 1";
	struct store_rows *row;
	struct err e = ERR_INIT;
	bool known;

	if (rows_first(&row, t->store, sql, NULL, &e) != 1)
		return false;
	known = strcmp(store_rows_text(row, 0), text) == 0;
	store_rows_close(row);
	return known;
}

/* Once: every ask of a study without a server starts a worker. */
static void
on_event(void *arg, const char *level, const char *text)
{
	struct tuner *t = arg;
	char *event = xasprintf("%s: %s", t->plugs.strategy->name, text);

	if (!event_known(t, event))
		tuner_event(t, level, "strategy", 0, 0, "%s", event);
	free(event);
}

/* Made when it is needed: what only stops and lists asks nobody. */
static int
asker_ready(struct tuner *t, struct err *e)
{
	struct asker_env env = {
		.loop = t->env.loop,
		.study = t->study,
		.plugs = &t->plugs,
		.history = t->history,
		.seed = t->row.seed,
		.state_dir = t->env.state_dir,
		.event = on_event,
		.arg = t,
	};

	return t->asker != NULL ? 0 : asker_open(&t->asker, &env, e);
}

/* Ask the strategy; when that fails the study ends. */
static enum asked
ask(struct tuner *t, struct next *next, unsigned redraw)
{
	struct question q = {
		.trial = t->n_trials + 1,
		.n_enqueued = t->n_enqueued,
		.redraw = redraw,
	};
	enum asked asked = ASKED_FAILED;
	struct err e = ERR_INIT;

	next->answer.values = next->values;
	if (asker_ready(t, &e) == 0)
		asked = asker_ask(t->asker, &q, &next->answer, &e);
	next->asked = asked == ASKED_POINT;
	t->asking = asked == ASKED_LATER;
	if (asked != ASKED_FAILED)
		return asked;
	tuner_event(t, "error", "strategy", 0, 0, "%s: %s",
	    t->plugs.strategy->name, e.text);
	t->over = t->failed = true;
	(void)snprintf(t->why, sizeof t->why, "the strategy %s: %s",
	    t->plugs.strategy->name, e.text);
	return ASKED_FAILED;
}

static char *
params_json(const struct space *space, const struct value *values)
{
	struct buf b = { 0 };

	space_put_json(&b, space, values);
	return buf_take(&b);
}

/* The first trial of this setting, or 0; whether its result can be reused. */
static int64_t
known(struct tuner *t, const struct next *next, bool *done)
{
	char *params = params_json(t->study->space, next->values);
	int64_t trial = tried_find(t->tried, params);
	struct store_trial row = { 0 };
	struct err e = ERR_INIT;

	*done = false;
	if (trial > 0 && store_trial_get(t->store, trial, &row, &e) != 0)
		tuner_break(t, &e);
	else if (trial > 0) {
		*done = row.state == TRIAL_COMPLETED;
		if (strcmp(row.params, params) != 0)
			trial = 0;
	}
	store_trial_fini(&row);
	free(params);
	return trial;
}

/*
 * The strategy insists on what was tried.  Where there is an end of settings,
 * any that is left; else one by chance.
 */
static enum asked
draw_other(struct tuner *t, struct next *next)
{
	const struct space *space = t->study->space;
	const struct strategy *random = strategy_find("random");
	struct strategy_ask q = {
		.space = space,
		.history = t->history,
		.seed = t->row.seed,
		.trial = t->n_trials + 1,
		.redraw = t->redraws,
	};
	struct suggestion s = { .made_by = "cpu" };
	struct answer *a = &next->answer;
	int rc = 0;

	a->from = 0;
	a->seconds = 0;
	(void)snprintf(a->made_by, sizeof a->made_by, "cpu");
	next->asked = true;
	if (tried_other(t->tried, next->values))
		return ASKED_POINT;
	if (t->redraws > 2 * REDRAWS_MOST)
		return ASKED_EMPTY;
	s.x = xcalloc(space->n, sizeof *s.x);
	rc = random->suggest(&s, &q, NULL, NULL);
	space_snap(space, s.x);
	space_decode(space, s.x, next->values);
	free(s.x);
	return rc == 0 ? ASKED_POINT : ASKED_EMPTY;
}

/* What the strategy suggests, until it is something new. */
static enum asked
draw(struct tuner *t, struct next *next)
{
	bool reuse = t->study->duplicates == STUDY_DUPLICATES_REUSE, done;
	enum asked asked;
	int n;

	if (t->plugs.strategy->repeats)
		return ask(t, next, 0);
	t->all_tried = tried_all(t->tried);
	if (t->all_tried > 0)
		return ASKED_EMPTY;
	for (n = 0; n < REDRAWS_AT_ONCE && !t->store_failed; n++) {
		asked = t->redraws > REDRAWS_MOST ? draw_other(t, next)
						  : ask(t, next, t->redraws);
		if (asked != ASKED_POINT)
			return asked;
		t->redraw_seconds += next->answer.seconds;
		next->same_as = known(t, next, &done);
		if (next->same_as == 0 || (reuse && done))
			return ASKED_POINT;
		t->redraws++;
	}
	t->asking = true;
	loop_wake(t->env.loop);
	return ASKED_LATER;
}

/* A setting of the queue, what it leaves open filled by the strategy. */
static enum asked
queued_fill(struct tuner *t, struct next *next, const struct value *over)
{
	const struct space *space = t->study->space;
	enum asked asked = ASKED_EMPTY;

	/* A member of a population goes on with the setting. */
	if (!setting_whole(space, over) || t->plugs.strategy->continues)
		asked = ask(t, next, 0);
	if (asked == ASKED_LATER || asked == ASKED_FAILED)
		return asked;
	if (asked == ASKED_POINT)
		setting_lay_over(space, next->values, over);
	else
		memcpy(next->values, over, space->n * sizeof *over);
	setting_complete(space, next->values);
	return ASKED_POINT;
}

/* The next setting of the queue; empty when none waits, or it was dropped. */
static enum asked
queued(struct tuner *t, struct next *next)
{
	const struct space *space = t->study->space;
	struct value *over = xcalloc(space->n, sizeof *over);
	enum asked asked = ASKED_FAILED;
	struct json_doc *doc = NULL;
	struct err e = ERR_INIT;
	char *params = NULL;
	int rc;

	rc = store_queue_next(
	    t->store, &next->queue_id, &params, &next->source, &e);
	if (rc < 0)
		tuner_break(t, &e);
	else if (rc > 0) {
		next->queue_id = 0;
		asked = ASKED_EMPTY;
	} else if (json_parse(&doc, params, strlen(params), NULL, false, &e) ==
		       0 &&
		   space_read_values(space, json_root(doc), over, &e) == 0)
		asked = queued_fill(t, next, over);
	else {
		tuner_event(t, "error", "enqueue", 0, 0,
		    "a queued setting was dropped: %s", e.text);
		if (store_queue_take(t->store, next->queue_id, 0, &e) != 0)
			tuner_break(t, &e);
	}
	json_free(doc);
	free(over);
	free(params);
	return asked;
}

/* Its rows: the trial, what it took from the queue, who thought of it. */
static int
next_write(struct tuner *t, const struct next *next,
    const struct store_trial *row, struct err *e)
{
	struct store_suggestion s = {
		.trial = row->number,
		.strategy = t->plugs.strategy->name,
		.made_by = next->answer.made_by,
		.seconds = next->queue_id != 0 ? next->answer.seconds
					       : t->redraw_seconds,
		.redraws = next->queue_id != 0 ? 0 : t->redraws,
		.same_as = next->same_as,
		.from_trial = next->answer.from,
	};

	if (store_trial_add(t->store, row, e) != 0)
		return -1;
	if (next->queue_id != 0 && !fail_bug("bug.keep_queue") &&
	    store_queue_take(t->store, next->queue_id, row->number, e) != 0)
		return -1;
	return next->asked ? store_suggestion_add(t->store, &s, e) : 0;
}

static struct live *
next_begin(struct tuner *t, const struct next *next)
{
	const struct space *space = t->study->space;
	double *point = xcalloc(space->n, sizeof *point);
	struct err e = ERR_INIT;
	struct store_trial row = {
		.number = ++t->n_trials,
		.state = TRIAL_WAITING,
		.params = params_json(space, next->values),
		.source = next->source,
		.objective = NAN,
		.last_step = -1,
		.from = next->answer.from,
		.member = next->answer.member,
		.until = next->answer.until,
	};

	t->n_enqueued += next->queue_id != 0;
	if (next_write(t, next, &row, &e) != 0)
		tuner_break(t, &e);
	space_encode(space, next->values, point);
	history_add(t->history, row.number, point);
	tried_add(t->tried, row.params, row.number);
	t->redraws = 0;
	t->redraw_seconds = 0;
	if (row.member > 0 || row.from > 0)
		history_descend(t->history, row.number, row.from, row.member);
	free(point);
	return live_add(t, &row);
}

/* It ends at once with the result that its setting had. */
static void
next_reuse(struct tuner *t, struct live *l, int64_t trial)
{
	char *why = xasprintf("the result of trial %" PRId64, trial);
	struct store_trial row = { 0 };
	struct err e = ERR_INIT;

	if (store_trial_get(t->store, trial, &row, &e) != 0 ||
	    outcome_copy(t, l, trial, &e) != 0)
		tuner_break(t, &e);
	else {
		l->row.objective = row.objective;
		live_move(t, l, TRIAL_EV_REUSE, why);
		outcome_finish(t, l);
		live_remove(t, l);
	}
	store_trial_fini(&row);
	free(why);
}

/* One trial, which is reused away at once, waits, or is not there yet. */
static enum asked
new_trial(struct tuner *t, struct live **l, bool *reused)
{
	struct next next = { .source = "strategy" };
	enum asked asked;

	*reused = false;
	next.values = xcalloc(t->study->space->n, sizeof *next.values);
	asked = queued(t, &next);
	if (asked == ASKED_EMPTY) {
		next.source = "strategy";
		asked = draw(t, &next);
		t->exhausted = asked == ASKED_EMPTY;
	}
	if (t->store_failed)
		asked = ASKED_FAILED;
	if (asked == ASKED_POINT) {
		*l = next_begin(t, &next);
		*reused = next.same_as > 0 && !t->store_failed;
		if (*reused)
			next_reuse(t, *l, next.same_as);
	}
	free(next.values);
	return asked;
}

struct live *
tuner_new_trial(struct tuner *t)
{
	struct live *l = NULL;
	bool reused;
	int n;

	if (!converge_known(t) || converge_over(t))
		return NULL;
	for (n = 0; n < REUSED_AT_ONCE && tuner_may_place_new(t); n++) {
		if (new_trial(t, &l, &reused) != ASKED_POINT)
			return NULL;
		if (!reused)
			return t->store_failed ? NULL : l;
	}
	loop_wake(t->env.loop);
	return NULL;
}
