/* Verdicts common to all families. */

#ifndef HPOTUNE_STOP_VERDICT_H
#define HPOTUNE_STOP_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "strategies/stopper.h"

struct curve;
struct history;

/* Whether a stop after report i would save no step. */
bool stop_is_late(const struct stopper_env *, const struct curve *, size_t i);
/*
 * Whether the last after (0 = never) reports up to i are not finite: then the
 * judgement becomes VERDICT_STOP with the reason.
 */
bool stop_diverged(
    struct judgement *, const struct curve *, size_t i, int64_t after);
/*
 * Turns a stop into VERDICT_SUSPENDED, because the rule would also have stopped
 * the best completed trial; the reason names that trial.
 */
void stop_suspend(const struct history *, struct judgement *);
/* … or another one of the best. */
void
stop_suspend_for(const struct history *, int64_t trial, struct judgement *);

#endif /* HPOTUNE_STOP_VERDICT_H */
