/*
 * External watching: creates and removes its resources.  No influence on
 * trials; a failed service is noted and not used again.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "trials/sagemaker/options/sm-settings.h"
#include "trials/sagemaker/request/sm-request.h"
#include "trials/sagemaker/watch/sm-watch-alarm.h"
#include "trials/sagemaker/watch/sm-watch-internal.h"
#include "trials/sagemaker/watch/sm-watch-publish.h"

void
sm_watch_put_dimension(
    struct json_writer *o, const char *name, const char *value)
{
	json_writer_array(o, "Dimensions");
	json_writer_object(o, NULL);
	json_writer_text(o, "Name", name);
	json_writer_text(o, "Value", value);
	json_writer_end(o);
	json_writer_end(o);
}

enum {
	PUBLISH_MS = 60000, /* the resolution of CloudWatch */
	REMOVE_MS = 15000 /* limit; then resources remain */
};

struct sm_watch_call {
	struct sm_watch *watch;
	struct sm_watch_call *next;
	struct aws_call *call;
	char *what;
	bool *noted;
	sm_watch_cb *then;
	void *arg;
	bool removes; /* missing resources are no error */
};

static void
call_unlink(struct sm_watch_call *call)
{
	struct sm_watch_call **at = &call->watch->calls;

	while (*at != call)
		at = &(*at)->next;
	*at = call->next;
}

static void
sm_watch_on_answer(void *arg, const struct aws_answer *a)
{
	struct sm_watch_call *call = arg;
	struct sm_watch *w = call->watch;
	char *text;

	call_unlink(call);
	if (!a->good && !(call->removes && a->what == AWS_MISSING) &&
	    (call->noted == NULL || !*call->noted)) {
		text = xasprintf("%s: %s", call->what,
		    *a->message != '\0' ? a->message : a->code);
		w->env.note(w->env.arg, LAUNCH_WARNING, text);
		free(text);
		if (call->noted != NULL)
			*call->noted = true;
	}
	if (call->then != NULL)
		call->then(call->arg, a->good ? a->json : NULL);
	free(call->what);
	free(call);
}

void
sm_watch_ask(struct sm_watch *w, enum aws_service service,
    const char *operation, const struct buf *body, const char *what,
    bool *noted, sm_watch_cb *then, void *arg)
{
	struct sm_watch_call *call = xcalloc(1, sizeof *call);
	struct aws_ask ask = { .service = service,
		.operation = operation,
		.body = buf_str(body) };

	*call = (struct sm_watch_call){ .watch = w,
		.next = w->calls,
		.what = xstrdup(what),
		.noted = noted,
		.then = then,
		.arg = arg,
		.removes = strncmp(operation, "Delete", 6) == 0 };
	w->calls = call;
	call->call = aws_json(w->env.aws, &ask, sm_watch_on_answer, call);
}

static void
on_publish(void *arg)
{
	struct sm_watch *w = arg;

	sm_watch_publish(w);
	loop_timer_set(
	    w->publish, (int64_t)(PUBLISH_MS / w->env.settings->pace));
}

struct sm_watch *
sm_watch_new(const struct sm_watch_env *env)
{
	struct sm_watch *w = xcalloc(1, sizeof *w);

	w->env = *env;
	w->env.prefix = xstrdup(env->prefix);
	w->env.study = xstrdup(env->study);
	w->best = NAN;
	return w;
}

void
sm_watch_free(struct sm_watch *w)
{
	struct sm_watch_call *call;

	if (w == NULL)
		return;
	sm_watch_eventbridge_free(w->events);
	if (w->publish != NULL)
		loop_timer_free(w->publish);
	while ((call = w->calls) != NULL) {
		w->calls = call->next;
		aws_call_cancel(call->call);
		free(call->what);
		free(call);
	}
	free((char *)w->env.prefix);
	free((char *)w->env.study);
	free(w);
}

void
sm_watch_job(struct sm_watch *w, const char *job, const struct sm_plan *plan)
{
	const struct sm_settings *s = w->env.settings;

	if (s->watch_events && w->events == NULL)
		w->events = sm_watch_eventbridge_new(w);
	if (s->publish && w->publish == NULL) {
		w->publish = loop_timer_new(w->env.loop, on_publish, w);
		loop_timer_set(w->publish, (int64_t)(PUBLISH_MS / s->pace));
	}
	if (s->alarm != NULL)
		sm_watch_alarm_make(w, job, plan);
}

void
sm_watch_ended(
    struct sm_watch *w, const char *job, double billable_s, double cost)
{
	if (isfinite(billable_s))
		w->billable_s += billable_s;
	if (isfinite(cost))
		w->cost += cost;
	w->ended++;
	if (w->env.settings->alarm != NULL)
		sm_watch_alarm_remove(w, job);
}

void
sm_watch_report(struct sm_watch *w, double value)
{
	if (!isfinite(value))
		return;
	if (!isfinite(w->best) ||
	    (w->env.maximize ? value > w->best : value < w->best))
		w->best = value;
}

void
sm_watch_running(struct sm_watch *w, int jobs)
{
	w->running = jobs;
}

struct removal {
	struct loop *loop;
	int left;
};

static void
on_removed(void *arg)
{
	struct removal *r = arg;

	if (--r->left == 0)
		loop_stop(r->loop);
}

static void
sm_watch_on_late(void *arg)
{
	struct removal *r = arg;

	loop_stop(r->loop);
}

static void
no_turn(void *arg)
{
	(void)arg;
}

static void
removal_run(struct removal *r, struct sm_watch *w)
{
	const struct sm_settings *s = w->env.settings;
	struct loop_timer *late = loop_timer_new(r->loop, sm_watch_on_late, r);

	r->left = s->watch_events + (s->alarm != NULL);
	loop_timer_set(late, REMOVE_MS);
	if (s->watch_events)
		sm_watch_eventbridge_remove(w, on_removed, r);
	if (s->alarm != NULL)
		sm_watch_alarm_remove_all(w, on_removed, r);
	loop_run(r->loop, no_turn, r);
	loop_timer_free(late);
}

void
sm_watch_remove(const struct sm_watch_env *env)
{
	const struct sm_settings *s = env->settings;
	struct sm_watch_env own = *env;
	struct aws_env aws = { .region = s->region,
		.profile = s->profile,
		.env = (aws_getenv *)getenv,
		.pace = s->pace };
	struct removal r = { 0 };
	struct err e = ERR_INIT;
	struct sm_watch *w;

	if (!s->watch_events && s->alarm == NULL)
		return;
	if (loop_open(&r.loop, LOOP_REAL, &e) != 0)
		return;
	aws.loop = own.loop = r.loop;
	if (aws_open(&own.aws, &aws, &e) == 0) {
		w = sm_watch_new(&own);
		removal_run(&r, w);
		sm_watch_free(w);
		aws_close(own.aws);
	}
	loop_close(r.loop);
}
