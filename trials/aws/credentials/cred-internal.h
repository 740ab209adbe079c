/*
 * What the files of the credential chain share: one search for keys, as it
 * walks from place to place.  Nobody else includes it.
 */

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
struct http_send;
struct json;
struct loop;
struct loop_timer;

/* Keys and when they expire. */
struct cred_keys {
	struct aws_keys keys;
	int64_t expiry_s; /* since 1970; 0 = never */
};
void cred_keys_fini(struct cred_keys *);
/* Copies; token may be NULL or "" for none. */
void cred_keys_set(
    struct cred_keys *, const char *id, const char *secret, const char *token);
/*
 * An object with AccessKeyId, SecretAccessKey, the token under a name of its
 * own, Expiration.  what names the place in the error, which shows no value.
 */
int cred_keys_read(struct cred_keys *, const struct json *object,
    const char *token_name, const char *what, struct err *);
/* "2024-11-20T12:00:00.5+01:00" -> seconds since 1970; false if it is not. */
bool cred_keys_time(const char *, int64_t *);

/* In the order in which they are looked at: botocore's. */
enum cred_place {
	CRED_PLACE_ENV,
	CRED_PLACE_ROLE, /* of the profile: leads on to the place of its source */
	CRED_PLACE_WEB,
	CRED_PLACE_SSO,
	CRED_PLACE_SHARED, /* the credentials file */
	CRED_PLACE_LOGIN,
	CRED_PLACE_PROCESS,
	CRED_PLACE_CONFIG, /* keys in the config file */
	CRED_PLACE_CONTAINER,
	CRED_PLACE_IMDS,
	CRED_PLACE_REGION, /* no keys, but the region of the instance, as source */
	CRED_PLACES
};

enum cred_try {
	CRED_ABSENT, /* nothing there: on to the next place */
	CRED_FOUND,
	CRED_FAILED, /* fetch.err says why: no other place is looked at */
	CRED_WAIT /* cred_chain_resume is called later */
};

enum { CRED_ROLES_MAX = 10 };

/* A question to STS, kept to be asked again. */
struct cred_sts {
	char *form; /* wiped */
	char *role; /* for people */
	bool sign;
};
void cred_sts_fini(struct cred_sts *);

/* A service of the machine: container or instance. */
struct cred_endpoint {
	char *base; /* "http://169.254.169.254" */
	char *path; /* what is asked for now */
	const char *first; /* what is asked for with the token */
	void (*got)(void *fetch, const struct http_answer *); /* it */
	char *token; /* of the instance's service, or NULL; wiped */
	int64_t timeout_ms;
	int most; /* tries */
};
void cred_container_url_fini(struct cred_endpoint *);

struct cred_chain {
	struct loop *loop;
	struct http *http;
	const struct aws_config *base;
	struct aws_config *config; /* the same, read anew for this search */
	int64_t offset_s; /* of the other side's clock */
	bool offset_seen; /* STS itself said what it is */

	char *profile; /* whose places are looked at */
	unsigned places; /* a bit each: those that may be looked at */
	bool alone; /* places was given */
	bool use_env; /* variables of web identity count */
	enum cred_place at;
	char *roles[CRED_ROLES_MAX]; /* profiles; the last is assumed first */
	size_t n_roles;

	struct cred_keys found;
	char *source; /* for people */
	struct buf looked; /* where nothing was, for the error */
	struct err err;

	/* Of the place at work. */
	struct http_request *request;
	struct capture *child;
	struct loop_timer *timer;
	void (*on_timer)(struct cred_chain *);
	int tries;
	struct cred_sts sts;
	struct cred_endpoint url;

	/* The search is over; it may be freed from inside. */
	void (*done)(void *arg, bool good);
	void *arg;
};

/* Begin, at one place alone or (CRED_PLACES) all: done is called from the loop. */
struct cred_chain *cred_chain_new(struct loop *, struct http *,
    const struct aws_config *, enum cred_place only, int64_t offset_s,
    void (*done)(void *, bool), void *arg);
/* What is under way is dropped. */
void cred_chain_free(struct cred_chain *);

/* What came of CRED_WAIT.  The caller returns at once. */
void cred_chain_resume(struct cred_chain *, enum cred_try);
/* One more clause of where nothing was. */
void cred_chain_absent(struct cred_chain *, const char *, ...)
    __attribute__((format(printf, 2, 3)));
void cred_chain_source(struct cred_chain *, const char *, ...)
    __attribute__((format(printf, 2, 3)));
/* Call back once, later. */
void cred_chain_later(
    struct cred_chain *, int64_t ms, void (*)(struct cred_chain *));
/* The seconds since 1970 by the clock of the other side. */
int64_t cred_chain_now_s(const struct cred_chain *);

/* One place each. */
enum cred_try cred_static_env(struct cred_chain *);
enum cred_try cred_assume_role(struct cred_chain *);
enum cred_try cred_assume_web(struct cred_chain *);
enum cred_try cred_static_sso(struct cred_chain *);
enum cred_try cred_static_shared(struct cred_chain *);
enum cred_try cred_static_login(struct cred_chain *);
enum cred_try cred_process(struct cred_chain *);
enum cred_try cred_static_config(struct cred_chain *);
enum cred_try cred_container(struct cred_chain *);
enum cred_try cred_imds(struct cred_chain *);
enum cred_try cred_imds_region(struct cred_chain *);

/* Assume the role of a profile with the keys found so far. */
enum cred_try cred_assume_profile(struct cred_chain *, const char *profile);

/*
 * Ask STS: form is the body, taken over; signed with the keys found so far, or
 * not.  role is named in the error.  Ends in cred_chain_resume.
 */
enum cred_try
cred_sts(struct cred_chain *, struct buf *form, bool sign, const char *role);
/* "&Name=value", encoded. */
void cred_assume_form(struct buf *, const char *name, const char *value);
/* A file of a token, without blanks at its ends; cred_keys_wipe frees it. */
int cred_assume_token_file(char **, const char *path, struct err *);
void cred_keys_wipe(char *);
/* A command line as a shell splits it; NULL when a quote stays open. */
char **cred_process_split(const char *);

#endif /* HPOTUNE_CRED_INTERNAL_H */
