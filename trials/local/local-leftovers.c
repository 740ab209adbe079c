/*
 * What is left of an attempt: processes with its uuid in their environment, and
 * its control group.  A copied study has the same uuids as the original:
 * processes whose attempt is held in another folder that still exists are left
 * alone.
 */

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "trials/local/local-internal.h"
#include "trials/process/attempt-status.h"
#include "trials/process/cgroup.h"
#include "trials/process/proc-environ.h"
#include "trials/process/proc.h"

struct marked {
	const char *uuid, *dir;
	bool only_count; /* those to spare */
	bool elsewhere; /* result for the process examined last */
	struct local_leftovers n;
};

/* Whether the attempt runs in a folder that is another one than ours. */
static bool
is_elsewhere(const struct marked *m, const struct buf *env)
{
	struct err e = ERR_INIT;
	struct attempt_evidence found;
	struct stat ours, theirs;
	char path[4200], *end;

	if (!proc_environ_get(env, "HPOTUNE_PARAMS", path, sizeof path) ||
	    path[0] != '/' || (end = strrchr(path, '/')) == path)
		return false;
	*end = '\0';
	if (stat(m->dir, &ours) == -1 || stat(path, &theirs) == -1 ||
	    (ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino))
		return false;
	(void)attempt_status_read(&found, path, m->uuid, &e);
	return found.shim_lock || found.trial_lock;
}

/* Whether a process belongs to this attempt; *elsewhere: in another folder. */
static bool
is_marked(const struct marked *m, pid_t pid, bool *elsewhere)
{
	struct buf env = { 0 };
	char uuid[64] = "";
	bool is;

	is =
	    proc_environ_read(pid, &env) &&
	    proc_environ_get(&env, "HPOTUNE_ATTEMPT_UUID", uuid, sizeof uuid) &&
	    strcmp(uuid, m->uuid) == 0;
	*elsewhere = is && is_elsewhere(m, &env);
	buf_free(&env);
	return is;
}

static bool
is_to_end(void *arg, pid_t pid)
{
	struct marked *m = arg;

	return is_marked(m, pid, &m->elsewhere) && !m->elsewhere &&
	       !m->only_count;
}

static bool
kill_if_marked(void *arg, pid_t pid)
{
	struct marked *m = arg;

	m->elsewhere = false;
	m->n.killed += proc_kill(pid, is_to_end, m);
	m->n.spared += m->elsewhere;
	return true;
}

struct local_leftovers
local_leftovers_kill(const char *uuid, const char *dir)
{
	struct marked m = { .uuid = uuid, .dir = dir };

	proc_each(kill_if_marked, &m);
	return m.n;
}

bool
local_leftovers_sweep(struct local_attempt *a, const struct claim *c)
{
	struct marked m = {
		.uuid = c->uuid, .dir = a->dir, .only_count = true
	};
	bool found = false;

	/* Nothing survives a reboot. */
	if (strcmp(c->boot_id, a->local->boot_id) != 0)
		return false;
	/* A group of processes has the name of the attempt, in a copy too. */
	if (c->cgroup[0] != '\0')
		proc_each(kill_if_marked, &m);
	if (c->cgroup[0] != '\0' && m.n.spared == 0) {
		(void)cgroup_kill(c->cgroup);
		cgroup_remove(c->cgroup);
		found = access(c->cgroup, F_OK) == 0;
	}
	return local_leftovers_kill(c->uuid, a->dir).killed > 0 || found;
}

void
local_leftovers_remove_cgroup(const struct local *l, const char *uuid)
{
	char path[RECORD_PATH];

	if (l->cgroup[0] == '\0')
		return;
	(void)snprintf(
	    path, sizeof path, "%.180s/hpotune-%.36s", l->cgroup, uuid);
	cgroup_remove(path);
}
