/* The start of a child by posix_spawn, which does not copy our memory. */

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>

#include "src/base/spawn-internal.h"

#ifdef HAVE_POSIX_SPAWN_FILE_ACTIONS_ADDCLOSEFROM_NP

static void
spawn_posix_files(
    posix_spawn_file_actions_t *files, const struct spawn_child *c)
{
	size_t i;

	(void)posix_spawn_file_actions_init(files);
	for (i = 0; i < c->n; i++)
		if (c->fds[i] >= 0)
			(void)posix_spawn_file_actions_adddup2(
			    files, c->fds[i], (int)i);
		else
			(void)posix_spawn_file_actions_addopen(
			    files, (int)i, "/dev/null", O_RDWR, 0);
	(void)posix_spawn_file_actions_addclosefrom_np(files, (int)c->n);
	if (c->dir != NULL)
		(void)posix_spawn_file_actions_addchdir_np(files, c->dir);
}

static void
spawn_posix_attr(posix_spawnattr_t *attr, const struct spawn_child *c)
{
	short flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;
	sigset_t all, none;

	(void)sigfillset(&all);
	(void)sigemptyset(&none);
	(void)posix_spawnattr_init(attr);
	flags |= c->session ? POSIX_SPAWN_SETSID : POSIX_SPAWN_SETPGROUP;
	(void)posix_spawnattr_setflags(attr, flags);
	(void)posix_spawnattr_setpgroup(attr, 0);
	(void)posix_spawnattr_setsigdefault(attr, &all);
	(void)posix_spawnattr_setsigmask(attr, &none);
}

int
spawn_posix(pid_t *pid, const struct spawn_child *c)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	int r;

	spawn_posix_files(&files, c);
	spawn_posix_attr(&attr, c);
	if (c->search)
		r = posix_spawnp(pid, c->path, &files, &attr, c->argv, c->env);
	else
		r = posix_spawn(pid, c->path, &files, &attr, c->argv, c->env);
	(void)posix_spawn_file_actions_destroy(&files);
	(void)posix_spawnattr_destroy(&attr);
	return r;
}

#else

int
spawn_posix(pid_t *pid, const struct spawn_child *c)
{
	return spawn_fork(pid, c);
}

#endif
