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
bool stop_diverged(struct judgement *, const struct stopper_env *,
    const struct curve *, size_t i, int64_t after);
/* The least finite value of reports from … to - 1, or infinite. */
double stop_least(const struct curve *, size_t from, size_t to);
/* What the steps of its curves are: "step", "second" or "cent". */
const char *stop_unit(const struct stopper_env *);
/*
 * Turns a stop into VERDICT_SUSPENDED, because the rule would also have stopped
 * this trial, the best completed one or another one of the best; the reason
 * names it.
 */
void stop_suspend(const struct history *, int64_t trial, struct judgement *);

enum { STOP_GUARD_MAX = 100 }; /* the greatest value of the option guard */
/* Whether a rule would have stopped this trial. */
typedef bool stop_guard_test(void *rule, const struct history *, int64_t trial);
/*
 * The first of the guard best completed trials for which the test is true, or
 * 0; guard: the value of the option, 0 = none.
 */
int64_t stop_guard_find(
    const struct history *, int64_t guard, stop_guard_test *, void *rule);

#endif /* HPOTUNE_STOP_VERDICT_H */
