/* What an attempt is given: argv, environment, parameters as JSON. */

#ifndef HPOTUNE_ATTEMPT_SPEC_H
#define HPOTUNE_ATTEMPT_SPEC_H

#include "trials/backend.h"

struct err;
struct plugin_backend;
struct store_attempt;
struct store_trial;
struct study;
struct value;

struct attempt_spec {
	struct launch_spec spec; /* borrows from the other members */
	char **argv;
	char **env;
	char *trial_dir;
	char *from_dir; /* or NULL */
	char *refs; /* below which refs keep commits, or NULL */
	char **own_env; /* trial.env */
	char *workdir;
	char **files; /* paths of trial.files */
	char **params_files; /* names and texts */
};

/* Inputs of attempt_spec_make. */
struct attempt_spec_facts {
	const struct study *study;
	const struct plugin_backend *backend;
	const struct store_trial *row;
	const struct value *values; /* of row, or NULL: its params are read */
	const struct store_attempt *att;
	const char *state_dir; /* absolute */
	const char *study_id;
	struct launch_past past;
	int64_t gpu_memory; /* bytes that it is likely to need; 0 = not known */
};

/* A trial's setting to be run outside the study. */
struct attempt_rerun {
	char **argv; /* ends with NULL; empty when no program runs */
	char **env; /* "NAME=VALUE", ends with NULL; without trial.env */
	char **own_env; /* trial.env */
	char *workdir;
	char **params_files; /* names in dir, and texts; or NULL */
};

/*
 * Build the spec only from rows and study.json, so that a restart builds the
 * same.  ERR_USAGE.
 */
int attempt_spec_make(
    struct attempt_spec *, const struct attempt_spec_facts *, struct err *);
/*
 * Add the files of trial.files, which are read now: call it before a start.
 * ERR_BUSY: a template cannot be read at present.
 */
int attempt_spec_add_templates(struct attempt_spec *, const struct study *,
    const struct value *values, struct err *);
void attempt_spec_free(struct attempt_spec *);
/*
 * What the first attempt of the trial in row was given, except GPUs, and with
 * folders below dir (absolute).  ERR_BUSY: a template cannot be read.
 */
int attempt_spec_rerun(struct attempt_rerun *, const struct study *,
    const struct store_trial *row, const char *dir, struct err *);
void attempt_spec_rerun_free(struct attempt_rerun *);

#endif /* HPOTUNE_ATTEMPT_SPEC_H */
