/* What an attempt is given: argv, environment, parameters as JSON. */

#ifndef SERVER_TRIAL_ENV_H
#define SERVER_TRIAL_ENV_H

#include "trials/launcher.h"

struct err;
struct store_attempt;
struct store_trial;
struct study;

struct trial_env {
	struct launch_spec spec; /* borrows from the rest */
	char **argv;
	char **env;
	char *trial_dir;
};

/* Made from the rows alone, so a restart makes the same. */
int trial_env_make(struct trial_env *, const struct study *,
    const struct store_trial *, const struct store_attempt *,
    const char *state_dir, struct err *);
void trial_env_free(struct trial_env *);

#endif /* SERVER_TRIAL_ENV_H */
