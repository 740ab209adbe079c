/* Declarations shared by the files of the credential chain; private. */

#ifndef HPOTUNE_CRED_INTERNAL_H
#define HPOTUNE_CRED_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "trials/aws/sign/aws-sigv4.h"

struct aws_config;
struct capture;
struct http;
struct http_answer;
struct http_request;
struct json;
struct loop;
struct loop_timer;

/* Keys and their expiry. */
struct cred_keys {
	struct aws_keys keys;
	int64_t expiry_s; /* since 1970; 0 = never */
};
void cred_keys_fini(struct cred_keys *);
/* Copies the texts; token may be NULL or "" for none. */
void cred_keys_set(
    struct cred_keys *, const char *id, const char *secret, const char *token);
/*
 * Read an object with AccessKeyId, SecretAccessKey, a token under the given
 * name, Expiration. what names the source in the error, which contains no
 * value.
 */
int cred_keys_read(struct cred_keys *, const struct json *object,
    const char *token_name, const char *what, struct err *);
/* "2024-11-20T12:00:00.5+01:00" -> seconds since 1970; false if invalid. */
bool cred_keys_time(const char *, int64_t *);

/* Places in the order of the search, botocore's. */
enum cred_place {
	CRED_PLACE_ENV,
	/* of the profile: continues at the place of its source */
	CRED_PLACE_ROLE,
	CRED_PLACE_WEB,
	CRED_PLACE_SSO,
	CRED_PLACE_SHARED, /* the credentials file */
	CRED_PLACE_LOGIN,
	CRED_PLACE_PROCESS,
	CRED_PLACE_CONFIG, /* keys in the config file */
	CRED_PLACE_CONTAINER,
	CRED_PLACE_IMDS,
	CRED_PLACE_REGION, /* no keys: the region of the instance, as source */
	CRED_PLACES
};

enum cred_try {
	CRED_ABSENT, /* no keys here: continue with the next place */
	CRED_FOUND,
	CRED_FAILED, /* fetch.err has the reason: the search ends */
	CRED_WAIT /* cred_chain_resume will be called */
};

enum { CRED_ROLES_MAX = 10 };

/* A request to STS, kept for retries. */
struct cred_sts {
	char *form; /* wiped */
	char *role; /* for messages */
	bool sign;
};

/* An HTTP service of the machine: container or instance. */
struct cred_endpoint {
	char *base; /* "http://169.254.169.254" */
	char *path; /* of the current request */
	const char *first; /* of the request with the token */
	void (*got)(void *fetch, const struct http_answer *); /* it */
	char *token; /* of the instance's service, or NULL; wiped */
	int64_t timeout_ms;
	int most; /* maximum number of tries */
};
void cred_container_url_fini(struct cred_endpoint *);

struct cred_chain {
	struct loop *loop;
	struct http *http;
	const struct aws_config *base;
	struct aws_config *config; /* reloaded for this search */
	int64_t offset_s; /* AWS's clock minus ours */
	bool offset_seen; /* measured by STS itself */

	char *profile; /* profile whose places are searched */
	unsigned places; /* bit set of the places to search */
	bool alone; /* places was given */
	bool use_env; /* use the variables of web identity */
	enum cred_place at;
	char *roles[CRED_ROLES_MAX]; /* profiles; the last is assumed first */
	size_t n_roles;

	struct cred_keys found;
	char *source; /* for messages */
	struct buf looked; /* places without keys, for the error */
	struct err err;

	/* Of the current place. */
	struct http_request *request;
	struct capture *child;
	struct loop_timer *timer;
	void (*on_timer)(struct cred_chain *);
	int tries;
	struct cred_sts sts;
	struct cred_endpoint url;

	/* End of the search; it may be freed in this callback. */
	void (*done)(void *arg, bool good);
	void *arg;
};

/*
 * Start a search, at one place or (CRED_PLACES) all: done is called from the
 * loop.
 */
struct cred_chain *cred_chain_new(struct loop *, struct http *,
    const struct aws_config *, enum cred_place only, int64_t offset_s,
    void (*done)(void *, bool), void *arg);
/* Free the chain; drops pending requests. */
void cred_chain_free(struct cred_chain *);

/* Result of a CRED_WAIT.  The caller must return at once. */
void cred_chain_resume(struct cred_chain *, enum cred_try);
/* Add a clause about a place without keys. */
void cred_chain_absent(struct cred_chain *, const char *, ...)
    __attribute__((format(printf, 2, 3)));
void cred_chain_source(struct cred_chain *, const char *, ...)
    __attribute__((format(printf, 2, 3)));
/* Call back once after this time. */
void cred_chain_later(
    struct cred_chain *, int64_t ms, void (*)(struct cred_chain *));
/* Seconds since 1970 by AWS's clock. */
int64_t cred_chain_now_s(const struct cred_chain *);

/* One place each. */
enum cred_try cred_process(struct cred_chain *);
enum cred_try cred_container(struct cred_chain *);
enum cred_try cred_imds(struct cred_chain *);
enum cred_try cred_imds_region(struct cred_chain *);

/* Read a token from a file, trimmed; free with cred_keys_wipe. */
int cred_keys_token_file(char **, const char *path, struct err *);
void cred_keys_wipe(char *);
/* Split a command line as a shell does; NULL if a quote is not closed. */
char **cred_process_split(const char *);

#endif /* HPOTUNE_CRED_INTERNAL_H */
