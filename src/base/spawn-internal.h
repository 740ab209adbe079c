/* Inside the start of programs.  Private to src/base. */

#ifndef HPOTUNE_SPAWN_INTERNAL_H
#define HPOTUNE_SPAWN_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A child with no blocked signals, default dispositions, and no descriptors but
 * these. */
struct spawn_child {
	const char *path;
	bool search; /* path is argv[0], which is searched in PATH */
	char *const *argv, *const *env;
	const char *dir; /* working folder, NULL = ours */
	bool session; /* of its own; or only a process group */
	const int *fds; /* become its 0, 1, …; -1 = /dev/null */
	size_t n;
};

/* Start it; 0, or an errno.  By posix_spawn, or by fork where that cannot. */
int spawn_posix(pid_t *, const struct spawn_child *);
int spawn_fork(pid_t *, const struct spawn_child *);

#endif /* HPOTUNE_SPAWN_INTERNAL_H */
