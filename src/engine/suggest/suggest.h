/*
 * Asks the strategy for the next setting: in this process, in hpotune-worker
 * when the computation would block the server, or from the user's own program.
 *
 * A caller asks again at each turn of the loop until it is answered: the same
 * question continues where it was, another one replaces it.  An answer depends
 * only on the question and on the history at the time it is first asked.
 */

#ifndef HPOTUNE_SUGGEST_H
#define HPOTUNE_SUGGEST_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/log.h"

struct suggester;
struct err;
struct history;
struct loop;
struct plugins;
struct strategy;
struct study;
struct value;

enum suggest_result {
	SUGGEST_POINT, /* the answer is filled */
	SUGGEST_EXHAUSTED, /* nothing is left to try */
	/*
	 * Being computed, or a trial must end first: a turn of the loop
	 * follows.
	 */
	SUGGEST_LATER,
	SUGGEST_FAILED /* err holds the reason; the same question would fail again */
};

struct suggest_env {
	struct loop *loop; /* a real clock */
	const struct study *study;
	const struct plugins *plugins;
	const struct history *history;
	uint64_t seed;
	const char *state_dir; /* of strategy.log; NULL: no log, stderr */
	/* An event to record; called only from inside suggest_ask. */
	void (*event)(void *arg, enum log_level, const char *text);
	void *arg;
};

struct suggest_question {
	int64_t trial; /* the number the new trial will have */
	int64_t n_enqueued; /* earlier trials not from the strategy */
	int64_t n_known; /* as in strategy_ask; suggest.c sets it */
	unsigned redraw; /* earlier answers that had been tried */
	/*
	 * Mean duration of the latest trials that ended; 0 = unknown.  Counts
	 * only when the question is first asked.
	 */
	double trial_seconds;
	bool time_limited; /* both as in strategy_ask; they count as */
	double time_used; /* trial_seconds does */
	int64_t ended; /* trials that have ended, in any state */
	/*
	 * A convergence check instead of a point: SUGGEST_EXHAUSTED means
	 * converged, with the figures in err. trial only seeds the answer's
	 * random numbers; plugins has strategy_convergence.
	 */
	bool convergence;
};

struct suggest_answer {
	struct value *values; /* the caller's array, one per parameter */
	int64_t from; /* the trial it continues from; 0 = none */
	int64_t member, until; /* as of a suggestion */
	double fits, memory; /* the same */
	char made_by[32]; /* kernels: "cpu", "cuda"; "external" */
	double seconds; /* computing time */
	const char *strategy; /* the one that answered; static */
	const char *why; /* why it was asked and no other; static, or NULL */
};

/* Whether the programs that this study's strategy needs are installed. */
int suggest_check(const struct plugins *, const struct study *, struct err *);
/*
 * The caller frees it with suggest_close; all that env points to must outlive
 * it.
 */
int suggest_open(struct suggester **, const struct suggest_env *, struct err *);
/* Stop the programs of the suggester and free it. */
void suggest_close(struct suggester *);

/*
 * Compute the answer to the next question while no trial can be placed; call at
 * each turn.  suggest_ask then has it at once.  It is computed where the
 * strategy allows it (ahead) and at least two trials run: with one, its result
 * is what the next suggestion needs.  It is dropped when the question becomes
 * another one, when more than one trial has ended since, or when the one that
 * has is the best.  Whether the answer is there.
 */
bool suggest_ahead(struct suggester *, const struct suggest_question *);
enum suggest_result suggest_ask(struct suggester *,
    const struct suggest_question *, struct suggest_answer *, struct err *);
/* Cancel the pending question, if there is one. */
void suggest_cancel(struct suggester *);

#endif /* HPOTUNE_SUGGEST_H */
