/* What contests.c and proposals.c share: the list, its rows, the runs. */

#ifndef HPOTUNE_CONTESTS_INTERNAL_H
#define HPOTUNE_CONTESTS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct contest;
struct contests;
struct replicate;
struct store;
struct value;

/* A new open contest at the end of the list, with the metric of study.json. */
struct contest *contests_append(struct contests *);
void
contests_write(const struct contests *, const struct contest *, struct store *);
/* The same for the first time: with the baseline's commit, and the diff to it. */
void contests_write_new(const struct contests *, const struct contest *,
    const char *base, const char *diff, struct store *);
/* Replicate k of a contest, from 0; NULL: not begun, or forgotten. */
const struct replicate *
contests_run(const struct contests *, int64_t setting, size_t k);
bool contests_run_ended(const struct replicate *);
/* How many pairs, from the first, have ended. */
size_t contests_ended(const struct contests *, const struct contest *);
/* The loss of a run that has ended, as paired-evidence.h wants it. */
double contests_loss(const struct contests *, const struct contest *,
    const struct replicate *, struct store *);
/* proposals.c: as contest_due and contest_judge of contests.c. */
bool proposals_due(const struct contests *, const struct contest *,
    int64_t *setting, size_t *k);
/* The values of one that is not begun, in this space. */
void proposals_values(
    const struct contests *, const struct contest *, struct value *values);
void proposals_judge(
    struct contests *, struct contest *, struct store *, int64_t now_us);
/*
 * Another setting is the baseline.  An open proposal of which pairs were looked at
 * has spent its level on the baseline that was: it ends, which f is told, and one
 * more with a level of its own goes on from the runs that there are.
 */
void proposals_kept(struct contests *, int64_t baseline, struct store *,
    int64_t now_us, void (*f)(void *arg, const struct contest *), void *arg);

#endif /* HPOTUNE_CONTESTS_INTERNAL_H */
