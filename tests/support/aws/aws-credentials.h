/*
 * Shared by the tests of the credential chain: an environment and files of
 * their own, and one server that plays STS, a container and an instance.
 */

#ifndef HPOTUNE_AWS_CREDENTIALS_H
#define HPOTUNE_AWS_CREDENTIALS_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/support/tap.h"
#include "trials/aws/credentials/cred.h"

struct aws_credentials {
	struct loop *loop;
	struct http *http;
	struct aws_config *config;
	struct cred *cred;
	struct fake *fake;
	struct loop_timer *guard;
	bool late;

	/* How the server behaves. */
	int life_s; /* lifetime of its keys (3600) */
	int bad; /* this many answers are errors first */
	int bad_status; /* with this status */
	const char *bad_body;
	const char *bad_head;
	int token_status; /* of the instance's service (200) */
	bool no_role;
	bool silent;

	/* Requests received. */
	int sts, container, tokens, metadata;
	char form[4096]; /* the last one */
	char auth[1024]; /* the last Authorization */
	char session[256]; /* the last x-amz-security-token */
};

/* The result of a request for credentials. */
struct aws_credentials_answer {
	int calls;
	bool good;
	char id[64], secret[64], token[64];
	char why[512];
};

void cred_rig_open(struct aws_credentials *);
void cred_rig_close(struct aws_credentials *);
/*
 * A chain with these variables (names and values, NULL ends them), profile
 * NULL = none is named.  "PORT" in a value is the server's.
 */
void cred_rig_env(struct aws_credentials *, const char *profile, ...);
/* ~/.aws/config and credentials, also with PORT in them. */
void cred_rig_files(
    struct aws_credentials *, const char *config, const char *credentials);
/* A file in the home; its path is in the test's environment as $HOME/name. */
void cred_rig_put(struct aws_credentials *, const char *name, const char *text);
/* Ask, and wait for the answer. */
struct aws_credentials_answer cred_rig_get(struct aws_credentials *);
void aws_credentials_on_keys(
    void *told, const struct aws_keys *, const struct err *);
/* Run until *flag is at least n. */
void cred_rig_until(struct aws_credentials *, const int *counter, int n);

/* cred_rig_get has the keys of this id from this source. */
__attribute__((unused)) static void
is_found(struct aws_credentials *g, const char *id, const char *source,
    const char *what)
{
	struct aws_credentials_answer t = cred_rig_get(g);
	bool good = t.calls == 1 && t.good && strcmp(t.id, id) == 0 &&
		    strcmp(cred_source_name(g->cred), source) == 0;

	if (!ok(good, "%s", what))
		printf("# %d calls, \"%s\" of \"%s\", %s\n", t.calls, t.id,
		    cred_source_name(g->cred), t.why);
}

/* cred_rig_get has none, and says this (a part of it) without a secret. */
__attribute__((unused)) static void
is_refused(struct aws_credentials *g, const char *part, const char *what)
{
	struct aws_credentials_answer t = cred_rig_get(g);
	bool good = t.calls == 1 && !t.good && strstr(t.why, part) != NULL &&
		    strstr(t.why, "HUSH") == NULL;

	if (!ok(good, "%s", what))
		printf("# %d calls, \"%s\", %s\n", t.calls, t.id, t.why);
}

#endif /* HPOTUNE_AWS_CREDENTIALS_H */
