/*
 * Client for AWS services of one account and region, on the event loop: signs,
 * sends, retries and delivers answers.
 */

#ifndef HPOTUNE_AWS_H
#define HPOTUNE_AWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/http/http.h"
#include "trials/aws/config/aws-config.h"
#include "trials/aws/config/aws-endpoint.h"
#include "trials/aws/config/aws-retry.h"
#include "trials/aws/sign/aws-sigv4.h"

struct aws;
struct aws_call;
struct err;
struct json;
struct loop;

struct aws_env {
	struct loop *loop;
	const char *region, *profile; /* from study.json, or NULL */
	aws_getenv *env;
	double pace; /* 1 = within the published limits */
	/* A note for the view events: rejected keys, a wrong clock. */
	void (*note)(void *arg, bool warn, const char *text);
	void *note_arg;
};

int aws_open(struct aws **, const struct aws_env *, struct err *);
/* Free the client; pending calls are dropped without callbacks. */
void aws_close(struct aws *);
/*
 * Whether there are credentials for profile (NULL: the usual ones): -1 with the
 * places that were searched.  0 also when a service did not answer.  Blocks for
 * some seconds at most.
 */
int aws_keys_ask(aws_getenv *, const char *profile, struct err *);
/* Whether some are seen without asking anybody; true where that is unclear. */
bool aws_keys_visible(aws_getenv *, const char *profile);
const char *aws_client_region(const struct aws *);
/*
 * AWS_DEFAULT_REGION if it differs from AWS_REGION, which is used; else NULL.
 */
const char *aws_client_region_other(const struct aws *);
const char *aws_source(const struct aws *); /* source of the keys, for doctor */
/* Seconds since 1970 by AWS's clock, as far as it is known. */
int64_t aws_now_s(const struct aws *);

struct aws_answer {
	bool good;
	enum aws_class what;
	/*
	 * An earlier try got no clear answer: it may have taken effect although
	 * the last one failed.
	 */
	bool unclear;
	bool sent; /* at least one try was sent */
	int status;
	enum http_fault fault; /* of the last try, when status is 0 */
	const char *code; /* "ResourceInUse", "" = none */
	const char *message; /* for people; without secrets */
	const char *request_id;
	const struct json *json; /* of JSON services; NULL = empty */
	const char *body; /* of S3 and aws_query */
	size_t len;
};
typedef void aws_cb(void *arg, const struct aws_answer *);

enum { AWS_TRIES = 8 };

struct aws_ask {
	enum aws_service service;
	const char *operation; /* "CreateTrainingJob" */
	const char *body; /* JSON, copied; NULL = {}; aws_query: a form */
	int tries; /* 0 = AWS_TRIES; -1 = until there is a final answer */
	int64_t timeout_ms; /* of one try; 0 = 30 s (SQS waits up to 20 s) */
};

/*
 * Call a JSON operation.  The callback comes from the loop; the answer is
 * borrowed.  Calls of one operation are sent in order; operations do not wait
 * for each other.  Returns the call for aws_call_cancel.
 */
struct aws_call *
aws_json(struct aws *, const struct aws_ask *, aws_cb *, void *arg);

/*
 * The same for a service with form requests: body follows Action and Version,
 * "&Name=value…" encoded, or NULL; the answer's body is XML.
 */
struct aws_call *
aws_query(struct aws *, const struct aws_ask *, aws_cb *, void *arg);

struct aws_s3_ask {
	const char *method; /* "PUT" "HEAD" "GET" "DELETE" */
	const char *bucket;
	const char *key; /* not encoded; "" = the bucket itself */
	const struct aws_pair *query;
	size_t n_query;
	const void *body; /* copied */
	size_t body_len;
	const char *type; /* Content-Type, or NULL */
	int64_t from, most; /* GET: offset and number of bytes; most 0 = all */
	const char *kms; /* PUT: KMS key for encryption, or NULL */
	int tries;
	int64_t timeout_ms; /* 0 = 10 min */
};
struct aws_call *
aws_s3(struct aws *, const struct aws_s3_ask *, aws_cb *, void *arg);

/* One page of ListObjectsV2, or all objects with most = 0. */
struct aws_s3_object {
	const char *key;
	int64_t size;
	int64_t modified_s;
};
typedef void aws_s3_list_cb(void *arg, const struct aws_answer *,
    const struct aws_s3_object *, size_t n);
struct aws_call *aws_s3_list(struct aws *, const char *bucket,
    const char *prefix, size_t most, aws_s3_list_cb *, void *arg);

/* GetCallerIdentity, for doctor; the answer's body is XML. */
struct aws_call *aws_whoami(struct aws *, aws_cb *, void *arg);

/* Drop the callback.  A sent request may still take effect. */
void aws_call_cancel(struct aws_call *);

#endif /* HPOTUNE_AWS_H */
