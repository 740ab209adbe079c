/*
 * Which study has which GPU of this machine: a lock per GPU, held by the
 * server and by every supervisor on it, so it outlives the server; nothing to
 * clean up, nothing to configure.
 */

#ifndef HPOTUNE_GPU_LOCK_H
#define HPOTUNE_GPU_LOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

/* The folder of the locks: HPOTUNE_GPU_LOCKS, or below /dev/shm. */
const char *gpu_lock_dir(void);
/*
 * A number for a study that no other on this machine has: of its folder, as
 * the disk knows it, so that it stays when the folder is moved.
 */
uint64_t gpu_lock_key(const char *state_dir);
/*
 * Book it for the study: a descriptor that closes on exec; copies of it in
 * other processes keep the booking.  -1: ERR_BUSY: another study has it, who
 * says which ("NAME of USER", "" = not known); others: locks do not work here.
 * Never waits.
 */
int gpu_lock_take(const char *uuid, uint64_t key, const char *study, char *who,
    size_t n, struct err *);
/*
 * Whether a booking still stands: false when its file has been removed (at
 * logout systemd removes a user's files below /dev/shm).  Then take it again.
 */
bool gpu_lock_valid(int fd, const char *uuid);
/* Who has it, without taking it: false = nobody. */
bool gpu_lock_owner(const char *uuid, char *who, size_t n);

#endif /* HPOTUNE_GPU_LOCK_H */
