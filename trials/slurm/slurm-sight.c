/*
 * What a login node sees of a study before anything runs, and nodes may see
 * otherwise: its folders and its program.
 */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/file-system.h"
#include "src/model/study/study.h"
#include "trials/process/exec-why.h"
#include "trials/slurm/slurm-internal.h"

/* A folder that only this machine may have, unless nodes are this machine. */
static void
slurm_sight_folder(const struct slurm_settings *set, const char *dir,
    bool *here, struct buf *text)
{
	char name[16];
	bool network;

	file_system_look(dir, name, sizeof name, &network);
	if (network || *here || strcmp(name, "unknown") == 0)
		return;
	*here = slurm_cluster_is_here(set);
	if (*here)
		return;
	buf_printf(text,
	    "the folder %s is on a disk of this machine (%s): jobs fail "
	    "unless all nodes see it at the same path; hpotune doctor tests "
	    "that with a job\n",
	    dir, name);
}

/* backend.dir is made, but not the folders above it. */
static void
slurm_sight_dir(const struct slurm_settings *set, bool *here, struct buf *text)
{
	char *above = xstrdup(set->dir), *end;

	if (access(above, F_OK) == -1) {
		end = strrchr(above, '/');
		end[end == above] = '\0';
		if (access(above, F_OK) == -1)
			buf_printf(text,
			    "backend.dir: %s does not exist here\n", above);
	}
	slurm_sight_folder(set, above, here, text);
	free(above);
}

/* setup may make a program, or a PATH that has it. */
static void
slurm_sight_program(const struct slurm_settings *set,
    const struct study_trial *t, struct buf *text)
{
	const char *name = t->command[0];
	char note[EXEC_WHY_NOTE];
	int error;

	if (name == NULL || set->setup != NULL ||
	    study_command_has_names(name) ||
	    study_command_has_names(t->workdir_text))
		return;
	error =
	    exec_why_look(t->workdir, name, getenv("PATH"), note, sizeof note);
	if (error != 0)
		buf_printf(text,
		    "trial.command: %s: %s, on this machine: is it on the "
		    "nodes?\n",
		    name, *note != '\0' ? note : strerror(error));
}

void
slurm_sight_warn(const struct study_trial *t, const struct option_value *values,
    const char *dir, struct buf *text)
{
	struct slurm_settings set;
	struct err e = ERR_INIT;
	bool here = false;

	if (slurm_options_read(&set, t, values, &e) != 0)
		return;
	slurm_sight_folder(&set, dir, &here, text);
	if (set.dir != NULL)
		slurm_sight_dir(&set, &here, text);
	slurm_sight_program(&set, t, text);
	slurm_cluster_warn(&set, text);
	slurm_options_free(&set);
}
