/*
 * Arguments of the helper programs (hpotune-shim and others): "name=value"
 * words, "--", and a command.
 */

#ifndef HPOTUNE_ARGS_H
#define HPOTUNE_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arg {
	const char *name; /* with the trailing "=" */
	const char **text; /* text receives the value, or */
	int64_t *number;
};

/*
 * Parse the words up to "--" into the targets of the n entries.  Returns the
 * command after it, or NULL: an unknown word, no number, or no command.
 */
char **args_read(char **argv, const struct arg *, size_t n);

/* Read a whole number; false, and nothing is set: it is none. */
bool args_number(const char *text, int64_t *);

/*
 * Append words, each with its NUL, to a text of room bytes, of which at are used, and
 * add their number to n.  The new length; more than room: they do not fit.
 */
size_t
args_put(char *text, size_t room, size_t at, char *const *words, uint32_t *n);

/*
 * Take n words off a text between *text and end, as args_put wrote them: words, of
 * room entries, gets them and a NULL, and *text stands behind the last.  false: there
 * are not so many, or no room for them.
 */
bool
args_take(char **words, size_t room, char **text, const char *end, uint32_t n);

#endif /* HPOTUNE_ARGS_H */
