/* Words of other tuners where study.json has one of its own. */

#ifndef HPOTUNE_FOREIGN_WORDS_H
#define HPOTUNE_FOREIGN_WORDS_H

#include <stddef.h>

struct err;
struct json;

/* The object in which a key stands. */
enum foreign_block {
	FOREIGN_STUDY,
	FOREIGN_OBJECTIVE,
	FOREIGN_PARAMETER,
	FOREIGN_LIMITS,
	FOREIGN_TRIAL,
	FOREIGN_STRATEGY,
	FOREIGN_STOPPING,
	FOREIGN_BACKEND
};

/* What a value is. */
enum foreign_value {
	FOREIGN_GOAL,
	FOREIGN_TYPE,
	FOREIGN_SCALE,
	FOREIGN_STRATEGY_NAME,
	FOREIGN_RULE_NAME,
	FOREIGN_BACKEND_NAME
};

/*
 * As json_only; the error for a key of another tuner, or for one of ours from
 * another block, names ours.
 */
int foreign_words_only(const struct json *object, enum foreign_block,
    const char *const *known, struct err *);
/* Fails as json_need, where a key of another tuner may stand for it. */
int foreign_words_need(const struct json *object, enum foreign_block,
    const char *key, struct err *);
/* As json_read_word, in the same way. */
int foreign_words_read(const struct json *, enum foreign_value,
    const char *const *words, size_t *index, struct err *);
/* What a word of another tuner is here, as JSON; static, or NULL. */
const char *foreign_words_value(enum foreign_value, const char *word);

#endif /* HPOTUNE_FOREIGN_WORDS_H */
