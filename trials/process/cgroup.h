/*
 * One control group (version 2) per trial, where somebody delegated one to
 * us.  Every function is a plain file operation below a directory, and every
 * failure means: do without.
 */

#ifndef HPOTUNE_CGROUP_H
#define HPOTUNE_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The directory under which trials get their groups: $HPOTUNE_CGROUP, or our
 * own group when systemd marked it as delegated; we then move into a leaf of
 * it.  False: there is none.
 */
bool cgroup_find(char *base, size_t n);

/* Make a group with a limit of memory bytes (0 = none): 0 or -1. */
int cgroup_make(const char *dir, int64_t memory);
/* Put the calling process into it: 0 or -1. */
int cgroup_enter(const char *dir);
/* SIGKILL to everything in it, however fast it forks: 0 or -1. */
int cgroup_kill(const char *dir);
/* Whether the kernel killed something in it for want of memory. */
bool cgroup_oom(const char *dir);
void cgroup_remove(const char *dir);

#endif /* HPOTUNE_CGROUP_H */
