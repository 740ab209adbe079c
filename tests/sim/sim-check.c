/*
 * After the end: compares every row of the store with the ledger of the world,
 * and checks the ledger itself.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/engine/tuner/tuner.h"
#include "src/model/study/study.h"
#include "src/model/trial.h"
#include "src/store/store.h"
#include "tests/sim/sim.h"

/* Lost in a row, without a report between, until a trial is given up. */
#define LOST_MAX 10

/* What was seen of a trial while its attempts went by. */
struct tally {
	int64_t trial, attempts, counted, lost;
	int64_t resumed; /* of pauses by a rule, and second looks */
	bool looked; /* it had a second look, or was retried after a stop */
	bool retried; /* by the user */
	bool reused; /* it has the result of another */
	int64_t until; /* the last step of a member's segment; 0 = none */
	bool whole; /* it has its whole result: all its steps, and values */
	enum trial_state state;
	enum end_class last;
	bool ran; /* its last attempt */
};

static struct store_rows *
query(struct sim *s, const char *sql)
{
	struct store_rows *r = NULL;
	struct err e = ERR_INIT;

	if (store_rows_open(&r, s->reader, sql, NULL, &e) != 0)
		sim_wrong(s, "%s", e.text);
	return r;
}

static bool
next(struct sim *s, struct store_rows *r)
{
	struct err e = ERR_INIT;
	int rc = r != NULL && *s->wrong == '\0' ? store_rows_next(r, &e) : 0;

	if (rc < 0)
		sim_wrong(s, "%s", e.text);
	return rc == 1;
}

/* Nothing runs, and nothing starts any more. */
static void
check_quiet(struct sim *s)
{
	size_t i, n = pretend_world_count(s->world);
	int64_t now = pretend_world_now(s->world);
	const struct pretend_attempt *a;

	if (pretend_world_running(s->world) > 0)
		sim_wrong(s, "something runs after the end");
	pretend_world_pass(s->world, 3600000);
	for (i = 0; i < n; i++) {
		a = pretend_world_get(s->world, i);
		if (a->started_ms > now)
			sim_wrong(s,
			    "trial %" PRId64 " attempt %d started "
			    "after the end",
			    a->trial, a->attempt);
	}
}

static bool
overlap(const struct pretend_attempt *a, const struct pretend_attempt *b)
{
	return a->started_ms < b->ended_ms && b->started_ms < a->ended_ms;
}

/* No attempt twice; one attempt of a trial after the other. */
static void
check_ledger(struct sim *s)
{
	size_t i, k, n = pretend_world_count(s->world);
	const struct pretend_attempt *a, *b;

	if (!s->parallel_changed &&
	    (int64_t)pretend_world_most(s->world) > s->parallel)
		sim_wrong(s, "%zu attempts ran at once",
		    pretend_world_most(s->world));
	for (i = 0; i < n; i++)
		for (k = 0; k < i; k++) {
			a = pretend_world_get(s->world, i);
			b = pretend_world_get(s->world, k);
			if (a->trial != b->trial || a->started_ms < 0 ||
			    b->started_ms < 0)
				continue;
			if (a->attempt == b->attempt)
				sim_wrong(s,
				    "trial %" PRId64 " attempt %d "
				    "ran twice",
				    a->trial, a->attempt);
			if (overlap(a, b))
				sim_wrong(s,
				    "two attempts of trial %" PRId64
				    " ran at once",
				    a->trial);
		}
}

/* The attempt after one that ran out of memory has the machine to itself. */
static void
check_alone(struct sim *s, const struct pretend_attempt *a)
{
	const struct pretend_attempt *b;
	size_t i;

	for (i = 0; i < pretend_world_count(s->world); i++) {
		b = pretend_world_get(s->world, i);
		if (b != a && b->started_ms >= 0 && overlap(a, b))
			sim_wrong(s,
			    "trial %" PRId64 " attempt %d follows one "
			    "without memory and ran beside trial %" PRId64,
			    a->trial, a->attempt, b->trial);
	}
}

/*
 * Whether its end by itself is that of a completed trial: it exits well, or
 * badly in whatever way after all its steps.
 */
static void
check_end_well(struct sim *s, const struct pretend_attempt *a, enum end_class c,
    bool whole)
{
	const struct launch_exit *x = &a->exit;
	bool after_all = whole && x->ran && !x->timeout && a->stop_ms < 0;
	bool well = x->ran && !x->timeout && !x->oom && x->exit_code == 0 &&
		    x->signal == 0;

	if ((c == END_OOM && !x->oom) || (x->oom && c == END_ERROR) ||
	    (x->oom && c == END_OK && !after_all))
		sim_wrong(s,
		    "trial %" PRId64 " attempt %d: out of memory or not?",
		    a->trial, a->attempt);
	if (c == END_OK && !well && !after_all)
		sim_wrong(s, "trial %" PRId64 " attempt %d did not end well",
		    a->trial, a->attempt);
	if (whole && x->ran && (c == END_ERROR || c == END_OOM))
		sim_wrong(s,
		    "trial %" PRId64 " attempt %d is %s although all of its "
		    "steps were reported",
		    a->trial, a->attempt, end_class_name(c));
}

static void
check_end(struct sim *s, const struct pretend_attempt *a,
    const struct store_rows *r, enum end_class c, bool whole)
{
	bool null_code = store_rows_null(r, 4);

	if (a->state == PRETEND_LOST) {
		if (c != END_LOST)
			sim_wrong(s, "a lost attempt is not lost but %s",
			    end_class_name(c));
		return;
	}
	if (a->state != PRETEND_ENDED)
		sim_wrong(s, "a row ended before its attempt");
	else if (c == END_LOST)
		sim_wrong(s, "trial %" PRId64 " attempt %d is not lost",
		    a->trial, a->attempt);
	if (a->exit.end != END_NONE && c != a->exit.end)
		sim_wrong(s, "trial %" PRId64 " attempt %d had no machine",
		    a->trial, a->attempt);
	if (a->exit.ran && a->exit.signal == 0 &&
	    (null_code || store_rows_int(r, 4) != a->exit.exit_code))
		sim_wrong(s,
		    "trial %" PRId64 " attempt %d ended with %d, "
		    "which is not what its row says",
		    a->trial, a->attempt, a->exit.exit_code);
	if (store_rows_int(r, 5) != a->exit.signal)
		sim_wrong(s, "trial %" PRId64 " attempt %d ended by signal %d",
		    a->trial, a->attempt, a->exit.signal);
	check_end_well(s, a, c, whole);
}

static bool
waits(enum end_class c)
{
	return c == END_CAPACITY || c == END_QUOTA;
}

/* Classes after which there may be another attempt. */
static void
check_retry(struct sim *s, const struct tally *t)
{
	if (t->attempts == 0 || t->retried)
		return;
	if (t->last == END_STOPPED && t->resumed > 0)
		return;
	if (t->last != END_USER && t->last != END_LOST &&
	    t->last != END_ERROR && t->last != END_OOM && !waits(t->last))
		sim_wrong(s, "trial %" PRId64 " went on after %s", t->trial,
		    end_class_name(t->last));
	if (t->last == END_ERROR && !t->ran)
		sim_wrong(
		    s, "trial %" PRId64 " went on without a command", t->trial);
}

/* How the trial ended against how its last attempt did. */
static void
check_final(struct sim *s, const struct tally *t)
{
	bool good = false;

	if (t->counted > s->retries + 1 && !t->retried)
		sim_wrong(s,
		    "trial %" PRId64 " failed %" PRId64 " times, "
		    "retries is %" PRId64,
		    t->trial, t->counted, s->retries);
	switch (t->state) {
	case TRIAL_COMPLETED:
		good = t->reused ? t->attempts == 0 : t->last == END_OK;
		/* A stop or max_run met it after its last step. */
		if (t->whole)
			good = good || t->last == END_STOPPED ||
			       t->last == END_TIMEOUT;
		/* The trial's segment was over when the stop arrived. */
		if (t->until > 0 &&
		    sim_worth_steps(s, t->trial, t->attempts) >= t->until)
			good = good || t->last == END_STOPPED ||
			       t->last == END_LOST;
		break;
	case TRIAL_STOPPED:
		/* Whom its time ended as well: trial.on_max_run. */
		good = t->looked || t->last == END_STOPPED ||
		       t->last == END_DIVERGED || t->last == END_LOST ||
		       t->last == END_TIMEOUT;
		break;
	case TRIAL_CANCELLED:
		good = true;
		break;
	case TRIAL_FAILED:
		good = t->last != END_OK && t->last != END_STOPPED &&
		       t->last != END_USER && !waits(t->last);
		if (t->ran && (t->last == END_ERROR || t->last == END_OOM) &&
		    t->counted != s->retries + 1 && !t->retried)
			sim_wrong(s,
			    "trial %" PRId64 " was given up after %" PRId64
			    " failures, retries is %" PRId64,
			    t->trial, t->counted, s->retries);
		if (t->last == END_LOST && t->lost <= LOST_MAX && !t->looked)
			sim_wrong(s,
			    "trial %" PRId64 " was given up after %" PRId64
			    " losses",
			    t->trial, t->lost);
		break;
	case TRIAL_WAITING:
		good = strstr(s->why, "nothing works") != NULL;
		break;
	case TRIAL_STARTING:
	case TRIAL_RUNNING:
	case TRIAL_STOPPING:
	case TRIAL_STATES:
		break;
	}
	if (t->whole && t->ran && t->state != TRIAL_COMPLETED &&
	    (t->last == END_STOPPED || t->last == END_TIMEOUT ||
		(t->state == TRIAL_FAILED && t->last != END_LOST)))
		sim_wrong(s,
		    "trial %" PRId64 " is %s although all of its steps were "
		    "reported",
		    t->trial, trial_state_name(t->state));
	if (!good)
		sim_wrong(s,
		    "trial %" PRId64 " is %s at the end, its last "
		    "attempt: %s",
		    t->trial, trial_state_name(t->state),
		    end_class_name(t->last));
}

/* One row of t_attempt. */
static void
check_attempt(struct sim *s, const struct store_rows *r, struct tally *t)
{
	struct pretend_attempt *a;
	enum end_class c = END_NONE;
	enum end_class before = t->last;

	if (strcmp(store_rows_text(r, 3), "ended") != 0 ||
	    !end_class_parse(store_rows_text(r, 6), &c)) {
		sim_wrong(s,
		    "trial %" PRId64 " attempt %" PRId64 " has not ended",
		    t->trial, store_rows_int(r, 1));
		return;
	}
	if (store_rows_int(r, 1) != ++t->attempts)
		sim_wrong(s, "trial %" PRId64 " lacks attempt %" PRId64,
		    t->trial, t->attempts);
	a = pretend_world_find(s->world, store_rows_text(r, 2));
	t->ran = a != NULL && a->started_ms >= 0 && a->exit.ran;
	t->counted += c == END_ERROR || c == END_OOM;
	if (!waits(c))
		t->lost += c == END_LOST;
	t->last = c;
	t->whole = sim_worth_whole(s, t->trial, t->attempts, t->until);
	if (a == NULL || a->started_ms < 0) {
		if (c == END_OK || c == END_LOST)
			sim_wrong(s,
			    "trial %" PRId64 " attempt %" PRId64
			    " never started and is %s",
			    t->trial, t->attempts, end_class_name(c));
		return;
	}
	if (a->trial != t->trial || a->attempt != t->attempts)
		sim_wrong(s,
		    "trial %" PRId64 " attempt %" PRId64
		    " has the id of another",
		    t->trial, t->attempts);
	if (before == END_OOM)
		check_alone(s, a);
	check_end(s, a, r, c, t->whole);
}

static void
check_trials(struct sim *s)
{
	struct store_rows *r = query(s,
	    "SELECT t.trial, a.attempt, a.uuid, "
	    "a.state, a.exit_code, coalesce(a.signal, 0), "
	    "coalesce(a.end_class, 'none'), t.state, "
	    "(SELECT count(*) FROM stops AS s WHERE s.trial = t.trial "
	    "AND verdict = 'resume'), g.same_as IS NOT NULL, "
	    "coalesce(t.until_step, 0), (SELECT count(rank) FROM stops AS s "
	    "WHERE s.trial = t.trial), "
	    "(SELECT count(*) FROM t_retry AS y WHERE y.trial = t.trial), "
	    "(SELECT count(*) FROM t_retry AS y WHERE y.trial = t.trial AND "
	    "state = 'stopped') "
	    "FROM t_trial AS t "
	    "LEFT JOIN t_attempt AS a ON a.trial = t.trial "
	    "LEFT JOIN t_suggestion AS g ON g.trial = t.trial "
	    "ORDER BY t.trial, a.attempt");
	struct tally t = { 0 };

	while (next(s, r)) {
		if (store_rows_int(r, 0) != t.trial) {
			if (t.trial > 0)
				check_final(s, &t);
			t = (struct tally){ .trial = store_rows_int(r, 0),
				.resumed = store_rows_int(r, 8),
				.reused = store_rows_int(r, 9) != 0,
				.until = store_rows_int(r, 10),
				.looked = store_rows_int(r, 11) +
					      store_rows_int(r, 13) !=
					  0,
				.retried = store_rows_int(r, 12) != 0 };
		} else
			check_retry(s, &t);
		trial_state_parse(store_rows_text(r, 7), &t.state);
		if (!store_rows_null(r, 1))
			check_attempt(s, r, &t);
	}
	if (t.trial > 0 && *s->wrong == '\0')
		check_final(s, &t);
	store_rows_close(r);
}

/* What ran has a row. */
static void
check_rows(struct sim *s)
{
	const struct pretend_attempt *a;
	size_t i;

	for (i = 0; i < pretend_world_count(s->world); i++) {
		a = pretend_world_get(s->world, i);
		if (sim_number(s,
			"SELECT count(*) FROM t_attempt WHERE "
			"uuid = ?",
			a->uuid) != 1)
			sim_wrong(s,
			    "trial %" PRId64 " attempt %d is in no "
			    "row",
			    a->trial, a->attempt);
	}
}

/*
 * No trial follows when as many have completed; those that a second look, the
 * user or another program began may add to them.
 */
static void
check_completed(struct sim *s)
{
	int64_t most = s->study->limits.completed;
	int64_t n = sim_number(
	    s, "SELECT count(*) FROM t_trial WHERE state = 'completed'", NULL);
	int64_t more = sim_number(s,
	    "SELECT (SELECT count(*) FROM t_stop WHERE rank IS NOT NULL) + "
	    "(SELECT count(*) FROM t_retry) + (SELECT count(*) FROM t_trial "
	    "WHERE backend = 'external')",
	    NULL);
	bool told = strstr(s->why, "limits.completed") != NULL;

	if ((most > 0 && n > most + more) || (told && n < most))
		sim_wrong(s,
		    "%" PRId64 " trials have completed, the limit is %" PRId64
		    " (%s)",
		    n, most, s->why);
}

/* limits.trials is exact, and nothing else ends a study early. */
static void
check_limits(struct sim *s)
{
	int64_t n = sim_number(s, "SELECT count(*) FROM t_trial", NULL);
	int64_t ended = sim_number(s,
	    "SELECT count(*) FROM t_study WHERE "
	    "state IN ('finished', 'failed') AND ended_us IS NOT NULL",
	    NULL);
	const struct study_limits *l = &s->study->limits;
	bool other = l->failed_trials > 0 || l->no_improvement > 0 ||
		     l->wall_time_ms > 0 || s->study->has_target ||
		     strstr(s->why, "limits.completed") != NULL ||
		     strstr(s->why, "nothing works") != NULL ||
		     strstr(s->why, "nothing left to try") != NULL ||
		     strstr(s->why, "were tried") != NULL;

	if (ended != 1)
		sim_wrong(s, "the study has ended, but not in its row");
	if (n > s->trials || (n < s->trials && !other))
		sim_wrong(s,
		    "%" PRId64 " trials, the limit is %" PRId64 " (%s)", n,
		    s->trials, s->why);
}

/*
 * Settings fail here, and slots do not: none is drained, and a study in which
 * trials report is not over because nothing works.
 */
static void
check_places(struct sim *s)
{
	if (sim_number(s, "SELECT count(*) FROM t_place WHERE drained", NULL) !=
	    0)
		sim_wrong(s, "a slot was drained, which fails nothing");
	if (strstr(s->why, "nothing works") == NULL)
		return;
	if (sim_number(
		s, "SELECT count(*) FROM t_trial WHERE reports > 0", NULL) != 0)
		sim_wrong(s, "%s: but trials have reported", s->why);
	if (sim_number(s, "SELECT count(*) FROM t_trial WHERE attempts > 0",
		NULL) < 20)
		sim_wrong(s, "%s: those were too few", s->why);
}

/* What the user was told is true. */
static void
check_asks(struct sim *s)
{
	const struct sim_ask *a;
	int64_t queued = 0;
	char number[24];
	size_t i;

	for (i = 0; i < s->n_asks; i++) {
		a = &s->asks[i];
		if (!a->answered)
			sim_wrong(s, "request %zu was never answered", i);
		if (!a->good)
			continue;
		queued += a->kind == TUNER_ENQUEUE;
		(void)snprintf(number, sizeof number, "%" PRId64, a->trial);
		if (a->kind == TUNER_STOP_TRIAL &&
		    sim_number(s,
			"SELECT count(*) FROM t_trial AS t WHERE trial = ? "
			"AND (state = 'cancelled' OR EXISTS (SELECT 1 FROM "
			"t_retry AS y WHERE y.trial = t.trial))",
			number) != 1)
			sim_wrong(s,
			    "trial %s was stopped by the user and is "
			    "not cancelled",
			    number);
	}
	if (sim_number(s, "SELECT count(*) FROM t_queue", NULL) < queued)
		sim_wrong(s, "a setting was put in the queue and is gone");
	if (sim_number(s,
		"SELECT count(*) FROM t_queue WHERE trial IS NOT "
		"NULL",
		NULL) != sim_number(s,
			     "SELECT count(*) FROM t_trial "
			     "WHERE source = 'enqueue'",
			     NULL))
		sim_wrong(s, "settings of the queue were not tried once each");
}

/* The second metric was counted and recorded as the first. */
static void
check_second(struct sim *s)
{
	if (sim_number(s,
		"SELECT count(*) FROM (SELECT trial, attempt, step, "
		"value FROM metrics WHERE name = 'second' EXCEPT SELECT trial, "
		"attempt, step, value FROM metrics WHERE name = 'm')",
		NULL) != 0)
		sim_wrong(s, "metrics of the same reports have other steps");
}

/* A stop that took effect is that of a trial that did not complete. */
static void
check_late(struct sim *s)
{
	if (sim_number(s,
		"SELECT count(*) FROM t_trial AS t JOIN t_stop AS s USING "
		"(trial) WHERE t.state = 'completed' AND member IS NULL AND "
		"s.verdict = 'stop' AND NOT pause AND NOT late AND NOT EXISTS "
		"(SELECT 1 FROM t_stop AS k WHERE k.trial = s.trial AND "
		"k.rank IS NOT NULL AND k.seq > s.seq) AND NOT EXISTS "
		"(SELECT 1 FROM t_retry AS y WHERE y.trial = s.trial AND "
		"y.seq > s.seq)",
		NULL) != 0)
		sim_wrong(s, "a trial was stopped, and completed");
	if (sim_number(s,
		"SELECT count(*) FROM t_trial AS t WHERE state = 'stopped' AND "
		"NOT EXISTS (SELECT 1 FROM t_stop AS s WHERE s.trial = t.trial "
		"AND s.verdict = 'stop' AND NOT late) AND NOT EXISTS "
		"(SELECT 1 FROM t_attempt AS a WHERE a.trial = t.trial AND "
		"a.attempt = t.attempts AND a.end_class = 'timeout') AND "
		"NOT EXISTS (SELECT 1 FROM t_retry AS y WHERE "
		"y.trial = t.trial AND y.state = 'stopped')",
		NULL) != 0)
		sim_wrong(s, "a trial was stopped by a verdict that was late");
}

/* Each is resumed once at most, after it was paused, and then runs. */
static void
check_pauses(struct sim *s)
{
	if (sim_number(s,
		"SELECT count(*) FROM t_trial WHERE paused_step IS NOT NULL "
		"AND state <> 'waiting'",
		NULL) != 0)
		sim_wrong(s, "a trial that has ended is paused");
	if (sim_number(s,
		"SELECT count(*) FROM (SELECT verdict, lag(verdict) OVER "
		"(PARTITION BY trial ORDER BY seq) AS before FROM (SELECT "
		"trial, seq, iif(verdict = 'stop', 'pause', 'resume') AS "
		"verdict FROM t_stop WHERE pause AND rank IS NULL AND trial "
		"NOT IN (SELECT trial FROM t_retry))) "
		"WHERE verdict IS before OR (verdict = 'resume' AND before IS "
		"NULL)",
		NULL) != 0)
		sim_wrong(s, "a pause does not follow a resumption");
	if (sim_number(s,
		"SELECT count(*) FROM t_trial AS t WHERE attempts BETWEEN 1 "
		"AND "
		"(SELECT count(*) FROM stops AS s WHERE s.trial = t.trial AND "
		"verdict = 'resume')",
		NULL) != 0)
		sim_wrong(s, "a trial was resumed and not placed");
}

/*
 * A second look is given once, to whom a rule had stopped, within what is left
 * of the budget, and never costs more than stopping has saved.
 */
static void
check_looks(struct sim *s)
{
	if (sim_number(s,
		"SELECT count(*) FROM (SELECT *, lag(spent + price, 1, 0) "
		"OVER (ORDER BY seq) AS before FROM t_stop WHERE rank IS NOT "
		"NULL) WHERE spent <> before OR spent + price > budget",
		NULL) != 0)
		sim_wrong(s, "second looks do not add up to what was spent");
	if (sim_number(s,
		"SELECT count(*) FROM t_stop AS k WHERE rule = 'second_look' "
		"AND (rank IS NULL OR NOT EXISTS (SELECT 1 FROM t_stop AS s "
		"WHERE s.trial = k.trial AND s.verdict = 'stop' AND "
		"s.seq < k.seq) OR (SELECT count(*) FROM t_stop AS s WHERE "
		"s.trial = k.trial AND s.rule = 'second_look') > 1)",
		NULL) != 0)
		sim_wrong(s, "a second look was not the first, or not paid");
	if (sim_number(s,
		"SELECT coalesce(sum(price), 0) > coalesce((SELECT "
		"sum(max_steps) FROM (SELECT DISTINCT trial FROM t_stop WHERE "
		"verdict = 'stop' AND NOT late), t_study), 0) FROM t_stop, "
		"t_study WHERE rank IS NOT NULL AND max_steps > 0",
		NULL) != 0)
		sim_wrong(s, "second looks cost more than was saved");
}

void
sim_check(struct sim *s)
{
	check_quiet(s);
	check_ledger(s);
	check_rows(s);
	check_trials(s);
	check_late(s);
	check_limits(s);
	check_completed(s);
	check_places(s);
	check_asks(s);
	check_second(s);
	check_pauses(s);
	check_looks(s);
	sim_check_aims(s);
	sim_check_curves(s);
	sim_check_params(s);
	sim_check_usage(s);
	if (*s->wrong == '\0')
		sim_replay(s);
}
