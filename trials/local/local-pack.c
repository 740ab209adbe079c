/*
 * Packed trials.  Each place (a number and a folder) has one program of the
 * user, served by hpotune-pack; each attempt is another hpotune-pack that joins
 * it.  The state of a place is not tracked here: every attempt first starts a
 * server, which exits if another one serves the place.
 */

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/fail.h"
#include "src/base/file.h"
#include "src/base/spawn.h"
#include "src/model/study/study.h"
#include "trials/local/local-gpu.h"
#include "trials/local/local-internal.h"
#include "trials/process/attempt-record.h"
#include "trials/pack/pack-trial.h"
#include "trials/pack/pack.h"
#include "trials/process/transient-error.h"

int
local_pack_open(struct local *l, const struct launch_env *env, struct err *e)
{
	struct local_pack *p = &l->pack;

	p->size = env->settings->pack;
	if (p->size == 0)
		return 0;
	p->dir = xasprintf("%s/packs", env->state_dir);
	p->cgroup = xasprintf("hpotune-pack-%s-%s", env->study, env->study_id);
	pack_trial_key(p->key, env->settings);
	return spawn_find(&p->program, "HPOTUNE_PACK", "hpotune-pack", e);
}

int
local_pack_place(const struct local *l, int slot)
{
	return slot % (l->pack.places > 0 ? l->pack.places : 1);
}

static char *
place_dir(const struct local *l, int slot)
{
	return xasprintf("%s/%d", l->pack.dir, local_pack_place(l, slot));
}

void
local_pack_command(struct strv *w, const struct local *l,
    const struct launch_spec *spec, const char *dir)
{
	strv_add(w, xstrdup(l->pack.program));
	strv_add(w, xstrdup("join"));
	strv_add(w, place_dir(l, spec->slot));
	strv_add(w, xstrdup(l->pack.key));
	strv_add(w, xstrdup(dir));
}

static char **
serve_argv(const struct local *l, const struct launch_spec *spec,
    const char *place, size_t locks)
{
	const struct study_trial *t = spec->settings;
	struct strv w = { 0 };

	strv_add(&w, xstrdup("hpotune-pack"));
	strv_add(&w, xstrdup("serve"));
	strv_add(&w, xasprintf("dir=%s", place));
	pack_trial_serve_words(&w, t, l->pack.key, spec->trial, spec->attempt);
	strv_add(&w, xasprintf("hold-fds=%zu", locks));
	if (l->cgroup[0] != '\0')
		strv_add(
		    &w, xasprintf("cgroup=%s/%s-%d", l->cgroup, l->pack.cgroup,
			    local_pack_place(l, spec->slot)));
	strv_add(&w, xstrdup("--"));
	strv_add_all(&w, spec->argv);
	return w.v;
}

/* The environment of the attempt, without what is the attempt's own. */
static char **
serve_env(char *const *all, const char *place)
{
	struct strv w = { 0 };
	size_t i;

	for (i = 0; all[i] != NULL; i++)
		if (!pack_trial_variable(all[i]))
			strv_add(&w, xstrdup(all[i]));
	/* Identifies the processes that a killed server leaves. */
	strv_add(&w, xasprintf("HPOTUNE_PACK_DIR=%s", place));
	return w.v;
}

static void
serve_follow(struct local_pack *p, pid_t pid)
{
	p->serves = xreallocarray(p->serves, p->n + 1, sizeof *p->serves);
	p->serves[p->n++] = pid;
}

static int
place_make(const struct local *l, const char *place, struct err *e)
{
	if ((mkdir(l->pack.dir, 0700) == -1 && errno != EEXIST) ||
	    (mkdir(place, 0700) == -1 && errno != EEXIST))
		return err_set(e,
		    transient_error_resource(errno) ? ERR_BUSY : ERR_LAUNCH,
		    "%s: %s", place, strerror(errno));
	return 0;
}

int
local_pack_serve(struct local *l, const struct launch_spec *spec,
    char *const *env, const struct local_gpu_lock_fds *locks, struct err *e)
{
	char **argv, **own_env, *place = place_dir(l, spec->slot);
	pid_t pid;
	int r;

	r = place_make(l, place, e);
	if (r == 0) {
		argv = serve_argv(l, spec, place, locks->n);
		own_env = serve_env(env, place);
		fail_point("local.before_serve");
		r = spawn_session(
		    &pid, l->pack.program, argv, own_env, locks->fd, locks->n);
		fail_point("local.after_serve");
		strv_free(argv);
		strv_free(own_env);
		if (r == 0)
			serve_follow(&l->pack, pid);
		else
			r = err_set(e,
			    transient_error_exec(r) ? ERR_BUSY : ERR_LAUNCH,
			    "%s: %s", l->pack.program, strerror(r));
	}
	free(place);
	return r;
}

void
local_pack_reap(struct local *l)
{
	struct local_pack *p = &l->pack;
	size_t i, kept = 0;
	int status;

	for (i = 0; i < p->n; i++)
		if (waitpid(p->serves[i], &status, WNOHANG) == 0)
			p->serves[kept++] = p->serves[i];
	p->n = kept;
}

bool
local_pack_alive(const struct local *l, int place)
{
	char *dir = place_dir(l, place);
	char *path = xasprintf("%s/%s", dir, PACK_LOCK);
	int fd = file_open_for(AT_FDCWD, path, O_RDWR, 0);
	bool lives = fd != -1 && attempt_record_locked(fd) != 0;

	if (fd != -1)
		(void)close(fd);
	free(path);
	free(dir);
	return lives;
}

/* Tell the server of a place not to wait for further members. */
static void
place_leave(const struct local *l, int place)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	char *dir = place_dir(l, place);
	int dir_fd, fd;

	dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	free(dir);
	if (dir_fd == -1)
		return;
	(void)snprintf(name.sun_path, sizeof name.sun_path,
	    "/proc/self/fd/%d/sock", dir_fd);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd != -1 && connect(fd, (struct sockaddr *)&name, sizeof name) == 0)
		(void)send(fd, "q\n", 2, MSG_NOSIGNAL);
	if (fd != -1)
		(void)close(fd);
	(void)close(dir_fd);
}

void
local_pack_close(struct local *l)
{
	int i;

	for (i = 0; l->pack.key[0] != '\0' && i < l->pack.places; i++)
		place_leave(l, i);
	local_pack_reap(l);
	free(l->pack.serves);
	free(l->pack.dir);
	free(l->pack.cgroup);
	free(l->pack.program);
}
