/*
 * The credential chain: environment, profiles with assumed roles, web identity,
 * shared files, credential_process, container, IMDSv2; in botocore's order
 * (reference: AWS SDKs and Tools guide, "Standardized credential providers").
 * Keys are kept in memory only: never in the database, a log, an argument list
 * or an error.
 */

#ifndef HPOTUNE_CRED_H
#define HPOTUNE_CRED_H

#include <stdbool.h>
#include <stdint.h>

#include "trials/aws/sign/aws-sigv4.h"

struct aws_config;
struct cred;
struct err;
struct http;
struct loop;

/* keys is NULL if there are none: then e lists the places searched. */
typedef void
cred_cb(void *arg, const struct aws_keys *keys, const struct err *e);

struct cred *cred_new(struct loop *, struct http *, const struct aws_config *);
void cred_free(struct cred *);

/*
 * Request valid keys; the callback comes from the loop or, if they are cached,
 * immediately.  The keys are borrowed until it returns.  Concurrent requests
 * share one refresh.  From 15 min before expiry they are refreshed in the
 * background; in the last 10 min callers wait for it.
 */
void cred_get(struct cred *, cred_cb *, void *arg);
/* Cancel the request of this arg. */
void cred_forget(struct cred *, void *arg);
/* AWS rejected these keys: the next request refreshes them. */
void cred_invalidate(struct cred *, const char *key_id);
/* AWS's clock minus ours, in seconds (requests to STS are signed, too). */
void cred_set_offset(struct cred *, int64_t offset_s);
/* "environment", "profile x", "container": for doctor; "" = unknown yet. */
const char *cred_source_name(const struct cred *);

/*
 * cred-ask.c: if no region is configured, query that of the EC2 instance and set
 * it in the config.  Blocks for some seconds at most; -1: none found.
 */
int cred_ask_region(struct aws_config *, struct err *);
/*
 * Whether there are credentials: -1 with the places searched, or what the user
 * must mend.  0 also where a service did not answer, which may answer later.
 * Blocks for some seconds at most.
 */
int cred_ask_keys(struct aws_config *, struct err *);
/*
 * Whether a variable or the profile names some, without asking anybody: those of
 * an EC2 instance's role are not seen so.
 */
bool cred_ask_visible(const struct aws_config *);

#endif /* HPOTUNE_CRED_H */
