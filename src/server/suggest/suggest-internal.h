/*
 * Shared by suggest.c (selects the way), suggest-worker-client.c
 * (hpotune-worker) and suggest-external.c (the user's program).
 */

#ifndef HPOTUNE_SUGGEST_INTERNAL_H
#define HPOTUNE_SUGGEST_INTERNAL_H

#include <stddef.h>

#include "src/server/suggest/suggest.h"

bool suggest_question_same(
    const struct suggest_question *, const struct suggest_question *);
/* Convert a point of the unit cube to the answer; x is snapped. */
void suggest_answer_decode(
    struct suggest_answer *, const struct suggest_env *, double *x);
/* How a program ended, as text: "was killed by signal 11". */
void suggest_exit_text(int status, char *text, size_t n);
/* The path of strategy.log, or NULL; the caller frees. */
char *suggest_log_path(const struct suggest_env *);

struct suggest_worker;
/* Which strategy is asked: that of the study, or another by its defaults. */
struct suggest_use {
	const struct strategy *strategy;
	const char *why; /* static; NULL = it is that of the study */
};

int suggest_worker_check(const struct study *, struct err *);
int suggest_worker_open(
    struct suggest_worker **, const struct suggest_env *, struct err *);
void suggest_worker_close(struct suggest_worker *);
enum suggest_result
suggest_worker_ask(struct suggest_worker *, const struct suggest_question *,
    const struct strategy *, struct suggest_answer *, struct err *);
void suggest_worker_cancel(struct suggest_worker *);

struct suggest_external;
int suggest_external_check(const struct plugins *, struct err *);
int suggest_external_open(
    struct suggest_external **, const struct suggest_env *, struct err *);
void suggest_external_close(struct suggest_external *);
enum suggest_result suggest_external_ask(struct suggest_external *,
    const struct suggest_question *, struct suggest_answer *, struct err *);
void suggest_external_cancel(struct suggest_external *);

#endif /* HPOTUNE_SUGGEST_INTERNAL_H */
