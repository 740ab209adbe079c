/*
 * Takes the comments out of a text and leaves every offset, line and column
 * as it was.
 */

#include <string.h>

#include "src/base/json/json-internal.h"

/* Up to the end of the line, or of the C comment; NULL when it has no end. */
static const char *
comment_end(const char *p)
{
	const char *end;

	if (p[1] == '/')
		return p + strcspn(p, "\n");
	end = strstr(p + 2, "*/");
	return end != NULL ? end + 2 : NULL;
}

/*
 * The continuation bytes of UTF-8 become \r, which is space for a parser and
 * nothing for who counts columns.
 */
int
json_comments_blank(struct json_doc *doc, struct err *e)
{
	char *p = doc->text;
	const char *end;
	bool quoted = false;

	for (; *p != '\0'; p++) {
		if (*p == '"')
			quoted = !quoted;
		else if (quoted && *p == '\\' && p[1] != '\0')
			p++;
		else if (*p == '\n')
			quoted = false;
		if (quoted || *p != '/' || (p[1] != '/' && p[1] != '*'))
			continue;
		end = comment_end(p);
		if (end == NULL)
			return json_error_at(doc, (size_t)(p - doc->text), 0, e,
			    "this comment has no end");
		for (; p < end; p++)
			if (((unsigned char)*p & 0xc0) == 0x80)
				*p = '\r';
			else if (*p != '\n')
				*p = ' ';
		p--;
	}
	return 0;
}
