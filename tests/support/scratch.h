/*
 * Where tests that are about no disk make their folders.
 */

#ifndef HPOTUNE_SCRATCH_H
#define HPOTUNE_SCRATCH_H

#include <stdlib.h>
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

#endif /* HPOTUNE_SCRATCH_H */
