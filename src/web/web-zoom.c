/* Reads ranges of charts from addresses, and writes their forms. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/html/page-data.h"
#include "src/html/section.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/store/queries.h"
#include "src/web/web-address.h"
#include "src/web/web-page.h"
#include "src/web/web-zoom.h"

enum { SLICES = 24 /* fields for parameters at most */ };

/*
 * Sections, and the first word of the names of what is asked of them: ranges,
 * and the parameters of the map.
 */
#define MAP "map."
static const struct {
	const char *section, *prefix;
} parts[] = { { "history", "history." }, { "curves", "curves." },
	{ "importance", "slice." }, { "importance", MAP },
	{ "compare", "trials." }, { "compare", "time." },
	{ "compare", "cost." } };

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static bool
web_zoom_begins(const char *name, const char *prefix)
{
	return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* "10..50"; false: anything else. */
static bool
web_zoom_range_read(double range[2], const char *s)
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

bool
web_zoom_range(double range[2], const struct web_address *a, const char *name)
{
	const char *s = web_address_param(a, name, 0);

	return s != NULL && web_zoom_range_read(range, s);
}

static bool
web_zoom_says(const struct web_address *a, const char *name, const char *word)
{
	const char *value = web_address_param(a, name, 0);

	return value != NULL && strcmp(value, word) == 0;
}

/* A number from 0 to below 1; anything else is 0. */
static void
web_zoom_smooth_read(double *smooth, const struct web_address *a)
{
	const char *s = web_address_param(a, "curves.smooth", 0);
	char *end;
	double v = s == NULL ? 0 : strtod(s, &end);

	*smooth =
	    s != NULL && end > s && *end == '\0' && v >= 0 && v < 1 ? v : 0;
}

static bool
web_zoom_curves_chosen(const struct page *r)
{
	return r->curves.metric != NULL || r->curves.seconds ||
	       r->curves.logarithmic || r->curves.smooth > 0;
}

void
web_zoom_read(struct page *r, const struct web_address *a)
{
	size_t i, k;

	r->zooms = xcalloc(a->n_params + 1, sizeof *r->zooms);
	r->n_zooms = 0;
	r->map[0] = web_address_param(a, MAP "x", 0);
	r->map[1] = web_address_param(a, MAP "y", 0);
	r->curves.metric = web_address_param(a, "curves.metric", 0);
	if (r->curves.metric != NULL && *r->curves.metric == '\0')
		r->curves.metric = NULL;
	r->curves.seconds = web_zoom_says(a, "curves.over", "seconds");
	r->curves.logarithmic = web_zoom_says(a, "curves.scale", "log");
	web_zoom_smooth_read(&r->curves.smooth, a);
	for (i = 0; i < a->n_params; i++)
		for (k = 0; k < COUNT(parts); k++)
			if (web_zoom_begins(
				a->params[i].name, parts[k].prefix) &&
			    web_zoom_range_read(
				r->zooms[r->n_zooms].range, a->params[i].value))
				r->zooms[r->n_zooms++].name = a->params[i].name;
}

/* Whether the name is one of what is asked of the section. */
static bool
web_zoom_name_is_of(const char *name, const char *section)
{
	size_t k;

	for (k = 0; k < COUNT(parts); k++)
		if (strcmp(parts[k].section, section) == 0 &&
		    web_zoom_begins(name, parts[k].prefix))
			return true;
	return false;
}

bool
web_zoom_is_of(const struct page *r, const char *section)
{
	size_t i;

	for (i = 0; i < r->n_zooms; i++)
		if (web_zoom_name_is_of(r->zooms[i].name, section))
			return true;
	if (web_zoom_curves_chosen(r) &&
	    web_zoom_name_is_of("curves.", section))
		return true;
	return r->map[0] != NULL && r->map[1] != NULL &&
	       web_zoom_name_is_of(MAP, section);
}

static void
web_zoom_field_put(struct html *h, const struct web_address *a,
    const char *name, const char *what)
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
web_zoom_slices_put(struct page *r, const struct web_address *a)
{
	const struct space *space = r->study->space;
	size_t i, n = 0;

	for (i = 0; i < space->n && n < SLICES; i++) {
		char *name;

		if (!section_param_is_number(r, i))
			continue;
		name = xasprintf("slice.%s.x", space->params[i].name);
		web_zoom_field_put(&r->h, a, name, space->params[i].name);
		free(name);
		n++;
	}
}

/* A parameter of the map: from those that have an axis. */
static void
web_zoom_choice_put(
    struct page *r, const char *name, const char *what, size_t at)
{
	const struct space *space = r->study->space;
	struct html *h = &r->h;
	size_t i;

	html_open(h, "label");
	html_text(h, what);
	html_text(h, " ");
	html_open(h, "select");
	html_attr(h, "name", name);
	for (i = 0; i < space->n; i++) {
		if (space->params[i].type == PARAM_FIXED)
			continue;
		html_open(h, "option");
		if (r->map[at] != NULL &&
		    strcmp(space->params[i].name, r->map[at]) == 0)
			html_attr(h, "selected", "selected");
		html_text(h, space->params[i].name);
		html_close(h, "option");
	}
	html_close(h, "select");
	html_close(h, "label");
}

static void
web_zoom_option_put(
    struct html *h, const char *value, const char *text, bool chosen)
{
	html_open(h, "option");
	html_attr(h, "value", value);
	if (chosen)
		html_attr(h, "selected", "selected");
	html_text(h, text);
	html_close(h, "option");
}

static void
web_zoom_select_open(struct html *h, const char *name, const char *what)
{
	html_open(h, "label");
	html_text(h, what);
	html_text(h, " ");
	html_open(h, "select");
	html_attr(h, "name", name);
}

static void
web_zoom_select_close(struct html *h)
{
	html_close(h, "select");
	html_close(h, "label");
}

/* Any metric, steps or time, a logarithm and smoothing. */
static void
web_zoom_curves_put(struct page *r, const struct web_address *a)
{
	const char *smooth = web_address_param(a, "curves.smooth", 0);
	struct html *h = &r->h;
	struct store_rows *rows;

	web_zoom_select_open(h, "curves.metric", "metric");
	web_zoom_option_put(h, "", r->study->metric, false);
	if (store_list_metric_names(&rows, r->store, 200, NULL) == 0) {
		while (store_rows_next(rows, NULL) == 1)
			web_zoom_option_put(h, store_rows_text(rows, 0),
			    store_rows_text(rows, 0),
			    r->curves.metric != NULL &&
				strcmp(r->curves.metric,
				    store_rows_text(rows, 0)) == 0);
		store_rows_close(rows);
	}
	web_zoom_select_close(h);
	web_zoom_select_open(h, "curves.over", "over");
	web_zoom_option_put(h, "steps", "steps", false);
	web_zoom_option_put(h, "seconds", "time", r->curves.seconds);
	web_zoom_select_close(h);
	web_zoom_select_open(h, "curves.scale", "scale");
	web_zoom_option_put(h, "auto", "automatic", false);
	web_zoom_option_put(h, "log", "logarithmic", r->curves.logarithmic);
	web_zoom_select_close(h);
	html_open(h, "label");
	html_text(h, "smoothing ");
	html_open(h, "input");
	html_attr(h, "name", "curves.smooth");
	html_attr(h, "value", smooth == NULL ? "" : smooth);
	html_attr(h, "placeholder", "0 to 0.99");
	html_close(h, "input");
	html_close(h, "label");
}

/* A form opens here; form_close closes it. */
static void
web_zoom_form_open(struct html *h, const struct web_address *a,
    const char *section, const char *title, bool open,
    const char *const *without)
{
	html_open(h, "details");
	html_attr(h, "class", "zoom");
	if (open)
		html_attr(h, "open", "open");
	html_leaf(h, "summary", NULL, title);
	html_open(h, "form");
	html_attrf(h, "action", "#part-%s", section);
	web_page_hidden(h, a, without);
}

/* The address without what is asked of this section. */
static void
web_zoom_whole_put(
    struct buf *out, const struct web_address *a, const char *section)
{
	struct web_address rest = *a;
	size_t i, n = 0;

	for (i = 0; i < a->n_params; i++)
		if (!web_zoom_name_is_of(a->params[i].name, section))
			rest.params[n++] = a->params[i]; /* borrowed */
	rest.n_params = n;
	web_address_put_query(out, &rest, "", NULL);
	if (out->len == 0)
		buf_putc(out, '?');
}

/* The button of a form, and the link to what is shown without it. */
static void
web_zoom_form_close(struct html *h, const struct web_address *a,
    const char *section, const char *whole)
{
	struct buf b = { 0 };

	html_leaf(h, "button", NULL, "Show");
	if (whole != NULL) {
		web_zoom_whole_put(&b, a, section);
		buf_printf(&b, "#part-%s", section);
		web_page_link(h, buf_str(&b), whole);
		buf_free(&b);
	}
	html_close(h, "form");
	html_close(h, "details");
}

static void
web_zoom_map_put(struct page *r, const struct web_address *a)
{
	const struct space *space = r->study->space;
	bool chosen = r->map[0] != NULL && r->map[1] != NULL;
	size_t i, n = 0;

	for (i = 0; i < space->n; i++)
		n += space->params[i].type != PARAM_FIXED;
	if (n < 2)
		return;
	web_zoom_form_open(&r->h, a, "importance", "A map of two parameters",
	    chosen, (const char *[]){ MAP, NULL });
	web_zoom_choice_put(r, MAP "x", "across", 0);
	web_zoom_choice_put(r, MAP "y", "up", 1);
	web_zoom_form_close(
	    &r->h, a, "importance", chosen ? "those that matter most" : NULL);
}

void
web_zoom_put(struct page *r, const char *section, const struct web_address *a)
{
	struct html *h = &r->h;
	bool zoomed = false;
	size_t i;

	for (i = 0; i < r->n_zooms; i++)
		zoomed |= web_zoom_name_is_of(r->zooms[i].name, section);
	if (r->with_value == 0)
		return;
	if (strcmp(section, "importance") == 0) {
		web_zoom_map_put(r, a);
		web_zoom_form_open(h, a, section, "Zoom", zoomed,
		    (const char *[]){ "slice.", NULL });
		web_zoom_slices_put(r, a);
	} else if (strcmp(section, "curves") == 0) {
		zoomed |= web_zoom_curves_chosen(r);
		web_zoom_form_open(h, a, section, "Metric, axes and zoom",
		    zoomed, (const char *[]){ "curves.", NULL });
		web_zoom_curves_put(r, a);
		web_zoom_field_put(h, a, "curves.x", "across");
		web_zoom_field_put(h, a, "curves.y", "up");
	} else if (strcmp(section, "history") == 0) {
		web_zoom_form_open(h, a, section, "Zoom", zoomed,
		    (const char *[]){ "history.", NULL });
		web_zoom_field_put(h, a, "history.x", "trials");
		web_zoom_field_put(h, a, "history.y", r->study->metric);
	} else
		return;
	web_zoom_form_close(h, a, section, zoomed ? "the whole range" : NULL);
}

void
web_zoom_put_compare(struct html *h, const struct web_address *a, bool cost)
{
	bool zoomed = false;
	size_t i;

	for (i = 0; i < a->n_params; i++)
		zoomed |= web_zoom_name_is_of(a->params[i].name, "compare");
	web_zoom_form_open(h, a, "compare", "Zoom", zoomed,
	    (const char *[]){ "trials.", "time.", "cost.", NULL });
	web_zoom_field_put(h, a, "trials.x", "trials");
	web_zoom_field_put(h, a, "trials.y", "their values");
	web_zoom_field_put(h, a, "time.x", "seconds");
	web_zoom_field_put(h, a, "time.y", "their values");
	if (cost) {
		web_zoom_field_put(h, a, "cost.x", "dollars");
		web_zoom_field_put(h, a, "cost.y", "their values");
	}
	web_zoom_form_close(h, a, "compare", zoomed ? "the whole range" : NULL);
}
