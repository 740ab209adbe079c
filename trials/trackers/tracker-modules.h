/* Modules of Python in the place of trackers of experiments: trial.shims. */

#ifndef HPOTUNE_TRACKER_MODULES_H
#define HPOTUNE_TRACKER_MODULES_H

/* The folder of the modules, first in PYTHONPATH. */
#define TRACKER_MODULES_DIR "shims"

struct err;

/*
 * Write the modules in the place of these trackers into the folder shims, which is
 * made below this one and is this user's alone.  path: of the folder above, as trials
 * name it.  ERR_FILE.
 */
int tracker_modules_write(
    int dir_fd, const char *path, char *const *trackers, struct err *);

#endif /* HPOTUNE_TRACKER_MODULES_H */
