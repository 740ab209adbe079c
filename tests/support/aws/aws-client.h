/*
 * Shared by the tests of the AWS client: a scripted server on the same loop,
 * keys, and recorded callbacks.
 */

#ifndef HPOTUNE_AWS_CLIENT_H
#define HPOTUNE_AWS_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/mem.h"
#include "trials/aws/aws.h"

enum step_kind {
	STEP_SAY, /* an answer */
	STEP_RAW, /* body, just as it is, and the end */
	STEP_CLOSE, /* the end of the connection */
	STEP_SILENT /* nothing at all */
};

struct step {
	const char *operation; /* expected operation; NULL = any */
	enum step_kind kind;
	int status;
	const char *headers; /* "Name: value\r\n", or NULL */
	const char *body;
	size_t len; /* of body; 0 = up to its NUL */
	bool done;
};

/* A received request. */
struct asked {
	char operation[64]; /* "StopTrainingJob", "PUT /bucket/key" */
	char *head, *body;
	int64_t at_ms;
};

enum { AWS_CLIENT_STEPS = 64, AWS_CLIENT_REQUESTS = 2048 };

struct aws_client {
	struct loop *loop;
	struct loop_timer *guard;
	struct aws *aws;
	int port;
	int fd;
	struct loop_fd *listen;
	struct conn *conns;
	struct step steps[AWS_CLIENT_STEPS];
	size_t n_steps;
	/* What to do with a request, instead of steps; answers live on. */
	void (*decide)(
	    struct aws_client *, const struct asked *, struct step *);
	struct asked asked[AWS_CLIENT_REQUESTS];
	size_t n_asked;
	int64_t date_off_s; /* the server's clock is ahead by so much */
	bool no_date;
	bool real; /* the endpoints of AWS: nothing may be sent */
	int open; /* calls without a callback yet */
	int64_t timeout_ms; /* of a call; 0: what suffices on any machine */
	bool want_requests; /* settle: until so many came */
	size_t requests_wanted;
	struct buf notes;

	/* Keys: AKIDn, SECRETn, TOKENn. */
	int generation, spoiled;
	bool keyless, slow_keys;
	int64_t cred_offset_s;
};

/* What a callback received. */
struct aws_client_answer {
	struct aws_client *rig;
	struct aws_call *call;
	int calls, status;
	bool good, unclear, sent, inside;
	enum aws_class what;
	char *code, *message, *request_id, *json, *body;
	size_t len, n;
	struct buf keys; /* of a list, one a line */
	void (*also)(struct aws_client_answer *); /* from inside the callback */
};

/* Parts of aws_rig_open. */
void aws_rig_listen(struct aws_client *);
void aws_rig_keys(struct aws_client *);

void aws_rig_open(struct aws_client *, double pace);
void aws_rig_close(struct aws_client *);
void aws_rig_step(struct aws_client *, struct step);
/* A JSON error: {"__type": code, "message": text}. */
void aws_rig_error(struct aws_client *, const char *operation, int status,
    const char *code, const char *text);
void aws_rig_good(struct aws_client *, const char *operation, const char *body);
/* Run until all calls have ended. */
void aws_rig_settle(struct aws_client *);
/* Run until this many requests were received. */
void aws_rig_wait(struct aws_client *, size_t requests);
/* Stop listening. */
void aws_rig_deaf(struct aws_client *);
void aws_rig_json(struct aws_client *, struct aws_client_answer *,
    enum aws_service, const char *, int tries);
void aws_rig_s3(
    struct aws_client *, struct aws_client_answer *, const struct aws_s3_ask *);
void aws_rig_list(struct aws_client *, struct aws_client_answer *,
    const char *bucket, const char *prefix, size_t most);
aws_cb aws_rig_told;
void aws_client_answer_free(struct aws_client_answer *);
/* The value of a header of request i, until the next call; "" if missing. */
const char *
aws_rig_header(const struct aws_client *, size_t i, const char *name);

#endif /* HPOTUNE_AWS_CLIENT_H */
