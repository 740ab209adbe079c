/* Stopping policies on recorded curves: kernels.h says what, replay-policies.c how. */

#ifndef HPOTUNE_REPLAY_POLICIES_H
#define HPOTUNE_REPLAY_POLICIES_H

#include "kernels/kernels.h"

void replay_policies(void *dev, const struct replay_curves *,
    const struct replay_policy *, size_t n, const struct replay_studies *,
    struct replay_score *);

/*
 * What stands for each curve at each report: REPLAY_VALUES times as many
 * numbers as there are reports.
 */
void replay_report_values(const struct replay_curves *, double *stands);

/*
 * Which of all different steps, in order, each report is at; how many there
 * are.
 */
size_t replay_slots(const struct replay_curves *, int32_t *slot);

#endif /* HPOTUNE_REPLAY_POLICIES_H */
