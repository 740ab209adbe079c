/*
 * A folder of an attempt that another run uses.  After the database was restored from an older copy, trial numbers are
 * assigned again although their folders exist. A run that is still active is
 * waited for, a finished one is left as it is; the attempt then ends and the
 * next one follows. Nothing of the other run is recorded: its parameters may
 * differ, and then its checkpoint is moved aside.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/file.h"
#include "src/base/mem.h"
#include "trials/local/local-internal.h"
#include "trials/process/attempt-status.h"

/* Whether the parameters in this folder are these. */
static bool
params_same(const char *dir, const char *json)
{
	char *path = xasprintf("%s/params.json", dir);
	size_t len = strlen(json);
	char *text = xcalloc(1, len + 2);
	bool same;

	same = file_read(AT_FDCWD, path, text, len + 2) == (ssize_t)len &&
	       memcmp(text, json, len) == 0;
	free(path);
	free(text);
	return same;
}

bool
local_foreign_run(const struct launch_spec *spec, const char *dir, bool *aside)
{
	struct err e = ERR_INIT;
	struct attempt_evidence found;

	if (attempt_status_read(&found, dir, spec->uuid, &e) != ATTEMPT_FOREIGN)
		return false;
	*aside = !params_same(dir, spec->params_json);
	return true;
}

/* 1: done; 0: does not exist; -1 with errno. */
static int
one_aside(const struct local_attempt *a, int fd, const char *name)
{
	char other[64];

	(void)snprintf(other, sizeof other, "%s.aside-%.8s", name, a->uuid);
	if (renameat(fd, name, fd, other) == 0)
		return 1;
	return errno == ENOENT ? 0 : -1;
}

/* Before the attempt ends: the next attempt must not find these files. */
static bool
set_aside(struct local_attempt *a)
{
	char *trial_dir = xasprintf("%s/..", a->dir);
	int fd, moved = -1, output = -1;

	fd = open(trial_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd != -1 && (moved = one_aside(a, fd, "checkpoint")) != -1)
		output = one_aside(a, fd, "output");
	if (output != -1 && fsync(fd) == -1)
		output = -1;
	if (output == -1 && !a->noted_unknown)
		backend_note(&a->source, LAUNCH_WARNING,
		    "what another run with other parameters left for it cannot "
		    "be set aside: %s",
		    strerror(errno));
	a->noted_unknown |= output == -1;
	if (fd != -1)
		(void)close(fd);
	free(trial_dir);
	if (moved == 1)
		backend_note(&a->source, LAUNCH_WARNING,
		    "the checkpoint of another run with other parameters was "
		    "set aside as checkpoint.aside-%.8s",
		    a->uuid);
	return output != -1;
}

static void
foreign_wait(struct local_attempt *a, const struct claim *c)
{
	if (!a->noted_foreign)
		backend_note(&a->source, LAUNCH_WARNING,
		    "another run of it is active that is not in this database "
		    "(was the database restored from a copy?): waiting for its "
		    "end");
	a->noted_foreign = true;
	if (a->supervisor.pid != c->shim_pid)
		(void)local_attempt_watch_claim(a, c);
	/* A stop of the trial applies to the foreign run as well. */
	local_attempt_signal(a);
}

bool
local_foreign_run_over(
    struct local_attempt *a, const struct attempt_evidence *found)
{
	/* Our supervisor sees the foreign claim too, and exits. */
	if (a->child > 0) {
		a->local->soon = true;
		return false;
	}
	if (found->shim_lock) {
		foreign_wait(a, &found->claim);
		return false;
	}
	if (found->trial_lock) {
		(void)local_leftovers_sweep(a, &found->claim);
		return false;
	}
	return !a->aside || set_aside(a);
}
