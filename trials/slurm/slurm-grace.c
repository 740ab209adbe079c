/*
 * Whose places Slurm takes away with a grace: one squeue for all jobs of a study,
 * and a file for each that is told.  A file in the root says that the server looks,
 * so that jobs do not ask one by one (trials/shim/shim-preempt.c).
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/capture.h"
#include "src/base/err.h"
#include "src/base/loop.h"
#include "src/base/rng.h"
#include "trials/shim/shim.h"
#include "trials/slurm/slurm-internal.h"

enum {
	ID_WIDTH = 21,
	TIME_WIDTH = 31,
	NAME_WIDTH = 200,
	ROW_US = 2000, /* of the controller's and our time for one job */
	UNLISTED = 2, /* listings in a row without a job that lives */
	LIST_MAX = 64 << 20
};

/* Fields of fixed widths; the name of a job has fewer bytes than its field. */
#define FORMAT "JobID:21,PreemptTime:31,Name:200,Comment:250"

static int64_t
slurm_grace_wait(const struct slurm *s)
{
	int64_t least = (int64_t)s->n * ROW_US / 1000;

	return s->set.listing_ms > least ? s->set.listing_ms : least;
}

/* A job of its own, or one of several trials, that a supervisor has claimed. */
static bool
slurm_grace_lives(const struct slurm_attempt *a)
{
	return a->claimed && !a->is_guest && a->phase != SLURM_OVER &&
	       !a->has_exit && a->closing[0] == '\0' &&
	       a->stop == SLURM_STOP_NONE;
}

static void
slurm_grace_on_answer(
    void *arg, int status, const char *out, size_t len, const char *why)
{
	struct slurm *s = arg;

	(void)why;
	s->grace.child = NULL;
	if (status == 0) {
		free(s->grace.out);
		s->grace.out = xstrndup(out, len);
		loop_wake(s->loop);
	}
	loop_timer_set(s->grace.timer, slurm_grace_wait(s));
}

static void
slurm_grace_on_timer(void *arg)
{
	struct slurm *s = arg;
	char *argv[] = { "squeue", "--me", "--all", "--noheader",
		"--states=RUNNING", "--Format=" FORMAT, NULL };
	const struct capture_spec spec = { .argv = argv,
		.timeout_ms = SLURM_TOOL_MS,
		.most = LIST_MAX,
		.both = true };
	struct err e = ERR_INIT;
	bool any = false;
	size_t i;

	for (i = 0; i < s->n && !any; i++)
		any = slurm_grace_lives(s->attempts[i]);
	if (!any)
		loop_timer_set(s->grace.timer, slurm_grace_wait(s));
	else if (slurm_program_start(&s->grace.child, s->loop, &spec,
		     slurm_grace_on_answer, s, &e) == -1)
		slurm_grace_on_answer(s, -1, "", 0, e.text);
}

bool
slurm_grace_row(const char *line, size_t len, int64_t *id, bool *is_taken,
    char *name, size_t n)
{
	char number[ID_WIDTH + 1], *end;
	const char *text = line + ID_WIDTH + TIME_WIDTH;

	if (len <= ID_WIDTH + TIME_WIDTH)
		return false;
	(void)snprintf(number, sizeof number, "%.*s", ID_WIDTH, line);
	*id = strtoll(number, &end, 10);
	/* A site may rename jobs. */
	if (strncmp(text, "hp-", 3) != 0 &&
	    len > ID_WIDTH + TIME_WIDTH + NAME_WIDTH + 3 &&
	    strncmp(text + NAME_WIDTH, "hp-", 3) == 0)
		text += NAME_WIDTH;
	(void)snprintf(name, n, "%.*s", (int)strcspn(text, " \n"), text);
	/* "2026-11-27T10:26:56", or "N/A". */
	*is_taken = line[ID_WIDTH] >= '1' && line[ID_WIDTH] <= '9';
	return end != number && *id > 0;
}

/* An id alone may be that of another job. */
static struct slurm_attempt *
slurm_grace_find(struct slurm *s, int64_t id, const char *name)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (s->attempts[i]->id == id && !s->attempts[i]->is_guest &&
		    strcmp(s->attempts[i]->name, name) == 0)
			return s->attempts[i];
	return NULL;
}

bool
slurm_grace_tell(struct slurm_attempt *a)
{
	struct err e = ERR_INIT;

	if (a->grace_filed || a->stop != SLURM_STOP_NONE)
		return true;
	a->grace_filed =
	    slurm_folder_wish(a->dir, SHIM_WISH_PREEMPTED "\n", &e) == 0;
	return a->grace_filed;
}

/* Read an answer; false: some job was not listed, or could not be told. */
static bool
slurm_grace_read(struct slurm *s, const char *text)
{
	char name[SLURM_NAME + 1];
	const char *end;
	struct slurm_attempt *a;
	bool is_taken, all = true;
	int64_t id;
	size_t i;

	for (i = 0; i < s->n; i++)
		if (slurm_grace_lives(s->attempts[i]))
			s->attempts[i]->unlisted++;
	for (; *text != '\0'; text = *end == '\n' ? end + 1 : end) {
		end = strchrnul(text, '\n');
		if (!slurm_grace_row(text, (size_t)(end - text), &id, &is_taken,
			name, sizeof name))
			continue;
		a = slurm_grace_find(s, id, name);
		if (a == NULL)
			continue;
		a->unlisted = 0;
		if (is_taken && slurm_grace_lives(a))
			all &= slurm_grace_tell(a);
	}
	for (i = 0; i < s->n; i++)
		all &= !slurm_grace_lives(s->attempts[i]) ||
		       s->attempts[i]->unlisted < UNLISTED;
	return all;
}

void
slurm_grace_collect(struct slurm *s)
{
	char text[32];
	struct err e = ERR_INIT;

	if (s->grace.out == NULL)
		return;
	if (slurm_grace_read(s, s->grace.out)) {
		(void)snprintf(text, sizeof text, "%.20s %010d\n", s->grace.run,
		    ++s->grace.looks);
		(void)slurm_folder_overwrite(
		    s->root, SHIM_LOOKS_FILE, text, &e);
	}
	free(s->grace.out);
	s->grace.out = NULL;
}

int
slurm_grace_open(struct slurm *s, struct err *e)
{
	char *run;

	s->grace.timer = loop_timer_new(s->loop, slurm_grace_on_timer, s);
	if (s->set.preempt_ms == 0)
		return 0;
	/* No two servers write the same. */
	run = rng_uuid();
	(void)snprintf(s->grace.run, sizeof s->grace.run, "%.8s", run);
	free(run);
	loop_timer_set(s->grace.timer, s->set.listing_ms);
	return slurm_folder_reserve(s->root, SHIM_LOOKS_FILE, e);
}

void
slurm_grace_close(struct slurm *s)
{
	capture_kill(s->grace.child);
	if (s->grace.timer != NULL)
		loop_timer_free(s->grace.timer);
	free(s->grace.out);
}
