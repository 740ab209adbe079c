/*
 * What the files of the asker share: suggest.c (which way), suggest-worker-client.c (by
 * hpotune-worker), suggest-external.c (the user's program).
 */

#ifndef HPOTUNE_SUGGEST_INTERNAL_H
#define HPOTUNE_SUGGEST_INTERNAL_H

#include <stddef.h>

#include "src/server/suggest/suggest.h"

bool question_same(const struct question *, const struct question *);
/* From the unit cube to the answer; x is snapped. */
void answer_decode(struct answer *, const struct asker_env *, double *x);
/* How a program ended: "was killed by signal 11". */
void ask_tell_status(int status, char *text, size_t n);
/* The path of strategy.log, or NULL; the caller frees. */
char *ask_log(const struct asker_env *);

struct ask_worker;
int ask_worker_check(const struct study *, struct err *);
int
ask_worker_open(struct ask_worker **, const struct asker_env *, struct err *);
void ask_worker_close(struct ask_worker *);
enum asked ask_worker_ask(struct ask_worker *, const struct question *,
    struct answer *, struct err *);
void ask_worker_drop(struct ask_worker *);

struct ask_child;
int ask_child_check(const struct plugs *, struct err *);
int ask_child_open(struct ask_child **, const struct asker_env *, struct err *);
void ask_child_close(struct ask_child *);
enum asked ask_child_ask(
    struct ask_child *, const struct question *, struct answer *, struct err *);
void ask_child_drop(struct ask_child *);

#endif /* HPOTUNE_SUGGEST_INTERNAL_H */
