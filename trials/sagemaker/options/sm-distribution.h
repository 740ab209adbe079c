/*
 * The table of launchers: what each is called, which hyperparameters make
 * AWS's toolkit start it, and where it works.  The manual prints it.
 */

#ifndef HPOTUNE_SM_DISTRIBUTION_H
#define HPOTUNE_SM_DISTRIBUTION_H

#include "trials/sagemaker/options/sm-settings.h"

enum sm_from { /* where the value of a hyperparameter comes from */
	FROM_NOWHERE,
	FROM_TRUE,
	FROM_FALSE,
	FROM_TYPE, /* of the instances */
	FROM_PER_HOST, /* processes_per_host, left out when not given */
	FROM_MPI_OPTIONS, /* custom_mpi_options, "" when not given */
	FROM_PARAMETERS,
	FROM_TORCH /* true with torch_distributed, else left out */
};

enum sm_key { /* of the distribution block, as bits */
	KEY_PER_HOST = 1,
	KEY_MPI_OPTIONS = 2,
	KEY_PARAMETERS = 4,
	KEY_VERSION = 8,
	KEY_TORCH = 16,
	KEY_GROUP = 32
};

enum sm_where { /* instance types a launcher works on */
	WHERE_ANY,
	WHERE_GPU,
	WHERE_GPUS, /* several */
	WHERE_GPU_OR_TRAINIUM,
	WHERE_SMDDP
};

struct sm_dist {
	const char *word; /* in study.json */
	enum sm_launcher launcher;
	int version; /* of modelparallel, else 0 */
	bool toolkit;
	bool counts; /* starts more than one process on a host */
	unsigned keys;
	enum sm_where where;
	struct {
		const char *key;
		enum sm_from from;
	} hp[8];
};

/* Ends with a row without word. */
extern const struct sm_dist sm_dists[];
const struct sm_dist *sm_dist_row(const struct sm_settings *);
/* A text of the distribution block, or NULL. */
const char *sm_dist_text(const struct sm_settings *, const char *key);
/*
 * The program of a command that the toolkit can start: argument number *at
 * ends in .py, at most Python itself stands in front, and only {params} and
 * --NAME=VALUE follow.  sm_dist_find looks no further than the program.
 */
int sm_dist_command(char *const *argv, size_t *at, struct err *);
int sm_dist_find(char *const *argv, size_t *at, struct err *);
/* "python3", "/usr/bin/python3.11": whether a program is called so. */
bool sm_is_python(const char *program);
/* Its path in the code folder. */
const char *sm_dist_program(const struct sm_settings *, const char *argument);

#endif /* HPOTUNE_SM_DISTRIBUTION_H */
