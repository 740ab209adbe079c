/* Runs hooks: a queue of messages, and one program at a time. */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/base/spawn.h"
#include "src/model/history/history.h"
#include "src/model/study/study.h"
#include "src/server/tuner/hooks.h"
#include "src/server/tuner/live-trial.h"
#include "src/server/tuner/tuner-internal.h"

enum { QUEUE_MAX = 100 };

struct message {
	enum study_hook hook;
	int64_t trial; /* 0 = the study */
	char *json;
};

struct hooks {
	struct tuner *tuner;
	int64_t best; /* the best trial at the last turn */
	bool known; /* best is set */
	struct message queue[QUEUE_MAX]; /* those to come; the first runs */
	size_t n;
	int64_t left_out; /* messages that found no place */
	pid_t pid; /* of the first; 0 = none */
	int end_fd;
	struct loop_fd *watch;
	struct loop_timer *late;
	bool killed; /* it took too long */
};

struct hooks *
hooks_new(struct tuner *t)
{
	struct hooks *h;
	bool any = false;
	int i;

	for (i = 0; i < STUDY_HOOKS; i++)
		any = any || t->study->hooks.argv[i] != NULL;
	if (!any || t->env.hold)
		return NULL;
	h = xcalloc(1, sizeof *h);
	h->tuner = t;
	return h;
}

static void
message_drop(struct hooks *h)
{
	free(h->queue[0].json);
	h->n--;
	memmove(h->queue, h->queue + 1, h->n * sizeof h->queue[0]);
}

static void
child_forget(struct hooks *h)
{
	loop_fd_free(h->watch);
	loop_timer_free(h->late);
	close(h->end_fd);
	h->watch = NULL;
	h->late = NULL;
	h->pid = 0;
}

void
hooks_free(struct hooks *h)
{
	if (h == NULL)
		return;
	if (h->pid != 0) {
		(void)spawn_end(h->pid, h->end_fd);
		child_forget(h);
	}
	while (h->n > 0)
		message_drop(h);
	free(h);
}

bool
hooks_busy(const struct tuner *t)
{
	return t->hooks != NULL && t->hooks->n > 0;
}

/* ---- messages ------------------------------------------------------------ */

static void
message_begin(
    struct json_writer *w, const struct tuner *t, enum study_hook hook)
{
	json_writer_object(w, NULL);
	json_writer_text(w, "hook", study_hook_name(hook));
	json_writer_text(w, "study", t->study->name);
	json_writer_text(w, "database", t->env.db);
	json_writer_text(w, "metric", t->study->metric);
}

/* Takes over the JSON. */
static void
message_add(
    struct hooks *h, enum study_hook hook, int64_t trial, struct buf *json)
{
	buf_putc(json, '\n');
	if (h->n == QUEUE_MAX) {
		h->left_out++;
		buf_free(json);
		return;
	}
	h->queue[h->n++] = (struct message){
		.hook = hook, .trial = trial, .json = buf_take(json)
	};
}

static bool
is_wanted(const struct tuner *t, enum study_hook hook)
{
	return t->hooks != NULL && t->study->hooks.argv[hook] != NULL;
}

static void
put_trial(struct json_writer *w, struct tuner *t, int64_t trial)
{
	struct store_trial row = { 0 };
	struct err e = ERR_INIT;

	if (store_trial_get(t->store, trial, &row, &e) != 0) {
		store_fail_with(t->store, &e);
		return;
	}
	json_writer_integer(w, "trial", trial);
	json_writer_text(w, "state", trial_state_name(row.state));
	json_writer_number(w, "objective", row.objective);
	json_writer_raw(w, "params", row.params);
	if (row.why != NULL && *row.why != '\0')
		json_writer_text(w, "why", row.why);
	store_trial_fini(&row);
}

void
hooks_settle(struct tuner *t)
{
	struct hooks *h = t->hooks;
	struct buf json = { 0 };
	struct json_writer w = { .out = &json };
	int64_t best;

	if (h == NULL)
		return;
	best = history_best(t->history);
	/* Of an earlier server, or a paused one that will go on. */
	if (!h->known || best == h->best || best == 0 ||
	    live_set_find(&t->live, best) != NULL) {
		h->best = h->known ? h->best : best;
		h->known = true;
		return;
	}
	h->best = best;
	if (!is_wanted(t, STUDY_HOOK_BEST))
		return;
	message_begin(&w, t, STUDY_HOOK_BEST);
	put_trial(&w, t, best);
	json_writer_end(&w);
	message_add(h, STUDY_HOOK_BEST, best, &json);
}

void
hooks_trial_failed(struct tuner *t, const struct live_trial *l)
{
	struct buf json = { 0 };
	struct json_writer w = { .out = &json };

	if (!is_wanted(t, STUDY_HOOK_FAILED))
		return;
	message_begin(&w, t, STUDY_HOOK_FAILED);
	json_writer_integer(&w, "trial", l->row.number);
	json_writer_text(&w, "state", trial_state_name(l->row.state));
	json_writer_number(&w, "objective", l->row.objective);
	json_writer_raw(&w, "params", l->row.params);
	if (l->row.why != NULL)
		json_writer_text(&w, "why", l->row.why);
	json_writer_end(&w);
	message_add(t->hooks, STUDY_HOOK_FAILED, l->row.number, &json);
}

void
hooks_end(struct tuner *t)
{
	struct buf json = { 0 };
	struct json_writer w = { .out = &json };
	int64_t best = history_best(t->history);

	if (!is_wanted(t, STUDY_HOOK_FINISHED) ||
	    (t->row.state != STUDY_FINISHED && t->row.state != STUDY_FAILED))
		return;
	message_begin(&w, t, STUDY_HOOK_FINISHED);
	json_writer_text(&w, "state", study_state_name(t->row.state));
	json_writer_text(&w, "why", t->end.why);
	json_writer_integer(&w, "trials", t->n_trials);
	json_writer_integer(&w, "failed", (int64_t)t->outcomes.n_failed);
	if (best > 0) {
		json_writer_object(&w, "best");
		put_trial(&w, t, best);
		json_writer_end(&w);
	}
	json_writer_end(&w);
	message_add(t->hooks, STUDY_HOOK_FINISHED, 0, &json);
}

/* ---- programs ------------------------------------------------------------ */

static void
hook_event(struct hooks *h, const char *what)
{
	const struct message *m = &h->queue[0];
	char *text = xasprintf("hooks.%s: %s%s", study_hook_name(m->hook),
	    h->tuner->study->hooks.argv[m->hook][0], what);

	tuner_queue_event(h->tuner, LOG_LEVEL_WARN, "hook", text);
	free(text);
}

static void
on_late(void *arg)
{
	struct hooks *h = arg;

	h->killed = true;
	spawn_kill(h->pid);
}

static void
on_end(void *arg, int fd, bool readable, bool writable)
{
	struct hooks *h = arg;
	struct tuner *t = h->tuner;
	int status = spawn_reap(h->pid);
	char text[96] = "";

	(void)fd;
	(void)readable;
	(void)writable;
	if (h->killed)
		(void)snprintf(text, sizeof text,
		    " was killed after %" PRId64 " s (hooks.timeout)",
		    t->study->hooks.timeout_ms / 1000);
	else if (WIFSIGNALED(status))
		(void)snprintf(text, sizeof text, " was killed by signal %d",
		    WTERMSIG(status));
	else if (status != 0)
		(void)snprintf(text, sizeof text,
		    " ended with status %d; its output is in hooks.log",
		    WEXITSTATUS(status));
	if (*text != '\0')
		hook_event(h, text);
	child_forget(h);
	message_drop(h);
	hooks_run(t);
	loop_wake(t->env.loop);
}

/* A file in memory, from its beginning: it is never full, as a pipe is. */
static int
input_make(const char *json)
{
	int fd = memfd_create("hook", MFD_CLOEXEC);
	size_t len = strlen(json);

	if (fd >= 0 && (write(fd, json, len) != (ssize_t)len ||
			   lseek(fd, 0, SEEK_SET) != 0)) {
		close(fd);
		return -1;
	}
	return fd;
}

static int
hook_start(struct hooks *h, struct err *e)
{
	const struct tuner *t = h->tuner;
	const struct message *m = &h->queue[0];
	char *path = xasprintf("%s/hooks.log", t->env.state_dir);
	struct spawn_spec spec = { .argv = t->study->hooks.argv[m->hook],
		.dir = t->study->dir,
		.in = input_make(m->json) };
	int rc;

	spec.out = spec.err =
	    open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	free(path);
	rc = spec.in < 0 || spec.out < 0
		 ? err_set(e, ERR_FILE, "hooks.log: %s", strerror(errno))
		 : spawn_start(&h->pid, &h->end_fd, &spec, e);
	if (spec.in >= 0)
		close(spec.in);
	if (spec.out >= 0)
		close(spec.out);
	return rc;
}

static void
left_out_report(struct hooks *h)
{
	char text[96];

	if (h->left_out == 0)
		return;
	(void)snprintf(text, sizeof text,
	    "%" PRId64 " hooks were left out: the programs are too slow",
	    h->left_out);
	tuner_queue_event(h->tuner, LOG_LEVEL_WARN, "hook", text);
	h->left_out = 0;
}

void
hooks_run(struct tuner *t)
{
	struct hooks *h = t->hooks;
	struct err e = ERR_INIT;
	char *text;

	if (h == NULL || h->pid != 0)
		return;
	left_out_report(h);
	while (h->n > 0) {
		if (hook_start(h, &e) == 0)
			break;
		text = xasprintf(": %s", e.text);
		hook_event(h, text);
		free(text);
		h->pid = 0;
		message_drop(h);
		loop_wake(t->env.loop);
	}
	if (h->n == 0)
		return;
	h->killed = false;
	h->watch = loop_fd_new(t->env.loop, h->end_fd, on_end, h);
	loop_fd_want(h->watch, true, false);
	h->late = loop_timer_new(t->env.loop, on_late, h);
	loop_timer_set(h->late, t->study->hooks.timeout_ms);
}
