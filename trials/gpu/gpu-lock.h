/*
 * Locks of GPUs between studies on this machine: one lock per GPU, held by the
 * server and by each supervisor on it, so that it outlives the server.  Needs
 * no cleaning up and no configuration.
 */

#ifndef HPOTUNE_GPU_LOCK_H
#define HPOTUNE_GPU_LOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

/*
 * A key that is unique on this machine: from device and inode of the state
 * directory, so that it stays when the folder is moved.
 */
uint64_t gpu_lock_key(const char *state_dir);
/* What the file of a lock says of its holder. */
struct gpu_lock_words {
	const char *study;
	int64_t
	    ends_us; /* when it is likely to end, since 1970; 0 = not known */
};

/*
 * Lock a GPU for the study: returns a close-on-exec descriptor; duplicates of
 * it in other processes keep the lock. -1: ERR_BUSY: another study holds it,
 * named in who ("NAME of USER, until about 14:05", "" = unknown); other errors:
 * locks do not work here.  Never blocks.
 */
int gpu_lock_take(const char *uuid, uint64_t key, const struct gpu_lock_words *,
    char *who, size_t n, struct err *);
/* Say something else of the holder of a lock that was taken. */
void gpu_lock_say(int fd, const struct gpu_lock_words *);
/*
 * Whether a lock still stands: false if its file was removed (at logout systemd
 * removes a user's files below /dev/shm).  Then lock again.
 */
bool gpu_lock_valid(int fd, const char *uuid);
/* The holder of the lock, without taking it: false = none. */
bool gpu_lock_owner(const char *uuid, char *who, size_t n);

#endif /* HPOTUNE_GPU_LOCK_H */
