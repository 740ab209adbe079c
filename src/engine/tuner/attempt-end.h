/* The end of an attempt. */

#ifndef HPOTUNE_ATTEMPT_END_H
#define HPOTUNE_ATTEMPT_END_H

#define RETRY_PAUSE_MAX_MS 64000 /* between two attempts of one trial */
#define RETRY_WAIT_MAX_MS 300000 /* while it waits for capacity */

struct launch_exit;
struct live_trial;
struct tuner;

/*
 * The open attempt has ended: x; or NULL: it is lost, for the reason lost_why.
 * The trial may be gone after that.
 */
void attempt_end_handle(struct tuner *, struct live_trial *,
    const struct launch_exit *x, const char *lost_why);

/*
 * Blame or trust the slot, the GPU or the node of the open attempt, which has
 * reported first, or ran long enough (worked), or has failed at once.
 */
void attempt_end_place(struct tuner *, const struct live_trial *, bool worked);

#endif /* HPOTUNE_ATTEMPT_END_H */
