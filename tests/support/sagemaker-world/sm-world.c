/* The simulated training jobs, and the operations on them. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/loop.h"
#include "tests/support/sagemaker-world/sm-world.h"

enum { PAGE = 3 };

struct sm_world *sm_world_current;

static uint64_t
draw(struct sm_world *w)
{
	uint64_t z = (w->dice += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

bool
sm_world_chance(struct sm_world *w, double share)
{
	return share > 0 && (double)(draw(w) >> 11) * 0x1p-53 < share;
}

int64_t
sm_world_between(struct sm_world *w, int64_t least, int64_t most)
{
	return most <= least
		   ? least
		   : least + (int64_t)(draw(w) % (uint64_t)(most - least));
}

void
sm_world_open(struct sm_world *w, struct loop *loop, uint64_t seed)
{
	*w = (struct sm_world){ .loop = loop, .dice = seed };
	w->bad.start_ms = 120000;
	w->bad.train_ms = 600000;
	w->bad.stop_ms = 120000;
	sm_world_current = w;
}

void
sm_world_close(struct sm_world *w)
{
	size_t i;

	sm_client_drop_calls(w);
	for (i = 0; i < w->n; i++)
		free(w->jobs[i]);
	w->n = 0;
	sm_world_current = NULL;
}

struct sm_world_job *
sm_world_find(struct sm_world *w, const char *name)
{
	size_t i;

	for (i = 0; i < w->n; i++)
		if (strcmp(w->jobs[i]->name, name) == 0 && !w->jobs[i]->gone)
			return w->jobs[i];
	return NULL;
}

bool
sm_world_busy(const struct sm_world *w)
{
	int64_t now = loop_now_ms(w->loop);
	size_t i;

	for (i = 0; i < w->n; i++)
		if (!sm_responses_over(w->jobs[i], now))
			return true;
	return w->open_calls > 0;
}

static enum sm_world_end
draw_end(struct sm_world *w)
{
	if (sm_world_chance(w, w->bad.capacity))
		return SM_WORLD_CAPACITY;
	if (sm_world_chance(w, w->bad.internal))
		return SM_WORLD_INTERNAL;
	if (sm_world_chance(w, w->bad.client))
		return SM_WORLD_CLIENT;
	if (sm_world_chance(w, w->bad.fail))
		return SM_WORLD_FAIL;
	return sm_world_chance(w, w->bad.max_wait) ? SM_WORLD_MAX_WAIT
						   : SM_WORLD_OK;
}

struct sm_world_job *
sm_world_add(struct sm_world *w, const char *name, const char *uuid, bool spot)
{
	struct sm_world_job *j = xcalloc(1, sizeof *j);
	const struct sm_world_faults *bad = &w->bad;

	(void)snprintf(j->name, sizeof j->name, "%s", name);
	(void)snprintf(j->uuid, sizeof j->uuid, "%s", uuid);
	j->spot_asked = spot;
	j->spot = spot && !sm_world_chance(w, bad->no_spot);
	j->kind = draw_end(w);
	j->created = loop_now_ms(w->loop);
	j->train =
	    j->created + sm_world_between(w, bad->start_ms / 3, bad->start_ms);
	j->end =
	    j->train + sm_world_between(w, bad->train_ms / 3, bad->train_ms);
	if (j->kind == SM_WORLD_CAPACITY || j->kind == SM_WORLD_CLIENT)
		j->end = j->train; /* it never trains */
	j->interrupted = sm_world_chance(w, bad->interrupt)
			     ? sm_world_between(w, j->train, j->end)
			     : -1;
	j->stop = j->stopped = -1;
	if (w->n == sizeof w->jobs / sizeof w->jobs[0])
		abort();
	w->jobs[w->n++] = j;
	return j;
}

static int
jobs_open(const struct sm_world *w)
{
	int64_t now = loop_now_ms(w->loop);
	size_t i;
	int n = 0;

	for (i = 0; i < w->n; i++)
		n += !sm_responses_over(w->jobs[i], now);
	return n;
}

static void
refuse(struct outcome *o, enum aws_class what, const char *code,
    const char *message)
{
	o->what = what;
	o->code = code;
	o->message = message;
}

static void
serve_create(
    struct sm_world *w, struct outcome *o, const struct json *in, bool codeless)
{
	const char *name = json_string(json_get(in, "TrainingJobName"));
	const struct json *env = json_get(in, "Environment");
	bool spot = false;
	struct sm_world_job *j;

	w->creates++;
	(void)json_bool(json_get(in, "EnableManagedSpotTraining"), &spot);
	if (sm_world_find(w, name) == NULL && sm_world_chance(w, w->bad.stolen))
		(void)sm_world_add(w, name, "somebody-else", spot);
	if (sm_world_find(w, name) != NULL) {
		refuse(o, AWS_EXISTS, "ResourceInUse", "the name is taken");
		return;
	}
	if (w->bad.quota < 0 ||
	    (w->bad.quota > 0 && jobs_open(w) >= w->bad.quota)) {
		static char text[256];

		(void)snprintf(text, sizeof text,
		    "The account-level service limit 'ml.g5.xlarge for "
		    "%straining job "
		    "usage' is %d Instances, with current utilization of %d "
		    "Instances and a request delta of 1 Instances.",
		    spot ? "spot " : "", w->bad.quota < 0 ? 0 : w->bad.quota,
		    jobs_open(w));
		refuse(o, AWS_QUOTA, "ResourceLimitExceeded", text);
		return;
	}
	j = sm_world_add(
	    w, name, json_string(json_get(env, "HPOTUNE_ATTEMPT_UUID")), spot);
	j->codeless = codeless;
	buf_puts(&o->body, "{\"TrainingJobArn\":\"arn\"}");
	if (w->born != NULL)
		w->born(w->arg, j);
}

static void
serve_describe(struct sm_world *w, struct outcome *o, const struct json *in)
{
	struct sm_world_job *j =
	    sm_world_find(w, json_string(json_get(in, "TrainingJobName")));

	w->describes++;
	if (j == NULL)
		refuse(o, AWS_MISSING, "ValidationException",
		    "Requested resource not found.");
	else
		sm_responses_put_job(&o->body, j, loop_now_ms(w->loop));
}

static void
serve_stop(struct sm_world *w, struct outcome *o, const struct json *in)
{
	struct sm_world_job *j =
	    sm_world_find(w, json_string(json_get(in, "TrainingJobName")));
	int64_t now = loop_now_ms(w->loop);

	w->stops++;
	if (j == NULL)
		refuse(o, AWS_MISSING, "ValidationException",
		    "Requested resource not found.");
	else if (sm_responses_over(j, now))
		refuse(o, AWS_CALLER, "ValidationException",
		    "The request was rejected because the training job is in "
		    "status Stopped.");
	else if (j->stop < 0 && !sm_world_chance(w, w->bad.deaf)) {
		j->stop = now;
		j->stopped = now + sm_world_between(
				       w, w->bad.stop_ms / 3, w->bad.stop_ms);
	}
}

/* Newest first, PAGE at a time, as it was a while ago. */
static void
serve_list(struct sm_world *w, struct outcome *o, const struct json *in)
{
	const char *token = json_string(json_get(in, "NextToken"));
	const char *prefix = json_string(json_get(in, "NameContains"));
	int64_t then =
	    loop_now_ms(w->loop) - sm_world_between(w, 0, w->bad.lag_ms);
	size_t left = token != NULL ? (size_t)atoi(token) : w->n;
	int said = 0;

	w->lists++;
	buf_puts(&o->body, "{\"TrainingJobSummaries\":[");
	while (left > 0 && said < PAGE) {
		const struct sm_world_job *j = w->jobs[--left];

		if (j->gone || j->created > then ||
		    strstr(j->name, prefix) == NULL)
			continue;
		if (said++ > 0)
			buf_putc(&o->body, ',');
		sm_responses_put_summary(&o->body, j, then);
	}
	buf_putc(&o->body, ']');
	if (left > 0)
		buf_printf(&o->body, ",\"NextToken\":\"%zu\"", left);
	buf_putc(&o->body, '}');
}

void
sm_world_serve(struct sm_world *w, struct outcome *o, const char *operation,
    const char *body)
{
	struct json_doc *doc = NULL;
	struct err e = ERR_INIT;
	const struct json *in;

	*o = (struct outcome){ .what = AWS_OK, .code = "", .message = "" };
	if (strcmp(operation, "HEAD") == 0) {
		w->heads++;
		refuse(o, w->puts > 0 ? AWS_OK : AWS_MISSING, "", "no object");
		return;
	}
	if (strcmp(operation, "PUT") == 0) {
		w->puts++;
		return;
	}
	if (json_parse(&doc, body, strlen(body), NULL, false, &e) != 0) {
		printf("Bail out! %s: %s\n", body, e.text);
		exit(1);
	}
	in = json_root(doc);
	if (strcmp(operation, "CreateTrainingJob") == 0)
		serve_create(w, o, in, strstr(body, "(null)") != NULL);
	else if (strcmp(operation, "DescribeTrainingJob") == 0)
		serve_describe(w, o, in);
	else if (strcmp(operation, "StopTrainingJob") == 0)
		serve_stop(w, o, in);
	else if (strcmp(operation, "ListTrainingJobs") == 0)
		serve_list(w, o, in);
	json_free(doc);
}
