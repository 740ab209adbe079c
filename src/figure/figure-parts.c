/*
 * Finds the parts of a figure in the text of a section.  The text is our own
 * (src/html/html.c): a "<" is always the start of a tag, and an "svg" contains no
 * other one.
 */

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/figure/figure-parts.h"

static bool
begins(const char *s, const char *with)
{
	return strncmp(s, with, strlen(with)) == 0;
}

struct figure_piece
figure_parts_attribute(const char *tag, const char *name)
{
	const char *end = strchr(tag, '>'), *at = strstr(tag, name), *quote;

	if (at == NULL || end == NULL || at > end)
		return (struct figure_piece){ "", 0 };
	at += strlen(name);
	quote = strchr(at, '"');
	if (quote == NULL)
		return (struct figure_piece){ "", 0 };
	return (struct figure_piece){ at, (size_t)(quote - at) };
}

/* What is between the start tag and the end tag, which *next is set behind. */
static struct figure_piece
figure_parts_inner(const char *tag, const char *close, const char **next)
{
	const char *from = strchr(tag, '>'), *to = strstr(tag, close);

	*next = tag + 1;
	if (from == NULL || to == NULL || to < from)
		return (struct figure_piece){ "", 0 };
	*next = to + strlen(close);
	return (struct figure_piece){ from + 1, (size_t)(to - from - 1) };
}

static const char *
chart_take(struct figure_parts *p, const char *tag)
{
	struct figure_piece box = figure_parts_attribute(tag, " viewBox=\"");
	struct figure_chart c = { .name = figure_parts_attribute(
				      tag, " aria-label=\"") };
	const char *next;
	char *end;

	c.inner = figure_parts_inner(tag, "</svg>", &next);
	/* "0 0 WIDTH HEIGHT" */
	if (box.len > 4 && begins(box.text, "0 0 ")) {
		c.width = strtod(box.text + 4, &end);
		c.height = strtod(end, NULL);
	}
	if (begins(tag, "<svg") && c.name.len > 0 && c.width > 0 &&
	    c.height > 0 && p->n_charts < FIGURE_CHARTS)
		p->charts[p->n_charts++] = c;
	return next;
}

/* Keys, and the words that follow them in the same paragraph. */
static const char *
keys_take(struct figure_parts *p, const char *tag)
{
	const char *next, *at;
	struct figure_piece all = figure_parts_inner(tag, "</p>", &next);
	const char *end = all.text + all.len;

	for (at = all.text; at < end && p->n_keys < FIGURE_KEYS;) {
		struct figure_key *k = &p->keys[p->n_keys];

		*k = (struct figure_key){ { "", 0 }, { "", 0 } };
		if (begins(at, "<span")) {
			const char *svg = strstr(at, "<svg");

			if (svg == NULL || svg > end)
				break;
			k->inner = figure_parts_inner(svg, "</svg>", &at);
		}
		at += strspn(at, "\n");
		k->label = (struct figure_piece){ at, strcspn(at, "<") };
		at += k->label.len;
		if (begins(at, "</span>"))
			at += strlen("</span>");
		if (k->label.len > 0)
			p->n_keys++;
		else
			break;
	}
	return next;
}

void
figure_parts_find(struct figure_parts *p, const char *text)
{
	const char *at = text;

	*p = (struct figure_parts){ .n_charts = 0 };
	while ((at = strchr(at, '<')) != NULL) {
		if (begins(at, "<details"))
			(void)figure_parts_inner(at, "</details>", &at);
		else if (begins(at, "<p class=\"keys\""))
			at = keys_take(p, at);
		else if (begins(at, "<p class=\"note\"") &&
			 p->n_notes < FIGURE_NOTES)
			p->notes[p->n_notes++] =
			    figure_parts_inner(at, "</p>", &at);
		else if (begins(at, "<svg "))
			at = chart_take(p, at);
		else
			at++;
	}
}
