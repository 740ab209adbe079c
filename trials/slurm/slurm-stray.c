/*
 * Jobs whose attempts are over.  One that is listed is cancelled by its number
 * when it is seen.  A list can be wrong, so one that may wait in the queue and is
 * not listed is withdrawn by its name.
 */

#include <stdio.h>
#include <string.h>

#include "src/base/loop.h"
#include "src/base/mem.h"
#include "trials/slurm/slurm-internal.h"

enum {
	STRAY_MS = 3600 * 1000,
	UNLISTED = 2, /* answers in a row without it */
	PAUSE_MS = 10000, /* after a withdrawal that failed */
	CLOSE_MS = 10000 /* for each withdrawal when the server ends */
};

void
slurm_stray_add(struct slurm *s, const char *name, bool waits)
{
	struct slurm_stray *stray;

	XGROW(s->strays, s->n_strays, s->cap_strays);
	stray = &s->strays[s->n_strays++];
	*stray =
	    (struct slurm_stray){ .until_ms = loop_now_ms(s->loop) + STRAY_MS,
		    .waits = waits };
	(void)snprintf(stray->name, SLURM_NAME, "%s", name);
}

static struct slurm_stray *
slurm_stray_find(const struct slurm *s, const char *name)
{
	size_t i;

	for (i = 0; i < s->n_strays; i++)
		if (strcmp(s->strays[i].name, name) == 0)
			return &s->strays[i];
	return NULL;
}

bool
slurm_stray_row(struct slurm *s, const struct slurm_row *row)
{
	struct slurm_stray *stray = slurm_stray_find(s, row->name);

	if (stray == NULL)
		return false;
	stray->listed = true;
	if (row->state != SLURM_STATE_WAITS)
		stray->waits = false;
	return true;
}

void
slurm_stray_answer(struct slurm *s)
{
	int64_t now = loop_now_ms(s->loop);
	struct slurm_stray *stray;
	size_t i, kept = 0;

	for (i = 0; i < s->n_strays; i++) {
		stray = &s->strays[i];
		stray->unlisted = stray->listed ? 0 : stray->unlisted + 1;
		stray->listed = false;
		if (stray->until_ms > now)
			s->strays[kept++] = *stray;
	}
	s->n_strays = kept;
}

const char *
slurm_stray_due(const struct slurm *s)
{
	const struct slurm_stray *stray;
	size_t i;

	for (i = 0; i < s->n_strays; i++) {
		stray = &s->strays[i];
		if (stray->waits && stray->unlisted >= UNLISTED &&
		    loop_now_ms(s->loop) >= stray->due_ms)
			return stray->name;
	}
	return NULL;
}

void
slurm_stray_withdrawn(struct slurm *s, const char *name, bool done)
{
	struct slurm_stray *stray = slurm_stray_find(s, name);

	if (stray == NULL)
		return;
	stray->waits = stray->waits && !done;
	stray->due_ms = loop_now_ms(s->loop) + PAUSE_MS;
}

void
slurm_stray_close(struct slurm *s)
{
	struct buf said = { 0 };
	size_t i;
	int status = 0;

	/* A controller that does not answer is not asked for each of them. */
	for (i = 0; i < s->n_strays && status == 0; i++) {
		char name[SLURM_NAME + 16],
		    *argv[] = { "scancel", "--state=PENDING", name, NULL };

		if (!s->strays[i].waits || s->strays[i].listed)
			continue;
		(void)snprintf(
		    name, sizeof name, "--name=%s", s->strays[i].name);
		status = slurm_program_call(argv, CLOSE_MS, &said);
	}
	buf_free(&said);
}
