/*
 * Shared by suggest.c (selects the way), suggest-worker-client.c
 * (hpotune-worker) and suggest-external.c (the user's program).
 */

#ifndef HPOTUNE_SUGGEST_INTERNAL_H
#define HPOTUNE_SUGGEST_INTERNAL_H

#include <stddef.h>

#include "src/engine/suggest/suggest.h"

bool suggest_question_same(
    const struct suggest_question *, const struct suggest_question *);
/* Convert a point of the unit cube to the answer; x is snapped. */
void suggest_answer_decode(
    struct suggest_answer *, const struct suggest_env *, double *x);
/* How a program ended, as text: "was killed by signal 11". */
void suggest_exit_text(int status, char *text, size_t n);
/* The path of strategy.log, or NULL; the caller frees. */
char *suggest_log_path(const struct suggest_env *);

/* Which strategy is asked: that of the study, or another by its defaults. */
struct suggest_use {
	const struct strategy *strategy;
	const char *why; /* static; NULL = it is that of the study */
};

/* A program that is asked: hpotune-worker, or that of the user. */
struct suggest_way {
	/* Whether there is one.  May be called without the others. */
	int (*check)(
	    const struct plugins *, const struct study *, struct err *);
	/* On -1 the caller closes what was set. */
	int (*open)(void **, const struct suggest_env *, struct err *);
	void (*close)(void *); /* NULL is allowed */
	/* Ask the strategy, or again for the answer to the same question. */
	enum suggest_result (*ask)(void *, const struct suggest_question *,
	    const struct strategy *, struct suggest_answer *, struct err *);
	/* No answer to the last question is wanted. */
	void (*cancel)(void *);
};
extern const struct suggest_way suggest_worker, suggest_external;

#endif /* HPOTUNE_SUGGEST_INTERNAL_H */
