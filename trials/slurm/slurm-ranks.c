/*
 * Trials of several processes: the words before their command in the script of
 * the job.  On one node they are those of a local trial; on several, srun or
 * mpirun starts hpotune-ranks before each rank.
 */

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/model/study/study.h"
#include "trials/process/exec-path.h"
#include "trials/ranks/ranks.h"
#include "trials/slurm/slurm-internal.h"

int64_t
slurm_ranks_per_node(
    const struct slurm_settings *set, const struct study_trial *t)
{
	if (t->launcher == STUDY_LAUNCHER_NONE)
		return 1;
	if (t->processes > 0)
		return t->processes;
	if (set->n_gpus > 1)
		return set->n_gpus;
	return set->nodes > 1 ? 1 : 0;
}

int
slurm_ranks_check(const struct slurm_settings *set, const struct study_trial *t,
    struct err *e)
{
	if (t->servers > 0 && set->nodes > 1)
		return err_set(e, ERR_USAGE,
		    "trial.parameter_servers are for one node: expected "
		    "nodes 1");
	if (set->per_job > 1 &&
	    (set->nodes > 1 || t->launcher == STUDY_LAUNCHER_SRUN))
		return err_set(e, ERR_USAGE,
		    "trials_per_job: a job of several trials has one node: "
		    "expected nodes 1, and not the launcher srun");
	return 0;
}

int
slurm_ranks_replicas(
    const struct study_trial *t, const struct option_value *values)
{
	struct slurm_settings set;
	struct err e = ERR_INIT;
	int n = 0;

	if (slurm_options_read(&set, t, values, &e) != 0)
		return 1;
	n = (int)(set.tasks * set.nodes);
	slurm_options_free(&set);
	return n;
}

int64_t
slurm_ranks_gpus(const struct study_trial *t, const struct option_value *values)
{
	struct slurm_settings set;
	struct err e = ERR_INIT;
	int64_t n;

	if (slurm_options_read(&set, t, values, &e) != 0)
		return 0;
	n = set.n_gpus * set.nodes;
	slurm_options_free(&set);
	return n;
}

/* Whether ranks are started through a program that reaches other nodes. */
static bool
is_far(const struct slurm_settings *set, const struct study_trial *t)
{
	return t->launcher == STUDY_LAUNCHER_SRUN ||
	       (set->nodes > 1 && t->launcher != STUDY_LAUNCHER_NONE);
}

static void
number_word(struct strv *w, const char *name, int64_t number)
{
	strv_add(w, xasprintf("%s=%lld", name, (long long)number));
}

/* Where modules may define torchrun, it is taken to be there. */
static bool
has_torchrun(const struct slurm_settings *set)
{
	char interpreter[PATH_MAX];

	return set->setup != NULL || exec_path_check(AT_FDCWD, "torchrun",
					 getenv("PATH"), interpreter) == 0;
}

static void
srun_words(struct strv *w, const struct slurm_settings *set,
    const struct study_trial *t, int64_t per_node)
{
	int64_t cpus = set->cpus;

	strv_add(w, xstrdup("srun"));
	number_word(w, "--nodes", set->nodes);
	number_word(w, "--ntasks", per_node * set->nodes);
	number_word(w, "--ntasks-per-node", per_node);
	/* Where one task starts all ranks of its node. */
	cpus *= set->tasks / per_node;
	if (cpus > 0)
		number_word(w, "--cpus-per-task", cpus);
	strv_add(w, xstrdup("--distribution=block"));
	strv_add(w, xstrdup("--export=ALL"));
	strv_add(w, xstrdup("--input=none"));
	/* hpotune-ranks ends the others, with a grace. */
	strv_add(w, xstrdup("--kill-on-bad-exit=0"));
	strv_add(w, xstrdup("--wait=0"));
	if (t->launcher != STUDY_LAUNCHER_SRUN)
		strv_add(w, xstrdup("--mpi=none"));
}

/* The launcher that is started once, before hpotune-ranks of each rank. */
static void
launcher_words(struct strv *w, const struct slurm_settings *set,
    const struct study_trial *t, const char *command)
{
	int64_t n = set->tasks;

	switch (t->launcher) {
	case STUDY_LAUNCHER_NONE:
		break;
	case STUDY_LAUNCHER_RANKS:
	case STUDY_LAUNCHER_SRUN:
		if (is_far(set, t))
			srun_words(w, set, t, n);
		break;
	case STUDY_LAUNCHER_TORCHRUN:
		if (is_far(set, t))
			srun_words(w, set, t, 1);
		else
			ranks_words_torchrun(
			    w, command, has_torchrun(set), 1, n);
		break;
	case STUDY_LAUNCHER_MPIRUN:
		strv_add(w, xstrdup("mpirun"));
		strv_add(w, xstrdup("-np"));
		strv_add(w, xasprintf("%lld", (long long)(n * set->nodes)));
		break;
	}
}

/* hpotune-ranks in one of its modes, up to "--". */
static void
ranks_words(struct strv *w, const struct slurm *s, const char *mode,
    const char *dir, int64_t processes)
{
	strv_add(w, xstrdup(s->ranks));
	strv_add(w, xstrdup(mode));
	strv_add(w, xasprintf("dir=%s", dir));
	number_word(w, "processes", processes);
	if (is_far(&s->set, s->trial))
		number_word(w, "nodes", s->set.nodes);
	number_word(w, "grace-ms", s->trial->grace_ms);
}

void
slurm_ranks_command(struct strv *w, const struct slurm *s,
    const struct launch_spec *spec, const char *dir)
{
	const struct study_trial *t = spec->settings;
	int64_t n = s->set.tasks, all = n * s->set.nodes;
	bool own = t->launcher == STUDY_LAUNCHER_RANKS && !is_far(&s->set, t);

	if (t->launcher == STUDY_LAUNCHER_NONE)
		return;
	ranks_words(w, s, own ? "start" : "launcher", dir, all);
	number_word(w, "servers", t->servers);
	number_word(w, "ports", t->servers == 0 ? 1 : 1 + n + t->servers);
	number_word(w, "place", spec->slot);
	/* slurm-folder.c: the shell puts in the number. */
	strv_add(w, xstrdup(SLURM_RANKS_CPUS));
	strv_add(w, xstrdup("--"));
	if (own)
		return;
	launcher_words(w, &s->set, t, spec->argv[0]);
	if (t->launcher == STUDY_LAUNCHER_TORCHRUN && is_far(&s->set, t)) {
		ranks_words(w, s, "node", dir, all);
		strv_add(w, xstrdup("--"));
		ranks_words_torchrun(
		    w, spec->argv[0], has_torchrun(&s->set), s->set.nodes, n);
	}
	ranks_words(w, s, "each", dir, all);
	strv_add(w, xstrdup("--"));
}

void
slurm_ranks_describe(const struct study_trial *t, struct buf *text)
{
	switch (t->launcher) {
	case STUDY_LAUNCHER_NONE:
		break;
	case STUDY_LAUNCHER_RANKS:
		buf_puts(text, "hpotune-ranks in the job, by srun over "
			       "several nodes");
		break;
	case STUDY_LAUNCHER_TORCHRUN:
		buf_puts(text, "torchrun on each node of the job");
		break;
	case STUDY_LAUNCHER_MPIRUN:
		buf_puts(text, "mpirun in the job");
		break;
	case STUDY_LAUNCHER_SRUN:
		buf_puts(text, "srun in the job");
		break;
	}
}
