/*
 * Text for display: escaped for a terminal and measured in columns; and the
 * nearest of known words.  The input is untrusted.
 */

#ifndef HPOTUNE_TEXT_H
#define HPOTUNE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

enum text_copy {
	TEXT_LINE, /* newline and tab are escaped too: for table cells */
	TEXT_LINES /* newline and tab pass: for logs */
};

/*
 * Decode one character of UTF-8 from len > 0 bytes into *code and return its
 * length; 0 when the bytes are not UTF-8 (overlong forms and surrogates are
 * not), -1 when they are the beginning of a character that goes on after len.
 */
int text_decode(const char *s, size_t len, uint32_t *code);
/* Bytes at the end that begin a character without completing it. */
size_t text_unfinished(const char *s, size_t len);
/*
 * Whether a terminal interprets the character instead of showing it: C0, C1,
 * DEL, line separators, and those that change the direction of writing.
 */
bool text_is_control(uint32_t code);
/* Append with control characters and invalid UTF-8 as \xNN. */
void text_put_harmless(struct buf *, const char *s, size_t len, enum text_copy);
/*
 * Append the address of a server for a message: without the user and the password
 * that it may have.
 */
void text_put_url(struct buf *, const char *url);
/* Width of a NUL-terminated text on a terminal, in columns. */
size_t text_width(const char *);
/* Bytes of the longest prefix that fits into width columns. */
size_t text_fit(const char *, size_t width);
/*
 * Copy s into the n bytes of out, n > 3.  What does not fit is cut between two
 * characters, and "…" stands for it.
 */
void text_cut(char *out, size_t n, const char *s);
/* The value of the four hexadecimal digits at s, of n bytes, or -1. */
int text_hex4(const char *s, size_t n);
/* Whether the locale can show UTF-8. */
bool text_is_utf8(void);
/* The nearest of words (ends with NULL) by edit distance, or NULL if none is
 * near: at most every third letter differs, one of two to four letters. */
const char *text_nearest(const char *word, const char *const *words);

#endif /* HPOTUNE_TEXT_H */
