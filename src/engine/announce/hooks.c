/* Runs hooks: a queue of messages, and one program at a time. */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/file.h"
#include "src/base/json/json-writer.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/base/spawn.h"
#include "src/engine/announce/announce.h"
#include "src/engine/announce/hooks.h"
#include "src/model/study/study.h"
#include "src/store/store.h"

enum {
	QUEUE_MAX = 100,
	LOOK_MS = 200, /* between two looks at what a program has written */
	LOG_OLD = 1 << 20, /* bytes of hooks.log after which it begins again */
	OUTPUT_MOST = 10 << 20 /* bytes that one program may write */
};

struct message {
	enum study_hook hook;
	int64_t trial; /* 0 = the study */
	char *json;
};

struct hooks {
	struct announce_env env;
	int64_t best; /* the best trial at the last turn */
	bool known; /* best is set */
	struct message queue[QUEUE_MAX]; /* those to come; the first runs */
	size_t n;
	int64_t left_out; /* messages that found no place */
	pid_t pid; /* of the first; 0 = none */
	int end_fd;
	struct loop_fd *watch;
	struct loop_timer *late;
	bool killed; /* it took too long, */
	bool flooded; /* or wrote too much */
	int64_t due_ms; /* loop time at which it has taken too long */
	int log_fd;
	int64_t log_bytes; /* of the log when it was started */
};

struct hooks *
hooks_new(const struct announce_env *env)
{
	struct hooks *h;
	bool any = false;
	int i;

	for (i = 0; i < STUDY_HOOKS; i++)
		any = any || env->study->hooks.argv[i] != NULL;
	if (!any)
		return NULL;
	h = xcalloc(1, sizeof *h);
	h->env = *env;
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
	close(h->log_fd);
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
hooks_busy(const struct hooks *h)
{
	return h != NULL && h->n > 0;
}

static void
message_begin(
    struct json_writer *w, const struct hooks *h, enum study_hook hook)
{
	json_writer_object(w, NULL);
	json_writer_text(w, "hook", study_hook_name(hook));
	json_writer_text(w, "study", h->env.study->name);
	json_writer_text(w, "database", h->env.db);
	json_writer_text(w, "metric", h->env.study->metric);
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
hooks_is_wanted(const struct hooks *h, enum study_hook hook)
{
	return h != NULL && h->env.study->hooks.argv[hook] != NULL;
}

static void
hooks_put_trial(struct json_writer *w, struct hooks *h, int64_t trial)
{
	struct store_trial row = { 0 };
	struct err e = ERR_INIT;

	if (store_trial_get(h->env.store, trial, &row, &e) != 0) {
		store_fail_with(h->env.store, &e);
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
hooks_best(struct hooks *h, int64_t trial, bool ended)
{
	struct buf json = { 0 };
	struct json_writer w = { .out = &json };

	if (h == NULL)
		return;
	if (!h->known || trial == h->best || trial == 0 || !ended) {
		h->best = h->known ? h->best : trial;
		h->known = true;
		return;
	}
	h->best = trial;
	if (!hooks_is_wanted(h, STUDY_HOOK_BEST))
		return;
	message_begin(&w, h, STUDY_HOOK_BEST);
	hooks_put_trial(&w, h, trial);
	json_writer_end(&w);
	message_add(h, STUDY_HOOK_BEST, trial, &json);
}

void
hooks_trial_failed(struct hooks *h, const struct store_trial *row)
{
	struct buf json = { 0 };
	struct json_writer w = { .out = &json };

	if (!hooks_is_wanted(h, STUDY_HOOK_FAILED))
		return;
	message_begin(&w, h, STUDY_HOOK_FAILED);
	json_writer_integer(&w, "trial", row->number);
	json_writer_text(&w, "state", trial_state_name(row->state));
	json_writer_number(&w, "objective", row->objective);
	json_writer_raw(&w, "params", row->params);
	if (row->why != NULL)
		json_writer_text(&w, "why", row->why);
	json_writer_end(&w);
	message_add(h, STUDY_HOOK_FAILED, row->number, &json);
}

void
hooks_end(struct hooks *h, const struct announce_facts *facts)
{
	struct buf json = { 0 };
	struct json_writer w = { .out = &json };

	if (!hooks_is_wanted(h, STUDY_HOOK_FINISHED) ||
	    (facts->state != STUDY_FINISHED && facts->state != STUDY_FAILED))
		return;
	message_begin(&w, h, STUDY_HOOK_FINISHED);
	json_writer_text(&w, "state", study_state_name(facts->state));
	json_writer_text(&w, "why", facts->why);
	json_writer_integer(&w, "trials", facts->trials);
	json_writer_integer(&w, "failed", facts->failed);
	if (facts->best > 0) {
		json_writer_object(&w, "best");
		hooks_put_trial(&w, h, facts->best);
		json_writer_end(&w);
	}
	json_writer_end(&w);
	message_add(h, STUDY_HOOK_FINISHED, 0, &json);
}

static void
hook_event(struct hooks *h, const char *what)
{
	const struct message *m = &h->queue[0];
	char *text = xasprintf("hooks.%s: %s%s", study_hook_name(m->hook),
	    h->env.study->hooks.argv[m->hook][0], what);

	h->env.event(h->env.arg, LOG_LEVEL_WARN, "hook", text);
	free(text);
}

static int64_t
log_size(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 ? (int64_t)st.st_size : 0;
}

static void
hooks_on_look(void *arg)
{
	struct hooks *h = arg;
	int64_t left = h->due_ms - loop_now_ms(h->env.loop);

	h->flooded = log_size(h->log_fd) - h->log_bytes > OUTPUT_MOST;
	h->killed = h->flooded || left <= 0;
	if (h->killed)
		spawn_kill(h->pid);
	else
		loop_timer_set(h->late, left < LOOK_MS ? left : LOOK_MS);
}

static void
hooks_on_end(void *arg, int fd, bool readable, bool writable)
{
	struct hooks *h = arg;
	int status = spawn_reap(h->pid);
	char text[96] = "";

	(void)fd;
	(void)readable;
	(void)writable;
	if (h->flooded)
		(void)snprintf(text, sizeof text,
		    " was killed: it had written more than %d MiB",
		    OUTPUT_MOST >> 20);
	else if (h->killed)
		(void)snprintf(text, sizeof text,
		    " was killed after %" PRId64 " s (hooks.timeout)",
		    h->env.study->hooks.timeout_ms / 1000);
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
	hooks_run(h);
	loop_wake(h->env.loop);
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

/* The log, a new one after much was written to it; the last one stays. */
static int
hooks_log_open(const struct hooks *h)
{
	char *path = xasprintf("%s/hooks.log", h->env.state_dir);
	char *old = xasprintf("%s.old", path);
	struct stat st;
	int fd;

	if (stat(path, &st) == 0 && st.st_size > LOG_OLD)
		(void)rename(path, old);
	fd = file_open_for(AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND, 0666);
	free(path);
	free(old);
	return fd;
}

static int
hook_start(struct hooks *h, struct err *e)
{
	const struct message *m = &h->queue[0];
	struct spawn_spec spec = { .argv = h->env.study->hooks.argv[m->hook],
		.dir = h->env.study->dir,
		.in = input_make(m->json) };
	int rc;

	spec.out = spec.err = hooks_log_open(h);
	h->log_bytes = spec.out >= 0 ? log_size(spec.out) : 0;
	rc = spec.in < 0 || spec.out < 0
		 ? err_set(e, ERR_FILE, "hooks.log: %s", file_why(errno))
		 : spawn_start(&h->pid, &h->end_fd, &spec, e);
	if (spec.in >= 0)
		close(spec.in);
	if (rc == 0)
		h->log_fd = spec.out;
	else if (spec.out >= 0)
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
	    "%" PRId64 " hooks were not run: the programs are too slow",
	    h->left_out);
	h->env.event(h->env.arg, LOG_LEVEL_WARN, "hook", text);
	h->left_out = 0;
}

void
hooks_run(struct hooks *h)
{
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
		loop_wake(h->env.loop);
	}
	if (h->n == 0)
		return;
	h->killed = h->flooded = false;
	h->due_ms = loop_now_ms(h->env.loop) + h->env.study->hooks.timeout_ms;
	h->watch = loop_fd_new(h->env.loop, h->end_fd, hooks_on_end, h);
	loop_fd_want(h->watch, true, false);
	h->late = loop_timer_new(h->env.loop, hooks_on_look, h);
	hooks_on_look(h);
}
