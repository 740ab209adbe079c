/* Opening and closing the launcher. */

#ifndef HPOTUNE_SM_OPEN_H
#define HPOTUNE_SM_OPEN_H

struct err;
struct launch_env;
struct sm;
struct sm_attempt;

int sm_open(void **ctx, const struct launch_env *, struct err *);
void sm_close(void *ctx);
/* Open only client and settings, for gc and doctor. */
int sm_open_client(struct sm *, const struct launch_env *, struct err *);
/* The account number in an ARN, a new text, or NULL. */
char *sm_open_arn_account(const char *arn);
void sm_attempt_free(struct sm_attempt *);

#endif /* HPOTUNE_SM_OPEN_H */
