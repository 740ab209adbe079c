/*
 * A study of one trial in a temporary folder, for hpotune try and check
 * --checkpoint: nothing is recorded beside it.
 */

#ifndef HPOTUNE_ONE_TRIAL_H
#define HPOTUNE_ONE_TRIAL_H

struct err;
struct study;
struct value;

/* All zero: none yet. */
struct one_trial_folder {
	char *dir; /* below $TMPDIR or /tmp */
	char *db, *state_dir; /* of the study, in dir */
};

/* Make a new folder for a study of this name; what: the command, for errors. */
int one_trial_folder_make(struct one_trial_folder *, const char *study,
    const char *what, struct err *);
/* Remove it with all that is in it. */
void one_trial_folder_free(struct one_trial_folder *);

/*
 * Reduce the study to one trial on this machine, of this setting (a value for
 * each parameter, VALUE_NONE where the strategy chooses; NULL: the strategy's,
 * or the first of enqueue), and check what "start" checks before it begins.
 */
int one_trial_prepare(struct study *, const struct value *setting,
    const char *what, struct err *);

#endif /* HPOTUNE_ONE_TRIAL_H */
