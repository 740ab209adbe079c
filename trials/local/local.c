/*
 * The local launcher: one supervisor process per attempt, output in files.
 * Callbacks mark attempts as dirty and pause inotify until collect(), so that a
 * server whose store is locked does not spin.
 */

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/fail.h"
#include "src/base/log.h"
#include "src/base/loop.h"
#include "src/model/plugin-options.h"
#include "src/model/study/study.h"
#include "trials/local/local-gpu.h"
#include "trials/local/local-internal.h"
#include "trials/process/cgroup.h"
#include "trials/process/proc.h"

static void local_slots_open(struct local *, const struct launch_env *);

static int local_slots_check(
    const struct study_trial *, const struct option_value *, struct err *);

enum {
	POLL_MS = 1000, /* inotify is a hint; this is the truth */
	SOON_MS = 20,
	EAR_MS = 4 /* minimum interval between two reads of a trial's output */
};

static const char *const gpu_ids[] = { "uuid", "index", NULL };

static const char *const mps[] = { "auto", "off", NULL };

static const struct option options[] = {
	{ "gpus", OPTION_ANY, 0, 0, "auto", NULL,
	    "GPUs to use: auto, how many, their UUIDs, or simulated ones" },
	{ "trials_per_gpu", OPTION_INT, 1, 64, "1", NULL,
	    "trials that share one GPU" },
	{ "gpu_ids", OPTION_TEXT, 0, 0, "uuid", gpu_ids,
	    "how CUDA_VISIBLE_DEVICES names GPUs" },
	{ "gpu_busy_memory", OPTION_SIZE, 0, 1e15, "1GiB", NULL,
	    "in use without a visible process: the GPU then counts as "
	    "foreign" },
	{ "gpu_idle", OPTION_DURATION, 0, 0, "10m", NULL,
	    "warn when a trial has not used its GPUs for this long; 0 = "
	    "never" },
	{ "bind", OPTION_BOOL, 0, 0, "true", NULL,
	    "a trial with one GPU runs on the cores near it" },
	{ "mps", OPTION_TEXT, 0, 0, "auto", mps,
	    "whether trials share a GPU by MPS where its daemon runs" },
	{ "log_cap", OPTION_SIZE, 0, 1e15, "256MiB", NULL,
	    "output kept per attempt, the newest; 0 keeps all" },
	{ 0 }
};

struct local_attempt *
local_find(struct local *l, int64_t trial, int attempt)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		if (l->attempts[i]->trial == trial &&
		    l->attempts[i]->attempt == attempt && !l->attempts[i]->over)
			return l->attempts[i];
	return NULL;
}

/* Whether the program exists may depend on the parameters. */
static bool
program_varies(const struct study_trial *t)
{
	return t->command != NULL && t->command[0] != NULL &&
	       strchr(t->command[0], '{') != NULL;
}

struct local_attempt *
local_follow(struct local *l, const struct launch_spec *spec)
{
	struct local_attempt *a = xcalloc(1, sizeof *a);

	a->local = l;
	a->trial = spec->trial;
	a->attempt = spec->attempt;
	a->slot = spec->slot;
	(void)snprintf(a->uuid, sizeof a->uuid, "%s", spec->uuid);
	a->dir = local_start_dir(spec);
	a->cursor = spec->cursor;
	a->program_varies = program_varies(spec->settings);
	a->grace_ms = spec->settings->grace_ms;
	a->max_run_ms = spec->settings->max_run_ms;
	a->used = spec->usage;
	a->used_ms = loop_now_ms(l->loop);
	gpu_idle_begin(&a->idle, l->gpu_idle_ms);
	a->log = (struct local_tail){ .name = "log",
		.fd = -1,
		.at = &a->cursor.log,
		.skip = &a->cursor.log_skip };
	a->metrics = (struct local_tail){ .name = "metrics.jsonl",
		.fd = -1,
		.at = &a->cursor.metrics,
		.skip = &a->cursor.metrics_skip };
	a->wd = l->inotify == -1 ? -1
				 : inotify_add_watch(l->inotify, a->dir,
				       IN_MODIFY | IN_ONLYDIR | IN_DONT_FOLLOW);
	if (a->wd == -1 && l->inotify != -1 && errno == ENOSPC &&
	    !l->noted_watches) {
		l->noted_watches = true;
		l->inotify_error =
		    "the sysctl fs.inotify.max_user_watches is too low";
	}
	a->child_status = -1;
	a->supervisor = PROC_NOBODY;
	a->unclear_since_ms = -1;
	a->dirty = a->check = true;
	XGROW(l->attempts, l->n, l->cap);
	l->attempts[l->n++] = a;
	loop_wake(l->loop);
	return a;
}

static void
on_supervisor_end(void *arg, int fd, bool readable, bool writable)
{
	struct local_attempt *a = arg;

	(void)fd;
	(void)readable;
	(void)writable;
	loop_fd_want(a->watch, false, false);
	a->dirty = a->check = true;
	loop_wake(a->local->loop);
}

static void
unwatch(struct local_attempt *a)
{
	if (a->watch != NULL)
		loop_fd_free(a->watch);
	a->watch = NULL;
	proc_close(&a->supervisor);
}

void
local_watch(struct local_attempt *a, const struct proc_ref *supervisor)
{
	unwatch(a);
	a->supervisor = *supervisor;
	/* Without a pidfd the poll timer detects the end. */
	if (a->supervisor.fd == -1)
		return;
	a->watch =
	    loop_fd_new(a->local->loop, a->supervisor.fd, on_supervisor_end, a);
	loop_fd_want(a->watch, true, false);
}

bool
local_watch_claim(struct local_attempt *a, const struct claim *c)
{
	struct proc_ref r = PROC_NOBODY;
	bool there;

	/* Of another boot or machine, the pid means another process here. */
	there = strcmp(c->boot_id, a->local->boot_id) == 0 &&
		proc_open(&r, (pid_t)c->shim_pid, c->shim_start);
	local_watch(a, &r);
	return there;
}

static void
attempt_free(struct local_attempt *a)
{
	unwatch(a);
	local_tail_close(a);
	if (a->wd != -1)
		(void)inotify_rm_watch(a->local->inotify, a->wd);
	free(a->dir);
	free(a);
}

void
local_emit(struct local_attempt *a, struct launch_event *ev)
{
	ev->trial = a->trial;
	ev->attempt = a->attempt;
	a->local->event(a->local->arg, ev);
}

void
local_note(struct local_attempt *a, bool warn, const char *fmt, ...)
{
	struct launch_event ev = { .kind = LAUNCH_NOTE };
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	ev.u.note.level = warn ? LAUNCH_WARNING : LAUNCH_INFO;
	ev.u.note.text = text;
	local_emit(a, &ev);
}

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

/* Once: what keeps us from listening. */
static void
inotify_note(struct local *l)
{
	struct launch_event ev = { .kind = LAUNCH_NOTE };
	char text[256];

	if (l->inotify_error == NULL)
		return;
	(void)snprintf(text, sizeof text,
	    "inotify cannot be used for all trials: %s; their output is read "
	    "once a second",
	    l->inotify_error);
	ev.u.note.level = LAUNCH_WARNING;
	ev.u.note.text = text;
	l->event(l->arg, &ev);
	l->inotify_error = NULL;
}

static void
local_collect(void *ctx)
{
	struct local *l = ctx;
	bool more = false, away = local_state_dir_moved(l);
	size_t i, kept = 0;

	fail_point("local.before_collect");
	l->soon = false;
	inotify_drain(l);
	inotify_note(l);
	local_gpu_collect(l);
	for (i = 0; i < l->n && !away; i++)
		if (l->attempts[i]->dirty)
			local_reconcile(l->attempts[i]);
	for (i = 0; i < l->n; i++) {
		if (l->attempts[i]->over)
			attempt_free(l->attempts[i]);
		else {
			more |= l->attempts[i]->dirty && !away;
			l->attempts[kept++] = l->attempts[i];
		}
	}
	l->n = kept;
	local_pack_reap(l);
	local_gpu_events_flush(l);
	if (more)
		loop_wake(l->loop);
	if (l->soon)
		loop_timer_set(l->poll_timer, SOON_MS);
	else if (l->n > 0 && !loop_timer_pending(l->poll_timer))
		loop_timer_set(l->poll_timer, POLL_MS);
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

/* Without inotify, the poll timer reads the files once a second. */
static void
ears_open(struct local *l)
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
		attempt_free(l->attempts[i]);
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
	local_gpu_close(l);
	local_state_dir_close(l);
	free(l->study);
	free(l->shim);
	free(l->ranks);
	free(l->host);
	free(l);
}

static int
local_open(void **ctx, const struct launch_env *env, struct err *e)
{
	struct local *l = xcalloc(1, sizeof *l);
	char host[256] = "localhost";

	l->inotify = -1;
	l->loop = env->loop;
	local_state_dir_open(l, env->state_dir);
	l->event = env->event;
	l->arg = env->arg;
	l->study = xstrdup(env->study);
	(void)gethostname(host, sizeof host - 1);
	l->host = xstrdup(host);
	proc_boot_id(l->boot_id);
	l->log_cap =
	    (int64_t)plugin_option_get(options, env->options, "log_cap")
		->number;
	l->gpu_idle_ms =
	    (int64_t)plugin_option_get(options, env->options, "gpu_idle")
		->number *
	    1000;
	l->punch_unsupported = l->log_cap > 0 && !can_punch(env->state_dir);
	if (!cgroup_find(l->cgroup, sizeof l->cgroup - 48))
		l->cgroup[0] = '\0';
	/*
	 * Packs first: the owner of a process on a GPU may be a packed program.
	 */
	if (local_pack_open(l, env, e) == -1 ||
	    local_gpu_open(l, env, e) == -1 ||
	    local_start_find_shim(l, e) == -1 ||
	    local_ranks_find(l, env->settings, e) == -1 ||
	    metric_patterns_new(&l->rules, env->settings, e) == -1) {
		local_close(l);
		return -1;
	}
	ears_open(l);
	local_slots_open(l, env);
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
	struct local_attempt *a = local_find(ctx, trial, attempt);
	enum local_stop want = now ? LOCAL_STOP_NOW : LOCAL_STOP_GRACE;

	if (a == NULL)
		return;
	/* Already requested; reconciliation sends the signal. */
	if (a->stop >= want)
		return;
	a->stop = want;
	if (a->up)
		local_reconcile_stop(a);
	if (a->stop_sent < a->stop) {
		a->dirty = a->check = true;
		loop_wake(a->local->loop);
	}
}

const struct launcher launcher_local = {
	.name = "local",
	.about = "processes on this machine",
	.options = options,
	.check = local_slots_check,
	.gpus = local_gpu_plan,
	.replicas = local_ranks_replicas,
	.starts = local_ranks_describe,
	.finds = local_preflight,
	.continues = true,
	.packs = true,
	.open = local_open,
	.close = local_close,
	.slots = local_slots,
	.ready = local_gpu_ready,
	.take = local_gpu_take,
	.start = local_start,
	.stop = local_stop,
	.adopt = local_adopt,
	.abandon = local_abandon,
	.collect = local_collect,
};

/*
 * The number of trials that fit on this machine: by GPUs, cores and open files.
 */

enum {
	SLOTS_MAX = 65536,
	FILES_EACH = 3,
	FILES_OTHER = 128 /* the store, the loop, clients */
};

static int64_t
cores(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof set, &set) == -1)
		return 1;
	return CPU_COUNT(&set);
}

static int
local_slots_check(const struct study_trial *settings,
    const struct option_value *values, struct err *e)
{
	struct local_gpu_request w;
	int rc = local_gpu_request_read(&w, settings, values, e);

	local_gpu_request_free(&w);
	return rc;
}

/*
 * Each attempt that is followed needs three descriptors.  The soft limit is
 * raised only when it is too low, because trials inherit it.  If the hard limit
 * is too low, fewer attempts run at once: without descriptors the ends of
 * trials could not be read.
 */
static int64_t
files_allow(int64_t slots)
{
	rlim_t want = (rlim_t)slots * FILES_EACH + FILES_OTHER;
	struct rlimit files;
	int64_t fit;

	if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= want)
		return slots;
	files.rlim_cur = files.rlim_max < want ? files.rlim_max : want;
	if (setrlimit(RLIMIT_NOFILE, &files) != 0)
		log_warn("local", "the limit on open files stays: %s",
		    strerror(errno));
	if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= want)
		return slots;
	fit = ((int64_t)files.rlim_cur - FILES_OTHER) / FILES_EACH;
	if (fit < 1)
		fit = 1;
	log_warn("local",
	    "%lld of %lld trials run at once: the limit on open files is %llu "
	    "(ulimit -n)",
	    (long long)fit, (long long)slots,
	    (unsigned long long)files.rlim_cur);
	return fit;
}

void
local_slots_count(struct local *l)
{
	int64_t pack = l->pack.size > 0 ? l->pack.size : 1;
	int64_t places = local_gpu_capacity(l), n;

	n = places >= 0 ? places * pack : (l->cores > 0 ? l->cores : 1) * pack;
	if (l->parallel > 0 && (places < 0 || l->parallel < n))
		n = l->parallel;
	if (places < 0)
		places = (n + pack - 1) / pack;
	/* The number of places stays fixed while GPUs appear and disappear. */
	if (l->pack.places == 0)
		l->pack.places = (int)(places > 0 ? places : 1);
	l->slots = (int)files_allow(n > SLOTS_MAX ? SLOTS_MAX : n);
}

/* Check that the machine has the GPUs that the study asks for. */
static void
local_slots_open(struct local *l, const struct launch_env *env)
{
	l->parallel = env->parallel;
	l->cores = cores() / study_cores(env->settings);
	local_slots_count(l);
}
