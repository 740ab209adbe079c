/* Assumed roles; private. */

#ifndef HPOTUNE_CRED_ASSUME_ROLE_H
#define HPOTUNE_CRED_ASSUME_ROLE_H

#include "trials/aws/credentials/cred-internal.h"

/* The places: the role of the profile, the web identity. */
enum cred_try cred_assume_role(struct cred_chain *);
enum cred_try cred_assume_role_web(struct cred_chain *);
/* Assume the role of a profile with the keys found so far. */
enum cred_try cred_assume_role_again(struct cred_chain *, const char *profile);

#endif /* HPOTUNE_CRED_ASSUME_ROLE_H */
