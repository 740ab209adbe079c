/* Places of static keys; private. */

#ifndef HPOTUNE_CRED_STATIC_H
#define HPOTUNE_CRED_STATIC_H

#include "trials/aws/credentials/cred-internal.h"

/* One place each. */
enum cred_try cred_static_env(struct cred_chain *);
enum cred_try cred_static_shared(struct cred_chain *);
enum cred_try cred_static_config(struct cred_chain *);
enum cred_try cred_static_sso(struct cred_chain *);
enum cred_try cred_static_login(struct cred_chain *);

#endif /* HPOTUNE_CRED_STATIC_H */
