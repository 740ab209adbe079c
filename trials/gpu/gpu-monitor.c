/*
 * Queries a long-lived hpotune-gpu process for snapshots, one at a time, and
 * restarts it if it hangs, exits or sends invalid data.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "src/base/coproc.h"
#include "src/base/err.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/base/spawn.h"
#include "trials/gpu/gpu-health-probe.h"
#include "trials/gpu/gpu-monitor-internal.h"
#include "trials/gpu/gpu-monitor.h"
#include "trials/gpu/gpu-snapshot-build.h"
#include "trials/gpu/gpu-snapshot.h"

/*
 * A query takes milliseconds, except one that opens NVML: without the
 * persistence daemon each GPU takes a second or two to wake.
 */
enum {
	PATIENCE_MS = 10 * 1000,
	OPENING = 6, /* times as long */
	OPEN_MS = 20 * 1000, /* it is surely open so long after an answer */
	PAUSE_FIRST_MS = 250,
	PAUSE_MOST_MS = 60 * 1000
};

/* Kill the process; the reason is reported when it has exited. */
static void
watch_kill(struct gpu_monitor *w, const char *why)
{
	if (w->why == NULL)
		w->why = xstrdup(why);
	loop_timer_stop(w->limit);
	coproc_kill(w->peer);
}

static void
watch_send(struct gpu_monitor *w)
{
	char line[32];
	int64_t now = loop_now_ms(w->loop), ms = w->patience_ms;

	w->asked = w->waiting;
	w->waiting = 0;
	(void)snprintf(line, sizeof line, "look %" PRId64 "\n", w->asked);
	if (w->answered_ms == 0 || now - w->answered_ms > OPEN_MS)
		ms *= OPENING;
	loop_timer_set(w->limit, ms);
	coproc_write(w->peer, line, strlen(line));
}

static void
monitor_line_hear(struct gpu_monitor *w, size_t len)
{
	struct err e = ERR_INIT;
	struct gpu_snapshot look;

	if (gpu_snapshot_read(&look, w->heard.data, len, &e) != 0)
		watch_kill(w, e.text);
	else if (look.seq != w->asked || w->asked == 0)
		watch_kill(w, "hpotune-gpu sent an unexpected answer");
	else {
		loop_timer_stop(w->limit);
		w->asked = 0;
		w->pause_ms = 0;
		w->answered_ms = loop_now_ms(w->loop);
		w->cb(w->arg, &look, "");
		if (w->waiting != 0 && w->asked == 0)
			watch_send(w);
	}
	gpu_snapshot_free(&look);
}

static void
on_hear(void *arg, const char *text, size_t n)
{
	struct gpu_monitor *w = arg;
	const char *end;
	size_t len;

	if (w->why != NULL)
		return;
	buf_add(&w->heard, text, n);
	while (w->why == NULL && w->heard.len > 0 &&
	       (end = memchr(w->heard.data, '\n', w->heard.len)) != NULL) {
		len = (size_t)(end - w->heard.data);
		monitor_line_hear(w, len);
		memmove(w->heard.data, w->heard.data + len + 1,
		    w->heard.len - len - 1);
		w->heard.len -= len + 1;
	}
	if (w->why == NULL && w->heard.len > GPU_SNAPSHOT_LINE)
		watch_kill(w, "hpotune-gpu sent more output than allowed");
}

static void
monitor_on_gone(void *arg, int status)
{
	struct gpu_monitor *w = arg;
	char *why = w->why;
	bool asked = w->asked != 0;

	if (why == NULL && WIFSIGNALED(status))
		why = xasprintf(
		    "hpotune-gpu was killed by signal %d", WTERMSIG(status));
	else if (why == NULL)
		why = xasprintf(
		    "hpotune-gpu ended with status %d", WEXITSTATUS(status));
	coproc_free(w->peer, 0);
	w->peer = NULL;
	w->why = NULL;
	w->asked = 0;
	w->answered_ms = 0;
	buf_clear(&w->heard);
	loop_timer_stop(w->limit);
	w->pause_ms = w->pause_ms == 0 ? PAUSE_FIRST_MS : w->pause_ms * 2;
	if (w->pause_ms > PAUSE_MOST_MS)
		w->pause_ms = PAUSE_MOST_MS;
	loop_timer_set(w->again, w->pause_ms);
	if (asked)
		w->cb(w->arg, NULL, why);
	free(why);
}

static void
monitor_on_limit(void *arg)
{
	watch_kill(arg, "the driver of the GPUs does not respond");
}

static int
watch_start(struct gpu_monitor *w, struct err *e)
{
	char *argv[] = { w->program, (char *)"watch", NULL };
	const struct coproc_spec spec = { .argv = argv, .mute = true };
	const struct coproc_hooks hooks = {
		.on_read = on_hear, .on_exit = monitor_on_gone, .arg = w
	};

	return coproc_start(&w->peer, w->loop, &spec, &hooks, e);
}

/* Restart the program for a waiting query. */
static void
on_again(void *arg)
{
	struct gpu_monitor *w = arg;
	struct err e = ERR_INIT;

	if (w->waiting == 0 || w->peer != NULL)
		return;
	if (watch_start(w, &e) == 0) {
		watch_send(w);
		return;
	}
	w->waiting = 0;
	w->pause_ms = w->pause_ms == 0 ? PAUSE_FIRST_MS : w->pause_ms * 2;
	if (w->pause_ms > PAUSE_MOST_MS)
		w->pause_ms = PAUSE_MOST_MS;
	loop_timer_set(w->again, w->pause_ms);
	w->cb(w->arg, NULL, e.text);
}

int
gpu_monitor_new(struct gpu_monitor **out, struct loop *loop, gpu_monitor_cb *cb,
    void *arg, struct err *e)
{
	struct gpu_monitor *w;
	char *program;

	if (spawn_find(&program, "HPOTUNE_GPU", "hpotune-gpu", e) != 0)
		return -1;
	w = xcalloc(1, sizeof *w);
	*w = (struct gpu_monitor){ .loop = loop,
		.program = program,
		.cb = cb,
		.arg = arg,
		.patience_ms = PATIENCE_MS };
	w->limit = loop_timer_new(loop, monitor_on_limit, w);
	w->again = loop_timer_new(loop, on_again, w);
	*out = w;
	return 0;
}

void
gpu_monitor_free(struct gpu_monitor *w)
{
	if (w == NULL)
		return;
	gpu_health_probes_end(w);
	coproc_free(w->peer, 0);
	loop_timer_free(w->limit);
	loop_timer_free(w->again);
	buf_free(&w->heard);
	free(w->program);
	free(w->why);
	free(w);
}

void
gpu_monitor_patience(struct gpu_monitor *w, int64_t ms)
{
	w->patience_ms = ms;
}

/* Makes no callback: a failed start is reported later on the loop. */
int64_t
gpu_monitor_ask(struct gpu_monitor *w)
{
	if (w->waiting != 0)
		return w->waiting;
	w->waiting = ++w->seq;
	if (w->peer == NULL) {
		if (!loop_timer_pending(w->again))
			loop_timer_set(w->again, 0);
	} else if (w->asked == 0 && w->why == NULL)
		watch_send(w);
	return w->seq;
}
