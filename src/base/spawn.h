/*
 * Starts a program without a shell: in a process group or a session of its own,
 * with no descriptors but those it is given.
 */

#ifndef HPOTUNE_SPAWN_H
#define HPOTUNE_SPAWN_H

#include <stddef.h>
#include <sys/types.h>

struct err;

struct spawn_spec {
	char *const *argv; /* argv[0] is searched in PATH */
	char *const *
	    env; /* "NAME=VALUE" over our environment, ends with NULL; or NULL */
	const char *dir; /* working folder, NULL = ours */
	int in, out, err; /* its stdin, stdout, stderr; -1: /dev/null */
};

/*
 * Start a program; *end_fd becomes readable when it has ended.  The caller owns
 * both.  ERR_FILE.
 */
int spawn_start(pid_t *, int *end_fd, const struct spawn_spec *, struct err *);
/*
 * Start a program in a session of its own.  Its environment is env alone; its
 * stdin, stdout and stderr are /dev/null, and the n fds, each of which must be
 * at least 3 + n, become its descriptors 3, 4, …  0, or an errno.
 */
int spawn_session(pid_t *, const char *path, char *const *argv,
    char *const *env, const int *fds, size_t n);
/* The same in the folder dir, from which a relative path starts; NULL = ours. */
int spawn_session_in(const char *dir, pid_t *, const char *path,
    char *const *argv, char *const *env, const int *fds, size_t n);
/*
 * The path of one of our programs: the value of the environment variable,
 * otherwise the folder of this program, the installed one, or LIBEXECDIR. The
 * caller frees it.
 */
int
spawn_find(char **path, const char *variable, const char *name, struct err *);
/* SIGKILL the process group of a process that is not reaped yet. */
void spawn_kill(pid_t);
/*
 * As spawn_kill, then wait for its exit with a time limit: a process blocked in
 * a driver does not exit, and remains our zombie.  Its status, or -1.
 */
int spawn_end(pid_t, int end_fd);
/* Wait for a process: its status as of waitpid, -1 when that cannot be read. */
int spawn_reap(pid_t);

#endif /* HPOTUNE_SPAWN_H */
