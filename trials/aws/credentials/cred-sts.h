/* Requests to STS; private. */

#ifndef HPOTUNE_CRED_STS_H
#define HPOTUNE_CRED_STS_H

#include <stdbool.h>

#include "trials/aws/credentials/cred-internal.h"

void cred_sts_fini(struct cred_sts *);
/*
 * Send a request to STS: takes ownership of form, the body; signed with the
 * keys found so far, or unsigned. role is used in the error.  Ends in
 * cred_chain_resume.
 */
enum cred_try
cred_sts_send(struct cred_chain *, struct buf *, bool sign, const char *role);

#endif /* HPOTUNE_CRED_STS_H */
