/*
 * Lock the state directory and the database, and refuse a state directory whose
 * database is missing.
 */

#ifndef HPOTUNE_STUDY_LOCK_H
#define HPOTUNE_STUDY_LOCK_H

#include <stdbool.h>

struct err;
struct server_env;
struct state_dir;

/*
 * Open NAME.d, creating it if needed, and take its lock and that of the
 * database, if it exists.
 */
int
study_lock_take(struct state_dir *, const struct server_env *, struct err *);
/*
 * An error when there are trials without their database: their numbers would be
 * assigned again, and a new trial would continue from the checkpoint of an old
 * one.  *there: whether the database exists, as store_exists.
 */
int study_lock_check_trials(const struct state_dir *, const struct server_env *,
    bool *there, struct err *);

#endif /* HPOTUNE_STUDY_LOCK_H */
