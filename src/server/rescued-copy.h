/*
 * A database that others took from under its server: what became of it, and
 * where all that was known of the study goes.
 */

#ifndef HPOTUNE_RESCUED_COPY_H
#define HPOTUNE_RESCUED_COPY_H

#include <stdint.h>

struct err;
struct state_dir;
struct store;

/*
 * NULL while the locked database is where it was, or nobody can tell; else
 * what happened to it: one clause.
 */
const char *rescued_copy_loss(const struct state_dir *, const char *db);
/*
 * Save what the connection sees beside db, or where that cannot be, in the
 * folder for temporary files; *path, which the caller frees, says where.  event
 * is recorded in it.  now_us is the wall time.
 */
int rescued_copy_save(char **path, struct store *, const char *db,
    int64_t now_us, const char *event, struct err *);

#endif /* HPOTUNE_RESCUED_COPY_H */
