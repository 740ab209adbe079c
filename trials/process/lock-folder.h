/*
 * The folder of locks between studies of all users of this machine:
 * $HPOTUNE_GPU_LOCKS, else /dev/shm/hpotune.  It needs no cleaning up and no
 * configuration: the kernel drops a lock with its last holder.
 */

#ifndef HPOTUNE_LOCK_FOLDER_H
#define HPOTUNE_LOCK_FOLDER_H

struct err;

/* Borrowed. */
const char *lock_folder_path(void);
/* Open the folder of locks: -1 with errno. */
int lock_folder_enter(void);
/*
 * Open a file of it without creating it, close-on-exec: -1 with errno; a link, a
 * pipe or a device is an error.
 */
int lock_folder_file(int dir, const char *name, int flags);
/* Open the folder, created for all users if it is missing: -1, the error set. */
int lock_folder_create(struct err *);
/*
 * Open a file of it for reading and writing, created for all users if it is
 * missing: -1, the error set.
 */
int lock_folder_file_create(int dir, const char *name, struct err *);
/*
 * Open a file for reading and writing; both are created, for all users, if they
 * are missing.  dir gets the folder, opened.  -1 with the error set: neither is
 * open.
 */
int lock_folder_open(const char *name, int *dir, struct err *);

#endif /* HPOTUNE_LOCK_FOLDER_H */
