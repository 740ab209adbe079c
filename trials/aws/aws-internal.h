/*
 * Declarations shared by the files of the AWS client; private: answers, calls
 * and their queues.
 */

#ifndef HPOTUNE_AWS_INTERNAL_H
#define HPOTUNE_AWS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "src/base/rng.h"
#include "trials/aws/credentials/cred.h"
#include "trials/aws/aws.h"

struct http;
struct http_request;
struct json_doc;
struct loop_timer;

/* An HTTP response; missing headers are NULL. */
struct aws_raw {
	enum aws_service service;
	const char *method;
	int status;
	const char *body;
	size_t len;
	const char *errortype; /* x-amzn-errortype */
	const char *bucket_region; /* x-amz-bucket-region */
	const char *region; /* region of the client */
	bool skewed; /* its Date differs by minutes from the time of signing */
};

/* One page of a bucket's list; each key is owned. */
struct aws_s3_page {
	struct aws_s3_object *objects;
	size_t n;
	char *token; /* of the next page, or NULL */
};

/* A parsed response.  Deterministic: the same bytes give the same result. */
struct aws_parsed {
	enum aws_class what;
	bool broken; /* status 2xx with an invalid body */
	char *code, *text; /* "" = none */
	struct json_doc *doc;
	struct aws_s3_page page;
};
typedef void aws_read_fn(struct aws_parsed *, const struct aws_raw *);

aws_read_fn aws_json_read; /* JSON 1.0 and 1.1 */
aws_read_fn aws_xml_read; /* S3, STS: a good body is passed through */
aws_read_fn aws_xml_read_list; /* ListObjectsV2 */
void aws_parsed_fini(struct aws_parsed *);
void aws_s3_page_fini(struct aws_s3_page *);
void aws_parsed_set(
    struct aws_parsed *, enum aws_class, const char *code, const char *text);

struct aws_request {
	const char *method; /* a constant */
	char *host, *path; /* path: as sent */
	bool plain, s3;
	struct aws_pair *query, *headers; /* texts are owned */
	size_t n_query, n_headers;
	char *body;
	size_t len;
	int64_t timeout_ms;
};
void aws_request_fini(struct aws_request *);
/* Append a pair; both texts are copied. */
void
aws_pair_add(struct aws_pair **, size_t *, const char *name, const char *value);

TAILQ_HEAD(aws_calls, aws_call);

/* The calls of one operation. */
struct aws_queue {
	TAILQ_ENTRY(aws_queue) next;
	struct aws *aws;
	enum aws_service service;
	char *operation;
	struct aws_retry_bucket bucket;
	struct aws_retry_budget budget;
	struct aws_calls line; /* in the order of the requests */
	struct loop_timer *timer;
};

enum aws_call_state {
	AWS_CALL_QUEUED, /* in its queue */
	AWS_CALL_KEYS, /* waiting for credentials */
	AWS_CALL_FLIGHT, /* waiting for the response */
	AWS_CALL_DONE, /* waiting for its callback */
	AWS_CALL_DELIVERED /* its callback is running */
};

struct aws_call {
	TAILQ_ENTRY(aws_call) all, line;
	struct aws *aws;
	struct aws_queue *queue;
	enum aws_call_state state;
	uint64_t order;
	int64_t due_ms; /* not sent before */
	struct aws_request request;
	aws_read_fn *read;
	int tries; /* -1 = unlimited */

	/* The current try. */
	struct http_request *http;
	char *key_id;
	int64_t sent_ms, signed_s;

	/* All tries. */
	int tried;
	int cost; /* budget taken by the last retry */
	/* already retried at once for a wrong clock, for expired keys */
	bool clocked, renewed;
	bool unclear, sent;

	/* The last answer. */
	struct aws_parsed said;
	int status;
	enum http_fault fault;
	char *message, *request_id, *body;
	size_t len;

	aws_cb *cb;
	void *arg;

	/* A list over pages: objects found so far. */
	aws_s3_list_cb *list_cb;
	struct aws_s3_page found;
	int pages;
	size_t most;
};

/* A note for the view events, sent from the loop. */
struct aws_note {
	STAILQ_ENTRY(aws_note) next;
	bool warn;
	char *text;
};

struct aws {
	struct loop *loop;
	struct http *http;
	struct aws_config *config;
	struct cred *cred;
	double pace;
	void (*note)(void *, bool, const char *);
	void *note_arg;
	/* url NULL = not resolved yet */
	struct aws_endpoint endpoints[AWS_SERVICES];
	TAILQ_HEAD(, aws_queue) queues;
	/* all except those waiting for their callback */
	struct aws_calls calls;
	struct aws_calls done;
	STAILQ_HEAD(, aws_note) notes;
	struct loop_timer *tell;
	struct rng rng;
	struct aws_keys keys; /* last used keys, to be removed from texts */
	int64_t offset_s; /* AWS's clock minus ours */
	int64_t noted_offset_s;
	bool refused; /* rejected keys were noted */
	bool had_keys;
	int64_t requests; /* sent since aws_open */
	uint64_t order;
};

/* aws.c */
int aws_client_endpoint(
    struct aws *, enum aws_service, const struct aws_endpoint **, struct err *);
/* A call has ended: its callback comes from the loop. */
void aws_deliver_put(struct aws_call *);
void aws_note_put(struct aws *, bool warn, const char *, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * aws-message.c: "SageMaker Stop…: text (Code, request 1)", without secrets; a
 * new text.
 */
char *aws_message(const struct aws_keys *, const struct aws_queue *,
    const struct aws_parsed *, int status, const char *request_id);

/* aws-s3.c: whether the next page of a list must be requested. */
bool aws_s3_more(struct aws_call *);

#endif /* HPOTUNE_AWS_INTERNAL_H */
