/*
 * The local backend: one supervisor process per attempt, output in files.
 * Callbacks mark attempts as dirty and pause inotify until collect(), so that a
 * server whose store is locked does not spin.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/fail.h"
#include "src/base/loop.h"
#include "src/base/spawn.h"
#include "src/model/plugin-options.h"
#include "src/model/study/study.h"
#include "trials/local/local-gpu.h"
#include "trials/local/local-internal.h"
#include "trials/metric-files/metric-files.h"
#include "trials/metric-unread/unread-log.h"
#include "trials/process/cgroup.h"
#include "trials/process/proc.h"

enum {
	POLL_MS = 1000, /* inotify is a hint; this is the truth */
	SOON_MS = 20,
	EAR_MS = 4 /* minimum interval between two reads of a trial's output */
};

static void
on_inotify(void *arg, int fd, bool readable, bool writable)
{
	struct local *l = arg;

	(void)fd;
	(void)readable;
	(void)writable;
	l->deaf = true;
	loop_fd_want(l->ear, false, false);
	loop_wake(l->loop);
}

static void
on_ear_timer(void *arg)
{
	struct local *l = arg;

	l->deaf = false;
	loop_fd_want(l->ear, true, false);
}

static void
on_poll(void *arg)
{
	struct local *l = arg;
	size_t i;

	for (i = 0; i < l->n; i++)
		l->attempts[i]->dirty = l->attempts[i]->check = true;
	loop_wake(l->loop);
}

static void
inotify_mark(struct local *l, const struct inotify_event *ev)
{
	size_t i;

	for (i = 0; i < l->n; i++) {
		/* A queue overflow may concern any attempt. */
		if (l->attempts[i]->wd != ev->wd &&
		    (ev->mask & IN_Q_OVERFLOW) == 0)
			continue;
		l->attempts[i]->dirty = true;
		if (ev->len == 0 || strcmp(ev->name, "state") == 0)
			l->attempts[i]->check = true;
	}
}

static void
inotify_drain(struct local *l)
{
	_Alignas(struct inotify_event) char block[16384];
	const struct inotify_event *ev;
	const char *at;
	ssize_t n;

	while ((n = read(l->inotify, block, sizeof block)) > 0)
		for (at = block; at < block + n; at += sizeof *ev + ev->len) {
			ev = (const void *)at;
			inotify_mark(l, ev);
		}
	if (l->deaf && !loop_timer_pending(l->inotify_timer))
		loop_timer_set(l->inotify_timer, EAR_MS);
}

/* Note once what keeps us from listening. */
static void
inotify_note(struct local *l)
{
	if (l->inotify_error == NULL)
		return;
	backend_note(&l->source, LAUNCH_WARNING,
	    "inotify cannot be used for all trials: %s; their output is read "
	    "once a second",
	    l->inotify_error);
	l->inotify_error = NULL;
}

static void
local_drop_attempt(struct local_attempt *a)
{
	local_tail_close(a);
	local_attempt_free(a);
}

/* GPUs of the machine that no trial gets. */
static void
hidden_note(struct local *l)
{
	struct launch_event ev = { .kind = LAUNCH_NOTE };

	if (l->hidden == NULL)
		return;
	ev.u.note.level = LAUNCH_WARNING;
	ev.u.note.doubt = true;
	ev.u.note.text = l->hidden;
	backend_emit(&l->source, &ev);
	free(l->hidden);
	l->hidden = NULL;
}

static void
local_collect(void *ctx)
{
	struct local *l = ctx;
	struct launch_event slots = { .kind = LAUNCH_SLOTS };
	bool more = false, away = local_state_dir_moved(l);
	size_t i, kept = 0;

	fail_point("local.before_collect");
	l->soon = false;
	inotify_drain(l);
	inotify_note(l);
	local_share_collect(l);
	local_gpu_collect(l);
	hidden_note(l);
	for (i = 0; i < l->n && !away; i++)
		if (l->attempts[i]->dirty)
			local_reconcile(l->attempts[i]);
	for (i = 0; i < l->n; i++) {
		if (l->attempts[i]->over)
			local_drop_attempt(l->attempts[i]);
		else {
			more |= l->attempts[i]->dirty && !away;
			l->attempts[kept++] = l->attempts[i];
		}
	}
	l->n = kept;
	local_pack_reap(l);
	local_supervisor_reap(l);
	local_warm_collect(l);
	if (local_gpu_flush(l)) {
		local_slots_count(l, local_gpu_capacity(l));
		backend_emit(&l->source, &slots);
	}
	if (more)
		loop_wake(l->loop);
	if (l->soon)
		loop_timer_set(l->poll_timer, SOON_MS);
	else if (l->n > 0 && !loop_timer_pending(l->poll_timer))
		loop_timer_set(l->poll_timer, POLL_MS);
}

/* Without inotify, the poll timer reads the files once a second. */
static void
local_ears_open(struct local *l)
{
	l->inotify_timer = loop_timer_new(l->loop, on_ear_timer, l);
	l->poll_timer = loop_timer_new(l->loop, on_poll, l);
	l->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (l->inotify == -1) {
		l->inotify_error =
		    errno == EMFILE
			? "the sysctl fs.inotify.max_user_instances, "
			  "or ulimit -n, is too low"
			: strerror(errno);
		return;
	}
	l->ear = loop_fd_new(l->loop, l->inotify, on_inotify, l);
	loop_fd_want(l->ear, true, false);
}

static void
local_close(void *ctx)
{
	struct local *l = ctx;
	size_t i;

	for (i = 0; i < l->n; i++)
		local_drop_attempt(l->attempts[i]);
	free(l->attempts);
	loop_timer_free(l->inotify_timer);
	loop_timer_free(l->poll_timer);
	if (l->inotify != -1) {
		loop_fd_free(l->ear);
		(void)close(l->inotify);
	}
	if (l->rules != NULL)
		metric_patterns_free(l->rules);
	local_pack_close(l);
	local_warm_close(l);
	local_share_close(l);
	local_gpu_close(l);
	local_supervisor_close(l);
	local_ahead_close(l);
	local_state_dir_close(l);
	free(l->study);
	free(l->shim);
	free(l->ranks);
	free(l->shims);
	free(l->host);
	free(l->hidden);
	free(l);
}

/* Whether the file system of the state directory can punch holes. */
static bool
can_punch(const char *state_dir)
{
	int fd = open(state_dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	bool can;

	if (fd == -1)
		return true;
	can = pwrite(fd, "x", 1, 0) == 1 &&
	      (fallocate(
		   fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 1) == 0 ||
		  errno != EOPNOTSUPP);
	(void)close(fd);
	return can;
}

static int
local_open(void **ctx, const struct launch_env *env, struct err *e)
{
	struct local *l = xcalloc(1, sizeof *l);
	char host[256] = "localhost";

	l->inotify = -1;
	l->loop = env->loop;
	local_state_dir_open(l, env->state_dir);
	local_ahead_open(l);
	local_warm_open(l, env->settings);
	l->source.event = env->event;
	l->source.arg = env->arg;
	l->study = xstrdup(env->study);
	(void)gethostname(host, sizeof host - 1);
	l->host = xstrdup(host);
	proc_boot_id(l->boot_id);
	l->log_cap = (int64_t)plugin_option_number(env->options, "log_cap");
	l->gpu_idle_ms =
	    (int64_t)plugin_option_number(env->options, "gpu_idle") * 1000;
	l->punch_unsupported = l->log_cap > 0 && !can_punch(env->state_dir);
	if (!cgroup_find(l->cgroup, sizeof l->cgroup - 48))
		l->cgroup[0] = '\0';
	local_share_open(l, env->settings);
	/*
	 * Packs first: the owner of a process on a GPU may be a packed program.
	 */
	if (local_shims_open(l, env->settings, e) != 0 ||
	    local_pack_open(l, env, e) != 0 ||
	    local_gpu_open(l, env, e) == -1 ||
	    spawn_find(&l->shim, "HPOTUNE_SHIM", "hpotune-shim", e) != 0 ||
	    local_ranks_find(l, env->settings, e) != 0 ||
	    metric_patterns_new(&l->rules, env->settings, e) != 0) {
		local_close(l);
		return -1;
	}
	local_ears_open(l);
	local_slots_open(l, env, local_gpu_capacity(l));
	l->ahead.gpus = local_gpu_capacity(l) >= 0;
	*ctx = l;
	return 0;
}

static int
local_slots(void *ctx)
{
	const struct local *l = ctx;

	return l->slots;
}

static void
local_stop(void *ctx, int64_t trial, int attempt, bool now)
{
	struct local_attempt *a = local_attempt_find(ctx, trial, attempt);
	enum local_stop want = now ? LOCAL_STOP_NOW : LOCAL_STOP_GRACE;

	if (a == NULL)
		return;
	/* Already requested; reconciliation sends the signal. */
	if (a->stop >= want)
		return;
	a->stop = want;
	if (a->up)
		local_attempt_signal(a);
	if (a->stop_sent < a->stop) {
		a->dirty = a->check = true;
		loop_wake(a->local->loop);
	}
}

/* Check that the machine has the GPUs that the study asks for. */
static int
local_check(const struct study_trial *settings,
    const struct option_value *values, struct err *e)
{
	struct local_gpu_request w;
	int rc;

	if (settings->launcher == STUDY_LAUNCHER_SRUN)
		return err_set(e, ERR_USAGE,
		    "trial.launcher srun is for the backend slurm");
	rc = local_gpu_request_read(&w, settings, values, e);
	local_gpu_request_free(&w);
	return rc;
}

/* The number of GPUs of an attempt, whose use the driver counts. */
static int64_t
local_attempt_gpus(
    const struct study_trial *settings, const struct option_value *values)
{
	(void)values;
	return settings->gpus > 0 ? settings->gpus : 0;
}

static bool
local_ready(void *ctx, int slot, char *why, size_t n)
{
	if (local_warm_imports(ctx)) {
		(void)snprintf(
		    why, n, "the modules of trial.warm are imported");
		return false;
	}
	return local_share_ready(ctx, why, n) &&
	       local_gpu_ready(ctx, slot, why, n);
}

static bool
local_take(void *ctx, int64_t trial, int attempt, int slot, const char *uuid)
{
	if (!local_share_take(ctx, uuid))
		return false;
	if (local_gpu_take(ctx, trial, attempt, slot, uuid)) {
		if (!local_start_waits(ctx, slot, uuid))
			return true;
		local_gpu_undo(ctx, slot, uuid);
	}
	local_share_drop(ctx, uuid);
	return false;
}

static enum launch_kept
local_kept(void *ctx, int64_t trial)
{
	const struct local *l = ctx;

	return backend_kept_below(l->home.path, trial);
}

static bool
local_unread(void *ctx, const char *folder, const char *metric, bool *file,
    struct buf *why)
{
	const struct local *l = ctx;
	struct buf log = { 0 };
	bool any;
	size_t i;

	for (i = 0; i < l->n && !*file; i++)
		*file =
		    strcmp(l->attempts[i]->dir, folder) == 0 &&
		    metric_files_put_unread(l->attempts[i]->files, metric, why);
	any = unread_log_put(&log, folder, l->rules, metric);
	if (any)
		buf_printf(why, "%s%s", *file ? "; " : "", buf_str(&log));
	buf_free(&log);
	return any || *file;
}

static int
replicas(const struct study_trial *t, const struct option_value *options)
{
	(void)options;
	return (int)study_processes(t);
}

const struct backend_type backend_local = {
	.name = "local",
	.about = "processes on this machine",
	.options = local_options,
	.check = local_check,
	.gpus = local_gpu_plan,
	.replicas = replicas,
	.starts = local_ranks_describe,
	.attempt_gpus = local_attempt_gpus,
	.finds = local_start_preflight,
	.continues = true,
	.packs = true,
	.cold = local_warm_why_not,
	.shims = true,
	.sources = true,
	.open = local_open,
	.close = local_close,
	.slots = local_slots,
	.expect = local_gpu_expect,
	.ends = local_gpu_ends,
	.ready = local_ready,
	.take = local_take,
	.places = local_gpu_places,
	.avoid = local_gpu_avoid,
	.tests_places = true,
	.start = local_start,
	.stop = local_stop,
	.still_ms = local_still_ms,
	.adopt = local_adopt,
	.abandon = local_abandon,
	.kept = local_kept,
	.unread = local_unread,
	.collect = local_collect,
};
