/* The log reader, its client and simulated logs on one loop. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/loop.h"
#include "src/model/study/study.h"
#include "tests/support/cloudwatch/cw-logs.h"

enum { PATIENCE_MS = 300 * 1000 };

static struct study_trial no_patterns;

/* ---- what was told ------------------------------------------------------------- */

static void
hear_report(struct cw_logs *r, const struct launch_event *ev)
{
	struct heard *h;
	size_t i;

	for (i = 0; i < r->n_heard; i++) {
		h = &r->heard[i];
		if (h->trial == ev->trial && h->attempt == ev->attempt &&
		    h->has_step == ev->u.report.has_step &&
		    h->step == ev->u.report.step &&
		    h->value == ev->u.report.value &&
		    h->time_us == ev->u.report.time_us &&
		    strcmp(h->name, ev->u.report.name) == 0) {
			h->times++;
			return;
		}
	}
	r->heard = xreallocarray(r->heard, r->n_heard + 1, sizeof *r->heard);
	h = &r->heard[r->n_heard++];
	*h = (struct heard){ .trial = ev->trial,
		.attempt = ev->attempt,
		.has_step = ev->u.report.has_step,
		.step = ev->u.report.step,
		.value = ev->u.report.value,
		.time_us = ev->u.report.time_us,
		.times = 1 };
	(void)snprintf(h->name, sizeof h->name, "%s", ev->u.report.name);
}

static void
on_event(void *arg, const struct launch_event *ev)
{
	struct cw_logs *r = arg;

	if (ev->kind == LAUNCH_REPORT)
		hear_report(r, ev);
	else if (ev->kind == LAUNCH_READ)
		r->cursor_ms = ev->u.cursor.log;
	else if (ev->kind == LAUNCH_NOTE)
		buf_printf(&r->notes, "%s\n", ev->u.note.text);
	if (r->also != NULL)
		r->also(r, ev);
}

void
cw_logs_done(void *arg)
{
	struct cw_logs *r = arg;

	r->done++;
}

/* ---- lines -------------------------------------------------------------------------- */

void
cw_logs_add(struct cw_logs *r, const char *job, int start, int64_t ms,
    int64_t delay_ms, const char *text)
{
	struct line line = { .ms = ms,
		.seq = ++r->seq,
		.due_ms = loop_now_ms(r->rig.loop) + delay_ms,
		.text = xstrdup(text) };
	size_t i;

	(void)snprintf(
	    line.stream, sizeof line.stream, "%s/algo-1-%d", job, start);
	r->lines = xreallocarray(r->lines, r->n_lines + 1, sizeof *r->lines);
	for (i = r->n_lines; i > 0 && r->lines[i - 1].ms > ms; i--)
		r->lines[i] = r->lines[i - 1];
	r->lines[i] = line;
	r->n_lines++;
}

char *
cw_logs_copy(struct cw_logs *r, int64_t trial)
{
	char *path = xasprintf("%s/%lld/log", r->dir, (long long)trial);
	struct buf text = { 0 };
	FILE *f = fopen(path, "re");
	int c;

	while (f != NULL && (c = getc(f)) != EOF)
		buf_putc(&text, (char)c);
	if (f != NULL)
		(void)fclose(f);
	free(path);
	buf_puts(&text, "");
	return buf_take(&text);
}

/* ---- running ------------------------------------------------------------------------- */

static void
asked_forget(struct aws_client *rig)
{
	while (rig->n_asked > 0) {
		rig->n_asked--;
		free(rig->asked[rig->n_asked].head);
		free(rig->asked[rig->n_asked].body);
	}
}

static void
turn(void *arg)
{
	struct cw_logs *r = arg;

	asked_forget(&r->rig);
	if (r->until(r) || loop_now_ms(r->rig.loop) > r->deadline_ms)
		loop_stop(r->rig.loop);
}

bool
cw_logs_run(struct cw_logs *r, bool (*until)(struct cw_logs *))
{
	r->until = until;
	r->deadline_ms = loop_now_ms(r->rig.loop) + PATIENCE_MS;
	loop_timer_set(r->rig.guard, 2 * PATIENCE_MS);
	loop_run(r->rig.loop, turn, r);
	return until(r);
}

struct sm_log *
cw_logs_follow(
    struct cw_logs *r, int64_t trial, const char *job, int64_t since_ms)
{
	char *dir = xasprintf("%s/%lld", r->dir, (long long)trial);
	struct sm_log *log =
	    sm_log_follow(r->logs, trial, 1, job, dir, since_ms);

	free(dir);
	return log;
}

static bool
all_done(struct cw_logs *r)
{
	return (size_t)r->done == r->logs->n;
}

bool
cw_logs_finish(struct cw_logs *r, bool orderly)
{
	size_t i;

	r->done = 0;
	for (i = 0; i < r->logs->n; i++)
		sm_log_finish(r->logs->all[i], orderly, cw_logs_done, r);
	return cw_logs_run(r, all_done);
}

void
cw_logs_open(struct cw_logs *r, double pace, void (*set)(struct sm_logs_env *))
{
	struct sm_logs_env env = { .settings = &no_patterns,
		.metric = "loss",
		.prefix = "hpt-x-1-",
		.pace = pace,
		.emit = on_event,
		.arg = r };
	struct err e = ERR_INIT;

	*r = (struct cw_logs){ .page = SM_LOG_LIMIT };
	aws_rig_open(&r->rig, pace);
	r->rig.decide = cw_server_decide;
	env.loop = r->rig.loop;
	env.aws = r->rig.aws;
	if (set != NULL)
		set(&env);
	(void)snprintf(r->dir, sizeof r->dir, "/tmp/hpotune-logs-XXXXXX");
	if (mkdtemp(r->dir) == NULL || sm_logs_open(&r->logs, &env, &e) != 0)
		abort();
}

void
cw_logs_close(struct cw_logs *r)
{
	char *remove = xasprintf("rm -rf '%s'", r->dir);

	sm_logs_close(r->logs);
	asked_forget(&r->rig);
	aws_rig_close(&r->rig);
	if (system(remove) != 0)
		abort();
	free(remove);
	while (r->n_lines > 0)
		free(r->lines[--r->n_lines].text);
	free(r->lines);
	free(r->heard);
	buf_free(&r->answer);
	buf_free(&r->notes);
}

/* ---- one job and its steps ------------------------------------------------------------- */

static bool
enough(struct cw_logs *r)
{
	return r->n_heard >= r->wanted;
}

bool
cw_logs_reports(struct cw_logs *r, size_t n)
{
	r->wanted = n;
	return cw_logs_run(r, enough);
}

bool
cw_logs_noted(struct cw_logs *r)
{
	return r->notes.len > 0;
}

void
cw_logs_now(struct cw_logs *r, void (*set)(struct sm_logs_env *))
{
	cw_logs_open(r, PACE, set);
	r->start_ms = loop_wall_us(r->rig.loop) / 1000 - 1000 * 1000;
}

void
cw_logs_step(struct cw_logs *r, int step, int64_t delay_ms)
{
	char text[64];

	(void)snprintf(text, sizeof text, "hpotune: step=%d loss=0.5", step);
	cw_logs_add(r, JOB, 1, r->start_ms + step * 1000, delay_ms, text);
}
