/*
 * Pieces of JSON as Python writes it, with NaN: where a text, an object or a list
 * ends, without looking at what it is.
 */

#include <string.h>

#include "trials/metric-files/metric-files-internal.h"

const char *
metric_piece_text(const char *p, const char *end)
{
	for (p++; p < end && *p != '"'; p++)
		if (*p == '\\')
			p++;
	return p < end ? p + 1 : NULL;
}

static bool
metric_piece_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

const char *
metric_piece_next(const char *p, const char *end)
{
	while (p < end && (metric_piece_is_blank(*p) || *p == ','))
		p++;
	return p;
}

const char *
metric_piece_end(const char *p, const char *end)
{
	size_t depth = 0;

	do {
		if (p >= end)
			return NULL;
		if (*p == '"') {
			p = metric_piece_text(p, end);
			if (p == NULL)
				return NULL;
			continue;
		}
		if (*p == '{' || *p == '[')
			depth++;
		else if ((*p == '}' || *p == ']') && depth > 0)
			depth--;
		else if (depth == 0) {
			while (p < end && strchr(",:{}[] \t\r\n", *p) == NULL)
				p++;
			return p < end ? p : NULL;
		}
		p++;
	} while (depth > 0);
	return p;
}
