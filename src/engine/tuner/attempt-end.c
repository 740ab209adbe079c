/*
 * The end of an attempt: its end class and reason, the next state of its trial,
 * and the effects on its slot, its backend and the trials that wait.
 */

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/engine/attempts/no-report.h"
#include "src/engine/attempts/slots.h"
#include "src/engine/tuner/attempt-end.h"
#include "src/engine/tuner/live-trial.h"
#include "src/engine/tuner/outcome.h"
#include "src/engine/tuner/paused.h"
#include "src/engine/tuner/start-failures.h"
#include "src/engine/tuner/stopping.h"
#include "src/engine/tuner/tuner-internal.h"
#include "src/model/history/history.h"
#include "src/model/study/study.h"

/* Consecutive lost attempts without a report that are retried for free. */
#define FREE_RETRIES_MAX 10

/* Reports that came in one go, after so long, were held back by a buffer. */
#define BUFFERED_AFTER_US INT64_C(10000000)
#define BUFFERED_WITHIN_US INT64_C(1000000)
#define BUFFERED_REPORTS 3

/* The end of one attempt, as it is worked out. */
struct attempt_end {
	const struct launch_exit *x; /* NULL = it is lost */
	enum end_class seen; /* the observed class, also of a requested stop */
	enum end_class class; /* … and what it counts as */
	bool blamed; /* no stop was requested */
	enum trial_event move;
	char attempt_why[LAUNCH_WHY];
	char trial_why[LAUNCH_WHY + 80];
};

/*
 * Another process ended it, for example at the shutdown of the machine: its
 * exit status does not count, unless all steps were reported.
 */
static bool
end_from_outside(const struct tuner *t, const struct live_trial *l,
    const struct launch_exit *x)
{
	return x->stopped && l->row.cause == STOP_NONE &&
	       !live_trial_segment_done(l) &&
	       !(x->signal == 0 && x->exit_code == 0 &&
		   live_trial_all_steps(t, l)) &&
	       !outcome_whole(t, l);
}

/* Text for a class, when the backend gave none. */
static const char *
end_text(enum end_class c)
{
	switch (c) {
	case END_SPOT:
		return "the spot machine was reclaimed";
	case END_CAPACITY:
		return "no machine of this type is available";
	case END_QUOTA:
		return "the account's quota of machines is exceeded";
	case END_NONE:
	case END_OK:
	case END_STOPPED:
	case END_ERROR:
	case END_TIMEOUT:
	case END_OOM:
	case END_DIVERGED:
	case END_NO_REPORT:
	case END_LOST:
	case END_USER:
	case END_CLASSES:
		break;
	}
	return end_class_name(c);
}

/* Append what the program wrote last, if that is known. */
static void
said_put(const struct launch_exit *x, const char *before, char *why, size_t n)
{
	size_t len = strlen(why);

	if (x->said[0] != '\0' && len < n)
		(void)snprintf(why + len, n - len, "%s%s", before, x->said);
}

/* What the reason of a missing report is made of. */
static void
end_no_report(const struct tuner *t, const struct live_trial *l,
    const struct launch_exit *x, const char *folder, struct no_report *r)
{
	size_t i;

	*r = (struct no_report){
		.study = t->study, .folder = folder, .said = x->said
	};
	if (!l->external) {
		r->type = t->backends[l->backend].type;
		r->ctx = t->backends[l->backend].ctx;
	}
	for (i = 0; i < l->metrics.n && i < NO_REPORT_NAMES; i++)
		r->names[r->n_names++] = l->metrics.list[i].name;
}

static char *
end_folder(const struct tuner *t, const struct live_trial *l)
{
	return xasprintf("%s/trials/%" PRId64 "/attempt-%d", t->env.state_dir,
	    l->row.number, l->att.attempt);
}

/* Class the end of an attempt without a report of this metric. */
static enum end_class
end_without(const struct tuner *t, const struct live_trial *l,
    const struct launch_exit *x, const char *metric, char *why, size_t n)
{
	char *folder = end_folder(t, l);
	struct no_report r;

	end_no_report(t, l, x, folder, &r);
	no_report_put(&r, metric, why, n);
	free(folder);
	return END_NO_REPORT;
}

/* The same by its other objectives. */
static enum end_class
end_classify_aims(const struct tuner *t, const struct live_trial *l,
    const struct launch_exit *x, char *why, size_t n)
{
	const char *metric;
	enum end_class class = outcome_class(&t->outcomes, l, &metric);

	if (class == END_NO_REPORT)
		return end_without(t, l, x, metric, why, n);
	if (class == END_DIVERGED)
		(void)snprintf(why, n,
		    "its last report of %s was not a finite number", metric);
	return class;
}

/* The class of an attempt's end, independent of a requested stop. */
static enum end_class
end_classify(const struct tuner *t, const struct live_trial *l,
    const struct launch_exit *x, char *why, size_t n)
{
	struct curve c;

	*why = '\0';
	if (x == NULL)
		return END_LOST;
	(void)snprintf(why, n, "%s", x->why);
	if (x->end != END_NONE && x->end != END_OK) {
		if (*why == '\0')
			(void)snprintf(why, n, "%s", end_text(x->end));
		return x->end;
	}
	if (x->timeout) {
		if (*why == '\0')
			(void)snprintf(why, n, "max_run was reached");
		return END_TIMEOUT;
	}
	if (x->oom) {
		if (*why == '\0')
			(void)snprintf(
			    why, n, "the kernel killed it for lack of memory");
		return END_OOM;
	}
	if (!x->ran)
		return x->not_yet ? END_LOST : END_ERROR;
	if (end_from_outside(t, l, x)) {
		(void)snprintf(why, n, "it was stopped from outside");
		return END_LOST;
	}
	if (x->signal != 0) {
		if (*why == '\0') {
			(void)snprintf(why, n, "ended by signal %d (%s)",
			    x->signal, strsignal(x->signal));
			said_put(x, ": ", why, n);
		}
		return END_ERROR;
	}
	if (x->exit_code != 0) {
		if (*why == '\0') {
			(void)snprintf(why, n, "exit status %d", x->exit_code);
			said_put(x, ": ", why, n);
		}
		return END_ERROR;
	}
	if (l->row.reports == 0)
		return end_without(t, l, x, t->study->metric, why, n);
	if (!isfinite(l->row.objective)) {
		c = history_curve(t->history, l->row.number);
		no_report_put_infinite(t->study, &c, why, n);
		return END_DIVERGED;
	}
	return end_classify_aims(t, l, x, why, n);
}

/* The best or last value of the curve, replaced values removed. */
static double
objective_of_curve(const struct tuner *t, int64_t trial)
{
	struct curve c = history_curve(t->history, trial);
	double best = NAN;
	size_t i;

	if (c.n == 0)
		return NAN;
	if (t->study->value_last)
		return history_flip_sign(t->history, curve_value(&c, c.n - 1));
	for (i = 0; i < c.n; i++)
		if (isfinite(curve_value(&c, i)) &&
		    !(curve_value(&c, i) >= best))
			best = curve_value(&c, i);
	return history_flip_sign(t->history, best);
}

/* Milliseconds to wait before another attempt, after n consecutive failures. */
static int64_t
retry_pause_ms(int n, int64_t most)
{
	int64_t ms = n < 1 ? 0 : n < 20 ? INT64_C(1000) << (n - 1) : most;

	return ms < most ? ms : most;
}

/*
 * No machine was used, so the trial waits for capacity without counting
 * retries; the pause grows to minutes.
 */
static void
wait_plan(struct tuner *t, struct live_trial *l, const char *why)
{
	int64_t ms = retry_pause_ms(l->past.waits + 1, RETRY_WAIT_MAX_MS);

	live_trial_set_not_before(l, t->turn_us + 1000 * ms);
	if (l->past.waits == 0)
		tuner_event(t, LOG_LEVEL_WARN, "launch", l->row.number,
		    l->att.attempt,
		    "it waits for a machine (%s): it is tried again "
		    "until there is one, without using up retries",
		    why);
}

/* Whether another attempt follows, and when; otherwise false. */
static bool
retry_plan(struct tuner *t, struct live_trial *l, enum end_class c,
    const struct launch_exit *x, const char *why)
{
	int64_t ran_ms = (l->att.ended_us - l->att.started_us) / 1000;
	int64_t not_before_us = 0;
	enum retry_policy retry = end_class_retry(c);
	int n = 0;

	/*
	 * Whatever has ended a program that we do not run, its setting may be
	 * the cause.
	 */
	if (l->external && retry == RETRY_FREE)
		retry = RETRY_COUNTED;
	switch (retry) {
	case RETRY_NEVER:
		return false;
	case RETRY_ALONE:
		live_trial_set_alone(l);
		/* FALLTHROUGH */
	case RETRY_COUNTED:
		/* Retries are for first looks. */
		if (l->looked)
			return false;
		/* Another attempt would fail, unless its backend says otherwise. */
		if (x != NULL && !x->ran && x->end == END_NONE)
			return false;
		if (l->row.failures >= t->study->trial.retries)
			return false;
		live_trial_add_retry(l, false);
		n = l->row.failures;
		break;
	case RETRY_FREE:
		if (l->row.free_retries >= FREE_RETRIES_MAX)
			return false;
		n = l->row.free_retries;
		if (n == 0 && (x == NULL || !x->ran))
			tuner_event(t, LOG_LEVEL_WARN, "launch", l->row.number,
			    l->att.attempt,
			    "%s: it is tried again, without using up retries",
			    why);
		live_trial_add_retry(l, true);
		break;
	}
	if (ran_ms < PLACES_AT_ONCE_MS)
		not_before_us =
		    t->turn_us + 1000 * retry_pause_ms(n, RETRY_PAUSE_MAX_MS);
	live_trial_set_not_before(l, not_before_us);
	return true;
}

/*
 * max_run was reached: a trial with a result keeps it, like a trial stopped by
 * a rule; it counts as completed only with all objectives.
 */
static enum trial_event
timeout_event(const struct tuner *t, const struct live_trial *l)
{
	const char *metric;

	if (!isfinite(l->row.objective))
		return TRIAL_EV_FAIL;
	if (outcome_whole(t, l) &&
	    t->study->trial.on_max_run != STUDY_ON_MAX_RUN_FAILED)
		return TRIAL_EV_COMPLETE;
	switch (t->study->trial.on_max_run) {
	case STUDY_ON_MAX_RUN_STOPPED:
		break;
	case STUDY_ON_MAX_RUN_COMPLETED:
		if (outcome_class(&t->outcomes, l, &metric) == END_OK)
			return TRIAL_EV_COMPLETE;
		break;
	case STUDY_ON_MAX_RUN_FAILED:
		return TRIAL_EV_FAIL;
	}
	return TRIAL_EV_STOPPED;
}

/* The event for an end of this class when no stop was requested. */
static enum trial_event
end_event(struct tuner *t, struct live_trial *l, enum end_class c,
    const struct launch_exit *x, char *why, size_t n)
{
	size_t len = strlen(why);

	if (c == END_OK) {
		*why = '\0';
		return TRIAL_EV_COMPLETE;
	}
	if (c == END_TIMEOUT)
		return timeout_event(t, l);
	/*
	 * The user has ended the attempt by the means of its backend, not by
	 * ours.
	 */
	if (c == END_USER)
		return TRIAL_EV_CANCELLED;
	if (end_class_waits(c))
		wait_plan(t, l, why);
	else if (x != NULL && x->not_yet)
		/* No retry is used up; the pause is that of its backend. */
		live_trial_set_not_before(l, 0);
	else if (!retry_plan(t, l, c, x, why))
		return TRIAL_EV_FAIL;
	(void)snprintf(why + len, n - len, "; attempt %d follows%s",
	    l->row.attempts + 1, l->row.alone ? " alone" : "");
	return TRIAL_EV_RETRY;
}

/*
 * Whether it ended by itself: before the stop was sent, or with all its steps
 * in spite of it.
 */
static bool
stop_came_late(const struct tuner *t, const struct live_trial *l,
    enum end_class c, const struct launch_exit *x)
{
	return c == END_OK && x != NULL &&
	       (!x->stopped || live_trial_all_steps(t, l));
}

/* Whether a rule's stop met it after its last step: it has its whole result. */
static bool
stop_found_all(const struct tuner *t, const struct live_trial *l,
    const struct launch_exit *x)
{
	return x != NULL && x->ran && outcome_whole(t, l);
}

/* The end of an attempt that a rule asked to pause. */
static enum trial_event
paused_event(const struct tuner *t, const struct live_trial *l,
    enum end_class *c, char *why, size_t n)
{
	*c = END_STOPPED;
	paused_put_why(l, why, n);
	if (!t->end.over)
		return TRIAL_EV_RETRY;
	return TRIAL_EV_STOPPED;
}

/* The end of an attempt that a rule wanted to stop, too late. */
static enum trial_event
late_event(struct tuner *t, struct live_trial *l, char *why)
{
	stopping_verdict_late(t, l);
	*why = '\0';
	return TRIAL_EV_COMPLETE;
}

/* The event and the class of the attempt, when a stop was in progress. */
static enum trial_event
stopped_event(struct tuner *t, struct live_trial *l, enum end_class *c,
    const struct launch_exit *x, char *why, size_t n)
{
	bool is_late = stop_came_late(t, l, *c, x);

	switch (l->row.cause) {
	case STOP_RULE:
		if (live_trial_segment_done(l)) {
			*c = *c == END_OK ? END_OK : END_STOPPED;
			*why = '\0';
			return TRIAL_EV_COMPLETE;
		}
		if (is_late)
			return late_event(t, l, why);
		if (stop_found_all(t, l, x)) {
			*c = END_STOPPED;
			return late_event(t, l, why);
		}
		if (l->row.is_paused)
			return paused_event(t, l, c, why, n);
		*c = END_STOPPED;
		break;
	case STOP_DIVERGED:
		if (is_late)
			return late_event(t, l, why);
		*c = END_DIVERGED;
		break;
	case STOP_USER:
		*c = END_USER;
		(void)snprintf(why, n, "stopped by the user");
		return TRIAL_EV_CANCELLED;
	case STOP_LIMIT:
		*c = END_STOPPED;
		if (stop_found_all(t, l, x)) {
			*why = '\0';
			return TRIAL_EV_COMPLETE;
		}
		/*
		 * After a restart the reason is only in the row of the trial.
		 */
		(void)snprintf(why, n, "%s",
		    *t->end.why != '\0'	 ? t->end.why
		    : l->row.why != NULL ? l->row.why
					 : "");
		return l->looked ? TRIAL_EV_STOPPED : TRIAL_EV_CANCELLED;
	case STOP_SHUTDOWN:
		if (is_late) {
			*why = '\0';
			return TRIAL_EV_COMPLETE;
		}
		/*
		 * The study ended by a limit (which may be raised) or for
		 * another reason.
		 */
		*c = t->end.over ? END_STOPPED : END_USER;
		(void)snprintf(why, n, "%s; the next start resumes it",
		    t->end.over ? t->end.why : "interrupted");
		return TRIAL_EV_RETRY;
	case STOP_NONE:
	case STOP_CAUSES:
		break;
	}
	(void)snprintf(why, n, "%s", l->row.why != NULL ? l->row.why : "");
	return TRIAL_EV_STOPPED;
}

void
attempt_end_place(struct tuner *t, const struct live_trial *l, bool worked)
{
	const struct place_guest guest = { .backend = l->backend,
		.slot = l->att.slot,
		.trial = l->row.number,
		.attempt = l->att.attempt,
		.setting = l->row.setting };
	struct buf news = { 0 };
	char *all, *at, *line;

	if (l->external)
		return;
	if (worked)
		place_blame_worked(&t->blame, &guest, &news);
	else
		place_blame_failed(&t->blame, &guest, l->att.why, &news);
	all = at = buf_take(&news);
	while ((line = strsep(&at, "\n")) != NULL && *line != '\0')
		tuner_event(t, LOG_LEVEL_ERROR, "slot", l->row.number,
		    l->att.attempt, "%s", line);
	free(all);
}

/*
 * What the end of an attempt says of the slot, the GPU or the node that it had.
 */
static void
place_ended(
    struct tuner *t, const struct live_trial *l, const struct attempt_end *end)
{
	int64_t ran_ms = (l->att.ended_us - l->att.started_us) / 1000;
	bool failed = end->blamed &&
		      (end->class == END_ERROR || end->class == END_NO_REPORT);

	/*
	 * The first report of the attempt has said already that the place
	 * works.
	 */
	if (l->metrics.n > 0)
		return;
	if (failed && ran_ms < PLACES_AT_ONCE_MS)
		attempt_end_place(t, l, false);
	else if (end->x != NULL && end->x->ran &&
		 (ran_ms >= PLACES_AT_ONCE_MS || end->class == END_OK))
		attempt_end_place(t, l, true);
}

/*
 * A machine was freed: the first trial that waits for capacity need not wait
 * longer.
 */
static void
machine_freed(struct tuner *t, int backend)
{
	const char *name = t->backends[backend].type->name;
	struct live_trial *l, *first = NULL;
	size_t i;

	for (i = 0; i < t->live.n; i++) {
		l = t->live.list[i];
		if (l->past.waits > 0 && l->row.state == TRIAL_WAITING &&
		    l->row.not_before_us > t->turn_us &&
		    strcmp(l->row.backend, name) == 0 &&
		    (first == NULL || l->row.number < first->row.number))
			first = l;
	}
	if (first == NULL)
		return;
	live_trial_set_not_before(first, 0);
}

/*
 * The attempt was never started: the trial waits as if it had not been placed,
 * and may go to any backend when it was its first one.
 */
static void
attempt_end_undo(struct tuner *t, struct live_trial *l, const char *why)
{
	(void)store_attempt_drop(t->store, l->row.number, l->att.attempt, NULL);
	slots_release(&t->backends[l->backend].slots, l->att.slot);
	start_failures_ended(t, l, why, false);
	live_trial_undo(l);
	live_trial_set_state(t, l, TRIAL_EV_RETRY, why);
}

/* Whether the class of its end excludes another attempt. */
static bool
is_last_attempt(const struct tuner *t, const struct live_trial *l,
    const struct launch_exit *x)
{
	if (x == NULL || !x->ran || (x->end != END_NONE && x->end != END_OK) ||
	    x->oom)
		return false;
	if (l->row.cause == STOP_RULE || l->row.cause == STOP_DIVERGED)
		return !l->row.is_paused;
	return x->timeout ||
	       (l->row.cause == STOP_NONE && !x->stopped &&
		   live_trial_all_steps(t, l)) ||
	       (x->signal == 0 && x->exit_code == 0 &&
		   !(x->stopped && l->row.cause != STOP_NONE));
}

/*
 * Output to a file is buffered: then all reports of a short trial come when it
 * ends, and no rule can stop it.
 */
static void
note_buffered(struct tuner *t, const struct live_trial *l)
{
	const struct attempt_metrics *m = &l->metrics;
	int64_t silent_us = m->first_us - m->up_us;

	if (m->up_us == 0 || m->first_us == 0 ||
	    m->reports[true] < BUFFERED_REPORTS ||
	    silent_us < BUFFERED_AFTER_US ||
	    t->turn_us - m->first_us > BUFFERED_WITHIN_US)
		return;
	study_doubts_say(&t->doubts, l->row.number, l->att.attempt,
	    DOUBT_BUFFERED,
	    "all its %" PRId64 " reports came at its end, after %" PRId64
	    " s: its output is buffered, or it prints nothing before, and no "
	    "rule can stop such a trial; the program should flush its output "
	    "after each line",
	    m->reports[true], silent_us / 1000000);
}

/* A pattern that has never matched is a mistake; said once for each study. */
static void
note_patterns(
    struct tuner *t, const struct live_trial *l, const struct launch_exit *x)
{
	const struct study_trial *s = &t->study->trial;
	char why[LAUNCH_WHY], *folder;
	struct no_report r;
	size_t i, k;

	if (t->warned_patterns || l->external || l->row.reports == 0)
		return;
	t->warned_patterns = true;
	folder = end_folder(t, l);
	end_no_report(t, l, x, folder, &r);
	for (i = 0; i < s->n_metrics; i++) {
		for (k = 0; k < l->metrics.n; k++)
			if (strcmp(l->metrics.list[k].name,
				s->metrics[i].name) == 0)
				break;
		if (k < l->metrics.n)
			continue;
		no_report_put_pattern(&r, s->metrics[i].name, why, sizeof why);
		tuner_event(t, LOG_LEVEL_WARN, "report", l->row.number,
		    l->att.attempt, "%s", why);
	}
	free(folder);
}

/* Note what the attempt's reports lack, and set its result and its times. */
static void
attempt_end_read(
    struct tuner *t, struct live_trial *l, const struct launch_exit *x)
{
	if (x != NULL && x->ran && x->exit_code == 0 && x->signal == 0) {
		note_buffered(t, l);
		note_patterns(t, l, x);
	}
	if (is_last_attempt(t, l, x))
		stopping_add_speed(t, l);
	live_trial_set_objective(l, objective_of_curve(t, l->row.number));
	live_trial_end_times(t, l, x);
}

/* A second look that comes to nothing leaves the trial stopped. */
static void
end_look(struct attempt_end *end)
{
	char why[sizeof end->trial_why];

	if (end->move != TRIAL_EV_FAIL && end->move != TRIAL_EV_STOPPED)
		return;
	end->move = TRIAL_EV_STOPPED;
	(void)snprintf(why, sizeof why, "%s", end->trial_why);
	(void)snprintf(end->trial_why, sizeof end->trial_why,
	    "its second look ended: %.*s", (int)(sizeof end->trial_why - 32),
	    why);
}

/*
 * The program failed after its work was done: a crash while an interpreter is
 * torn down is the commonest.  No other attempt would add a step.
 */
static void
attempt_end_after_all(
    struct tuner *t, const struct live_trial *l, struct attempt_end *end)
{
	bool crashed = end->class == END_ERROR || end->class == END_OOM;

	if (end->x == NULL || l->external || l->row.cause != STOP_NONE ||
	    !(crashed || end->class == END_TIMEOUT) ||
	    (end->x->end == END_NONE && !end->x->ran) || !outcome_whole(t, l))
		return;
	if (end->class == END_TIMEOUT &&
	    t->study->trial.on_max_run == STUDY_ON_MAX_RUN_FAILED)
		return;
	if (crashed)
		end->class = END_OK;
	/* stopping_end_hang has said so of an attempt that it stopped. */
	if (l->asked)
		return;
	/* Each is in the view events, one is a warning. */
	tuner_event(t, t->warned_after_all ? LOG_LEVEL_INFO : LOG_LEVEL_WARN,
	    "report", l->row.number, l->att.attempt,
	    "it reported all of its steps before it ended badly (%s): it is "
	    "completed",
	    end->attempt_why);
	t->warned_after_all = true;
}

/* Decide what the end was, and the move of the trial that follows. */
static void
end_decide(struct tuner *t, struct live_trial *l, struct attempt_end *end,
    const char *lost_why)
{
	const struct launch_exit *x = end->x;

	end->seen =
	    end_classify(t, l, x, end->attempt_why, sizeof end->attempt_why);
	end->class = end->seen;
	attempt_end_after_all(t, l, end);
	if (x == NULL)
		(void)snprintf(
		    end->attempt_why, sizeof end->attempt_why, "%s", lost_why);
	(void)snprintf(
	    end->trial_why, sizeof end->trial_why, "%s", end->attempt_why);
	if (l->verdict_due && stop_came_late(t, l, end->class, x))
		stopping_verdict_late(t, l);
	stopping_settle(t, l);
	end->blamed = l->row.cause == STOP_NONE;
	if (l->row.cause != STOP_NONE)
		end->move = stopped_event(t, l, &end->class, x, end->trial_why,
		    sizeof end->trial_why);
	else
		end->move = end_event(
		    t, l, end->class, x, end->trial_why, sizeof end->trial_why);
	if (l->looked)
		end_look(end);
}

/*
	 * Keep the observed cause (spot reclaim, OOM, …) even when a stop had
	 * been requested.
	 */
static void
end_record(struct tuner *t, struct live_trial *l, const struct attempt_end *end)
{
	bool befell = end_class_retry(end->seen) == RETRY_FREE;

	live_trial_end(
	    t, l, end->x, befell ? end->seen : end->class, end->attempt_why);
}

/*
 * The trial's backend accepts no attempt of this study: no slot of it is used
 * until the user resumes the study, or starts it again.
 */
static void
backend_refuses(struct tuner *t, const struct live_trial *l, const char *why)
{
	struct backend *b = &t->backends[l->backend];

	slots_close(&b->slots);
	(void)snprintf(
	    t->refused, sizeof t->refused, "%s: %s", b->type->name, why);
	tuner_event(t, LOG_LEVEL_ERROR, "launch", l->row.number, l->att.attempt,
	    "%s: %s; no further trial is started there", b->type->name, why);
}

/* Effects of the end on its slot, its backend and waiting trials. */
static void
end_free_place(
    struct tuner *t, struct live_trial *l, const struct attempt_end *end)
{
	const struct launch_exit *x = end->x;

	if (!l->external) {
		slots_release(&t->backends[l->backend].slots, l->att.slot);
		place_ended(t, l, end);
	}
	if (x != NULL && x->refused)
		backend_refuses(t, l, end->attempt_why);
	else if (x != NULL && x->not_yet)
		start_failures_ended(t, l, end->attempt_why, x->billed);
	else if (end_class_waits(end->class))
		start_failures_begun(t, l, START_RUNS);
	if (x != NULL && x->ran && !l->external)
		machine_freed(t, l->backend);
}

static void
end_move(struct tuner *t, struct live_trial *l, const struct attempt_end *end)
{
	live_trial_stop_done(l, l->row.is_paused && l->row.cause == STOP_RULE &&
				    end->move == TRIAL_EV_RETRY);
	outcome_move(t, l, end->move, end->trial_why);
}

/* After its attempt a trial is paused, waits for another one, or is over. */
static void
end_go_on(struct tuner *t, struct live_trial *l)
{
	if (l->row.is_paused)
		paused_add(t, l);
	else if (!trial_state_final(l->row.state))
		judged_retry(&t->judged, l->row.number);
	else {
		outcome_finish(t, l);
		live_set_remove(&t->live, l);
	}
}

void
attempt_end_handle(struct tuner *t, struct live_trial *l,
    const struct launch_exit *x, const char *lost_why)
{
	struct attempt_end end = { .x = x };

	/* An interrupted trial waits for the next start all the same. */
	if (x != NULL && x->unmade &&
	    (l->row.cause == STOP_NONE || l->row.cause == STOP_SHUTDOWN)) {
		attempt_end_undo(t, l, x->why);
		return;
	}
	attempt_end_read(t, l, x);
	end_decide(t, l, &end, lost_why);
	end_record(t, l, &end);
	end_free_place(t, l, &end);
	end_move(t, l, &end);
	if (trial_state_final(l->row.state))
		study_doubts_ended(
		    &t->doubts, l->row.number, l->row.state, l->row.last_step);
	end_go_on(t, l);
}
