/*
 * Detects that the database of a running server was removed or replaced, and
 * saves the study's data to a new file.
 */

#ifndef HPOTUNE_RESCUED_COPY_H
#define HPOTUNE_RESCUED_COPY_H

#include <stdint.h>

struct err;
struct state_dir;
struct store;

/*
 * NULL while the locked database is at its path, or this cannot be determined;
 * otherwise what happened to it: one clause.
 */
const char *rescued_copy_loss(const struct state_dir *, const char *db);
/*
 * Save what the connection can read beside db, or failing that in the folder
 * for temporary files; *path, which the caller frees, is the new file. event is
 * recorded in it. now_us is wall clock time.
 */
int rescued_copy_save(char **path, struct store *, const char *db,
    int64_t now_us, const char *event, struct err *);

#endif /* HPOTUNE_RESCUED_COPY_H */
