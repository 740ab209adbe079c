/* A chart of a study as a file, its numbers as CSV, and the links to both. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/svg/svg-render.h"
#include "src/export/export.h"
#include "src/figure/figure.h"
#include "src/html/page-data.h"
#include "src/store/store.h"
#include "src/web/web-address.h"
#include "src/web/web-database.h"
#include "src/web/web-page.h"
#include "src/web/web-request.h"
#include "src/web/web-sink.h"
#include "src/web/studies/web-studies.h"
#include "src/web/web-zoom.h"

enum { DPI = 200 };

/* The charts of a section, and the view that has their numbers. */
static const struct {
	const char *section, *kind, *view;
} charts[] = {
	{ "history", "history", "results" },
	{ "front", "front", "front" },
	{ "curves", "curves", "curves" },
	{ "parallel", "parallel", "results" },
	{ "importance", "importance", "importance" },
	{ "importance", "slice", "results" },
	{ "importance", "contour", "results" },
	{ "timeline", "timeline", "attempts" },
};

static const struct {
	const char *as, *type;
} formats[] = {
	{ "svg", "image/svg+xml" },
	{ "png", "image/png" },
	{ "pdf", "application/pdf" },
	{ "csv", "text/csv; charset=utf-8" },
};

enum { CHARTS = sizeof charts / sizeof *charts };
enum { FORMATS = sizeof formats / sizeof *formats };

const char *
web_page_chart_type(const struct web_address *a)
{
	const char *as = web_address_param(a, "as", 0);
	size_t i;

	for (i = 0; as != NULL && i < FORMATS; i++)
		if (strcmp(formats[i].as, as) == 0)
			return formats[i].type;
	return NULL;
}

/* The view of CSV; NULL: no such chart. */
static const char *
web_page_chart_view(const char *kind)
{
	size_t i;

	for (i = 0; i < CHARTS; i++)
		if (strcmp(charts[i].kind, kind) == 0)
			return charts[i].view;
	return NULL;
}

static ssize_t
web_page_chart_write(void *sink, const char *bytes, size_t len)
{
	web_sink_put(sink, WEB_FRAME_BODY, bytes, len);
	return (ssize_t)len;
}

static int
web_page_chart_csv(struct page *r, const char *view, struct web_sink *sink,
    void (*begin)(void *), void *arg, struct err *e)
{
	struct export x = { .store = r->store,
		.table = view,
		.name = "the page",
		.out = fopencookie(sink, "w",
		    (cookie_io_functions_t){ .write = web_page_chart_write }) };
	int rc;

	if (x.out == NULL)
		return err_set(e, ERR_FILE, "no memory for the table");
	begin(arg);
	rc = export_csv(&x, e);
	(void)fclose(x.out);
	if (rc == 0)
		web_sink_put(
		    sink, WEB_FRAME_BODY, buf_str(&x.text), x.text.len);
	buf_free(&x.text);
	buf_free(&x.notes);
	return rc;
}

static int
web_page_chart_put(struct page *r, const struct figure_kind *kind,
    const char *as, struct web_sink *sink, void (*begin)(void *), void *arg,
    struct err *e)
{
	struct buf svg = { 0 }, other = { 0 }, *out = &svg;
	double mm[2];
	int rc;

	r->width = FIGURE_TWO_COLUMNS;
	r->zoomable = false;
	rc = figure_svg(&svg, r, kind, mm, e);
	if (rc == 0 && strcmp(as, "svg") != 0) {
		out = &other;
		rc = svg_render(&other,
		    strcmp(as, "png") == 0 ? SVG_PNG : SVG_PDF, &svg, mm, DPI,
		    e);
	}
	if (rc == 0) {
		begin(arg);
		web_sink_put(sink, WEB_FRAME_BODY, out->data, out->len);
	}
	buf_free(&svg);
	buf_free(&other);
	return rc;
}

int
web_page_chart(const struct web_study *s, const struct web_address *a,
    struct web_sink *sink, void (*begin)(void *), void *arg, struct err *e)
{
	const char *name = web_address_param(a, "kind", 0);
	const char *as = web_address_param(a, "as", 0);
	const char *view = name == NULL ? NULL : web_page_chart_view(name);
	const struct figure_kind *kind =
	    name == NULL ? NULL : figure_kind_find(name);
	struct page r;
	int rc;

	if (view == NULL || kind == NULL || web_page_chart_type(a) == NULL)
		return err_set(e, ERR_USAGE,
		    "there is no such chart: chart?kind=history&as=svg");
	rc = web_database_open(&r, a->root, s, e);
	web_zoom_read(&r, a);
	if (rc == 0 && strcmp(as, "csv") == 0)
		rc = web_page_chart_csv(&r, view, sink, begin, arg, e);
	else if (rc == 0)
		rc = web_page_chart_put(&r, kind, as, sink, begin, arg, e);
	web_database_close(&r);
	return rc;
}

static void
web_page_chart_link_put(struct html *h, const struct web_address *a,
    const char *id, const char *kind, const char *as, const char *text)
{
	struct buf to = { 0 }, file = { 0 };
	char *path = web_page_address(a->root, id, "/chart");

	buf_puts(&to, path);
	web_address_put_query(&to, a, "kind", kind);
	buf_printf(&to, "&as=%s", as);
	buf_printf(&file, "%s-%s.%s", id, kind, as);
	html_open(h, "a");
	html_attr(h, "href", buf_str(&to));
	html_attr(h, "download", buf_str(&file));
	html_text(h, text);
	html_close(h, "a");
	html_text(h, " ");
	buf_free(&to);
	buf_free(&file);
	free(path);
}

void
web_page_chart_links_put(struct html *h, const char *section, const char *id,
    const struct web_address *a)
{
	bool several = strcmp(section, "importance") == 0;
	size_t i, n = 0;

	for (i = 0; i < CHARTS; i++) {
		if (strcmp(charts[i].section, section) != 0)
			continue;
		if (n++ == 0) {
			html_open(h, "p");
			html_attr(h, "class", "note files");
		}
		if (several)
			html_textf(h, "%s: ", charts[i].kind);
		web_page_chart_link_put(h, a, id, charts[i].kind, "svg", "SVG");
		web_page_chart_link_put(h, a, id, charts[i].kind, "png", "PNG");
		web_page_chart_link_put(h, a, id, charts[i].kind, "pdf", "PDF");
		web_page_chart_link_put(h, a, id, charts[i].kind, "csv", "CSV");
	}
	if (n > 0)
		html_close(h, "p");
}
