/* Stopping policies on recorded curves; see kernels.h, replay-policies.c. */

#ifndef HPOTUNE_REPLAY_POLICIES_H
#define HPOTUNE_REPLAY_POLICIES_H

#include "kernels/kernels.h"

void replay_policies(void *dev, const struct replay_curves *,
    const struct replay_policy *, size_t n, const struct replay_studies *,
    struct replay_score *);

#endif /* HPOTUNE_REPLAY_POLICIES_H */
