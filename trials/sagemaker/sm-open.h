/* Opening and closing the backend. */

#ifndef HPOTUNE_SM_OPEN_H
#define HPOTUNE_SM_OPEN_H

struct buf;
struct err;
struct launch_env;
struct option_value;
struct sm;
struct sm_attempt;
struct study_trial;

/* What helps where there are no credentials. */
#define SM_OPEN_KEYS_MEND \
	"set AWS_PROFILE, or the keys, as for the AWS command line"

int sm_open(void **ctx, const struct launch_env *, struct err *);
void sm_close(void *ctx);
/* See backend.h: credentials, asked for, and looked for only. */
int sm_open_admits(
    const struct study_trial *, const struct option_value *, struct err *);
void sm_open_warns(const struct study_trial *, const struct option_value *,
    const char *dir, struct buf *);
/* Open only client and settings, for gc and doctor. */
int sm_open_client(struct sm *, const struct launch_env *, struct err *);
/* The account number in an ARN, a new text, or NULL. */
char *sm_open_arn_account(const char *arn);
void sm_attempt_free(struct sm_attempt *);

#endif /* HPOTUNE_SM_OPEN_H */
