/*
 * Who has cancelled a job: its owner or an administrator, by the accounting of
 * Slurm, where there is one.  The row of squeue does not have it.
 */

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/capture.h"
#include "src/base/err.h"
#include "src/base/loop.h"
#include "trials/slurm/slurm-internal.h"

enum {
	ASK_MS = 10000,
	PAUSE_MS = 2000, /* between two */
	LAG_MS = 20000, /* until the accounting has the end of a job */
	NONE_MS = 60000 /* until one without accounting is asked again */
};

#define UNKNOWN "its owner or an administrator"

static void
user_name(const char *uid, char *who, size_t n)
{
	char *end;
	unsigned long id = strtoul(uid, &end, 10);
	const struct passwd *pw = NULL;

	if (end != uid && (*end == '\0' || *end == '|'))
		pw = getpwuid((uid_t)id);
	if (pw != NULL)
		(void)snprintf(who, n, "%s", pw->pw_name);
	else
		(void)snprintf(
		    who, n, "user %.*s", (int)strcspn(uid, "|"), uid);
}

bool
slurm_who_read(const char *out, const char *name, char *who, size_t n)
{
	static const char by[] = "CANCELLED by ";
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
		if (strncmp(word, by, sizeof by - 1) != 0)
			continue;
		user_name(word + sizeof by - 1, who, n);
		return true;
	}
	return false;
}

static void
on_answer(void *arg, int status, const char *out, size_t len, const char *why)
{
	struct slurm *s = arg;
	struct slurm_attempt *a = slurm_find(s, s->who.trial, s->who.attempt);

	(void)len;
	(void)why;
	s->who.child = NULL;
	s->who.none_ms = status != 0 ? loop_now_ms(s->loop) : 0;
	if (a != NULL)
		a->who_known = status == 0 &&
			       slurm_who_read(out,
				   a->host != NULL ? a->host->name : a->name,
				   a->who, sizeof a->who);
	slurm_look_soon(s);
}

static void
ask(struct slurm_attempt *a)
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
	if (capture_start(&s->who.child, s->loop, &spec, on_answer, s, &e) ==
	    -1) {
		s->who.child = NULL;
		s->who.none_ms = loop_now_ms(s->loop);
	}
}

bool
slurm_who(struct slurm_attempt *a, char *who, size_t n)
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
	ask(a);
	return false;
}
