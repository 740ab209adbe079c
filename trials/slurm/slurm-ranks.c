/*
 * Trials of several processes: the words before their command.  On one node they
 * are those of a local trial; on several, srun or mpirun starts hpotune-ranks
 * before each rank.
 */

#include <stdlib.h>

#include "src/model/study/study.h"
#include "trials/process/exec-why.h"
#include "trials/ranks/ranks.h"
#include "trials/slurm/slurm-internal.h"

/* Whether ranks are started through a program that reaches other nodes. */
static bool
is_far(const struct slurm_settings *set, const struct study_trial *t)
{
	return t->launcher == STUDY_LAUNCHER_SRUN ||
	       (set->nodes > 1 && t->launcher != STUDY_LAUNCHER_NONE);
}

static void
slurm_ranks_number_word(struct strv *w, const char *name, int64_t number)
{
	strv_add(w, xasprintf("%s=%lld", name, (long long)number));
}

/* Where modules may define torchrun, it is taken to be there. */
static bool
has_torchrun(const struct slurm_settings *set)
{
	return set->setup != NULL ||
	       exec_why_look(NULL, "torchrun", getenv("PATH"), NULL, 0) == 0;
}

static void
srun_words(struct strv *w, const struct slurm_settings *set,
    const struct study_trial *t, int64_t per_node)
{
	int64_t cpus = set->cpus;

	strv_add(w, xstrdup("srun"));
	slurm_ranks_number_word(w, "--nodes", set->nodes);
	slurm_ranks_number_word(w, "--ntasks", per_node * set->nodes);
	slurm_ranks_number_word(w, "--ntasks-per-node", per_node);
	/* Where one task starts all ranks of its node. */
	cpus *= set->tasks / per_node;
	if (cpus > 0)
		slurm_ranks_number_word(w, "--cpus-per-task", cpus);
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
slurm_ranks_launcher_words(struct strv *w, const struct slurm_settings *set,
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
    const char *dir, const char *workdir, int64_t processes)
{
	slurm_script_entered_words(w, s, &s->ranks);
	strv_add(w, xstrdup(mode));
	strv_add(w, xasprintf("dir=%s", dir));
	strv_add(w, xasprintf("workdir=%s", workdir));
	slurm_ranks_number_word(w, "processes", processes);
	if (is_far(&s->set, s->trial))
		slurm_ranks_number_word(w, "nodes", s->set.nodes);
	slurm_ranks_number_word(w, "grace-ms", s->trial->grace_ms);
}

void
slurm_ranks_command(struct strv *w, const struct slurm *s,
    const struct launch_spec *spec, const char *dir)
{
	const struct study_trial *t = spec->settings;
	const char *workdir = backend_spec_workdir(spec);
	int64_t n = s->set.tasks, all = n * s->set.nodes;
	bool own = t->launcher == STUDY_LAUNCHER_RANKS && !is_far(&s->set, t);

	if (t->launcher == STUDY_LAUNCHER_NONE)
		return;
	ranks_words(w, s, own ? "start" : "launcher", dir, workdir, all);
	slurm_ranks_number_word(w, "servers", t->servers);
	slurm_ranks_number_word(
	    w, "ports", t->servers == 0 ? 1 : 1 + n + t->servers);
	slurm_ranks_number_word(w, "place", spec->slot);
	/* The shell puts in the number. */
	strv_add(w, xstrdup(SLURM_RANKS_CPUS));
	strv_add(w, xstrdup("--"));
	if (own)
		return;
	slurm_ranks_launcher_words(w, &s->set, t, spec->argv[0]);
	if (t->launcher == STUDY_LAUNCHER_TORCHRUN && is_far(&s->set, t)) {
		ranks_words(w, s, "node", dir, workdir, all);
		strv_add(w, xstrdup("--"));
		ranks_words_torchrun(
		    w, spec->argv[0], has_torchrun(&s->set), s->set.nodes, n);
	}
	ranks_words(w, s, "each", dir, workdir, all);
	strv_add(w, xstrdup("--"));
}
