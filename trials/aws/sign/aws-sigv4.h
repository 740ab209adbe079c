/*
 * Signature version 4 (AWS: "Create a signed AWS API request").  Pure: numbers
 * and texts in, headers out; the clock is an argument.
 */

#ifndef HPOTUNE_AWS_SIGV4_H
#define HPOTUNE_AWS_SIGV4_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/digest.h"

struct buf;

/* Keys; each text is owned by who made the struct, token may be NULL. */
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
	const char *service; /* of the credential scope: "sagemaker" */
	int64_t time_s; /* since 1970, UTC, the other side's clock */
	const char *method;
	const char *host; /* with its port when it is not the usual one */
	const char *path; /* as sent: percent-encoded once */
	bool path_once; /* S3: neither normalised nor encoded again */
	const struct aws_pair *query; /* decoded */
	size_t n_query;
	const struct aws_pair *headers; /* further ones to sign */
	size_t n_headers;
	const void *body;
	size_t body_len;
	bool content_sha256; /* S3: send x-amz-content-sha256 too */
	bool token_unsigned; /* the token is added after signing */
};

/* The pieces, for tests: each is appended to a buffer. */
void aws_sigv4_canonical(struct buf *, const struct aws_sigv4 *);
void aws_sigv4_string(struct buf *, const struct aws_sigv4 *);
void aws_sigv4_signature(char out[DIGEST_HEX], const struct aws_sigv4 *);

/*
 * The headers to send besides those given: "Authorization: …", "X-Amz-Date:
 * …", the token and the digest where they apply; a new array of new texts that
 * ends with NULL.
 */
char **aws_sigv4_headers(const struct aws_sigv4 *);
void aws_sigv4_free(char **);

/* "a=1&b=2", encoded and sorted as it must be sent and signed. */
void aws_sigv4_put_query(struct buf *, const struct aws_pair *, size_t);

/* Wipe and free the texts. */
void aws_sigv4_keys_fini(struct aws_keys *);

#endif /* HPOTUNE_AWS_SIGV4_H */
