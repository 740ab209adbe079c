/*
 * The launcher for Slurm: the job of an attempt is its supervisor, and jobs
 * are submitted one after the other.  Callbacks of squeue and sbatch keep the
 * answer until collect(); the files of all attempts are looked at by a timer.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/capture.h"
#include "src/base/err.h"
#include "src/base/fail.h"
#include "src/base/loop.h"
#include "src/model/study/study.h"
#include "trials/metric-files/metric-files.h"
#include "trials/shim/shim.h"
#include "trials/slurm/slurm-internal.h"

/* ---- submitting --------------------------------------------------------- */

/*
 * One sbatch at a time.  The answer may be lost although the job was accepted:
 * it is then looked for by its name, and submitted again only when two queries
 * did not show it.  A job that comes up later finds the claim of the other one
 * and ends.
 */

enum { PAUSE_MIN_MS = 1000, PAUSE_MAX_MS = 60000, SLOTS_MS = 60000 };

/* The last line, without sbatch's own words before it. */
static void
words_of(const char *out, const char *why, char *text, size_t n)
{
	const char *line = out, *at, *end = out + strlen(out);

	if (*out == '\0') {
		(void)snprintf(text, n, "sbatch: %s",
		    *why != '\0' ? why : "it printed nothing");
		return;
	}
	while (end > out && end[-1] == '\n')
		end--;
	for (at = out; at < end; at++)
		if (*at == '\n')
			line = at + 1;
	if (strncmp(line, "sbatch: error: ", 15) == 0)
		line += 15;
	if (strncmp(line, "Batch job submission failed: ", 29) == 0)
		line += 29;
	(void)snprintf(text, n, "%.*s%s%s", (int)(end - line), line,
	    *why != '\0' ? ": " : "", why);
}

/* "JOBID" or "JOBID;CLUSTER" in a line of its own; other lines are warnings. */
static int64_t
id_of(const char *out)
{
	const char *line = out;
	int64_t id;
	char *end;

	while (*line != '\0') {
		id = strtoll(line, &end, 10);
		if (end != line && id > 0 && strchr("\n;", *end) != NULL)
			return id;
		line += strcspn(line, "\n");
		line += *line == '\n';
	}
	return 0;
}

static void
slots_set(struct slurm *s, int slots)
{
	struct launch_event ev = { .kind = LAUNCH_SLOTS };

	if (slots == s->slots)
		return;
	s->slots = slots;
	launcher_emit(&s->source, &ev);
}

void
slurm_unsent(struct slurm_attempt *a, bool refused, const char *why)
{
	struct slurm *s = a->slurm;
	struct err e = ERR_INIT;
	struct launch_event ev = { .kind = LAUNCH_EXIT };
	int rc = slurm_folder_abandon(a->dir, a->uuid, &e);

	/* An earlier submit of it that looked lost has started after all. */
	if (rc == 1) {
		slurm_phase(a, SLURM_SENT);
		return;
	}
	if (rc == -1) {
		slurm_phase(a, SLURM_LOOK);
		return;
	}
	if (a->is_job) {
		slurm_allocation_unsent(a, refused, why);
		return;
	}
	slurm_stray_add(s, a->name);
	ev.u.exit.exit_code = -1;
	ev.u.exit.not_yet = true;
	ev.u.exit.refused = refused;
	ev.u.exit.started_us = ev.u.exit.ended_us = loop_wall_us(s->loop);
	(void)snprintf(ev.u.exit.why, sizeof ev.u.exit.why, "%s", why);
	slurm_phase(a, SLURM_OVER);
	launcher_emit(&a->source, &ev);
}

static void
on_quota(struct slurm_attempt *a, const char *text)
{
	struct slurm *s = a->slurm;
	int others = 0;
	size_t i;

	for (i = 0; i < s->n; i++)
		others += s->attempts[i]->phase == SLURM_SENT &&
			  !s->attempts[i]->is_job;
	slurm_unsent(a, false, text);
	slots_set(s, others > 0 ? others : 1);
	loop_timer_set(s->slots_timer, SLOTS_MS);
}

static int64_t
pause_ms(int failures)
{
	int64_t ms =
	    failures < 7 ? PAUSE_MIN_MS << (failures - 1) : PAUSE_MAX_MS;

	return ms < PAUSE_MAX_MS ? ms : PAUSE_MAX_MS;
}

static void
on_down(struct slurm_attempt *a, const char *text)
{
	struct slurm *s = a->slurm;

	slurm_phase(a, SLURM_DUE);
	s->submit.failures++;
	loop_timer_set(s->submit.timer, pause_ms(s->submit.failures));
	if (!s->submit.noted)
		launcher_note(&a->source, LAUNCH_WARNING,
		    "Slurm does not answer (%s): jobs are submitted when it "
		    "does; those that run go on",
		    text);
	s->submit.noted = true;
}

/* Its trial may use all nodes again: 0 or -1 with the error set. */
static int
nodes_forgive(const struct slurm_attempt *a, struct err *e)
{
	return slurm_folder_write(a->trial_dir, SLURM_EXCLUDE_FILE, "", e);
}

/* No other node is left: trials that have not begun may use all again. */
static void
guests_forgive(struct slurm *s)
{
	struct err e = ERR_INIT;
	size_t i;

	for (i = 0; i < s->n; i++)
		if (s->attempts[i]->is_guest && !s->attempts[i]->claimed)
			(void)nodes_forgive(s->attempts[i], &e);
}

static void
on_refused(struct slurm_attempt *a, const char *out, const char *text)
{
	struct err e = ERR_INIT;
	char excluded[1024], why[320];

	switch (
	    *out != '\0' ? slurm_program_refusal(out) : SLURM_REFUSAL_UNCLEAR) {
	case SLURM_REFUSAL_UNCLEAR:
		launcher_note(&a->source, LAUNCH_WARNING,
		    "sbatch: %s: its job may have been accepted all the same, "
		    "and is looked for by its name %s",
		    text, a->name);
		slurm_phase(a, SLURM_LOOK);
		slurm_queue_ask(a->slurm, true);
		break;
	case SLURM_REFUSAL_DOWN:
		on_down(a, text);
		break;
	case SLURM_REFUSAL_QUOTA:
		on_quota(a, text);
		break;
	case SLURM_REFUSAL_NODES:
		slurm_folder_excluded(a, excluded, sizeof excluded);
		if (*excluded != '\0' && nodes_forgive(a, &e) == 0) {
			if (a->is_job)
				guests_forgive(a->slurm);
			launcher_note(&a->source, LAUNCH_WARNING,
			    "without the nodes %s that failed under it there "
			    "is none left: they are used again",
			    excluded);
			slurm_phase(a, SLURM_DUE);
			break;
		}
		/* Nodes that are down, or unknown after a restart. */
		slurm_unsent(a, false, text);
		break;
	case SLURM_REFUSAL_WRONG:
		(void)snprintf(why, sizeof why,
		    "Slurm does not accept such jobs: %s", text);
		slurm_unsent(a, true, why);
		break;
	}
}

static void
on_accepted(struct slurm_attempt *a, int64_t id)
{
	struct slurm *s = a->slurm;
	struct launch_event ev = { .kind = LAUNCH_ACCEPTED };

	if (s->submit.noted)
		launcher_note(&a->source, LAUNCH_INFO, "Slurm answers again");
	s->submit.failures = 0;
	s->submit.noted = false;
	a->id = id;
	slurm_phase(a, SLURM_SENT);
	if (a->is_job)
		slurm_look_soon(s);
	else
		launcher_emit(&a->source, &ev);
	slurm_queue_ask(s, false);
}

/* From the loop: events are only for collect. */
static void
on_answer(void *arg, int status, const char *out, size_t len, const char *why)
{
	struct slurm *s = arg;

	(void)len;
	s->submit.child = NULL;
	s->submit.status = status;
	s->submit.out = xstrdup(out);
	s->submit.why = xstrdup(why);
	fail_point("slurm.after_sbatch");
	loop_wake(s->loop);
}

/* Inside collect: read the answer of sbatch. */
static void
submit_read(struct slurm *s)
{
	struct slurm_attempt *a;
	char text[256];
	int64_t id;

	if (s->submit.out == NULL)
		return;
	a = slurm_find(s, s->submit.trial, s->submit.attempt);
	id = s->submit.status == 0 ? id_of(s->submit.out) : 0;
	words_of(s->submit.out, s->submit.why, text, sizeof text);
	if (a != NULL && a->phase == SLURM_SENDING) {
		if (id > 0)
			on_accepted(a, id);
		else
			on_refused(a, s->submit.out, text);
	}
	free(s->submit.out);
	free(s->submit.why);
	s->submit.out = s->submit.why = NULL;
}

/*
 * sbatch without our environment, which the job has in a file.  It is not
 * --export=NIL, with which a node runs a login shell of the user before each
 * job, and delays or refuses the job when that shell does.
 */
static void
put_sbatch(struct strv *argv)
{
	static const char *const kept[] = { "SLURM_", "SBATCH_",
		"PATH=", "HOME=", "USER=", "LOGNAME=", "LANG=", "TZ=",
		"LD_LIBRARY_PATH=" };
	size_t i, k, n = sizeof kept / sizeof kept[0];

	strv_add(argv, xstrdup("env"));
	for (i = 0; environ[i] != NULL; i++) {
		for (k = 0; k < n; k++)
			if (strncmp(environ[i], kept[k], strlen(kept[k])) == 0)
				break;
		if (k < n || *environ[i] == '=')
			continue;
		/* The names alone: others see the arguments. */
		strv_add(argv, xstrdup("-u"));
		strv_add(argv, xstrndup(environ[i], strcspn(environ[i], "=")));
	}
	strv_add(argv, xstrdup("sbatch"));
}

static struct strv
command(const struct slurm_attempt *a)
{
	struct strv argv = { 0 };
	char excluded[1024];

	put_sbatch(&argv);
	strv_add(&argv, xstrdup("--parsable"));
	strv_add(&argv, xstrdup("--no-requeue"));
	strv_add(&argv, xasprintf("--job-name=%s", a->name));
	strv_add(&argv, xasprintf("--comment=%s", a->uuid));
	strv_add(&argv, xstrdup("--export=ALL"));
	strv_add(&argv, xstrdup("--open-mode=append"));
	strv_add(&argv, xasprintf("--output=%s/slurm.out", a->dir));
	strv_add(&argv, xasprintf("--chdir=%s", a->dir));
	slurm_options_words(&a->slurm->set, &argv);
	slurm_folder_excluded(a, excluded, sizeof excluded);
	if (*excluded != '\0')
		strv_add(&argv, xasprintf("--exclude=%s", excluded));
	strv_add(&argv, xasprintf("%s/job.sh", a->dir));
	return argv;
}

static void
submit(struct slurm_attempt *a)
{
	struct slurm *s = a->slurm;
	struct strv argv = command(a);
	const struct capture_spec spec = {
		.argv = argv.v, .timeout_ms = SLURM_TOOL_MS, .both = true
	};
	struct err e = ERR_INIT;

	fail_point("slurm.before_sbatch");
	slurm_phase(a, SLURM_SENDING);
	s->submit.trial = a->source.trial;
	s->submit.attempt = a->source.attempt;
	if (capture_start(&s->submit.child, s->loop, &spec, on_answer, s, &e) ==
	    -1) {
		s->submit.child = NULL;
		on_down(a, e.text);
	}
	strv_free(argv.v);
}

/* Sbatch. */
static void
submit_next(struct slurm *s)
{
	size_t i;

	if (s->submit.child != NULL || s->hold ||
	    loop_timer_pending(s->submit.timer))
		return;
	for (i = 0; i < s->n && s->submit.child == NULL; i++)
		if (s->attempts[i]->phase == SLURM_DUE &&
		    !s->attempts[i]->is_guest)
			submit(s->attempts[i]);
}

static void
on_submit_timer(void *arg)
{
	struct slurm *s = arg;

	loop_wake(s->loop);
}

static void
on_slots_timer(void *arg)
{
	struct slurm *s = arg;

	s->slots_due = true;
	loop_wake(s->loop);
}

/* One more, to see whether the limit was raised or others have finished. */
static void
slots_offer(struct slurm *s)
{
	if (!s->slots_due)
		return;
	s->slots_due = false;
	slots_set(s, s->slots + 1 < s->parallel ? s->slots + 1 : s->parallel);
	if (s->slots < s->parallel)
		loop_timer_set(s->slots_timer, SLOTS_MS);
}

/* ---- attempts ----------------------------------------------------------- */

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
	(void)slurm_folder_made(a->dir, a->uuid, &a->is_guest);
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
	submit_read(s);
	slots_offer(s);
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
	submit_next(s);
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
	s->slots_timer = loop_timer_new(s->loop, on_slots_timer, s);
	s->submit.timer = loop_timer_new(s->loop, on_submit_timer, s);
	s->parallel = env->parallel > 0 ? (int)env->parallel
		      : env->settings->pack > SLURM_SLOTS_DEFAULT
			  ? (int)env->settings->pack
			  : SLURM_SLOTS_DEFAULT;
	s->slots = s->parallel;
	if (slurm_options_read(&s->set, env->settings, env->options, e) != 0 ||
	    tools_find(e) != 0 || slurm_folder_open(s, env, e) != 0 ||
	    slurm_allocation_load(s, e) != 0 ||
	    metric_patterns_new(&s->rules, env->settings, e) == -1) {
		slurm_close(s);
		return -1;
	}
	slurm_options_fit(&s->set);
	*ctx = s;
	return 0;
}

/* ---- the interface ------------------------------------------------------ */

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
	dir = launcher_spec_attempt_dir(spec);
	made = slurm_folder_made(dir, spec->uuid, &guest);
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
	.replicas = slurm_replicas,
	.starts = slurm_describe,
	.attempt_gpus = slurm_gpus,
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
