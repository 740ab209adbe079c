/* Words for a shell, in commands that are shown to be copied. */

#ifndef HPOTUNE_SHELL_WORD_H
#define HPOTUNE_SHELL_WORD_H

struct buf;

enum shell_word_form {
	SHELL_WORD_BYTES, /* for programs: unchanged, in single quotes */
	SHELL_WORD_SHOWN /* for display: control characters escaped */
};
/*
 * Append a word quoted for any POSIX shell, so that eval yields the same bytes
 * and executes none of them.
 */
void shell_word_put(struct buf *, const char *word, enum shell_word_form);

#endif /* HPOTUNE_SHELL_WORD_H */
