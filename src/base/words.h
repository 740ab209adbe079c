/*
 * Splits a text into words, texts in quotes and signs, for small languages: the
 * filter of trials and the constraints of a space.
 */

#ifndef HPOTUNE_WORDS_H
#define HPOTUNE_WORDS_H

#include <stdbool.h>
#include <stddef.h>

enum word_kind {
	WORD_END,
	WORD_NAME, /* letters, digits, and what the language adds */
	WORD_TEXT, /* in " or ', which are no part of it */
	WORD_SIGN, /* one of the signs, or two of them: <= >= == != <> ** */
	WORD_OPEN, /* a text without its second quote */
	WORD_BAD /* a letter of no word */
};

struct words {
	const char *letters; /* of a name, besides a-z A-Z 0-9 and UTF-8 */
	const char *signs;
	const char *at; /* what follows the current word */
	/* The current word, not terminated. */
	enum word_kind kind;
	const char *word;
	size_t len;
};

/* Read the next word from at. */
void words_next(struct words *);
/* Whether the current word is a name or a sign, compared without case. */
bool words_is(const struct words *, const char *word);
/* If it is, read the next one. */
bool words_take(struct words *, const char *word);

#endif /* HPOTUNE_WORDS_H */
