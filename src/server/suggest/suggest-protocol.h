/*
 * Both sides of the talk with a strategy that is the user's own program, as
 * lines of JSON: hpotune-strategies(7).
 */

#ifndef HPOTUNE_SUGGEST_PROTOCOL_H
#define HPOTUNE_SUGGEST_PROTOCOL_H

#include <stddef.h>
#include <stdint.h>

struct answer;
struct asker_env;
struct buf;
struct err;
struct question;

/* The study, once. */
void say_study(struct buf *, const struct asker_env *);
/* A trial, as the history knows it. */
void say_trial(struct buf *, const struct asker_env *, int64_t trial);
void
say_question(struct buf *, const struct asker_env *, const struct question *);
/*
 * One line of its: 0 with the values of the answer filled, 1 when it has
 * nothing left, -1 with err.
 */
int hear_line(struct answer *, const struct asker_env *, const char *line,
    size_t len, struct err *);

#endif /* HPOTUNE_SUGGEST_PROTOCOL_H */
