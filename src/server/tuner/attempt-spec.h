/* What an attempt is given: argv, environment, parameters as JSON. */

#ifndef HPOTUNE_ATTEMPT_SPEC_H
#define HPOTUNE_ATTEMPT_SPEC_H

#include "trials/launcher.h"

struct err;
struct plug_backend;
struct store_attempt;
struct store_trial;
struct study;

struct trial_env {
	struct launch_spec spec; /* borrows from the rest */
	char **argv;
	char **env;
	char *trial_dir;
	char *from_dir; /* or NULL */
	char **own_env; /* trial.env */
	char *workdir;
};

/* What an attempt is made from. */
struct trial_facts {
	const struct study *study;
	const struct plug_backend *backend;
	const struct store_trial *row;
	const struct store_attempt *att;
	const char *state_dir; /* absolute */
	struct launch_past past;
};

/* A run of a trial's setting that is no attempt of the study. */
struct trial_again {
	char **argv; /* ends with NULL; empty where no program runs */
	char **env; /* "NAME=VALUE", ends with NULL; without trial.env */
	char **own_env; /* trial.env */
	char *workdir;
};

/* Made from rows and study.json alone, so a restart makes the same. */
int
trial_env_make(struct trial_env *, const struct trial_facts *, struct err *);
void trial_env_free(struct trial_env *);
/*
 * What the first attempt of the trial in row was given, but for its folders,
 * which are below dir (absolute), and for GPUs.
 */
int trial_env_again(struct trial_again *, const struct study *,
    const struct store_trial *row, const char *dir, struct err *);
void trial_again_free(struct trial_again *);

#endif /* HPOTUNE_ATTEMPT_SPEC_H */
