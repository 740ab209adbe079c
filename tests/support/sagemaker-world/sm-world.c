/* The world of training jobs, and what its operations do. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/loop.h"
#include "tests/support/sagemaker-world/sm-world.h"

enum { PAGE = 3 };

struct world *the_world;

static uint64_t
draw(struct world *w)
{
	uint64_t z = (w->dice += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

bool
world_dice(struct world *w, double share)
{
	return share > 0 && (double)(draw(w) >> 11) * 0x1p-53 < share;
}

int64_t
world_between(struct world *w, int64_t least, int64_t most)
{
	return most <= least
		   ? least
		   : least + (int64_t)(draw(w) % (uint64_t)(most - least));
}

void
world_open(struct world *w, struct loop *loop, uint64_t seed)
{
	*w = (struct world){ .loop = loop, .dice = seed };
	w->bad.start_ms = 120000;
	w->bad.train_ms = 600000;
	w->bad.stop_ms = 120000;
	the_world = w;
}

void
world_close(struct world *w)
{
	size_t i;

	world_drop_calls(w);
	for (i = 0; i < w->n; i++)
		free(w->jobs[i]);
	w->n = 0;
	the_world = NULL;
}

struct world_job *
world_find(struct world *w, const char *name)
{
	size_t i;

	for (i = 0; i < w->n; i++)
		if (strcmp(w->jobs[i]->name, name) == 0 && !w->jobs[i]->gone)
			return w->jobs[i];
	return NULL;
}

bool
world_busy(const struct world *w)
{
	int64_t now = loop_now_ms(w->loop);
	size_t i;

	for (i = 0; i < w->n; i++)
		if (!world_over(w->jobs[i], now))
			return true;
	return w->open_calls > 0;
}

static enum world_end
draw_end(struct world *w)
{
	if (world_dice(w, w->bad.capacity))
		return WORLD_CAPACITY;
	if (world_dice(w, w->bad.internal))
		return WORLD_INTERNAL;
	if (world_dice(w, w->bad.client))
		return WORLD_CLIENT;
	if (world_dice(w, w->bad.fail))
		return WORLD_FAIL;
	return world_dice(w, w->bad.max_wait) ? WORLD_MAX_WAIT : WORLD_OK;
}

struct world_job *
world_add(struct world *w, const char *name, const char *uuid, bool spot)
{
	struct world_job *j = xcalloc(1, sizeof *j);
	const struct world_faults *bad = &w->bad;

	(void)snprintf(j->name, sizeof j->name, "%s", name);
	(void)snprintf(j->uuid, sizeof j->uuid, "%s", uuid);
	j->spot_asked = spot;
	j->spot = spot && !world_dice(w, bad->no_spot);
	j->kind = draw_end(w);
	j->created = loop_now_ms(w->loop);
	j->train =
	    j->created + world_between(w, bad->start_ms / 3, bad->start_ms);
	j->end = j->train + world_between(w, bad->train_ms / 3, bad->train_ms);
	if (j->kind == WORLD_CAPACITY || j->kind == WORLD_CLIENT)
		j->end = j->train; /* it never trains */
	j->interrupted = world_dice(w, bad->interrupt)
			     ? world_between(w, j->train, j->end)
			     : -1;
	j->stop = j->stopped = -1;
	if (w->n == sizeof w->jobs / sizeof w->jobs[0])
		abort();
	w->jobs[w->n++] = j;
	return j;
}

static int
jobs_open(const struct world *w)
{
	int64_t now = loop_now_ms(w->loop);
	size_t i;
	int n = 0;

	for (i = 0; i < w->n; i++)
		n += !world_over(w->jobs[i], now);
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
    struct world *w, struct outcome *o, const struct json *in, bool codeless)
{
	const char *name = json_string(json_get(in, "TrainingJobName"));
	const struct json *env = json_get(in, "Environment");
	bool spot = false;
	struct world_job *j;

	w->creates++;
	(void)json_bool(json_get(in, "EnableManagedSpotTraining"), &spot);
	if (world_find(w, name) == NULL && world_dice(w, w->bad.stolen))
		(void)world_add(w, name, "somebody-else", spot);
	if (world_find(w, name) != NULL) {
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
	j = world_add(
	    w, name, json_string(json_get(env, "HPOTUNE_ATTEMPT_UUID")), spot);
	j->codeless = codeless;
	buf_puts(&o->body, "{\"TrainingJobArn\":\"arn\"}");
	if (w->born != NULL)
		w->born(w->arg, j);
}

static void
serve_describe(struct world *w, struct outcome *o, const struct json *in)
{
	struct world_job *j =
	    world_find(w, json_string(json_get(in, "TrainingJobName")));

	w->describes++;
	if (j == NULL)
		refuse(o, AWS_MISSING, "ValidationException",
		    "Requested resource not found.");
	else
		world_put_job(&o->body, j, loop_now_ms(w->loop));
}

static void
serve_stop(struct world *w, struct outcome *o, const struct json *in)
{
	struct world_job *j =
	    world_find(w, json_string(json_get(in, "TrainingJobName")));
	int64_t now = loop_now_ms(w->loop);

	w->stops++;
	if (j == NULL)
		refuse(o, AWS_MISSING, "ValidationException",
		    "Requested resource not found.");
	else if (world_over(j, now))
		refuse(o, AWS_CALLER, "ValidationException",
		    "The request was rejected because the training job is in "
		    "status Stopped.");
	else if (j->stop < 0 && !world_dice(w, w->bad.deaf)) {
		j->stop = now;
		j->stopped =
		    now + world_between(w, w->bad.stop_ms / 3, w->bad.stop_ms);
	}
}

/* Newest first, PAGE at a time, as it was a while ago. */
static void
serve_list(struct world *w, struct outcome *o, const struct json *in)
{
	const char *token = json_string(json_get(in, "NextToken"));
	const char *prefix = json_string(json_get(in, "NameContains"));
	int64_t then =
	    loop_now_ms(w->loop) - world_between(w, 0, w->bad.lag_ms);
	size_t left = token != NULL ? (size_t)atoi(token) : w->n;
	int said = 0;

	w->lists++;
	buf_puts(&o->body, "{\"TrainingJobSummaries\":[");
	while (left > 0 && said < PAGE) {
		const struct world_job *j = w->jobs[--left];

		if (j->gone || j->created > then ||
		    strstr(j->name, prefix) == NULL)
			continue;
		if (said++ > 0)
			buf_putc(&o->body, ',');
		world_put_summary(&o->body, j, then);
	}
	buf_putc(&o->body, ']');
	if (left > 0)
		buf_printf(&o->body, ",\"NextToken\":\"%zu\"", left);
	buf_putc(&o->body, '}');
}

void
world_serve(
    struct world *w, struct outcome *o, const char *operation, const char *body)
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
