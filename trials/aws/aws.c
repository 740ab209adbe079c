/*
 * The client: one queue per operation, so that no operation waits for another,
 * calls, and delivery of results and notes.
 */

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/base/err.h"
#include "src/base/http/http.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "trials/aws/aws-call.h"
#include "trials/aws/aws-internal.h"
#include "trials/aws/aws-queue.h"

void
aws_deliver_put(struct aws_call *c)
{
	c->state = AWS_CALL_DONE;
	TAILQ_INSERT_TAIL(&c->aws->done, c, line);
	loop_timer_set(c->aws->tell, 0);
}

void
aws_note_put(struct aws *aws, bool warn, const char *fmt, ...)
{
	struct aws_note *n = xcalloc(1, sizeof *n);
	char *text;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) == -1)
		mem_fail();
	va_end(ap);
	*n = (struct aws_note){ .warn = warn, .text = text };
	STAILQ_INSERT_TAIL(&aws->notes, n, next);
	loop_timer_set(aws->tell, 0);
}

int
aws_client_endpoint(struct aws *aws, enum aws_service service,
    const struct aws_endpoint **out, struct err *e)
{
	struct aws_endpoint *p = &aws->endpoints[service];

	if (p->url == NULL &&
	    aws_endpoint_resolve(aws->config, service, p, e) != 0)
		return -1;
	*out = p;
	return 0;
}

static void
note_free(struct aws_note *n)
{
	free(n->text);
	free(n);
}

/*
 * Call one callback per iteration of the loop; the client is not used after it,
 * because the callback may close it.
 */
static void
on_tell(void *arg)
{
	struct aws *aws = arg;
	struct aws_note *n = STAILQ_FIRST(&aws->notes);
	struct aws_call *c = TAILQ_FIRST(&aws->done);

	if (n != NULL)
		STAILQ_REMOVE_HEAD(&aws->notes, next);
	else if (c != NULL) {
		TAILQ_REMOVE(&aws->done, c, line);
		TAILQ_REMOVE(&aws->calls, c, all);
	}
	if (!STAILQ_EMPTY(&aws->notes) || !TAILQ_EMPTY(&aws->done))
		loop_timer_set(aws->tell, 0);
	if (n != NULL) {
		if (aws->note != NULL)
			aws->note(aws->note_arg, n->warn, n->text);
		note_free(n);
	} else if (c != NULL)
		aws_call_deliver(c);
}

static int
aws_set_up(struct aws *aws, const struct aws_env *env, struct err *e)
{
	const char *ca;

	if (aws_config_open(
		&aws->config, env->env, env->profile, env->region, e) != 0)
		return -1;
	if (cred_ask_region(aws->config, e) != 0)
		return -1;
	ca = aws_config_ca_bundle(aws->config);
	if (http_open(&aws->http, aws->loop, ca, e) != 0)
		return -1;
	aws->cred = cred_new(aws->loop, aws->http, aws->config);
	return 0;
}

/*
 * Note that two variables name regions: other programs may use the other one.
 */
static void
region_tell(struct aws *aws)
{
	const char *other = aws_config_region_other(aws->config);

	if (other != NULL)
		aws_note_put(aws, true,
		    "AWS_REGION is %s and AWS_DEFAULT_REGION %s: the first "
		    "counts",
		    aws_client_region(aws), other);
}

int
aws_open(struct aws **out, const struct aws_env *env, struct err *e)
{
	struct aws *aws = xcalloc(1, sizeof *aws);
	uint64_t seed;

	aws->loop = env->loop;
	aws->pace = env->pace > 0 ? fmin(fmax(env->pace, 1e-3), 1e6) : 1;
	aws->note = env->note;
	aws->note_arg = env->note_arg;
	TAILQ_INIT(&aws->queues);
	TAILQ_INIT(&aws->calls);
	TAILQ_INIT(&aws->done);
	STAILQ_INIT(&aws->notes);
	aws->tell = loop_timer_new(aws->loop, on_tell, aws);
	rng_system(&seed, sizeof seed);
	rng_init(&aws->rng, seed, 0);
	if (aws_set_up(aws, env, e) != 0) {
		aws_close(aws);
		return -1;
	}
	if (env->region == NULL)
		region_tell(aws);
	*out = aws;
	return 0;
}

void
aws_close(struct aws *aws)
{
	struct aws_queue *q;
	struct aws_note *n;
	struct aws_call *c;
	int i;

	if (aws == NULL)
		return;
	while ((c = TAILQ_FIRST(&aws->calls)) != NULL)
		aws_call_cancel(c);
	while ((q = TAILQ_FIRST(&aws->queues)) != NULL) {
		TAILQ_REMOVE(&aws->queues, q, next);
		aws_queue_free(q);
	}
	while ((n = STAILQ_FIRST(&aws->notes)) != NULL) {
		STAILQ_REMOVE_HEAD(&aws->notes, next);
		note_free(n);
	}
	if (aws->cred != NULL)
		cred_free(aws->cred);
	if (aws->http != NULL)
		http_close(aws->http);
	for (i = 0; i < AWS_SERVICES; i++)
		if (aws->endpoints[i].url != NULL)
			aws_endpoint_fini(&aws->endpoints[i]);
	if (aws->config != NULL)
		aws_config_free(aws->config);
	loop_timer_free(aws->tell);
	aws_sigv4_keys_fini(&aws->keys);
	free(aws);
}

int
aws_keys_ask(aws_getenv *env, const char *profile, struct err *e)
{
	struct aws_config *config;
	int rc = aws_config_open(&config, env, profile, NULL, e);

	if (rc == 0) {
		rc = cred_ask_keys(config, e);
		aws_config_free(config);
	}
	return rc;
}

bool
aws_keys_visible(aws_getenv *env, const char *profile)
{
	struct aws_config *config;
	bool seen = true;

	if (aws_config_open(&config, env, profile, NULL, NULL) == 0) {
		seen = cred_ask_visible(config);
		aws_config_free(config);
	}
	return seen;
}

const char *
aws_client_region(const struct aws *aws)
{
	return aws_config_region(aws->config);
}

const char *
aws_client_region_other(const struct aws *aws)
{
	return aws_config_region_other(aws->config);
}

const char *
aws_source(const struct aws *aws)
{
	return cred_source_name(aws->cred);
}

int64_t
aws_now_s(const struct aws *aws)
{
	return loop_wall_us(aws->loop) / 1000000 + aws->offset_s;
}
