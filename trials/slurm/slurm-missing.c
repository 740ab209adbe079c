/*
 * A job that Slurm does not list before it has begun.  It may be gone, or the
 * list may be wrong: a site or a variable can hide jobs from their owner.  So
 * that an attempt never has two jobs that may begin, it is asked for by its
 * number, then withdrawn by its name, and only then submitted again, each time
 * after a longer pause: of the study until some job begins or is listed again, of
 * the attempt always.  A job that nothing waits for is withdrawn in the same way.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "src/base/err.h"
#include "src/base/fail.h"
#include "src/base/loop.h"
#include "trials/slurm/slurm-internal.h"

enum {
	PAUSE_MIN_MS = 1000, /* before the second submission without a begin */
	PAUSE_MAX_MS = 3600 * 1000
};

static int64_t
slurm_missing_pause(int submitted)
{
	int64_t ms = PAUSE_MIN_MS;

	if (submitted == 0)
		return 0;
	while (--submitted > 0 && ms < PAUSE_MAX_MS)
		ms *= 2;
	return ms < PAUSE_MAX_MS ? ms : PAUSE_MAX_MS;
}

static void
slurm_missing_on_timer(void *arg)
{
	struct slurm *s = arg;

	loop_wake(s->loop);
}

void
slurm_missing_open(struct slurm *s)
{
	s->missing.timer = loop_timer_new(s->loop, slurm_missing_on_timer, s);
}

void
slurm_missing_close(struct slurm *s)
{
	capture_kill(s->missing.child);
	loop_timer_free(s->missing.timer);
	free(s->missing.out);
}

void
slurm_missing_over(struct slurm *s)
{
	s->missing.submitted = 0;
	s->missing.noted = false;
	loop_timer_stop(s->missing.timer);
}

/* Read the answer inside collect: events are only for it. */
static void
slurm_missing_on_answer(
    void *arg, int status, const char *out, size_t len, const char *why)
{
	struct slurm *s = arg;

	(void)why;
	s->missing.child = NULL;
	s->missing.status =
	    status != -1 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	s->missing.out = xstrndup(out, len);
	fail_point("slurm.after_missing");
	loop_wake(s->loop);
}

static void
slurm_missing_run(struct slurm *s, char *const *argv)
{
	const struct capture_spec spec = {
		.argv = argv, .timeout_ms = SLURM_TOOL_MS, .both = true
	};
	struct err e = ERR_INIT;

	if (slurm_program_start(&s->missing.child, s->loop, &spec,
		slurm_missing_on_answer, s, &e) == -1)
		slurm_missing_on_answer(s, -1, "", 0, e.text);
}

/* Withdraw the jobs of this name that have not begun. */
static void
slurm_missing_withdraw(struct slurm *s, const char *job)
{
	char name[SLURM_NAME + 16];
	char *argv[] = { "scancel", "--state=PENDING", name, NULL };

	(void)snprintf(name, sizeof name, "--name=%s", job);
	s->missing.by_number = false;
	slurm_missing_run(s, argv);
}

/* The next question about this attempt. */
static void
slurm_missing_ask(struct slurm_attempt *a)
{
	struct slurm *s = a->slurm;
	char number[40];
	char *by_number[] = { "squeue", "--all", "--noheader", "--states=all",
		"--format=" SLURM_ROW_FORMAT, number, NULL };

	s->missing.trial = a->source.trial;
	s->missing.attempt = a->source.attempt;
	s->missing.stray[0] = '\0';
	if (a->id == 0 || a->asked_number) {
		slurm_missing_withdraw(s, a->name);
		return;
	}
	(void)snprintf(number, sizeof number, "--jobs=%" PRId64, a->id);
	s->missing.by_number = true;
	fail_point("slurm.before_missing");
	slurm_missing_run(s, by_number);
}

/*
 * Read an attempt's row, where Slurm shows the job of this number under our
 * name.
 */
static bool
slurm_missing_row(
    const struct slurm_attempt *a, const char *text, struct slurm_row *row)
{
	const char *end;

	for (; *text != '\0'; text = *end == '\n' ? end + 1 : end) {
		end = strchrnul(text, '\n');
		if (slurm_row_read(row, text, (size_t)(end - text)) &&
		    row->id == a->id && strcmp(row->name, a->name) == 0)
			return true;
	}
	return false;
}

static void
slurm_missing_found(struct slurm_attempt *a, const struct slurm_row *row)
{
	struct slurm *s = a->slurm;

	slurm_phase(a, SLURM_SENT);
	slurm_queue_row(a, row);
	if (!s->missing.hidden_noted)
		backend_note(&s->source, LAUNCH_WARNING,
		    "squeue does not list job %" PRId64 " of this study, "
		    "which it shows when it is asked for by its number",
		    a->id);
	s->missing.hidden_noted = true;
}

/* Withdrawn: no job of this attempt may begin any more. */
static void
slurm_missing_again(struct slurm_attempt *a)
{
	struct slurm *s = a->slurm;
	int64_t ms = slurm_missing_pause(s->missing.submitted);

	if (!s->missing.noted && a->id != 0)
		backend_note(&a->source, LAUNCH_WARNING,
		    "Slurm no longer lists its job %" PRId64
		    " before it began: it is submitted again; if that "
		    "happens again, each time after a longer pause",
		    a->id);
	s->missing.noted |= a->id != 0;
	s->missing.submitted++;
	a->submitted_again = true;
	/* A list that is right now and then is no reason for a job a minute. */
	a->due_ms = loop_now_ms(s->loop) + slurm_missing_pause(a->again++);
	if (ms > 0)
		loop_timer_set(s->missing.timer, ms);
	a->row = (struct slurm_row){ 0 };
	a->id = 0;
	slurm_phase(a, SLURM_DUE);
}

static void
slurm_missing_read(struct slurm *s)
{
	struct slurm_attempt *a;
	struct slurm_row row;

	if (s->missing.out == NULL)
		return;
	a = slurm_find(s, s->missing.trial, s->missing.attempt);
	if (s->missing.stray[0] != '\0')
		slurm_stray_withdrawn(
		    s, s->missing.stray, s->missing.status == 0);
	else if (a != NULL && a->phase == SLURM_MISSING) {
		if (!s->missing.by_number) {
			if (s->missing.status == 0)
				slurm_missing_again(a);
			else
				loop_timer_set(s->missing.timer, PAUSE_MIN_MS);
		} else if (slurm_missing_row(a, s->missing.out, &row))
			slurm_missing_found(a, &row);
		else if (s->missing.status == 0 ||
			 strstr(s->missing.out, "Invalid job id") != NULL)
			a->asked_number = true;
		else
			loop_timer_set(s->missing.timer, PAUSE_MIN_MS);
	}
	free(s->missing.out);
	s->missing.out = NULL;
}

void
slurm_missing_begin(struct slurm_attempt *a)
{
	a->asked_number = false;
	slurm_phase(a, SLURM_MISSING);
}

void
slurm_missing_collect(struct slurm *s)
{
	const char *stray;
	size_t i;

	slurm_missing_read(s);
	if (s->missing.child != NULL)
		return;
	for (i = 0; i < s->n && s->missing.child == NULL &&
		    !loop_timer_pending(s->missing.timer);
	     i++)
		if (s->attempts[i]->phase == SLURM_MISSING)
			slurm_missing_ask(s->attempts[i]);
	stray = s->missing.child == NULL ? slurm_stray_due(s) : NULL;
	if (stray == NULL)
		return;
	(void)snprintf(s->missing.stray, sizeof s->missing.stray, "%s", stray);
	slurm_missing_withdraw(s, stray);
}
