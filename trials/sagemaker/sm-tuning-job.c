/*
 * Reads a tuning job of SageMaker: its description and its training jobs, page
 * by page.  Runs the caller's loop.
 */

#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/log.h"
#include "src/base/loop.h"
#include "trials/sagemaker/sm-internal.h"

enum { TUNING_PAGES = 1000 /* of 100 jobs; AWS has tuning jobs of 10,000 */ };

struct tuning {
	struct aws *aws;
	struct loop *loop;
	char *name;
	bool jobs; /* the list, too */
	struct buf *out;
	char *token; /* of the next page, or NULL */
	int pages;
	size_t n;
	bool begun, over, bad;
	struct err err;
};

static const char *
tuning_job_variable(const char *name)
{
	return getenv(name);
}

static void
tuning_job_on_client_note(void *arg, bool warn, const char *text)
{
	(void)arg;
	if (warn)
		log_warn("sagemaker", "%s", text);
	else
		log_info("sagemaker", "%s", text);
}

static void
tuning_end(struct tuning *p)
{
	p->over = true;
	loop_stop(p->loop);
}

static void
tuning_fail(struct tuning *p, const char *what, const struct aws_answer *r)
{
	p->bad = true;
	if (r != NULL && r->what == AWS_MISSING)
		(void)err_set(&p->err, ERR_REMOTE,
		    "the tuning job %s does not exist in %s: %s", p->name,
		    aws_client_region(p->aws), r->message);
	else
		(void)err_set(&p->err, ERR_REMOTE,
		    "the tuning job %s in %s %s: %s", p->name,
		    aws_client_region(p->aws), what,
		    r != NULL ? r->message : "its list has no end");
	tuning_end(p);
}

/* list: its training jobs, a page. */
static void
tuning_ask(struct tuning *p, const char *operation, bool list, aws_cb *cb)
{
	struct aws_ask ask = { .service = AWS_SAGEMAKER,
		.operation = operation };
	struct buf body = { 0 };
	struct json_writer w = { .out = &body };

	json_writer_object(&w, NULL);
	json_writer_text(&w, "HyperParameterTuningJobName", p->name);
	if (list) {
		json_writer_integer(&w, "MaxResults", 100);
		json_writer_text(&w, "SortBy", "CreationTime");
		json_writer_text(&w, "SortOrder", "Ascending");
	}
	if (p->token != NULL)
		json_writer_text(&w, "NextToken", p->token);
	json_writer_end(&w);
	ask.body = buf_str(&body);
	(void)aws_json(p->aws, &ask, cb, p);
	buf_free(&body);
}

static void tuning_page(struct tuning *);

static void
tuning_job_on_page(void *arg, const struct aws_answer *r)
{
	struct tuning *p = arg;
	const struct json *j;
	const char *token;

	if (!r->good || r->json == NULL) {
		tuning_fail(p, "does not list its training jobs", r);
		return;
	}
	j = json_get(r->json, "TrainingJobSummaries");
	for (j = json_first(j); j != NULL; j = json_next(j)) {
		if (p->n++ > 0)
			buf_putc(p->out, ',');
		json_write(p->out, j);
	}
	token = json_string(json_get(r->json, "NextToken"));
	if (token == NULL || *token == '\0') {
		buf_puts(p->out, "]}");
		tuning_end(p);
		return;
	}
	if (p->pages >= TUNING_PAGES ||
	    (p->token != NULL && strcmp(p->token, token) == 0)) {
		tuning_fail(p, "does not list its training jobs", NULL);
		return;
	}
	free(p->token);
	p->token = xstrdup(token);
	tuning_page(p);
}

/* Oldest first: the order in which a study learns from them. */
static void
tuning_page(struct tuning *p)
{
	p->pages++;
	tuning_ask(p, "ListTrainingJobsForHyperParameterTuningJob", true,
	    tuning_job_on_page);
}

static void
tuning_job_on_described(void *arg, const struct aws_answer *r)
{
	struct tuning *p = arg;

	if (!r->good || r->json == NULL) {
		tuning_fail(p, "cannot be read", r);
		return;
	}
	if (!p->jobs) {
		json_write(p->out, r->json);
		tuning_end(p);
		return;
	}
	buf_puts(p->out, "{\"TuningJob\":");
	json_write(p->out, r->json);
	buf_puts(p->out, ",\"TrainingJobSummaries\":[");
	tuning_page(p);
}

static void
tuning_job_on_turn(void *arg)
{
	struct tuning *p = arg;

	if (!p->begun) {
		p->begun = true;
		tuning_ask(p, "DescribeHyperParameterTuningJob", false,
		    tuning_job_on_described);
	}
	if (p->over)
		loop_stop(p->loop);
}

/* The part of an ARN after so many colons, of n bytes; "" = none. */
static const char *
arn_part(const char *arn, int colons, size_t *n)
{
	while (*arn != '\0' && colons > 0)
		colons -= *arn++ == ':';
	*n = strcspn(arn, ":");
	return arn;
}

/*
 * Read a tuning job's name, and from an ARN its region; the caller frees both.
 */
static int
name_read(
    char **name, char **region, const struct launch_tuning *past, struct err *e)
{
	const char *slash, *at;
	size_t n;

	*name = NULL;
	*region = past->region != NULL ? xstrdup(past->region) : NULL;
	if (strncmp(past->name, "arn:", 4) != 0) {
		*name = xstrdup(past->name);
		return 0;
	}
	at = arn_part(past->name, 3, &n);
	slash = strstr(past->name, ":hyper-parameter-tuning-job/");
	if (n == 0 || slash == NULL)
		return err_set(
		    e, ERR_USAGE, "%s is no ARN of a tuning job", past->name);
	*name = xstrdup(strchr(slash, '/') + 1);
	if (*region == NULL)
		*region = xstrndup(at, n);
	else if (strlen(*region) != n || strncmp(*region, at, n) != 0)
		return err_set(e, ERR_USAGE,
		    "the ARN has region %.*s, but \"region\" is %s", (int)n, at,
		    *region);
	return 0;
}

int
sm_tuning(struct loop *loop, const struct launch_tuning *past, struct buf *out,
    struct err *e)
{
	struct tuning p = {
		.loop = loop, .jobs = past->jobs, .out = out, .err = ERR_INIT
	};
	struct aws_env env = { .loop = loop,
		.profile = past->profile,
		.env = tuning_job_variable,
		.pace = past->pace > 0 ? past->pace : 1,
		.note = tuning_job_on_client_note };
	char *region = NULL;
	int rc = name_read(&p.name, &region, past, e);

	env.region = region;
	if (rc == 0 && (rc = aws_open(&p.aws, &env, e)) == 0) {
		loop_run(loop, tuning_job_on_turn, &p);
		if (p.bad || !p.over) {
			rc = -1;
			if (e != NULL)
				*e = p.err;
		}
		aws_close(p.aws);
	}
	free(region);
	free(p.name);
	free(p.token);
	return rc;
}
