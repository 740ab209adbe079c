/*
 * The table of launchers: names, the hyperparameters that select each in AWS's
 * toolkit, and where it works.  The manual prints it.
 */

#ifndef HPOTUNE_SM_DISTRIBUTION_H
#define HPOTUNE_SM_DISTRIBUTION_H

#include "trials/sagemaker/options/sm-settings.h"

enum sm_from { /* source of the value of a hyperparameter */
	SM_FROM_NOWHERE,
	SM_FROM_TRUE,
	SM_FROM_FALSE,
	SM_FROM_TYPE, /* of the instances */
	SM_FROM_PER_HOST, /* processes_per_host; omitted if not given */
	SM_FROM_MPI_OPTIONS, /* custom_mpi_options, "" if not given */
	SM_FROM_PARAMETERS,
	SM_FROM_TORCH /* true with torch_distributed, else omitted */
};

enum sm_key { /* options of the distribution block, as bits */
	SM_KEY_PER_HOST = 1,
	SM_KEY_MPI_OPTIONS = 2,
	SM_KEY_PARAMETERS = 4,
	SM_KEY_VERSION = 8,
	SM_KEY_TORCH = 16,
	SM_KEY_GROUP = 32
};

enum sm_where { /* instance types that a launcher supports */
	SM_WHERE_ANY,
	SM_WHERE_GPU,
	SM_WHERE_GPUS, /* with several GPUs */
	SM_WHERE_GPU_OR_TRAINIUM,
	SM_WHERE_SMDDP
};

struct sm_distribution {
	const char *word; /* in study.json */
	enum sm_launcher launcher;
	int version; /* of modelparallel, else 0 */
	bool toolkit;
	bool counts; /* starts several processes per host */
	unsigned keys;
	enum sm_where where;
	struct {
		const char *key;
		enum sm_from from;
	} hp[8];
};

/* Ends with a row without word. */
extern const struct sm_distribution sm_distributions[];
const struct sm_distribution *sm_distribution_row(const struct sm_settings *);
/* A text of the distribution block, or NULL. */
const char *sm_distribution_text(const struct sm_settings *, const char *key);
/*
 * Find the program of a command that the toolkit can start: argument number *at
 * ends in .py, preceded by Python at most.
 */
int sm_distribution_find(char *const *argv, size_t *at, struct err *);
/* The same of a command with only {params} and --NAME=VALUE behind it. */
int sm_distribution_command_find(char *const *argv, size_t *at, struct err *);
/* Whether a program is a Python: "python3", "/usr/bin/python3.11". */
bool sm_distribution_is_python(const char *program);
/* The path of the program in the code folder. */
const char *
sm_distribution_program(const struct sm_settings *, const char *argument);

#endif /* HPOTUNE_SM_DISTRIBUTION_H */
