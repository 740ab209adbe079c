/* The scripts of an attempt: its environment, its job, its packed program. */

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/model/study/study.h"
#include "trials/node/node.h"
#include "trials/pack/pack-trial.h"
#include "trials/process/exec-path.h"
#include "trials/ranks/ranks.h"
#include "trials/slurm/slurm-internal.h"

/* ---- trials of several processes ---------------------------------------- */

/*
 * The words before their command.  On one node they are those of a local trial;
 * on several, srun or mpirun starts hpotune-ranks before each rank.
 */

/* A word of the shell for the argument with the cores of the trial. */
#define RANKS_CPUS "cpus=${SLURM_CPUS_ON_NODE:-0}"

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

/* The words between the supervisor and the command of an attempt. */
static void
ranks_command(struct strv *w, const struct slurm *s,
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
	/* The shell puts in the number. */
	strv_add(w, xstrdup(RANKS_CPUS));
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

/* ---- the environment and the scripts ------------------------------------ */

/* 'it'\''s' */
void
slurm_script_put_quoted(struct buf *b, const char *text)
{
	buf_putc(b, '\'');
	for (; *text != '\0'; text++)
		if (*text == '\'')
			buf_puts(b, "'\\''");
		else
			buf_putc(b, *text);
	buf_putc(b, '\'');
}

/* What belongs to the machine of the server, or is given by Slurm. */
static bool
is_of_machine(const char *word)
{
	static const char *const names[] = { "SLURM_", "SLURMD_", "SBATCH_",
		"CUDA_VISIBLE_DEVICES=", "GPU_DEVICE_ORDINAL=",
		"ROCR_VISIBLE_DEVICES=", "ZE_AFFINITY_MASK=", "HOSTNAME=",
		"TMPDIR=", "PWD=", "HPOTUNE_DEADLINE=", "HPOTUNE_PLACE=",
		NODE_PACK_PLACE "=",
		"OLDPWD=", "SHLVL=", "_=", "XDG_RUNTIME_DIR=", "SSH_",
		"DISPLAY=", NULL };
	size_t i;

	for (i = 0; names[i] != NULL; i++)
		if (strncmp(word, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

static void
put_variable(struct buf *b, const char *word)
{
	static const char letters[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
	size_t n = strcspn(word, "=");

	/* A shell can set no other names. */
	if (n == 0 || word[n] != '=' || strspn(word, letters) != n ||
	    (word[0] >= '0' && word[0] <= '9'))
		return;
	buf_printf(b, "export %.*s=", (int)n, word);
	slurm_script_put_quoted(b, word + n + 1);
	buf_putc(b, '\n');
}

static void
words_add(struct strv *w, char *const *words, bool but_machine)
{
	for (; words != NULL && *words != NULL; words++)
		if (!but_machine || !is_of_machine(*words))
			strv_add(w, xstrdup(*words));
}

static void
passed_add(struct strv *w, const char *name)
{
	const char *value = getenv(name);

	if (value != NULL)
		strv_add(w, xasprintf("%s=%s", name, value));
}

/* What is there before trial.env. */
static void
inherited_add(struct strv *w, const struct study_trial *t)
{
	static const char *const always[] = { "PATH", "HOME", "LANG" };
	size_t i;

	if (!t->clean_env) {
		words_add(w, environ, true);
		return;
	}
	for (i = 0; i < sizeof always / sizeof always[0]; i++)
		passed_add(w, always[i]);
	for (i = 0; t->pass_env != NULL && t->pass_env[i] != NULL; i++)
		passed_add(w, t->pass_env[i]);
}

static void
path_add(struct strv *w, const char *name, const char *dir, const char *file)
{
	strv_add(w, xasprintf("%s=%s/%s", name, dir, file));
}

/* The environment of an attempt; later words replace earlier ones. */
static struct strv
environment(const struct launch_spec *spec, const char *dir)
{
	struct strv w = { 0 };

	/* Otherwise Python would keep its reports until it ends. */
	strv_add(&w, xstrdup("PYTHONUNBUFFERED=1"));
	inherited_add(&w, spec->settings);
	words_add(&w, launcher_spec_env(spec), false);
	words_add(&w, spec->env, false);
	path_add(&w, "HPOTUNE_PARAMS", dir, "params.json");
	path_add(&w, "HPOTUNE_METRICS", dir, "metrics.jsonl");
	path_add(&w, "HPOTUNE_CHECKPOINT_DIR", spec->trial_dir, "checkpoint");
	path_add(&w, "HPOTUNE_OUTPUT_DIR", spec->trial_dir, "output");
	strv_add(&w, xasprintf("HPOTUNE_ATTEMPT_UUID=%s", spec->uuid));
	return w;
}

/* In a file of its own: it may have secrets, and Slurm copies the script. */
static int
env_write(const struct launch_spec *spec, const char *dir, struct err *e)
{
	struct strv w = environment(spec, dir);
	struct buf b = { 0 };
	size_t i;
	int rc;

	for (i = 0; i < w.n; i++)
		put_variable(&b, w.v[i]);
	rc = slurm_folder_write(dir, "env.sh", buf_str(&b), e);
	buf_free(&b);
	strv_free(w.v);
	return rc;
}

static void
put_argument(struct buf *b, const char *name, const char *value)
{
	buf_printf(b, " %s=", name);
	slurm_script_put_quoted(b, value);
}

static void
put_number(struct buf *b, const char *name, int64_t value)
{
	buf_printf(b, " %s=%lld", name, (long long)value);
}

/*
 * HPOTUNE_DEADLINE: when Slurm sends SIGTERM before the limit of the job, if it
 * has one.  Newer versions give the end; without it, it follows from the
 * limit, or is asked for.
 */
void
slurm_script_put_deadline(struct buf *b, const struct slurm_settings *set)
{
	buf_puts(b, "hpotune_end=${SLURM_JOB_END_TIME:-}\n");
	if (set->time_s > 0)
		buf_printf(b,
		    "[ -n \"$hpotune_end\" ] ||\n"
		    "\thpotune_end=$(($(date +%%s) + %lld))\n",
		    (long long)set->time_s);
	else
		buf_puts(b,
		    "[ -n \"$hpotune_end\" ] ||\n"
		    "\thpotune_end=$(date +%s -d \"$(timeout 20 squeue -h \\\n"
		    "\t    -o %e -j \"$SLURM_JOB_ID\" 2>/dev/null)\" "
		    "2>/dev/null)\n");
	/* A job without a limit has an end that is a year ahead. */
	buf_printf(b,
	    "unset HPOTUNE_DEADLINE\n"
	    "if [ \"${hpotune_end:-0}\" -gt 0 ] &&\n"
	    "    [ \"$hpotune_end\" -lt $(($(date +%%s) + 31000000)) ]; "
	    "then\n"
	    "\tHPOTUNE_DEADLINE=$((hpotune_end - %lld))\n"
	    "\texport HPOTUNE_DEADLINE\nfi\n",
	    (long long)set->signal_s);
}

/*
 * What the processes of several nodes need: the address of the first node, and
 * an environment that srun passes on although that of sbatch was not.
 */
static void
put_steps(struct buf *b, const struct slurm_settings *set)
{
	buf_puts(b, "unset SLURM_EXPORT_ENV\n");
	if (set->nodes > 1)
		buf_puts(b, "MASTER_ADDR=$SLURMD_NODENAME\n"
			    "getent hosts \"$MASTER_ADDR\" >/dev/null ||\n"
			    "\tMASTER_ADDR=$(hostname)\n"
			    "export MASTER_ADDR\n");
}

/* hpotune-ranks and launchers, if any. */
static void
put_ranks(struct buf *b, const struct slurm *s, const struct launch_spec *spec,
    const char *dir)
{
	struct strv w = { 0 };
	size_t i;

	ranks_command(&w, s, spec, dir);
	for (i = 0; i < w.n; i++) {
		buf_putc(b, ' ');
		/* The one word that the shell replaces. */
		if (strcmp(w.v[i], RANKS_CPUS) == 0)
			buf_puts(b, w.v[i]);
		else
			slurm_script_put_quoted(b, w.v[i]);
	}
	strv_free(w.v);
}

static void
put_words(struct buf *b, char *const *words)
{
	for (; *words != NULL; words++) {
		buf_putc(b, ' ');
		slurm_script_put_quoted(b, *words);
	}
}

/* The command of the study, or what stands for a packed trial. */
static void
put_command(struct buf *b, const struct slurm *s,
    const struct launch_spec *spec, const char *dir)
{
	char key[PACK_TRIAL_KEY];

	if (s->set.pack == 0) {
		put_ranks(b, s, spec, dir);
		put_words(b, spec->argv);
		return;
	}
	pack_trial_key(key, spec->settings);
	buf_putc(b, ' ');
	slurm_script_put_quoted(b, s->pack);
	buf_printf(b, " join \"$" NODE_PACK_PLACE "\" %s ", key);
	slurm_script_put_quoted(b, dir);
}

static void
put_gpus(struct buf *b)
{
	buf_puts(b, "SM_NUM_GPUS=${SLURM_GPUS_ON_NODE:-0} "
		    "CUDA_VISIBLE_DEVICES=${CUDA_VISIBLE_DEVICES-}\n"
		    "export SM_NUM_GPUS CUDA_VISIBLE_DEVICES\n");
}

/* A login shell defines what setup may call, such as module. */
static void
put_shell(struct buf *b, const struct slurm_settings *set)
{
	buf_puts(b, set->setup != NULL ? "#!/bin/bash -l\n" : "#!/bin/sh\n");
}

/* The job is the supervisor: the shell becomes it. */
static int
job_write(const struct slurm *s, const struct launch_spec *spec,
    const char *dir, struct err *e)
{
	const struct study_trial *t = spec->settings;
	struct buf b = { 0 };
	int rc;

	put_shell(&b, &s->set);
	buf_printf(&b, "# hpotune: trial %lld, attempt %d\n. ",
	    (long long)spec->trial, spec->attempt);
	slurm_script_put_quoted(&b, dir);
	buf_puts(&b, "/env.sh || exit\n");
	if (s->set.setup != NULL)
		buf_printf(&b, "%s\n", s->set.setup);
	/* In a job of several trials hpotune-node gives it. */
	if (s->set.per_job == 1)
		slurm_script_put_deadline(&b, &s->set);
	put_steps(&b, &s->set);
	put_gpus(&b);
	buf_puts(&b, "exec ");
	slurm_script_put_quoted(&b, s->shim);
	put_number(&b, "shared", 1);
	put_argument(&b, "dir", dir);
	put_argument(&b, "uuid", spec->uuid);
	put_argument(&b, "workdir", launcher_spec_workdir(spec));
	put_number(&b, "grace-ms", t->grace_ms);
	put_number(&b, "max-run-ms", t->max_run_ms);
	if (spec->from_dir != NULL) {
		put_argument(&b, "from", spec->from_dir);
		put_number(&b, "from-trial", spec->from);
	}
	buf_puts(&b, " --");
	put_command(&b, s, spec, dir);
	buf_putc(&b, '\n');
	rc = slurm_folder_write(dir, "job.sh", buf_str(&b), e);
	buf_free(&b);
	return rc;
}

/*
 * The shell becomes the server of the program of packed trials.  Slurm does not
 * copy this script: it may have secrets.
 */
static int
serve_write(const struct slurm *s, const struct launch_spec *spec,
    const char *dir, struct err *e)
{
	struct strv env = environment(spec, dir), w = { 0 };
	char key[PACK_TRIAL_KEY];
	struct buf b = { 0 };
	size_t i;
	int rc;

	pack_trial_key(key, spec->settings);
	put_shell(&b, &s->set);
	buf_puts(&b, "# hpotune: the program of packed trials\n");
	for (i = 0; i < env.n; i++)
		if (!pack_trial_variable(env.v[i]))
			put_variable(&b, env.v[i]);
	if (s->set.setup != NULL)
		buf_printf(&b, "%s\n", s->set.setup);
	put_gpus(&b);
	buf_puts(&b, "HPOTUNE_PACK_DIR=$" NODE_PACK_PLACE "\n"
		     "export HPOTUNE_PACK_DIR\nexec ");
	slurm_script_put_quoted(&b, s->pack);
	buf_puts(&b, " serve dir=\"$" NODE_PACK_PLACE "\"");
	pack_trial_serve_words(
	    &w, spec->settings, key, spec->trial, spec->attempt);
	put_words(&b, w.v);
	buf_puts(&b, " --");
	put_words(&b, spec->argv);
	buf_putc(&b, '\n');
	rc = slurm_folder_write(dir, NODE_SERVE_FILE, buf_str(&b), e);
	buf_free(&b);
	strv_free(w.v);
	strv_free(env.v);
	return rc;
}

int
slurm_script_write(const struct slurm *s, const struct launch_spec *spec,
    const char *dir, struct err *e)
{
	int rc = env_write(spec, dir, e);

	if (rc == 0)
		rc = job_write(s, spec, dir, e);
	if (rc == 0 && s->set.pack > 0)
		rc = serve_write(s, spec, dir, e);
	return rc;
}
