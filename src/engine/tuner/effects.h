/* What is done after the commit of a turn. */

#ifndef HPOTUNE_EFFECTS_H
#define HPOTUNE_EFFECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct attempt_spec;
struct err;
struct live_trial;
struct tuner;

enum effect_kind { EFFECT_START, EFFECT_STOP, EFFECT_KILL };

/* To one attempt, which may be over by then. */
struct effect {
	enum effect_kind kind;
	int64_t trial;
	int attempt;
};

/* All zero: none.  effects.c alone writes it. */
struct effects {
	struct effect *list;
	size_t n;
};

void effects_free(struct effects *);
/* What the open attempt is given, for its backend. */
int effects_attempt_spec(struct attempt_spec *, const struct tuner *,
    struct live_trial *, struct err *);
void effects_run(struct tuner *);
/* Whether an attempt is to be started. */
bool effects_start_any(const struct effects *);

#endif /* HPOTUNE_EFFECTS_H */
