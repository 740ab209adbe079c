/*
 * Warm pools of ended jobs: their idle time is billed, and known when it is
 * over.  Until then the whole keep_alive counts; if the server exits before,
 * that stays.
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/loop.h"
#include "trials/sagemaker/sm-internal.h"

enum {
	LATE_S = 900 /* maximum delay of AWS's value after its end */
};

/* The first row: settle it, or move it to the end for another query. */
static void
row_done(struct sm *sm, double idle_s)
{
	struct sm_warm_pools *p = &sm->pools;
	struct sm_warm_pool row = p->rows[0];
	int64_t age = loop_now_ms(sm->loop) - row.since_ms;
	int most = (int)sm->set->keep_alive_s + LATE_S;
	struct launch_event ev = {
		.kind = LAUNCH_COST, .trial = row.trial, .attempt = row.attempt
	};

	p->n--;
	memmove(p->rows, p->rows + 1, p->n * sizeof *p->rows);
	if (isfinite(idle_s)) {
		ev.u.cost =
		    row.cost +
		    row.rate * fmin(idle_s, (double)sm->set->keep_alive_s);
		sm_events_emit(sm, &ev);
	} else if (age < sm_ms(sm, most))
		p->rows[p->n++] = row;
}

static void
warm_pool_on_described(void *arg, const struct aws_answer *r)
{
	struct sm *sm = arg;
	struct sm_warm_pools *p = &sm->pools;
	double idle_s = NAN;
	struct sm_job job;

	p->call = NULL;
	if (r->good && r->json != NULL) {
		sm_job_status_read(&job, r->json);
		idle_s = job.idle_s;
	}
	row_done(sm, idle_s);
	if (p->n > 0)
		loop_timer_set(p->timer, sm_ms(sm, SM_LIST_S));
}

static void
warm_pool_on_timer(void *arg)
{
	struct sm *sm = arg;
	struct sm_warm_pools *p = &sm->pools;
	struct aws_ask ask = { .service = AWS_SAGEMAKER,
		.operation = "DescribeTrainingJob" };
	struct buf body = { 0 };

	if (p->n == 0 || p->call != NULL)
		return;
	buf_printf(&body, "{\"TrainingJobName\":\"%s\"}", p->rows[0].job);
	ask.body = buf_str(&body);
	p->call = aws_json(sm->aws, &ask, warm_pool_on_described, sm);
	buf_free(&body);
}

void
sm_warm_pool_add(struct sm_attempt *a)
{
	struct sm *sm = a->sm;
	struct sm_warm_pools *p = &sm->pools;

	if (!(a->idle_rate > 0) || !a->exit.priced)
		return;
	p->rows = xreallocarray(p->rows, p->n + 1, sizeof *p->rows);
	p->rows[p->n] = (struct sm_warm_pool){ .trial = a->trial,
		.attempt = a->attempt,
		.rate = a->idle_rate,
		.cost =
		    a->exit.cost - a->idle_rate * (double)sm->set->keep_alive_s,
		.since_ms = loop_now_ms(sm->loop) };
	(void)snprintf(
	    p->rows[p->n].job, sizeof p->rows[p->n].job, "%s", a->job);
	p->n++;
	if (p->timer == NULL)
		p->timer = loop_timer_new(sm->loop, warm_pool_on_timer, sm);
	if (p->call == NULL && !loop_timer_pending(p->timer))
		loop_timer_set(p->timer, sm_ms(sm, SM_LIST_S));
}

void
sm_warm_pool_close(struct sm *sm)
{
	if (sm->pools.call != NULL)
		aws_call_cancel(sm->pools.call);
	if (sm->pools.timer != NULL)
		loop_timer_free(sm->pools.timer);
	free(sm->pools.rows);
}
