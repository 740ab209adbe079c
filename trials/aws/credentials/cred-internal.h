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
struct child;
struct http;
struct http_answer;
struct http_request;
struct http_send;
struct json;
struct loop;
struct loop_timer;

/* Keys and when they expire. */
struct cred_found {
	struct aws_keys keys;
	int64_t expiry_s; /* since 1970; 0 = never */
};
void cred_found_fini(struct cred_found *);
/* Copies; token may be NULL or "" for none. */
void cred_found_set(
    struct cred_found *, const char *id, const char *secret, const char *token);
/*
 * An object with AccessKeyId, SecretAccessKey, the token under a name of its
 * own, Expiration.  what names the place in the error, which shows no value.
 */
int cred_found_read(struct cred_found *, const struct json *object,
    const char *token_name, const char *what, struct err *);
/* "2024-11-20T12:00:00.5+01:00" -> seconds since 1970; false if it is not. */
bool cred_time(const char *, int64_t *);

/* In the order in which they are looked at: botocore's. */
enum cred_place {
	PLACE_ENV,
	PLACE_ROLE, /* of the profile: leads on to the place of its source */
	PLACE_WEB,
	PLACE_SSO,
	PLACE_SHARED, /* the credentials file */
	PLACE_LOGIN,
	PLACE_PROCESS,
	PLACE_CONFIG, /* keys in the config file */
	PLACE_CONTAINER,
	PLACE_IMDS,
	PLACE_REGION, /* no keys, but the region of the instance, as source */
	PLACES
};

enum cred_try {
	TRY_ABSENT, /* nothing there: on to the next place */
	TRY_FOUND,
	TRY_FAILED, /* fetch.err says why: no other place is looked at */
	TRY_WAIT /* cred_resume is called later */
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
struct cred_url {
	char *base; /* "http://169.254.169.254" */
	char *path; /* what is asked for now */
	const char *first; /* what is asked for with the token */
	void (*got)(void *fetch, const struct http_answer *); /* it */
	char *token; /* of the instance's service, or NULL; wiped */
	int64_t timeout_ms;
	int most; /* tries */
};
void cred_url_fini(struct cred_url *);

struct cred_fetch {
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

	struct cred_found found;
	char *source; /* for people */
	struct buf looked; /* where nothing was, for the error */
	struct err err;

	/* Of the place at work. */
	struct http_request *request;
	struct child *child;
	struct loop_timer *timer;
	void (*on_timer)(struct cred_fetch *);
	int tries;
	struct cred_sts sts;
	struct cred_url url;

	/* The search is over; it may be freed from inside. */
	void (*done)(void *arg, bool good);
	void *arg;
};

/* Begin, at one place alone or (PLACES) all: done is called from the loop. */
struct cred_fetch *cred_fetch_new(struct loop *, struct http *,
    const struct aws_config *, enum cred_place only, int64_t offset_s,
    void (*done)(void *, bool), void *arg);
/* What is under way is dropped. */
void cred_fetch_free(struct cred_fetch *);

/* What came of TRY_WAIT.  The caller returns at once. */
void cred_resume(struct cred_fetch *, enum cred_try);
/* One more clause of where nothing was. */
void cred_looked(struct cred_fetch *, const char *, ...)
    __attribute__((format(printf, 2, 3)));
void cred_source(struct cred_fetch *, const char *, ...)
    __attribute__((format(printf, 2, 3)));
/* Call back once, later. */
void cred_later(struct cred_fetch *, int64_t ms, void (*)(struct cred_fetch *));
/* The seconds since 1970 by the clock of the other side. */
int64_t cred_now_s(const struct cred_fetch *);

/* One place each. */
enum cred_try cred_env(struct cred_fetch *);
enum cred_try cred_role(struct cred_fetch *);
enum cred_try cred_web(struct cred_fetch *);
enum cred_try cred_sso(struct cred_fetch *);
enum cred_try cred_shared(struct cred_fetch *);
enum cred_try cred_login(struct cred_fetch *);
enum cred_try cred_process(struct cred_fetch *);
enum cred_try cred_config_keys(struct cred_fetch *);
enum cred_try cred_container(struct cred_fetch *);
enum cred_try cred_imds(struct cred_fetch *);
enum cred_try cred_region(struct cred_fetch *);

/* Assume the role of a profile with the keys found so far. */
enum cred_try cred_assume(struct cred_fetch *, const char *profile);

/*
 * Ask STS: form is the body, taken over; signed with the keys found so far, or
 * not.  role is named in the error.  Ends in cred_resume.
 */
enum cred_try
cred_sts(struct cred_fetch *, struct buf *form, bool sign, const char *role);
/* "&Name=value", encoded. */
void cred_form(struct buf *, const char *name, const char *value);
/* A file of a token, without blanks at its ends; cred_wipe frees it. */
int cred_token_file(char **, const char *path, struct err *);
void cred_wipe(char *);
/* A command line as a shell splits it; NULL when a quote stays open. */
char **cred_split(const char *);

#endif /* HPOTUNE_CRED_INTERNAL_H */
