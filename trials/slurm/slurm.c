/*
 * The backend for Slurm: the job of an attempt is its supervisor, and jobs
 * are submitted one after the other.  Callbacks of squeue and sbatch keep the
 * answer until collect(); the files of all attempts are looked at by a timer.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/capture.h"
#include "src/base/err.h"
#include "src/base/fail.h"
#include "src/base/loop.h"
#include "src/model/study/study.h"
#include "trials/metric-files/metric-files.h"
#include "trials/metric-unread/unread-log.h"
#include "trials/shim/shim.h"
#include "trials/slurm/slurm-internal.h"

/* Between two looks at the files of an attempt. */
enum { LOOK_MIN_MS = 500, LOOK_MAX_MS = 3000 };

static void
notes_tell(struct slurm *s)
{
	char *text, *line, *rest;

	if (s->notes.len == 0)
		return;
	text = rest = buf_take(&s->notes);
	while ((line = strsep(&rest, "\n")) != NULL) {
		if (*line != '\0')
			backend_note(&s->source, LAUNCH_WARNING, "%s", line);
	}
	free(text);
}

static void
slurm_on_look(void *arg)
{
	struct slurm *s = arg;

	s->look_due = true;
	loop_wake(s->loop);
}

static struct slurm_attempt *
follow(struct slurm *s, const struct launch_spec *spec)
{
	struct slurm_attempt *a = xcalloc(1, sizeof *a);

	a->slurm = s;
	a->source = s->source;
	a->source.trial = spec->trial;
	a->source.attempt = spec->attempt;
	(void)snprintf(a->uuid, sizeof a->uuid, "%s", spec->uuid);
	(void)snprintf(a->name, sizeof a->name, "%.150s%lld.%d-%.8s", s->prefix,
	    (long long)spec->trial, spec->attempt, spec->uuid);
	a->dir = backend_spec_attempt_dir(spec);
	a->trial_dir = xstrdup(spec->trial_dir);
	a->cursor = spec->cursor;
	a->lines = metric_log_new(s->rules);
	/* Reports of an attempt that was not up are not recorded. */
	a->files = metric_files_new(spec->settings, spec->files, spec->up);
	a->grace_ms = spec->settings->grace_ms;
	/*
	 * Whether the attempt is a guest is read as it was made: the study may
	 * be another one now.
	 */
	(void)slurm_folder_made(a->dir, a->uuid, &a->is_guest);
	slurm_follow(s, a);
	return a;
}

static void
slurm_attempt_free(struct slurm_attempt *a)
{
	free(a->dir);
	free(a->trial_dir);
	metric_files_free(a->files);
	metric_log_free(a->lines);
	free(a);
}

static int64_t
look_wait(const struct slurm *s)
{
	int64_t ms = (int64_t)s->n * 5;

	return ms < LOOK_MIN_MS	  ? LOOK_MIN_MS
	       : ms > LOOK_MAX_MS ? LOOK_MAX_MS
				  : ms;
}

/* Nothing is read, and no job submitted, in the folder of somebody else. */
static void
root_look(struct slurm *s)
{
	struct err e = ERR_INIT;
	bool ours = slurm_folder_is_ours(s, &e);

	if (!ours && !s->root_noted)
		backend_note(&s->source, LAUNCH_WARNING,
		    "%s: until it is as it was, nothing in it is read or "
		    "started",
		    e.text);
	s->root_noted = !ours;
}

static void
slurm_collect(void *ctx)
{
	struct slurm *s = ctx;
	size_t i, kept = 0;

	fail_point("slurm.before_collect");
	notes_tell(s);
	slurm_submit_read(s);
	slurm_quota_collect(s);
	slurm_queue_read(s);
	slurm_grace_collect(s);
	slurm_accounting_collect(s, slurm_queue_row);
	slurm_missing_collect(s);
	if (s->look_due) {
		s->look_due = false;
		if (s->n > 0)
			loop_timer_set(s->look_timer, look_wait(s));
		root_look(s);
		for (i = 0; i < s->n && !s->root_noted; i++)
			slurm_look(s->attempts[i]);
	}
	for (i = 0; i < s->n; i++)
		if (s->attempts[i]->phase == SLURM_OVER)
			slurm_attempt_free(s->attempts[i]);
		else
			s->attempts[kept++] = s->attempts[i];
	s->n = kept;
	slurm_allocation_place(s);
	slurm_queue_cancel(s);
	slurm_submit_next(s);
}

static void
slurm_close(void *ctx)
{
	struct slurm *s = ctx;
	size_t i;

	capture_kill(s->submit.child);
	capture_kill(s->queue.child);
	capture_kill(s->cancel.child);
	capture_kill(s->boot.child);
	capture_kill(s->who.child);
	slurm_queue_close(s);
	slurm_missing_close(s);
	slurm_accounting_close(s);
	slurm_grace_close(s);
	slurm_quota_close(s);
	slurm_allocation_close(s);
	for (i = 0; i < s->n; i++)
		slurm_attempt_free(s->attempts[i]);
	free(s->attempts);
	free(s->strays);
	loop_timer_free(s->look_timer);
	loop_timer_free(s->submit.timer);
	loop_timer_free(s->queue.timer);
	if (s->rules != NULL)
		metric_patterns_free(s->rules);
	slurm_nodes_forgive(s);
	strv_free(s->noted_reasons.v);
	strv_free(s->noted_warm.v);
	strv_free(s->cancel.soft.v);
	strv_free(s->cancel.hard.v);
	slurm_options_free(&s->set);
	buf_free(&s->notes);
	free(s->submit.out);
	free(s->submit.why);
	free(s->queue.text);
	free(s->study);
	free(s->study_id);
	free(s->state_dir);
	free(s->root);
	buf_free(&s->sums);
	free(s->prefix);
	slurm_folder_copy_free(&s->shim);
	slurm_folder_copy_free(&s->ranks);
	slurm_folder_copy_free(&s->node);
	slurm_folder_copy_free(&s->pack);
	free(s);
}

/* The names of all jobs of this study begin with it. */
static char *
prefix_make(const struct launch_env *env)
{
	char study[100];
	size_t i;

	(void)snprintf(study, sizeof study, "%s", env->study);
	for (i = 0; study[i] != '\0'; i++)
		if (strchr("|,%\n\\\"' ", study[i]) != NULL)
			study[i] = '_';
	return xasprintf(
	    "hp-%s-%s-", study, env->study_id != NULL ? env->study_id : "");
}

static int
tools_find(struct err *e)
{
	char *argv[] = { "sbatch", "--version", NULL };
	struct buf out = { 0 };
	int status = slurm_program_call(argv, SLURM_TOOL_MS, &out);

	buf_free(&out);
	if (status == 0)
		return 0;
	return err_set(e, ERR_LAUNCH,
	    "sbatch is not found or does not work: the server of a study on "
	    "Slurm runs on a node where jobs are submitted; hpotune doctor "
	    "says what is missing");
}

static int64_t
slurm_parallel(const struct study_trial *t)
{
	return t->pack > SLURM_SLOTS_DEFAULT ? t->pack : SLURM_SLOTS_DEFAULT;
}

static int
slurm_open(void **ctx, const struct launch_env *env, struct err *e)
{
	struct slurm *s = xcalloc(1, sizeof *s);

	s->loop = env->loop;
	s->source.event = env->event;
	s->source.arg = env->arg;
	s->study = xstrdup(env->study);
	s->state_dir = xstrdup(env->state_dir);
	s->prefix = prefix_make(env);
	s->trial = env->settings;
	s->hold = env->hold;
	s->look_timer = loop_timer_new(s->loop, slurm_on_look, s);
	s->submit.timer = loop_timer_new(s->loop, slurm_submit_on_timer, s);
	slurm_missing_open(s);
	s->parallel = (int)(env->parallel > 0 ? env->parallel
					      : slurm_parallel(env->settings));
	slurm_quota_open(s);
	if (slurm_options_read(&s->set, env->settings, env->options, e) != 0 ||
	    tools_find(e) != 0 || slurm_folder_open(s, env, e) != 0 ||
	    slurm_shims_open(s, e) != 0 || slurm_allocation_load(s, e) != 0 ||
	    metric_patterns_new(&s->rules, env->settings, e) == -1) {
		slurm_close(s);
		return -1;
	}
	slurm_options_fit(&s->set, s->parallel);
	if (slurm_grace_open(s, e) != 0) {
		slurm_close(s);
		return -1;
	}
	*ctx = s;
	return 0;
}

static int
slurm_replicas(const struct study_trial *t, const struct option_value *values)
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

static int64_t
slurm_gpus(const struct study_trial *t, const struct option_value *values)
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

static void
slurm_describe(const struct study_trial *t, struct buf *text)
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

static const char *
slurm_folder(const struct option_value *values)
{
	const struct option_value *dir = plugin_option_get(values, "dir");

	return dir->is_set ? dir->text : NULL;
}

static int
slurm_slots(void *ctx)
{
	const struct slurm *s = ctx;

	return s->slots;
}

static int
slurm_start(void *ctx, const struct launch_spec *spec, struct err *e)
{
	struct slurm *s = ctx;

	if (slurm_find(s, spec->trial, spec->attempt) != NULL)
		return 0;
	if (slurm_folder_make(s, spec, e) == -1)
		return -1;
	(void)follow(s, spec);
	return 0;
}

static void
slurm_stop(void *ctx, int64_t trial, int attempt, bool now)
{
	struct slurm *s = ctx;
	struct slurm_attempt *a = slurm_find(s, trial, attempt);
	enum slurm_stop want = now ? SLURM_STOP_NOW : SLURM_STOP_GRACE;

	if (a == NULL || a->stop >= want)
		return;
	if (a->stop == SLURM_STOP_NONE)
		a->stop_ms = loop_now_ms(s->loop);
	a->stop = want;
	s->look_due = true;
	loop_wake(s->loop);
}

/* Where a server has died: the folder says whether a job may exist. */
static enum launch_adoption
slurm_adopt(void *ctx, const struct launch_spec *spec, struct err *e)
{
	struct slurm *s = ctx;
	struct slurm_attempt *a;
	bool made, guest;
	char *dir;

	(void)e;
	if (slurm_find(s, spec->trial, spec->attempt) != NULL)
		return ADOPT_ALIVE;
	dir = backend_spec_attempt_dir(spec);
	made = slurm_folder_made(dir, spec->uuid, &guest);
	if (!made &&
	    (access(s->state_dir, F_OK) == -1 || access(s->root, F_OK) == -1)) {
		(void)err_set(e, ERR_BUSY, "%s was moved or removed",
		    access(s->root, F_OK) == -1 ? s->root : s->state_dir);
		free(dir);
		return ADOPT_UNKNOWN;
	}
	free(dir);
	if (!made)
		return ADOPT_NEVER;
	a = follow(s, spec);
	if (a->is_guest)
		slurm_allocation_adopt(a);
	else
		slurm_phase(a, SLURM_LOOK);
	slurm_queue_ask(s, true);
	return ADOPT_ALIVE;
}

static int
slurm_abandon(void *ctx, const struct launch_spec *spec, struct err *e)
{
	char *dir = backend_spec_attempt_dir(spec);
	int rc = access(dir, F_OK) == -1
		     ? 0
		     : slurm_folder_abandon(dir, spec->uuid, e);

	(void)ctx;
	if (rc == 1)
		rc = err_set(e, ERR_BUSY, "%s: was started meanwhile", dir);
	free(dir);
	return rc;
}

static enum launch_kept
slurm_kept(void *ctx, int64_t trial)
{
	const struct slurm *s = ctx;

	return backend_kept_below(s->state_dir, trial);
}

static bool
slurm_unread(void *ctx, const char *folder, const char *metric, bool *file,
    struct buf *why)
{
	const struct slurm *s = ctx;
	struct buf log = { 0 };
	bool any;
	size_t i;

	for (i = 0; i < s->n && !*file; i++)
		*file =
		    strcmp(s->attempts[i]->dir, folder) == 0 &&
		    metric_files_put_unread(s->attempts[i]->files, metric, why);
	any = unread_log_put(&log, folder, s->rules, metric);
	if (any)
		buf_printf(why, "%s%s", *file ? "; " : "", buf_str(&log));
	buf_free(&log);
	return any || *file;
}

static bool
slurm_places(void *ctx, int64_t trial, int attempt, struct buf *names)
{
	struct slurm *s = ctx;
	const struct slurm_attempt *a;

	if (names == NULL)
		return true;
	a = slurm_find(s, trial, attempt);
	/* Which one of several nodes failed is not known. */
	if (a != NULL && s->set.exclude && s->set.nodes == 1)
		buf_puts(names, a->node);
	return true;
}

const struct backend_type backend_slurm = {
	.name = "slurm",
	.about = "jobs of a Slurm cluster",
	.options = slurm_options,
	.before = SLURM_OUT_FILE,
	.check = slurm_options_check,
	.replicas = slurm_replicas,
	.parallel = slurm_parallel,
	.starts = slurm_describe,
	.asks = slurm_options_describe,
	.warns = slurm_sight_warn,
	.cold = slurm_warm_cold,
	.folder = slurm_folder,
	.attempt_gpus = slurm_gpus,
	.continues = true,
	.packs = true,
	.shims = true,
	.sources = true,
	.strays = slurm_gc_strays,
	.doctor = slurm_doctor,
	.open = slurm_open,
	.close = slurm_close,
	.slots = slurm_slots,
	.places = slurm_places,
	.avoid = slurm_nodes_avoid,
	.start = slurm_start,
	.stop = slurm_stop,
	.adopt = slurm_adopt,
	.abandon = slurm_abandon,
	.kept = slurm_kept,
	.unread = slurm_unread,
	.collect = slurm_collect,
};
