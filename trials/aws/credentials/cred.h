/*
 * The credential chain: environment, profiles with assumed roles, web
 * identity, shared files, credential_process, container, IMDSv2; in botocore's
 * order (reference: AWS SDKs and Tools guide, "Standardized credential
 * providers").  Keys stay in memory: never in a row, a log, an argument list
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

/* keys is NULL when there are none: then e says where was looked. */
typedef void
cred_cb(void *arg, const struct aws_keys *keys, const struct err *e);

struct cred *cred_new(struct loop *, struct http *, const struct aws_config *);
void cred_free(struct cred *);

/*
 * Ask for keys that are good now; the callback comes from the loop or, when
 * they are at hand, at once.  The keys are borrowed until it returns.  Several
 * may wait for one refresh.  From 15 min before they expire a refresh is begun
 * beside their use; in the last 10 min it is waited for.
 */
void cred_get(struct cred *, cred_cb *, void *arg);
/* The caller no longer waits. */
void cred_forget(struct cred *, void *arg);
/* The other side said that they are no good: the next get fetches new ones. */
void cred_invalidate(struct cred *, const char *key_id);
/* The clock of the other side is ahead by so much (STS is signed too). */
void cred_set_offset(struct cred *, int64_t offset_s);
/* "environment", "profile x", "container": for doctor; "" = not known yet. */
const char *cred_source_name(const struct cred *);
/* Seconds since 1970 when they expire; 0 = never or not known. */
int64_t cred_expiry_s(const struct cred *);

/*
 * When nobody says a region: that of the instance we run on, set in the
 * config.  Waits for its answer, some seconds at most; -1 when there is none.
 */
int aws_region_ask(struct aws_config *, struct err *);

#endif /* HPOTUNE_CRED_H */
