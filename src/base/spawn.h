/*
 * Starting a program without a shell and without fork: in a process group of
 * its own, with no descriptor of ours but the three it is given.
 */

#ifndef HPOTUNE_SPAWN_H
#define HPOTUNE_SPAWN_H

#include <sys/types.h>

struct err;

struct spawn_spec {
	char *const *argv; /* argv[0] is looked for in PATH */
	char *const *env; /* "NAME=VALUE" laid over ours, ends with NULL; or
			   * NULL */
	const char *dir; /* working folder, NULL = ours */
	int in, out, err; /* its 0, 1, 2; -1: /dev/null */
};

/* The program and a descriptor that is readable when it has ended. */
int spawn_start(pid_t *, int *end_fd, const struct spawn_spec *, struct err *);
/*
 * A program of ours: what the variable of our environment says, else beside
 * this program, where it is installed, or where it was to be.  The caller frees.
 */
int
spawn_find(char **path, const char *variable, const char *name, struct err *);
/* SIGKILL to its whole group; it must not be reaped yet. */
void spawn_kill(pid_t);
/*
 * The same, and wait for its end, but not for ever: one that is stuck in a
 * driver does not go, and stays a zombie of ours then.  Its status, or -1.
 */
int spawn_end(pid_t, int end_fd);
/* Wait for it: its status as of waitpid, -1 when that is not known. */
int spawn_reap(pid_t);

#endif /* HPOTUNE_SPAWN_H */
