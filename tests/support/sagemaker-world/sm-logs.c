/* Output of the simulated jobs: periodic reports, and one at the end. */

#include <stdlib.h>

#include "src/base/loop.h"
#include "tests/support/sagemaker-world/sm-world.h"
#include "trials/backend.h"
#include "trials/sagemaker/logs/sm-log.h"

struct sm_logs {
	struct sm_logs_env env;
};

struct sm_log {
	struct sm_logs *logs;
	int64_t trial, read;
	int attempt;
	char *job;
	struct loop_timer *timer;
	void (*done)(void *);
	void *arg;
};

int
sm_logs_open(struct sm_logs **out, const struct sm_logs_env *env, struct err *e)
{
	struct sm_logs *l = xcalloc(1, sizeof *l);

	(void)e;
	l->env = *env;
	*out = l;
	return 0;
}

void
sm_logs_close(struct sm_logs *l)
{
	free(l);
}

static void
report(struct sm_log *g)
{
	struct launch_event ev = {
		.kind = LAUNCH_REPORT, .trial = g->trial, .attempt = g->attempt
	};

	ev.u.report.name = "loss";
	ev.u.report.value = 0.5;
	ev.u.report.again = true;
	ev.u.report.time_us = loop_wall_us(g->logs->env.loop);
	g->logs->env.emit(g->logs->env.arg, &ev);
	ev = (struct launch_event){
		.kind = LAUNCH_READ, .trial = g->trial, .attempt = g->attempt
	};
	ev.u.cursor.log = ++g->read;
	g->logs->env.emit(g->logs->env.arg, &ev);
}

static void
on_timer(void *arg)
{
	struct sm_log *g = arg;
	const struct sm_world_job *j = sm_world_find(sm_world_current, g->job);
	int64_t now = loop_now_ms(g->logs->env.loop);

	if (g->done != NULL) {
		if (j != NULL && j->train < now)
			report(g);
		g->done(g->arg);
		return;
	}
	if (j != NULL && sm_responses_trains(j, now))
		report(g);
	loop_timer_set(g->timer, 60000);
}

struct sm_log *
sm_log_follow(struct sm_logs *l, int64_t trial, int attempt, const char *job,
    const char *dir, int64_t since_ms)
{
	struct sm_log *g = xcalloc(1, sizeof *g);

	(void)dir;
	g->logs = l;
	g->trial = trial;
	g->attempt = attempt;
	g->job = xstrdup(job);
	g->read = since_ms;
	g->timer = loop_timer_new(l->env.loop, on_timer, g);
	loop_timer_set(g->timer, 5000);
	return g;
}

void
sm_log_restarted(struct sm_log *g)
{
	(void)g;
}

void
sm_log_finish(struct sm_log *g, bool orderly, void (*done)(void *), void *arg)
{
	(void)orderly;
	g->done = done;
	g->arg = arg;
	loop_timer_set(g->timer, 3000);
}

void
sm_log_free(struct sm_log *g)
{
	loop_timer_free(g->timer);
	free(g->job);
	free(g);
}

bool
sm_logs_unread(
    struct sm_logs *l, const char *folder, const char *metric, struct buf *why)
{
	(void)l;
	(void)folder;
	(void)metric;
	(void)why;
	return false;
}
