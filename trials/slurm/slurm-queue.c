/*
 * One squeue for all jobs: the state of each, by name and id.  The interval
 * grows while nothing changes, and with the number of jobs.  Jobs are cancelled
 * only right after a query that showed them: ids are used again when the
 * controller has lost its state.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "src/base/capture.h"
#include "src/base/err.h"
#include "src/base/fail.h"
#include "src/base/loop.h"
#include "trials/shim/shim.h"
#include "trials/slurm/slurm-internal.h"

enum {
	WAIT_MIN_MS = 2000,
	WAIT_MAX_MS = 60000,
	WAIT_BUSY_MS = 10000, /* for 1,000 jobs */
	KILL_AFTER_MS = 30000, /* after the grace */
	FOUND_MAX = 200, /* jobs of one scancel */
	CLOSE_MS = 10000, /* for the last scancel of a server */
	LIST_MAX = 64 << 20
};

static void slurm_queue_on_timer(void *);

/* When the next query begins; one that was to begin sooner stays. */
static void
timer_set(struct slurm *s, int64_t ms, bool only_sooner)
{
	int64_t due = loop_now_ms(s->loop) + (ms > 0 ? ms : 0);

	if (s->queue.timer == NULL)
		s->queue.timer =
		    loop_timer_new(s->loop, slurm_queue_on_timer, s);
	if (only_sooner && loop_timer_pending(s->queue.timer) &&
	    s->queue.due_ms <= due)
		return;
	s->queue.due_ms = due;
	loop_timer_set(s->queue.timer, ms > 0 ? ms : 0);
}

/* The shortest interval: six queries a minute at 1,000 jobs. */
static int64_t
wait_min(const struct slurm *s)
{
	int64_t ms = (int64_t)s->n * WAIT_BUSY_MS / 1000;

	return ms < WAIT_MIN_MS	   ? WAIT_MIN_MS
	       : ms > WAIT_BUSY_MS ? WAIT_BUSY_MS
				   : ms;
}

/* The same where an attempt waits for the answer. */
static int64_t
wait_asked(const struct slurm *s)
{
	int64_t ms = wait_min(s);

	return ms > WAIT_MIN_MS ? ms : WAIT_MIN_MS / 4;
}

/* From a callback: a note of the whole study at the next collect. */
static void __attribute__((format(printf, 2, 3)))
note_later(struct slurm *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&s->notes, fmt, ap);
	va_end(ap);
	buf_putc(&s->notes, '\n');
	loop_wake(s->loop);
}

static void
slurm_queue_on_answer(
    void *arg, int status, const char *out, size_t len, const char *why)
{
	struct slurm *s = arg;

	s->queue.child = NULL;
	s->queue.ended_ms = loop_now_ms(s->loop);
	if (status == 0) {
		free(s->queue.text);
		s->queue.text = xstrndup(out, len);
		s->queue.failures = 0;
		if (s->queue.noted)
			note_later(s, "squeue answers again");
		s->queue.noted = false;
		loop_wake(s->loop);
		return;
	}
	s->queue.failures++;
	s->queue.wait_ms = s->queue.wait_ms * 2 < WAIT_MAX_MS
			       ? s->queue.wait_ms * 2
			       : WAIT_MAX_MS;
	timer_set(s, s->queue.wait_ms, false);
	if (s->queue.noted)
		return;
	s->queue.noted = true;
	note_later(s,
	    "squeue failed (%.*s): the trials go on, and it is "
	    "asked again",
	    (int)strcspn(*why != '\0' ? why : out, "\n"),
	    *why != '\0' ? why : out);
}

static void
slurm_queue_on_timer(void *arg)
{
	struct slurm *s = arg;
	char *argv[] = { "squeue", "--me", "--all", "--noheader",
		"--states=all", "--format=" SLURM_ROW_FORMAT, NULL };
	const struct capture_spec spec = { .argv = argv,
		.timeout_ms = SLURM_TOOL_MS,
		.most = LIST_MAX,
		.both = true };
	struct err e = ERR_INIT;

	if (s->queue.child != NULL || (s->n == 0 && s->n_strays == 0))
		return;
	s->queue.begun_ms = loop_now_ms(s->loop);
	s->queue.asked = false;
	if (slurm_program_start(&s->queue.child, s->loop, &spec,
		slurm_queue_on_answer, s, &e) == -1) {
		s->queue.child = NULL;
		slurm_queue_on_answer(s, -1, "", 0, e.text);
	}
}

void
slurm_queue_ask(struct slurm *s, bool soon)
{
	int64_t now = loop_now_ms(s->loop), due = wait_min(s);

	s->queue.wait_ms = due;
	if (s->queue.failures > 0 && loop_timer_pending(s->queue.timer))
		return;
	s->queue.asked = true;
	if (s->queue.child != NULL)
		return;
	if (soon)
		due = s->queue.ended_ms + wait_asked(s) - now;
	timer_set(s, due, true);
}

/*
 * A job of this study without a followed attempt: when the folder of its
 * attempt has a claim, the job has nothing to do.
 */
static bool
is_useless(const struct slurm *s, const struct slurm_row *row)
{
	char *dir, uuid[64], text[256];
	long long trial;
	int attempt;
	char tail[16];

	if (row->state != SLURM_STATE_WAITS ||
	    strncmp(row->name, s->prefix, strlen(s->prefix)) != 0 ||
	    sscanf(row->name + strlen(s->prefix), "%lld.%d-%15s", &trial,
		&attempt, tail) != 3)
		return false;
	dir = xasprintf(
	    "%s/trials/%lld/attempt-%d", s->state_dir, trial, attempt);
	*uuid = '\0';
	if (slurm_folder_read(dir, SHIM_CLAIM_FILE, text, sizeof text))
		slurm_folder_word(text, "uuid", uuid, sizeof uuid);
	free(dir);
	return strncmp(uuid, tail, 8) == 0;
}

static struct slurm_attempt *
by_name(struct slurm *s, const char *name)
{
	size_t i;

	if (strncmp(name, s->prefix, strlen(s->prefix)) != 0)
		return NULL;
	for (i = 0; i < s->n; i++)
		if (strcmp(s->attempts[i]->name, name) == 0 &&
		    s->attempts[i]->phase != SLURM_OVER)
			return s->attempts[i];
	return NULL;
}

static void
cancel_add(struct strv *list, const char *first, const char *second, int64_t id)
{
	if (list->n == 0) {
		strv_add(list, xstrdup("scancel"));
		if (first != NULL)
			strv_add(list, xstrdup(first));
		if (second != NULL)
			strv_add(list, xstrdup(second));
	}
	if (list->n < FOUND_MAX)
		strv_add(list, xasprintf("%lld", (long long)id));
}

/* What one row of an answer asks for. */
static void
row_cancel(struct slurm *s, const struct slurm_row *row)
{
	int64_t now = loop_now_ms(s->loop);
	struct slurm_attempt *a = by_name(s, row->name);
	bool stray = slurm_stray_row(s, row);

	if (slurm_row_final(row))
		return;
	if (a == NULL) {
		if (stray || is_useless(s, row))
			cancel_add(&s->cancel.hard, NULL, NULL, row->id);
		return;
	}
	/* Without trials: one that has begun sees that it is to end. */
	if (a->is_job && a->stop == SLURM_STOP_NOW &&
	    row->state != SLURM_STATE_WAITS)
		return;
	/* A copy of it that waits, or is stuck, while another one has run. */
	if ((a->claimed && a->id != 0 && row->id != a->id &&
		row->state == SLURM_STATE_WAITS) ||
	    a->stop == SLURM_STOP_NOW ||
	    (a->stop == SLURM_STOP_GRACE &&
		(!a->claimed ||
		    now >= a->stop_ms + a->grace_ms + KILL_AFTER_MS)))
		cancel_add(&s->cancel.hard, NULL, NULL, row->id);
	else if (a->stop == SLURM_STOP_GRACE &&
		 a->stop_sent < SLURM_STOP_GRACE &&
		 row->state == SLURM_STATE_RUNS) {
		a->stop_sent = SLURM_STOP_GRACE;
		cancel_add(
		    &s->cancel.soft, "--batch", "--signal=TERM", row->id);
	}
}

/* The row of an attempt in this answer; it has changed: true. */
static bool
slurm_queue_row_take(struct slurm_attempt *a, const struct slurm_row *row)
{
	bool changed = a->row.id != row->id ||
		       strcmp(a->row.word, row->word) != 0 ||
		       strcmp(a->row.reason, row->reason) != 0;

	a->row = *row;
	a->missing = 0;
	a->account = SLURM_ACCOUNT_UNASKED;
	if (a->submitted_again)
		slurm_missing_over(a->slurm);
	a->submitted_again = false;
	if (!slurm_row_final(row))
		a->final_ms = -1;
	else if (a->final_ms < 0)
		a->final_ms = loop_now_ms(a->slurm->loop);
	if (!a->claimed || a->id == 0)
		a->id = row->id;
	if (a->phase == SLURM_LOOK || a->phase == SLURM_MISSING)
		slurm_phase(a, SLURM_SENT);
	return changed;
}

void
slurm_queue_row(struct slurm_attempt *a, const struct slurm_row *row)
{
	(void)slurm_queue_row_take(a, row);
}

/*
 * Whether a row can be that of an attempt.  Its supervisor runs in one job, and what
 * was submitted last is its job: the end of another one of its name is that of a copy,
 * which was withdrawn, and nobody's wish.
 */
static bool
slurm_queue_row_is_of(
    const struct slurm_attempt *a, const struct slurm_row *row)
{
	if (strcmp(a->name, row->name) != 0)
		return false;
	return a->id == 0 || row->id == a->id ||
	       (!a->claimed && !slurm_row_final(row));
}

/* The row of a guest is that of the job in which it runs. */
static void
guest_take(struct slurm_attempt *guest)
{
	const struct slurm_attempt *job = guest->host;

	guest->word_ms = guest->slurm->queue.begun_ms;
	if (job == NULL)
		return;
	if (job->row.id != 0 && job->missing == 0)
		(void)slurm_queue_row_take(guest, &job->row);
	guest->account = job->account;
	if (job->account == SLURM_ACCOUNT_ROW && job->who_known) {
		guest->who_known = true;
		memcpy(guest->who, job->who, sizeof guest->who);
	}
	guest->missing = job->missing;
}

/*
 * No row of an attempt in this answer.  Before a second one without it makes the job
 * one that is gone, the accounting has been asked.
 */
static bool
row_misses(struct slurm_attempt *a)
{
	/* The job may have been submitted after the query began. */
	if (a->since_ms >= a->slurm->queue.begun_ms ||
	    a->account == SLURM_ACCOUNT_ROW)
		return false;
	if (slurm_accounting_silent(a) || a->missing == 0)
		a->missing++;
	return true;
}

/* The rows of all attempts: of several of one name the one that matters. */
static bool
slurm_queue_rows_read(struct slurm *s, const char *text)
{
	struct slurm_row *best = xcalloc(s->n + 1, sizeof *best), row;
	const char *end;
	bool changed = false;
	size_t i;

	for (; *text != '\0'; text = *end == '\n' ? end + 1 : end) {
		end = strchrnul(text, '\n');
		if (!slurm_row_read(&row, text, (size_t)(end - text)))
			continue;
		row_cancel(s, &row);
		for (i = 0; i < s->n; i++)
			if (slurm_queue_row_is_of(s->attempts[i], &row))
				break;
		if (i < s->n &&
		    slurm_row_better(&row, &best[i],
			s->attempts[i]->claimed ? s->attempts[i]->id : 0))
			best[i] = row;
	}
	for (i = 0; i < s->n; i++) {
		if (s->attempts[i]->phase == SLURM_OVER ||
		    s->attempts[i]->is_guest)
			continue;
		if (best[i].id != 0)
			changed |=
			    slurm_queue_row_take(s->attempts[i], &best[i]);
		else
			changed |= row_misses(s->attempts[i]);
		s->attempts[i]->word_ms = s->queue.begun_ms;
	}
	for (i = 0; i < s->n; i++)
		if (s->attempts[i]->is_guest &&
		    s->attempts[i]->phase != SLURM_OVER)
			guest_take(s->attempts[i]);
	free(best);
	return changed;
}

static void
on_boot(void *arg, int status, const char *out, size_t len, const char *why)
{
	const char *at = status == 0 ? strstr(out, "\nBOOT_TIME") : NULL;
	struct slurm *s = arg;

	(void)len;
	(void)why;
	s->boot.child = NULL;
	if (status != 0)
		return;
	s->boot.known_ms = s->boot.begun_ms;
	s->boot.at_s = 0;
	if (at != NULL) {
		at += strlen("\nBOOT_TIME");
		s->boot.at_s = slurm_row_time(at + strspn(at, " ="));
	}
	slurm_look_soon(s);
}

bool
slurm_queue_boot(struct slurm *s, int64_t after_ms, int64_t *at_s)
{
	char *argv[] = { "scontrol", "show", "config", NULL };
	const struct capture_spec spec = {
		.argv = argv, .timeout_ms = SLURM_TOOL_MS, .both = true
	};
	int64_t now = loop_now_ms(s->loop);
	struct err e = ERR_INIT;

	*at_s = s->boot.at_s;
	if (s->boot.known_ms > after_ms)
		return true;
	if (s->boot.child != NULL || now < s->boot.begun_ms + WAIT_MIN_MS)
		return false;
	s->boot.begun_ms = now;
	if (slurm_program_start(
		&s->boot.child, s->loop, &spec, on_boot, s, &e) == -1)
		s->boot.child = NULL;
	return false;
}

void
slurm_queue_read(struct slurm *s)
{
	char *text = s->queue.text;
	bool changed;

	if (text == NULL)
		return;
	s->queue.text = NULL;
	changed = slurm_queue_rows_read(s, text);
	free(text);
	slurm_stray_answer(s);
	s->look_due = true;
	if (changed || s->queue.asked)
		s->queue.wait_ms = wait_min(s);
	else
		s->queue.wait_ms = s->queue.wait_ms * 3 / 2 < WAIT_MAX_MS
				       ? s->queue.wait_ms * 3 / 2
				       : WAIT_MAX_MS;
	if (s->queue.asked)
		s->queue.wait_ms = wait_asked(s);
	s->queue.asked = false;
	timer_set(s, s->queue.wait_ms, false);
	if (s->queue.wait_ms < wait_min(s))
		s->queue.wait_ms = wait_min(s);
	slurm_queue_cancel(s);
}

static void
on_cancelled(
    void *arg, int status, const char *out, size_t len, const char *why)
{
	struct slurm *s = arg;

	(void)status;
	(void)out;
	(void)len;
	(void)why;
	/* What did not work is asked for again by the next answer. */
	s->cancel.child = NULL;
	slurm_queue_ask(s, false);
	loop_wake(s->loop);
}

static void
cancel(struct slurm *s, struct strv *list)
{
	const struct capture_spec spec = {
		.argv = list->v, .timeout_ms = SLURM_TOOL_MS, .both = true
	};
	struct err e = ERR_INIT;

	fail_point("slurm.before_scancel");
	if (slurm_program_start(
		&s->cancel.child, s->loop, &spec, on_cancelled, s, &e) == -1)
		s->cancel.child = NULL;
	strv_free(list->v);
	*list = (struct strv){ 0 };
}

void
slurm_queue_cancel(struct slurm *s)
{
	if (s->cancel.child == NULL && s->cancel.soft.n > 0)
		cancel(s, &s->cancel.soft);
	if (s->cancel.child == NULL && s->cancel.hard.n > 0)
		cancel(s, &s->cancel.hard);
}

void
slurm_queue_close(struct slurm *s)
{
	char *ask[] = { "squeue", "--me", "--all", "--noheader",
		"--states=PENDING", "--format=" SLURM_ROW_FORMAT, NULL };
	struct strv cancel_argv = { 0 };
	struct buf out = { 0 }, said = { 0 };
	struct slurm_row row;
	const char *text = "", *end;

	if (s->n_strays > 0 && slurm_program_call(ask, CLOSE_MS, &out) == 0)
		text = buf_str(&out);
	for (; *text != '\0'; text = *end == '\n' ? end + 1 : end) {
		end = strchrnul(text, '\n');
		if (slurm_row_read(&row, text, (size_t)(end - text)) &&
		    slurm_stray_row(s, &row))
			cancel_add(&cancel_argv, NULL, NULL, row.id);
	}
	if (cancel_argv.n > 0)
		(void)slurm_program_call(cancel_argv.v, CLOSE_MS, &said);
	slurm_stray_close(s);
	strv_free(cancel_argv.v);
	buf_free(&out);
	buf_free(&said);
}
