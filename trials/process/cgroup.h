/*
 * One control group (version 2) per trial, where a base group was delegated to
 * us.  After a failure, callers continue without a group.
 */

#ifndef HPOTUNE_CGROUP_H
#define HPOTUNE_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Find the directory for the groups of trials: $HPOTUNE_CGROUP, or our own
 * group if systemd marked it as delegated; the calling process then moves into
 * a leaf of it.  False: none.
 */
bool cgroup_find(char *base, size_t n);

/* Create a group with a limit of memory bytes (0 = none): 0 or -1. */
int cgroup_make(const char *dir, int64_t memory);
/* Move a process into it, 0 = the calling one: 0 or -1. */
int cgroup_enter(const char *dir, pid_t);
/*
 * SIGKILL to all processes of the group, also those forked meanwhile: 0 or -1.
 */
int cgroup_kill(const char *dir);
/* Whether the kernel killed one of its processes for lack of memory. */
bool cgroup_oom(const char *dir);
void cgroup_remove(const char *dir);

#endif /* HPOTUNE_CGROUP_H */
