/*
 * Where tests that are about no disk make their folders, and their end.
 */

#ifndef HPOTUNE_SCRATCH_H
#define HPOTUNE_SCRATCH_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* In memory, where a sync costs nothing, else $TMPDIR, else /tmp. */
static inline const char *
scratch_folder(void)
{
	const char *tmp = getenv("TMPDIR");

	if (access("/dev/shm", W_OK) == 0)
		return "/dev/shm";
	return tmp != NULL ? tmp : "/tmp";
}

static inline int
scratch_delete_one(
    const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	return remove(path);
}

/* Delete a folder and what is in it; 0, or -1 with errno. */
static inline int
scratch_delete(const char *folder)
{
	return nftw(folder, scratch_delete_one, 16, FTW_DEPTH | FTW_PHYS);
}

#endif /* HPOTUNE_SCRATCH_H */
