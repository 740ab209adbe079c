/* Requests to STS and SNS, which are forms, and the answers to them. */

#include <string.h>

#include "src/base/mem.h"
#include "src/base/xml.h"
#include "trials/aws/aws-call.h"
#include "trials/aws/aws-internal.h"

enum { QUERY_TIMEOUT_MS = 30 * 1000 };

/* API version, part of each request; NULL: the service takes no forms. */
static const char *const versions[AWS_SERVICES] = {
	[AWS_STS] = "2011-06-15",
	[AWS_SNS] = "2010-03-31",
};

/* A 2xx answer counts if its root element is that of such a service. */
static void
aws_query_read(struct aws_parsed *said, const struct aws_raw *raw)
{
	static const char end[] = "Response";
	struct xml *root = NULL;
	const char *name;
	size_t n, k = sizeof end - 1;
	bool good;

	aws_xml_read(said, raw);
	if (said->what != AWS_OK)
		return;
	good = xml_parse(&root, raw->body, raw->len, NULL) == 0;
	if (good) {
		name = xml_name(root);
		n = strlen(name);
		good = n > k && strcmp(name + n - k, end) == 0 &&
		       strcmp(name, "ErrorResponse") != 0;
		xml_free(root);
	}
	if (good)
		return;
	aws_parsed_set(said, AWS_TRANSIENT, "", "the answer is not AWS's");
	said->broken = true;
}

static void
aws_query_request_fill(struct aws_request *r, const struct aws_endpoint *p,
    const struct aws_ask *ask)
{
	const char *more = ask->body != NULL ? ask->body : "";

	*r = (struct aws_request){
		.method = "POST",
		.host = xstrdup(p->host),
		.path = xasprintf("%s/", p->path),
		.plain = p->plain,
		.body = xasprintf("Action=%s&Version=%s%s", ask->operation,
		    versions[ask->service], more),
		.timeout_ms =
		    ask->timeout_ms > 0 ? ask->timeout_ms : QUERY_TIMEOUT_MS,
	};
	r->len = strlen(r->body);
	aws_pair_add(&r->headers, &r->n_headers, "Content-Type",
	    "application/x-www-form-urlencoded; charset=utf-8");
}

struct aws_call *
aws_query(struct aws *aws, const struct aws_ask *ask, aws_cb *cb, void *arg)
{
	return aws_call_ask(
	    aws, ask, aws_query_request_fill, aws_query_read, cb, arg);
}

struct aws_call *
aws_whoami(struct aws *aws, aws_cb *cb, void *arg)
{
	const struct aws_ask ask = { .service = AWS_STS,
		.operation = "GetCallerIdentity" };

	return aws_query(aws, &ask, cb, arg);
}
