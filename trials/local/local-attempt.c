/*
 * The attempts that the local backend follows: their list, their supervisors,
 * and their events.
 */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <unistd.h>

#include "src/base/fail.h"
#include "src/base/loop.h"
#include "src/model/study/study.h"
#include "trials/local/local-internal.h"
#include "trials/metric-files/metric-files.h"
#include "trials/process/proc.h"
#include "trials/shim/shim.h"

struct local_attempt *
local_attempt_find(struct local *l, int64_t trial, int attempt)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		if (l->attempts[i]->source.trial == trial &&
		    l->attempts[i]->source.attempt == attempt &&
		    !l->attempts[i]->over)
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
local_attempt_follow(struct local *l, const struct launch_spec *spec)
{
	struct local_attempt *a = xcalloc(1, sizeof *a);

	a->local = l;
	a->source = l->source;
	a->source.trial = spec->trial;
	a->source.attempt = spec->attempt;
	a->slot = spec->slot;
	(void)snprintf(a->uuid, sizeof a->uuid, "%s", spec->uuid);
	a->dir = backend_spec_attempt_dir(spec);
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
	a->lines = metric_log_new(l->rules);
	/* Reports of an attempt that was not up are not recorded. */
	a->files = metric_files_new(spec->settings, spec->files, spec->up);
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
	a->socket = -1;
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

/*
 * A supervisor that has waited speaks once, with an empty text: the end of the
 * attempt follows.  One that a warm process has made tells before how it started.
 */
static void
on_supervisor_word(void *arg, int fd, bool readable, bool writable)
{
	struct local_attempt *a = arg;
	char text[SHIM_WARM_ANSWER] = "";
	ssize_t n = recv(fd, text, sizeof text - 1, MSG_DONTWAIT);

	(void)readable;
	(void)writable;
	if (n > 0 && text[0] != '\0') {
		warm_process_heard(&a->local->warm.process, text);
		return;
	}
	loop_fd_want(a->socket_watch, false, false);
	a->dirty = a->check = true;
	loop_wake(a->local->loop);
}

void
local_attempt_listen(struct local_attempt *a, int socket)
{
	a->socket = socket;
	a->socket_watch =
	    loop_fd_new(a->local->loop, socket, on_supervisor_word, a);
	loop_fd_want(a->socket_watch, true, false);
}

void
local_attempt_watch(struct local_attempt *a, const struct proc_ref *supervisor)
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
local_attempt_watch_claim(struct local_attempt *a, const struct claim *c)
{
	struct proc_ref r = PROC_NOBODY;
	bool there;

	/* Of another boot or machine, the pid means another process here. */
	there = strcmp(c->boot_id, a->local->boot_id) == 0 &&
		proc_open(&r, (pid_t)c->shim_pid, c->shim_start);
	local_attempt_watch(a, &r);
	return there;
}

void
local_attempt_signal(struct local_attempt *a)
{
	int signo = a->stop == LOCAL_STOP_NOW ? SIGUSR1 : SIGTERM;

	if (a->stop_sent >= a->stop || a->supervisor.pid == 0)
		return;
	fail_point("local.before_stop");
	if (proc_signal(&a->supervisor, signo) == 0 || errno == ESRCH) {
		a->stop_sent = a->stop;
		a->stop_sent_ms = loop_now_ms(a->local->loop);
	}
	/* The trial may have stopped it by a signal. */
	proc_continue(&a->supervisor);
	fail_point("local.after_stop");
}

void
local_attempt_free(struct local_attempt *a)
{
	unwatch(a);
	if (a->socket != -1) {
		loop_fd_free(a->socket_watch);
		(void)close(a->socket);
	}
	if (a->wd != -1)
		(void)inotify_rm_watch(a->local->inotify, a->wd);
	metric_files_free(a->files);
	metric_log_free(a->lines);
	free(a->dir);
	free(a->had_gpus);
	free(a);
}
