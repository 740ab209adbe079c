/* The state folder of a study, at its start. */

#ifndef HPOTUNE_STATE_TAKE_H
#define HPOTUNE_STATE_TAKE_H

#include <stdbool.h>

struct err;
struct server_env;
struct state_dir;

/*
 * For a start: open NAME.d, creating it if needed, and take its lock and that of
 * the database, if it exists.
 */
int state_take(struct state_dir *, const struct server_env *, struct err *);
/*
 * An error when there are trials without their database: their numbers would be
 * assigned again, and a new trial would continue from the checkpoint of an old
 * one.  *there: whether the database exists, as store_exists.
 */
int state_take_check_trials(const struct state_dir *, const struct server_env *,
    bool *there, struct err *);

#endif /* HPOTUNE_STATE_TAKE_H */
