/* Taking hold of a study that may have to be made: by a server, or by ask. */

#ifndef HPOTUNE_STUDY_LOCK_H
#define HPOTUNE_STUDY_LOCK_H

struct err;
struct server_env;
struct state_dir;

/*
 * Open NAME.d, making it where it is not, and take its lock and that of the
 * database, where there is one.
 */
int
study_lock_take(struct state_dir *, const struct server_env *, struct err *);
/*
 * Trials without their database: their numbers would be given again, and a
 * new trial would go on from the checkpoint of an old one.
 */
int study_lock_check_trials(
    const struct state_dir *, const struct server_env *, struct err *);

#endif /* HPOTUNE_STUDY_LOCK_H */
