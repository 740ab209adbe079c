/* The scripts of an attempt: its environment, its job, its packed program. */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/model/study/study.h"
#include "trials/node/node.h"
#include "trials/pack/pack-trial.h"
#include "trials/shim/shim.h"
#include "trials/slurm/slurm-internal.h"

/*
 * The folder that was entered.  bash executes what is relative by the path that it
 * remembers of the folder, and cd does so in all shells, without -P.
 */
#define HERE "/proc/self/cwd/"

/*
 * Of the script of a job and of each program that is started later, perhaps on
 * another node: a folder is looked at that was entered, and nobody else can write
 * in it.
 */
#define ENTER_FUNCTIONS                                                       \
	"hpotune_refuse() {\n"                                                \
	"\techo \"hpotune-job: $hpotune_root: $1: nothing is started\" >&2\n" \
	"\texit 1\n}\n"                                                       \
	"hpotune_enter() {\n"                                                 \
	"\tcd -P \"$hpotune_root\" || hpotune_refuse 'cannot be entered'\n"   \
	"\t[ -O . ] || hpotune_refuse 'belongs to another user'\n"            \
	"\tcase $(LC_ALL=C ls -ld .) in\n"                                    \
	"\td????[-]??[-]*) ;;\n"                                              \
	"\t*) hpotune_refuse 'other users can write in it' ;;\n"              \
	"\tesac\n}\n"
#define REFUSE_PROGRAM \
	"hpotune_refuse 'a program in " SLURM_BIN_DIR " is another one'\n"

void
slurm_script_entered_words(
    struct strv *w, const struct slurm *s, const struct slurm_copy *copy)
{
	static const char script[] =
	    "hpotune_root=$0\n" ENTER_FUNCTIONS "hpotune_enter\n"
	    "echo \"$1\" | sha256sum -c >/dev/null 2>&1 ||\n"
	    "\t" REFUSE_PROGRAM "hpotune_program=${1#*  }\nshift\n"
	    "exec \"" HERE "$hpotune_program\" \"$@\"\n";

	strv_add(w, xstrdup("sh"));
	strv_add(w, xstrdup("-c"));
	strv_add(w, xstrdup(script));
	strv_add(w, xstrdup(s->root));
	strv_add(w, xstrdup(copy->sum));
}

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
		"SRUN_", "PMI_", "PMI2_", "PMIX_", "CUDA_VISIBLE_DEVICES=",
		"GPU_DEVICE_ORDINAL=", "ROCR_VISIBLE_DEVICES=",
		"ZE_AFFINITY_MASK=", "HOSTNAME=", "TMPDIR=", "PWD=",
		"HPOTUNE_DEADLINE=", "HPOTUNE_PLACE=", NODE_PACK_PLACE "=",
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
slurm_script_words_add(struct strv *w, char *const *words, bool but_machine)
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
		slurm_script_words_add(w, environ, true);
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
	slurm_script_words_add(&w, backend_spec_env(spec), false);
	slurm_script_words_add(&w, spec->env, false);
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

/* hpotune-ranks and backends, if any. */
static void
put_ranks(struct buf *b, const struct slurm *s, const struct launch_spec *spec,
    const char *dir)
{
	struct strv w = { 0 };
	size_t i;

	slurm_ranks_command(&w, s, spec, dir);
	for (i = 0; i < w.n; i++) {
		buf_putc(b, ' ');
		/* The one word that the shell replaces. */
		if (strcmp(w.v[i], SLURM_RANKS_CPUS) == 0)
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
	struct strv w = { 0 };

	if (s->set.pack == 0) {
		put_ranks(b, s, spec, dir);
		put_words(b, spec->argv);
		return;
	}
	pack_trial_key(key, spec->settings);
	slurm_script_entered_words(&w, s, &s->pack);
	put_words(b, w.v);
	strv_free(w.v);
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

/* What is below the root, as jobs that have entered it see it. */
static const char *
slurm_script_below_root(const struct slurm *s, const char *path)
{
	size_t n = strlen(s->root);

	/* Without backend.dir the trials are in NAME.d, which is the root. */
	return strncmp(path, s->root, n) == 0 && path[n] == '/' ? path + n + 1
								: path;
}

void
slurm_script_put_below(struct buf *b, const struct slurm *s, const char *path)
{
	slurm_script_put_quoted(b, slurm_script_below_root(s, path));
}

void
slurm_script_put_exec(
    struct buf *b, const struct slurm *s, const struct slurm_copy *program)
{
	buf_puts(b, "exec " HERE);
	slurm_script_put_below(b, s, program->path);
}

/*
 * Slurm has its own copy of the script of a job, and the folders are looked for
 * by their path when it begins: whoever can rename those above the root may have
 * put another one there.  In the one that was entered nobody else can write.
 */
void
slurm_script_put_enter(
    struct buf *b, const struct slurm *s, const char *folder, const char *uuid)
{
	buf_puts(b, "hpotune_root=");
	slurm_script_put_quoted(b, s->root);
	buf_puts(b, "\nhpotune_folder=");
	slurm_script_put_below(b, s, folder);
	buf_puts(b,
	    "\n" ENTER_FUNCTIONS "hpotune_enter\n"
	    /* Later looks tell by this one whether the script has begun. */
	    "echo begun 2>/dev/null >\"$hpotune_folder/" SLURM_BEGUN_FILE "\"\n"
	    /* A shell that becomes the supervisor does not come here. */
	    "hpotune_leave() {\n"
	    "\thpotune_left=$?\n"
	    "\t[ $hpotune_left -ge 128 ] || { hpotune_enter\n"
	    "\techo " SLURM_BEGUN_LEFT
	    " 2>/dev/null >\"$hpotune_folder/" SLURM_BEGUN_FILE "\"; }\n"
	    "\texit $hpotune_left\n"
	    "}\n"
	    "trap hpotune_leave EXIT\n");
	buf_printf(b,
	    "read -r hpotune_uuid hpotune_rest "
	    "<\"$hpotune_folder/" SLURM_CREATE_FILE "\" &&\n"
	    "    [ \"$hpotune_uuid\" = 'uuid=%s' ] ||\n"
	    "\thpotune_refuse \"$hpotune_folder is not that of this job\"\n",
	    uuid);
	buf_puts(b, "printf '%s' ");
	slurm_script_put_quoted(b, buf_str(&s->sums));
	buf_puts(b, " | sha256sum -c >/dev/null 2>&1 ||\n\t" REFUSE_PROGRAM);
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
	buf_printf(&b, "# hpotune: trial %lld, attempt %d\n",
	    (long long)spec->trial, spec->attempt);
	slurm_script_put_enter(&b, s, dir, spec->uuid);
	buf_puts(&b, "cd -P \"$hpotune_folder\" && . ./env.sh || exit\n");
	slurm_prelude_put_setup(&b, &s->set);
	slurm_shims_put(&b, s);
	/* In a job of several trials hpotune-node does this. */
	if (s->set.per_job == 1)
		slurm_script_put_deadline(&b, &s->set);
	put_steps(&b, &s->set);
	put_gpus(&b);
	buf_puts(&b, "hpotune_enter\nunset OLDPWD\n");
	slurm_script_put_exec(&b, s, &s->shim);
	put_number(&b, "shared", 1);
	put_argument(&b, "dir", slurm_script_below_root(s, dir));
	put_argument(&b, "uuid", spec->uuid);
	put_argument(&b, "workdir", backend_spec_workdir(spec));
	put_number(&b, "grace-ms", t->grace_ms);
	put_number(&b, "max-run-ms", t->max_run_ms);
	/* hpotune-node asks for all its trials, but Slurm tells srun itself. */
	if (s->set.per_job == 1)
		put_number(&b, "preempt-ms", s->set.preempt_ms);
	else if (s->set.preempt_ms > 0)
		put_number(&b, "preempt-last", 1);
	if (slurm_warm_used(s)) {
		put_number(&b, "node-fd", SHIM_NODE_FD);
		put_number(&b, "warm-skip", (int64_t)t->warm_at);
	}
	if (spec->from_dir != NULL) {
		put_argument(
		    &b, "from", slurm_script_below_root(s, spec->from_dir));
		put_number(&b, "from-trial", spec->from);
	}
	if (spec->commit != NULL) {
		put_argument(&b, "source", t->source.git);
		put_argument(&b, "commit", spec->commit);
		if (spec->refs != NULL)
			put_argument(&b, "source-refs", spec->refs);
		put_argument(&b, "source-base", t->dir);
		put_number(&b, "source-drop", t->source.drop);
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
	slurm_script_put_enter(&b, s, dir, spec->uuid);
	buf_puts(&b, "cd -P \"$hpotune_folder\" || exit\n");
	for (i = 0; i < env.n; i++)
		if (!pack_trial_variable(env.v[i]))
			put_variable(&b, env.v[i]);
	slurm_prelude_put_setup(&b, &s->set);
	put_gpus(&b);
	buf_puts(&b, "HPOTUNE_PACK_DIR=$" NODE_PACK_PLACE "\n"
		     "export HPOTUNE_PACK_DIR\nhpotune_enter\n");
	slurm_script_put_exec(&b, s, &s->pack);
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
