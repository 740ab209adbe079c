/* Reads ranges of charts from addresses, and writes their forms. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/html/page-data.h"
#include "src/html/section.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/web/web-address.h"
#include "src/web/web-frame.h"
#include "src/web/web-zoom.h"

enum { SLICES = 24 /* fields for parameters at most */ };

/* Sections, and the first word of the names of their ranges. */
static const struct {
	const char *section, *prefix;
} parts[] = { { "history", "history." }, { "curves", "curves." },
	{ "importance", "slice." } };

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

/* The first word of the ranges of a section, or NULL. */
static const char *
prefix_of(const char *section)
{
	size_t i;

	for (i = 0; i < COUNT(parts); i++)
		if (strcmp(parts[i].section, section) == 0)
			return parts[i].prefix;
	return NULL;
}

static bool
begins(const char *name, const char *prefix)
{
	return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* "10..50"; false: anything else. */
static bool
range_read(double range[2], const char *s)
{
	char *end;

	range[0] = strtod(s, &end);
	/* strtod takes the first dot of "10..50" as the number's own. */
	if (end > s && end[-1] == '.' && end[0] == '.')
		end--;
	if (end == s || strncmp(end, "..", 2) != 0)
		return false;
	s = end + 2;
	range[1] = strtod(s, &end);
	return end > s && *end == '\0' && isfinite(range[0]) &&
	       isfinite(range[1]) && range[0] < range[1];
}

void
web_zoom_read(struct page *r, const struct web_address *a)
{
	size_t i, k;

	r->zooms = xcalloc(a->n_params + 1, sizeof *r->zooms);
	r->n_zooms = 0;
	for (i = 0; i < a->n_params; i++)
		for (k = 0; k < COUNT(parts); k++)
			if (begins(a->params[i].name, parts[k].prefix) &&
			    range_read(
				r->zooms[r->n_zooms].range, a->params[i].value))
				r->zooms[r->n_zooms++].name = a->params[i].name;
}

bool
web_zoom_is_of(const struct page *r, const char *section)
{
	const char *prefix = prefix_of(section);
	size_t i;

	for (i = 0; prefix != NULL && i < r->n_zooms; i++)
		if (begins(r->zooms[i].name, prefix))
			return true;
	return false;
}

static void
field_put(struct html *h, const struct web_address *a, const char *name,
    const char *what)
{
	const char *value = web_address_param(a, name, 0);

	html_open(h, "label");
	html_text(h, what);
	html_text(h, " ");
	html_open(h, "input");
	html_attr(h, "name", name);
	html_attr(h, "value", value == NULL ? "" : value);
	html_attr(h, "placeholder", "from..to");
	html_close(h, "input");
	html_close(h, "label");
}

static void
slices_put(struct page *r, const struct web_address *a)
{
	const struct space *space = r->study->space;
	size_t i, n = 0;

	for (i = 0; i < space->n && n < SLICES; i++) {
		char *name;

		if (!section_param_is_number(r, i))
			continue;
		name = xasprintf("slice.%s.x", space->params[i].name);
		field_put(&r->h, a, name, space->params[i].name);
		free(name);
		n++;
	}
}

/* The address without the ranges of this section. */
static void
whole_put(struct buf *out, const struct web_address *a, const char *prefix)
{
	struct web_address rest = *a;
	size_t i, n = 0;

	for (i = 0; i < a->n_params; i++)
		if (!begins(a->params[i].name, prefix))
			rest.params[n++] = a->params[i]; /* borrowed */
	rest.n_params = n;
	web_address_put_query(out, &rest, "", NULL);
	if (out->len == 0)
		buf_putc(out, '?');
}

void
web_zoom_put(struct page *r, const char *section, const struct web_address *a)
{
	const char *prefix = prefix_of(section);
	bool zoomed = web_zoom_is_of(r, section);
	struct html *h = &r->h;
	struct buf whole = { 0 };

	if (prefix == NULL || r->with_value == 0)
		return;
	html_open(h, "details");
	html_attr(h, "class", "zoom");
	if (zoomed)
		html_attr(h, "open", "open");
	html_leaf(h, "summary", NULL, "Zoom");
	html_open(h, "form");
	html_attrf(h, "action", "#part-%s", section);
	web_frame_hidden(h, a, (const char *[]){ prefix, NULL });
	whole_put(&whole, a, prefix);
	if (strcmp(section, "importance") == 0)
		slices_put(r, a);
	else if (strcmp(section, "curves") == 0) {
		field_put(h, a, "curves.x", "steps");
		field_put(h, a, "curves.y", r->study->metric);
	} else {
		field_put(h, a, "history.x", "trials");
		field_put(h, a, "history.y", r->study->metric);
	}
	html_leaf(h, "button", NULL, "Show");
	buf_printf(&whole, "#part-%s", section);
	if (zoomed)
		web_frame_link(h, buf_str(&whole), "the whole range");
	html_close(h, "form");
	html_close(h, "details");
	buf_free(&whole);
}
