/*
 * Who has cancelled a job: its owner or an administrator, by the accounting of
 * Slurm, where there is one, or a controller that was restarted.  The row of
 * squeue does not have it.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/base/capture.h"
#include "src/base/err.h"
#include "src/base/loop.h"
#include "trials/slurm/slurm-internal.h"

enum {
	ASK_MS = 10000,
	PAUSE_MS = 2000, /* between two */
	LAG_MS = 20000, /* until the accounting has the end of a job */
	NONE_MS = 60000, /* until one without accounting is asked again */
	BOOT_MS = 90000, /* to wait for when the controller was started */
	RESTART_S = 3600 /* so long a controller sorts out what it has lost */
};

#define UNKNOWN "its owner or an administrator"

bool
slurm_cancelled_who(const char *out, const char *name, char *who, size_t n)
{
	size_t len = strlen(name);
	const char *line, *end;
	char word[64];

	*who = '\0';
	for (line = out; *line != '\0'; line = *end == '\n' ? end + 1 : end) {
		end = strchrnul(line, '\n');
		/* An id alone may be that of another job. */
		if (strncmp(line, name, len) != 0 || line[len] != '|')
			continue;
		(void)snprintf(word, sizeof word, "%.*s",
		    (int)(end - line - (long)len - 1), line + len + 1);
		if (slurm_accounting_user(word, who, n))
			return true;
	}
	return false;
}

static void
slurm_cancelled_on_answer(
    void *arg, int status, const char *out, size_t len, const char *why)
{
	struct slurm *s = arg;
	struct slurm_attempt *a = slurm_find(s, s->who.trial, s->who.attempt);

	(void)len;
	(void)why;
	s->who.child = NULL;
	s->who.none_ms = status != 0 ? loop_now_ms(s->loop) : 0;
	if (a != NULL)
		a->who_known = status == 0 &&
			       slurm_cancelled_who(out,
				   a->host != NULL ? a->host->name : a->name,
				   a->who, sizeof a->who);
	slurm_look_soon(s);
}

static void
slurm_cancelled_ask(struct slurm_attempt *a)
{
	struct slurm *s = a->slurm;
	char job[32], *argv[] = { "sacct", "--allocations", "--noheader",
		"--parsable2", "--duplicates", "--format=JobName%200,State",
		"--jobs", job, NULL };
	const struct capture_spec spec = {
		.argv = argv, .timeout_ms = ASK_MS, .both = true
	};
	struct err e = ERR_INIT;

	if (s->who.child != NULL ||
	    (s->who.asked_ms != 0 &&
		loop_now_ms(s->loop) < s->who.asked_ms + PAUSE_MS))
		return;
	s->who.asked_ms = loop_now_ms(s->loop);
	(void)snprintf(job, sizeof job, "%lld", (long long)a->row.id);
	s->who.trial = a->source.trial;
	s->who.attempt = a->source.attempt;
	if (slurm_program_start(&s->who.child, s->loop, &spec,
		slurm_cancelled_on_answer, s, &e) == -1) {
		s->who.child = NULL;
		s->who.none_ms = loop_now_ms(s->loop);
	}
}

/*
 * Who has cancelled its job, by sacct; false: the query runs, and
 * the attempt is examined again.
 */
bool
slurm_cancelled_find(struct slurm_attempt *a, char *who, size_t n)
{
	int64_t now = loop_now_ms(a->slurm->loop);

	if (a->who_known) {
		(void)snprintf(who, n, "%s", a->who);
		return true;
	}
	if (a->slurm->who.none_ms != 0 &&
	    now < a->slurm->who.none_ms + NONE_MS) {
		(void)snprintf(who, n,
		    UNKNOWN " (who is unknown: Slurm has no accounting here)");
		return true;
	}
	if (a->final_ms >= 0 && now >= a->final_ms + LAG_MS) {
		(void)snprintf(who, n, UNKNOWN);
		return true;
	}
	slurm_cancelled_ask(a);
	return false;
}

bool
slurm_cancelled_boot(
    const struct slurm_attempt *a, int64_t after_ms, int64_t *boot_s)
{
	return slurm_queue_boot(a->slurm, after_ms, boot_s) ||
	       loop_now_ms(a->slurm->loop) >= after_ms + BOOT_MS;
}

/* Whether a controller that was started then still sorts out what it has lost. */
static bool
slurm_cancelled_restart(const struct slurm_attempt *a, int64_t boot_s)
{
	time_t now = (time_t)(loop_wall_us(a->slurm->loop) / 1000000);
	struct tm local = { 0 };

	/* In the form in which slurm_row_time reads what Slurm prints here. */
	return localtime_r(&now, &local) != NULL &&
	       (int64_t)timegm(&local) < boot_s + RESTART_S;
}

bool
slurm_cancelled_unbegun(
    const struct slurm_attempt *a, int64_t boot_s, const char *who)
{
	return slurm_cancelled_restart(a, boot_s) &&
	       (!a->who_known || strcmp(who, "root") == 0);
}

bool
slurm_cancelled_own(
    const struct slurm_attempt *a, int64_t boot_s, const char *who)
{
	return a->row.submitted_s < boot_s &&
	       slurm_cancelled_unbegun(a, boot_s, who);
}
