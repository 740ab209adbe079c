/* Stopping policies on recorded curves; see kernels.h, replay-policies.c. */

#ifndef HPOTUNE_REPLAY_POLICIES_H
#define HPOTUNE_REPLAY_POLICIES_H

#include "kernels/kernels.h"

void replay_policies(void *dev, const struct replay_curves *,
    const struct replay_policy *, size_t n, const struct replay_studies *,
    struct replay_score *);

/* The values of each curve at each report: REPLAY_VALUES numbers per report. */
void replay_report_values(const struct replay_curves *, double *stands);

/*
 * Index of each report's step in the sorted set of all steps; returns its size.
 */
size_t replay_slots(const struct replay_curves *, int32_t *slot);

#endif /* HPOTUNE_REPLAY_POLICIES_H */
