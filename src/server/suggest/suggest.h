/*
 * Asks the strategy for the next setting: in this process, in hpotune-worker
 * when that takes longer than a blink, or from the user's own program.  Knows
 * how to ask; what becomes of the answer is the caller's business.
 *
 * A caller that has a loop asks again at each turn until it is answered: the
 * same question goes on where it was, another one takes its place.  One
 * without asks by suggest_wait.  An answer depends on nothing but the question
 * and what the history holds when it is put.
 */

#ifndef HPOTUNE_SUGGEST_H
#define HPOTUNE_SUGGEST_H

#include <stdbool.h>
#include <stdint.h>

struct suggester;
struct err;
struct history;
struct loop;
struct plugins;
struct study;
struct value;

enum suggest_result {
	SUGGEST_POINT, /* the answer is filled */
	SUGGEST_EXHAUSTED, /* there is nothing left to try */
	/*
	 * Somebody thinks, or a trial has to end first: a turn of the loop
	 * follows.
	 */
	SUGGEST_LATER,
	SUGGEST_FAILED /* err says why; the same question would fail again */
};

struct suggest_env {
	struct loop *loop; /* a real clock */
	const struct study *study;
	const struct plugins *plugins;
	const struct history *history;
	uint64_t seed;
	const char *state_dir; /* holds strategy.log; NULL: no log, stderr */
	/* Something worth a row of events; from inside suggest_ask alone. */
	void (*event)(void *arg, const char *level, const char *text);
	void *arg;
};

struct suggest_question {
	int64_t trial; /* the number the new trial will have */
	int64_t n_enqueued; /* trials before it that were not suggested */
	unsigned redraw; /* answers to it that were known already */
	/*
	 * No point is wanted, but whether one is left to find: SUGGEST_EXHAUSTED says
	 * no, and err by how much.  trial is that of the answer's chance alone;
	 * plugins has strategy_convergence.
	 */
	bool convergence;
};

struct suggest_answer {
	struct value *values; /* the caller's array, one per parameter */
	int64_t from; /* the trial it continues; 0 = none */
	int64_t member, until; /* as of a suggestion */
	char made_by[32]; /* kernels: "cpu", "cuda"; "external" */
	double seconds; /* that the answer took */
};

/* Whether the programs that this study's strategy needs are there. */
int suggest_check(const struct plugins *, const struct study *, struct err *);
/* All that env points to must outlive it. */
int suggest_open(struct suggester **, const struct suggest_env *, struct err *);
/* Ends the programs it started. */
void suggest_close(struct suggester *);

enum suggest_result suggest_ask(struct suggester *,
    const struct suggest_question *, struct suggest_answer *, struct err *);
/* Run the loop until it is answered. */
enum suggest_result suggest_wait(struct suggester *,
    const struct suggest_question *, struct suggest_answer *, struct err *);
/* Nobody wants to know any more. */
void suggest_cancel(struct suggester *);

#endif /* HPOTUNE_SUGGEST_H */
