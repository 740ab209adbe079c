/* Blanks the comments of a text; offsets, lines and columns stay the same. */

#include <string.h>

#include "src/base/json/json-internal.h"

/* The end of a line comment or of a C comment; NULL when it has no end. */
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
 * Continuation bytes of UTF-8 become \r: white space for the parser, and not
 * counted as columns.
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
