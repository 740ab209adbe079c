/*
 * Signature version 4 (AWS: "Create a signed AWS API request").  No I/O; the
 * time is an argument.
 */

#ifndef HPOTUNE_AWS_SIGV4_H
#define HPOTUNE_AWS_SIGV4_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/digest.h"

struct buf;

/*
 * Credentials; texts are owned by the creator of the struct, token may be NULL.
 */
struct aws_keys {
	char *id;
	char *secret;
	char *token;
};

struct aws_pair {
	const char *name, *value;
};

struct aws_sigv4 {
	const struct aws_keys *keys;
	const char *region;
	const char *service; /* in the credential scope: "sagemaker" */
	int64_t time_s; /* since 1970, UTC, AWS's clock */
	const char *method;
	const char *host; /* with the port if it is not the default */
	const char *path; /* as sent: percent-encoded once */
	bool path_once; /* S3: not normalised, not encoded twice */
	const struct aws_pair *query; /* decoded */
	size_t n_query;
	const struct aws_pair *headers; /* further headers to sign */
	size_t n_headers;
	const void *body;
	size_t body_len;
	bool content_sha256; /* S3: also send x-amz-content-sha256 */
	bool token_unsigned; /* the token is added after signing */
};

/* Intermediate texts, for tests: each is appended to a buffer. */
void aws_sigv4_canonical(struct buf *, const struct aws_sigv4 *);
void aws_sigv4_string(struct buf *, const struct aws_sigv4 *);
void aws_sigv4_signature(char out[DIGEST_HEX], const struct aws_sigv4 *);

/*
 * The headers to send beside the given ones: "Authorization: …", "X-Amz-Date:
 * …", token and digest if applicable; a new array of new texts, ending with
 * NULL.
 */
char **aws_sigv4_headers(const struct aws_sigv4 *);
void aws_sigv4_free(char **);

/* Append "a=1&b=2", encoded and sorted as it is sent and signed. */
void aws_sigv4_put_query(struct buf *, const struct aws_pair *, size_t);

/* Wipe and free the texts. */
void aws_sigv4_keys_fini(struct aws_keys *);

#endif /* HPOTUNE_AWS_SIGV4_H */
