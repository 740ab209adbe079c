/*
 * A client of AWS's services for one account and region: signs, sends, retries
 * and hands over answers, on the loop.  Knows nothing of trials.
 */

#ifndef HPOTUNE_AWS_H
#define HPOTUNE_AWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/http/http.h"
#include "trials/aws/config/aws-config.h"
#include "trials/aws/config/aws-retry.h"
#include "trials/aws/sign/aws-sigv4.h"

struct aws;
struct aws_call;
struct err;
struct json;
struct loop;

struct aws_env {
	struct loop *loop;
	const char *region, *profile; /* of study.json, or NULL */
	aws_getenv *env;
	double pace; /* 1 = within the published limits */
	/* Things worth an event: keys were refused, the clock is off. */
	void (*note)(void *arg, bool warn, const char *text);
	void *note_arg;
};

int aws_open(struct aws **, const struct aws_env *, struct err *);
/* What is under way is dropped without a callback. */
void aws_close(struct aws *);
const char *aws_client_region(const struct aws *);
/* AWS_DEFAULT_REGION where AWS_REGION names another one; else NULL. */
const char *aws_client_region_other(const struct aws *);
const struct aws_config *aws_config_of(const struct aws *);
const char *aws_source(const struct aws *); /* of the keys, for doctor */
/* Seconds since 1970 by the clock of the other side, as far as it is known. */
int64_t aws_now_s(const struct aws *);
/* Requests sent since aws_open, for the bench. */
int64_t aws_requests(const struct aws *);

struct aws_answer {
	bool good;
	enum aws_class what;
	/*
	 * An earlier try of this call got no clear answer: it may have acted
	 * although the last one says no.
	 */
	bool unclear;
	bool sent; /* at least one try reached the wire */
	int status;
	enum http_fault fault; /* of the last try, when status is 0 */
	const char *code; /* "ResourceInUse", "" when there is none */
	const char *message; /* for people; no secret in it */
	const char *request_id;
	const struct json *json; /* of JSON services; NULL = empty */
	const char *body; /* of S3 and of aws_query */
	size_t len;
};
typedef void aws_cb(void *arg, const struct aws_answer *);

enum { AWS_TRIES = 8 };

struct aws_ask {
	enum aws_service service;
	const char *operation; /* "CreateTrainingJob" */
	const char *body; /* JSON, copied; NULL = {}; aws_query: a form */
	int tries; /* 0 = AWS_TRIES; -1 = until it is answered for good */
	int64_t timeout_ms; /* of one try; 0 = 30 s (SQS waits up to 20 s) */
};

/*
 * One JSON operation.  The callback comes from the loop.  Calls of one
 * operation go out in their order; operations do not wait for each other.
 */
struct aws_call *
aws_json(struct aws *, const struct aws_ask *, aws_cb *, void *arg);

/*
 * The same of a service that takes a form: body is what follows Action and
 * Version, "&Name=value…" encoded, or NULL; the answer's body is XML.
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
	int64_t from, most; /* GET: so many bytes from there; most 0 = all */
	const char *kms; /* PUT: the key it is encrypted with, or NULL */
	int tries;
	int64_t timeout_ms; /* 0 = 10 min */
};
struct aws_call *
aws_s3(struct aws *, const struct aws_s3_ask *, aws_cb *, void *arg);

/* One page of ListObjectsV2, or the whole with most = 0. */
struct aws_s3_object {
	const char *key;
	int64_t size;
	int64_t modified_s;
};
typedef void aws_s3_list_cb(void *arg, const struct aws_answer *,
    const struct aws_s3_object *, size_t n);
struct aws_call *aws_s3_list(struct aws *, const char *bucket,
    const char *prefix, size_t most, aws_s3_list_cb *, void *arg);

/* GetCallerIdentity: for doctor; the answer's body is XML. */
struct aws_call *aws_whoami(struct aws *, aws_cb *, void *arg);

/* No callback any more.  A request on its way may still act. */
void aws_call_cancel(struct aws_call *);

/* "s3://bucket/some/prefix/" -> new texts without slashes at the ends. */
int
aws_s3_uri_split(const char *uri, char **bucket, char **prefix, struct err *);

#endif /* HPOTUNE_AWS_H */
