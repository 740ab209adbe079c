/*
 * Finds jobs with our name prefix, passes them with their tags to a callback,
 * and stops those that have no owner.  Runs the caller's loop.
 */

#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/loop.h"
#include "trials/sagemaker/sm-internal.h"
#include "trials/sagemaker/sm-open.h"

enum {
	GC_PAGES = 1000,
	GC_DAYS = 31 /* no training job runs longer */
};

struct gc_job {
	char *name, *arn, *state;
	char *study, *study_id, *uuid;
	double created_s;
};

struct gc {
	struct sm *sm;
	launch_stray_cb *cb;
	void *arg;
	struct gc_job *jobs;
	size_t n, at;
	char *token;
	int pages;
	bool over;
	struct err err;
	bool bad;
};

static void gc_next(struct gc *);

static char *
copy(const struct json *o, const char *key)
{
	const char *s = json_string(json_get(o, key));

	return s != NULL ? xstrdup(s) : NULL;
}

static void
gc_ask(struct gc *g, const char *operation, struct buf *body, int tries,
    aws_cb *cb)
{
	struct aws_ask ask = { .service = AWS_SAGEMAKER,
		.operation = operation,
		.body = buf_str(body),
		.tries = tries };

	(void)aws_json(g->sm->aws, &ask, cb, g);
	buf_free(body);
}

static void
gc_fail(struct gc *g, const struct aws_answer *r, const char *what)
{
	g->bad = g->over = true;
	(void)err_set(&g->err, ERR_REMOTE, "%s: %s", what, r->message);
	loop_stop(g->sm->loop);
}

static void
sm_gc_on_stopped(void *arg, const struct aws_answer *r)
{
	struct gc *g = arg;

	/* A job that has just ended rejects the stop: ignored. */
	if (!r->good && r->what != AWS_MISSING &&
	    strcmp(r->code, "ValidationException") != 0) {
		gc_fail(g, r, g->jobs[g->at].name);
		return;
	}
	g->at++;
	gc_next(g);
}

static void
gc_judge(struct gc *g)
{
	const struct gc_job *j = &g->jobs[g->at];
	struct launch_stray stray = { .name = j->name,
		.study = j->study,
		.study_id = j->study_id,
		.uuid = j->uuid,
		.state = j->state,
		.place = aws_client_region(g->sm->aws),
		.started_us = (int64_t)(j->created_s * 1e6) };
	struct buf body = { 0 };
	struct json_writer o = { .out = &body };

	if (!g->cb(g->arg, &stray)) {
		g->at++;
		gc_next(g);
		return;
	}
	json_writer_object(&o, NULL);
	json_writer_text(&o, "TrainingJobName", j->name);
	json_writer_end(&o);
	gc_ask(g, "StopTrainingJob", &body, 0, sm_gc_on_stopped);
}

static void
on_tags(void *arg, const struct aws_answer *r)
{
	struct gc *g = arg;
	struct gc_job *j = &g->jobs[g->at];
	const struct json *t;
	const char *key;
	char **to;

	if (!r->good && r->what != AWS_MISSING) {
		gc_fail(g, r, j->name);
		return;
	}
	t = json_get(r->json, "Tags");
	for (t = json_first(t); t != NULL; t = json_next(t)) {
		key = json_string(json_get(t, "Key"));
		if (key == NULL)
			continue;
		if (strcmp(key, "hpotune:study") == 0)
			to = &j->study;
		else if (strcmp(key, "hpotune:study-id") == 0)
			to = &j->study_id;
		else if (strcmp(key, "hpotune:attempt") == 0)
			to = &j->uuid;
		else
			continue;
		free(*to);
		*to = copy(t, "Value");
	}
	gc_judge(g);
}

/* The next job, or the end. */
static void
gc_next(struct gc *g)
{
	struct buf body = { 0 };
	struct json_writer o = { .out = &body };

	if (g->at == g->n) {
		g->over = true;
		loop_stop(g->sm->loop);
		return;
	}
	if (g->jobs[g->at].arn == NULL) {
		gc_judge(g);
		return;
	}
	json_writer_object(&o, NULL);
	json_writer_text(&o, "ResourceArn", g->jobs[g->at].arn);
	json_writer_end(&o);
	gc_ask(g, "ListTags", &body, 0, on_tags);
}

static void gc_page(struct gc *);

static void
on_gc_answer(struct gc *g, const struct json *o)
{
	const char *name = json_string(json_get(o, "TrainingJobName"));
	const char *status = json_string(json_get(o, "TrainingJobStatus"));
	struct gc_job *j;

	if (name == NULL || strncmp(name, "hpt-", 4) != 0 || status == NULL ||
	    strcmp(status, "InProgress") != 0)
		return;
	g->jobs = xreallocarray(g->jobs, g->n + 1, sizeof *g->jobs);
	j = &g->jobs[g->n++];
	*j = (struct gc_job){ .name = xstrdup(name) };
	j->arn = copy(o, "TrainingJobArn");
	j->state = copy(o, "SecondaryStatus");
	if (j->state == NULL)
		j->state = xstrdup(status);
	j->created_s = sm_job_status_seconds(o, "CreationTime", 0);
}

static void
sm_gc_on_page(void *arg, const struct aws_answer *r)
{
	struct gc *g = arg;
	const struct json *o;
	const char *token;

	if (!r->good || r->json == NULL) {
		gc_fail(g, r, "the training jobs cannot be listed");
		return;
	}
	o = json_get(r->json, "TrainingJobSummaries");
	for (o = json_first(o); o != NULL; o = json_next(o))
		on_gc_answer(g, o);
	token = json_string(json_get(r->json, "NextToken"));
	if (token == NULL || *token == '\0' || g->pages >= GC_PAGES ||
	    (g->token != NULL && strcmp(g->token, token) == 0)) {
		gc_next(g);
		return;
	}
	free(g->token);
	g->token = xstrdup(token);
	gc_page(g);
}

static void
gc_page(struct gc *g)
{
	struct buf body = { 0 };
	struct json_writer o = { .out = &body };

	json_writer_object(&o, NULL);
	json_writer_text(&o, "NameContains", "hpt-");
	json_writer_integer(&o, "MaxResults", 100);
	json_writer_text(&o, "StatusEquals", "InProgress");
	json_writer_text(&o, "SortBy", "CreationTime");
	json_writer_text(&o, "SortOrder", "Descending");
	json_writer_integer(
	    &o, "CreationTimeAfter", aws_now_s(g->sm->aws) - GC_DAYS * 86400LL);
	if (g->token != NULL)
		json_writer_text(&o, "NextToken", g->token);
	json_writer_end(&o);
	g->pages++;
	gc_ask(g, "ListTrainingJobs", &body, 0, sm_gc_on_page);
}

static void
sm_gc_on_turn(void *arg)
{
	struct gc *g = arg;

	if (g->pages == 0)
		gc_page(g);
	if (g->over)
		loop_stop(g->sm->loop);
}

static void
sm_gc_free(struct gc *g)
{
	struct gc_job *j;

	while (g->n > 0) {
		j = &g->jobs[--g->n];
		free(j->name);
		free(j->arn);
		free(j->state);
		free(j->study);
		free(j->study_id);
		free(j->uuid);
	}
	free(g->jobs);
	free(g->token);
}

int
sm_gc_strays(
    const struct launch_env *env, launch_stray_cb *cb, void *arg, struct err *e)
{
	struct sm *sm = xcalloc(1, sizeof *sm);
	struct gc g = { .sm = sm, .cb = cb, .arg = arg, .err = ERR_INIT };
	int rc = sm_open_client(sm, env, e);

	if (rc == 0)
		loop_run(sm->loop, sm_gc_on_turn, &g);
	if (g.bad) {
		rc = -1;
		if (e != NULL)
			*e = g.err;
	}
	sm_close(sm);
	sm_gc_free(&g);
	return rc;
}
