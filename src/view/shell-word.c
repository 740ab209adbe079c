/* Quotes words for a shell. */

#include <stdbool.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/view/shell-word.h"

/*
 * Whether every shell takes the word unquoted: an equals sign makes an
 * assignment of a first word, and zsh expands =NAME to the path of a program.
 */
static bool
shell_word_plain(const char *word)
{
	static const char *const letters =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	    "@%_-+=:,./";

	return *word != '\0' && strspn(word, letters) == strlen(word) &&
	       (*word == '-' || strchr(word, '=') == NULL);
}

/*
 * Length of the printable prefix of text; 0 at a control character or invalid
 * UTF-8.
 */
static size_t
shell_word_shown_length(const char *text)
{
	uint32_t code;
	int n = text_decode(text, strlen(text), &code);

	return n <= 0 || text_is_control(code) ? 0 : (size_t)n;
}

static bool
shell_word_is_shown(const char *word)
{
	size_t n;

	for (; *word != '\0'; word += n)
		if ((n = shell_word_shown_length(word)) == 0)
			return false;
	return true;
}

static void
shell_word_put_quoted(struct buf *out, const char *word)
{
	buf_putc(out, '\'');
	for (; *word != '\0'; word++)
		if (*word == '\'')
			buf_puts(out, "'\\''");
		else
			buf_putc(out, *word);
	buf_putc(out, '\'');
}

/*
 * "$(printf '...')" with octal escapes for control characters, for what printf
 * interprets (a first hyphen, the percent sign, the backslash), and for the
 * quote and the exclamation mark, which an interactive bash interprets within
 * double quotes.  A substitution loses newlines at its end: these are appended.
 */
static void
shell_word_put_printf(struct buf *out, const char *word)
{
	size_t len = strlen(word), end = len, at, n;

	while (end > 0 && word[end - 1] == '\n')
		end--;
	if (end > 0)
		buf_puts(out, "\"$(printf '");
	for (at = 0; at < end; at += n) {
		n = shell_word_shown_length(word + at);
		if (n > 0 && strchr("%\\'!", word[at]) == NULL &&
		    (at > 0 || word[at] != '-')) {
			buf_add(out, word + at, n);
			continue;
		}
		n = 1;
		buf_printf(out, "\\%03o", (unsigned char)word[at]);
	}
	if (end > 0)
		buf_puts(out, "')\"");
	if (end < len)
		shell_word_put_quoted(out, word + end);
}

void
shell_word_put(struct buf *out, const char *word, enum shell_word_form form)
{
	if (shell_word_plain(word))
		buf_puts(out, word);
	else if (form == SHELL_WORD_BYTES || shell_word_is_shown(word))
		shell_word_put_quoted(out, word);
	else
		shell_word_put_printf(out, word);
}
