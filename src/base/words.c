/* Words of small languages. */

#include <string.h>
#include <strings.h>

#include "src/base/words.h"

static bool
words_is_one_of(char c, const char *set)
{
	return c != '\0' && strchr(set, c) != NULL;
}

static bool
is_letter(const struct words *w, char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || (unsigned char)c >= 0x80 ||
	       words_is_one_of(c, w->letters);
}

/* The bytes of the sign at s. */
static size_t
sign_length(const char *s)
{
	return (s[1] == '=' && words_is_one_of(*s, "<>=!")) ||
		       (s[0] == '<' && s[1] == '>') ||
		       (s[0] == '*' && s[1] == '*')
		   ? 2
		   : 1;
}

void
words_next(struct words *w)
{
	const char *s = w->at + strspn(w->at, " \t\r\n"), *end;

	w->word = s;
	w->len = 1;
	if (*s == '\0') {
		w->kind = WORD_END;
		w->len = 0;
	} else if (*s == '"' || *s == '\'') {
		end = strchr(s + 1, *s);
		w->kind = end == NULL ? WORD_OPEN : WORD_TEXT;
		w->word = s + 1;
		w->len = end == NULL ? strlen(s + 1) : (size_t)(end - s - 1);
		w->at = end == NULL ? s + strlen(s) : end + 1;
		return;
	} else if (words_is_one_of(*s, w->signs)) {
		w->kind = WORD_SIGN;
		w->len = sign_length(s);
	} else if (is_letter(w, *s)) {
		w->kind = WORD_NAME;
		while (is_letter(w, s[w->len]))
			w->len++;
	} else
		w->kind = WORD_BAD;
	w->at = s + w->len;
}

bool
words_is(const struct words *w, const char *word)
{
	return (w->kind == WORD_NAME || w->kind == WORD_SIGN) &&
	       w->len == strlen(word) &&
	       strncasecmp(w->word, word, w->len) == 0;
}

bool
words_take(struct words *w, const char *word)
{
	if (!words_is(w, word))
		return false;
	words_next(w);
	return true;
}
