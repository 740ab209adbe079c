/*
 * The protocol with a strategy that is the user's own program, as lines of
 * JSON: hpotune-strategies(7).
 */

#ifndef HPOTUNE_SUGGEST_PROTOCOL_H
#define HPOTUNE_SUGGEST_PROTOCOL_H

#include <stddef.h>
#include <stdint.h>

struct suggest_answer;
struct suggest_env;
struct buf;
struct err;
struct suggest_question;

/* Append the study; sent once. */
void suggest_protocol_put_study(struct buf *, const struct suggest_env *);
/* Append a trial from the history. */
void suggest_protocol_put_trial(
    struct buf *, const struct suggest_env *, int64_t trial);
void suggest_protocol_put_question(
    struct buf *, const struct suggest_env *, const struct suggest_question *);
/*
 * Parse one line of the program: 0 with the values of the answer filled, 1 when
 * it has nothing left, -1 with err.
 */
int suggest_protocol_read(struct suggest_answer *, const struct suggest_env *,
    const char *line, size_t len, struct err *);

#endif /* HPOTUNE_SUGGEST_PROTOCOL_H */
