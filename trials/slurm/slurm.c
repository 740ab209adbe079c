/*
 * The launcher for Slurm: the job of an attempt is its supervisor.  Callbacks
 * of squeue and sbatch keep the answer until collect(); the files of all
 * attempts are looked at by a timer.
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
#include "trials/shim/shim.h"
#include "trials/metric-files/metric-files.h"
#include "trials/slurm/slurm-internal.h"

enum {
	LOOK_MIN_MS = 500, /* between two looks at the files of an attempt */
	LOOK_MAX_MS = 3000,
	LOOK_SOON_MS = 50,
	STRAY_MS = 3600 * 1000
};

struct slurm_attempt *
slurm_find(struct slurm *s, int64_t trial, int attempt)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (s->attempts[i]->source.trial == trial &&
		    s->attempts[i]->source.attempt == attempt &&
		    s->attempts[i]->phase != SLURM_OVER)
			return s->attempts[i];
	return NULL;
}

static void
notes_tell(struct slurm *s)
{
	char *text, *line, *rest;

	if (s->notes.len == 0)
		return;
	text = rest = buf_take(&s->notes);
	while ((line = strsep(&rest, "\n")) != NULL) {
		if (*line != '\0')
			launcher_note(&s->source, LAUNCH_WARNING, "%s", line);
	}
	free(text);
}

void
slurm_phase(struct slurm_attempt *a, enum slurm_phase phase)
{
	if (phase == a->phase)
		return;
	a->phase = phase;
	a->since_ms = loop_now_ms(a->slurm->loop);
	a->missing = 0;
	loop_wake(a->slurm->loop);
}

void
slurm_look_soon(struct slurm *s)
{
	loop_timer_set(s->look_timer, LOOK_SOON_MS);
}

void
slurm_stray_add(struct slurm *s, const char *name)
{
	XGROW(s->strays, s->n_strays, s->cap_strays);
	s->strays[s->n_strays] =
	    (struct slurm_stray){ .until_ms = loop_now_ms(s->loop) + STRAY_MS };
	(void)snprintf(s->strays[s->n_strays].name, SLURM_NAME, "%s", name);
	s->n_strays++;
}

void
slurm_follow(struct slurm *s, struct slurm_attempt *a)
{
	a->phase = SLURM_DUE;
	a->since_ms = loop_now_ms(s->loop);
	a->final_ms = -1;
	XGROW(s->attempts, s->n, s->cap);
	s->attempts[s->n++] = a;
	slurm_look_soon(s);
	loop_wake(s->loop);
}

static void
on_look(void *arg)
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
	a->dir = launcher_spec_attempt_dir(spec);
	a->trial_dir = xstrdup(spec->trial_dir);
	a->cursor = spec->cursor;
	/* Reports of an attempt that was not up are not recorded. */
	a->files = metric_files_new(spec->settings, spec->files, spec->up);
	a->grace_ms = spec->settings->grace_ms;
	/* As it was made, although the study may be another one now. */
	a->is_guest = slurm_folder_is_guest(a->dir);
	slurm_follow(s, a);
	return a;
}

static void
attempt_free(struct slurm_attempt *a)
{
	free(a->dir);
	free(a->trial_dir);
	metric_files_free(a->files);
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

static void
slurm_collect(void *ctx)
{
	struct slurm *s = ctx;
	size_t i, kept = 0;

	fail_point("slurm.before_collect");
	notes_tell(s);
	slurm_submit_read(s);
	slurm_submit_slots(s);
	slurm_queue_read(s);
	if (s->look_due) {
		s->look_due = false;
		if (s->n > 0)
			loop_timer_set(s->look_timer, look_wait(s));
		for (i = 0; i < s->n; i++)
			slurm_look(s->attempts[i]);
	}
	for (i = 0; i < s->n; i++)
		if (s->attempts[i]->phase == SLURM_OVER)
			attempt_free(s->attempts[i]);
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
	slurm_allocation_close(s);
	for (i = 0; i < s->n; i++)
		attempt_free(s->attempts[i]);
	free(s->attempts);
	free(s->strays);
	loop_timer_free(s->look_timer);
	loop_timer_free(s->slots_timer);
	loop_timer_free(s->submit.timer);
	loop_timer_free(s->queue.timer);
	if (s->rules != NULL)
		metric_patterns_free(s->rules);
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
	free(s->prefix);
	free(s->shim);
	free(s->ranks);
	free(s->node);
	free(s->pack);
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
	s->look_timer = loop_timer_new(s->loop, on_look, s);
	s->slots_timer =
	    loop_timer_new(s->loop, slurm_submit_on_slots_timer, s);
	s->submit.timer = loop_timer_new(s->loop, slurm_submit_on_timer, s);
	s->queue.timer = loop_timer_new(s->loop, slurm_queue_on_timer, s);
	s->parallel = env->parallel > 0 ? (int)env->parallel
		      : env->settings->pack > SLURM_SLOTS_DEFAULT
			  ? (int)env->settings->pack
			  : SLURM_SLOTS_DEFAULT;
	s->slots = s->parallel;
	if (slurm_options_read(&s->set, env->settings, env->options, e) != 0 ||
	    tools_find(e) != 0 || slurm_folder_root(s, env, e) != 0 ||
	    slurm_folder_programs(s, e) != 0 ||
	    slurm_allocation_load(s, e) != 0 ||
	    metric_patterns_new(&s->rules, env->settings, e) == -1) {
		slurm_close(s);
		return -1;
	}
	*ctx = s;
	return 0;
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
	char *dir;
	bool made;

	(void)e;
	if (slurm_find(s, spec->trial, spec->attempt) != NULL)
		return ADOPT_ALIVE;
	dir = launcher_spec_attempt_dir(spec);
	made = slurm_folder_made(dir, spec->uuid);
	if (!made && access(s->state_dir, F_OK) == -1) {
		(void)err_set(
		    e, ERR_BUSY, "%s was moved or removed", s->state_dir);
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
	char *dir = launcher_spec_attempt_dir(spec);
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

	return launcher_kept_below(s->state_dir, trial);
}

const struct launcher launcher_slurm = {
	.name = "slurm",
	.about = "jobs of a Slurm cluster",
	.options = slurm_options,
	.check = slurm_options_check,
	.replicas = slurm_ranks_replicas,
	.starts = slurm_ranks_describe,
	.attempt_gpus = slurm_ranks_gpus,
	.continues = true,
	.packs = true,
	.strays = slurm_gc_strays,
	.doctor = slurm_doctor,
	.open = slurm_open,
	.close = slurm_close,
	.slots = slurm_slots,
	.start = slurm_start,
	.stop = slurm_stop,
	.adopt = slurm_adopt,
	.abandon = slurm_abandon,
	.kept = slurm_kept,
	.collect = slurm_collect,
};
