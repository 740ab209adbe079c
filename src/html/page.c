/* The page: style, order of sections, tables. */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/html/page.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/server/status/rows.h"

enum { COLUMNS = 8 };

/*
 * Colours of Okabe and Ito, distinguishable with colour blindness, darker on
 * white and lighter on black.
 */
static const char style[] =
    "\n:root{color-scheme:light dark;--ink:#1c1f23;--soft:#5b636d;"
    "--line:#e3e6ea;--back:#fff;--blue:#0068a6;--orange:#b35900;"
    "--red:#b3266b;--grey:#7d858f}\n"
    "@media screen and (prefers-color-scheme:dark){:root{--ink:#e4e7eb;"
    "--soft:#9aa3ad;--line:#30363d;--back:#14171a;--blue:#5fb3ea;"
    "--orange:#e9a23b;--red:#f07ab0;--grey:#8b949e}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;padding:2.5rem 1.5rem 4rem;max-width:62rem;"
    "background:var(--back);color:var(--ink);"
    "font:15px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,"
    "'Helvetica Neue',Arial,sans-serif}\n"
    "h1{font-size:1.7rem;line-height:1.2;margin:0 0 .2rem;font-weight:650;"
    "overflow-wrap:anywhere}\n"
    "h2{font-size:1.1rem;font-weight:650;margin:2.6rem 0 .6rem}\n"
    "h3{font-size:.95rem;font-weight:600;margin:1.2rem 0 .3rem}\n"
    "p{margin:.4rem 0;overflow-wrap:anywhere}\n"
    ".sub,.note,footer{color:var(--soft)}\n"
    ".note,footer{font-size:.85rem;max-width:48rem}\n"
    "footer{margin-top:3rem;border-top:1px solid var(--line);"
    "padding-top:.8rem}\n"
    "dl{display:grid;grid-template-columns:max-content 1fr;"
    "gap:.25rem 1.4rem;margin:1.2rem 0 0}\n"
    "dt{color:var(--soft)}\n"
    "dd{margin:0;overflow-wrap:anywhere}\n"
    ".wide{overflow-x:auto}\n"
    "table{border-collapse:collapse;margin-bottom:.8rem;font-size:.87rem;"
    "font-variant-numeric:tabular-nums}\n"
    "th,td{text-align:left;vertical-align:top;padding:.22rem 1.1rem .22rem 0;"
    "border-bottom:1px solid var(--line)}\n"
    "th{color:var(--soft);font-weight:500;white-space:nowrap}\n"
    "td{white-space:pre-line}\n"
    ".n{text-align:right;white-space:nowrap}\n"
    ".w{white-space:nowrap}\n"
    "svg{display:block;width:100%;height:auto;overflow:visible}\n"
    "svg text{font-size:11px;fill:var(--soft);"
    "font-variant-numeric:tabular-nums}\n"
    ".xt{text-anchor:middle}\n"
    ".yt,.xn{text-anchor:end}\n"
    "svg .name{fill:var(--ink);font-weight:600}\n"
    "path{fill:none}\n"
    ".grid{stroke:var(--line)}\n"
    ".base{stroke:var(--grey)}\n"
    ".m{stroke:var(--blue);stroke-width:1.4}\n"
    ".dot{stroke-width:5;stroke-linecap:round;stroke-opacity:.75}\n"
    ".diamond{stroke:var(--orange)}\n"
    ".cross{stroke:var(--red)}\n"
    ".ring{stroke:var(--grey)}\n"
    ".pick{stroke:var(--ink);stroke-width:1.6}\n"
    ".best{stroke:var(--ink);stroke-width:1.8}\n"
    ".median{stroke:var(--ink);stroke-width:2;stroke-dasharray:6 3}\n"
    ".curve,.cut,.bad{stroke-width:1;stroke-opacity:.45;"
    "stroke-linejoin:round;stroke-linecap:round}\n"
    ".curve{stroke:var(--blue)}\n"
    ".cut{stroke:var(--orange);stroke-opacity:.7}\n"
    ".bad{stroke:var(--grey)}\n"
    ".top{stroke:var(--blue);stroke-width:2.4;stroke-linejoin:round;"
    "stroke-linecap:round}\n"
    ".bar{fill:var(--blue)}\n"
    ".share{width:18rem;white-space:normal}.share "
    "svg{height:.6rem;margin-top:.35rem}\n"
    ".b-ok{stroke:var(--blue);stroke-width:9}\n"
    ".b-stop{stroke:var(--orange);stroke-width:5}\n"
    ".b-bad{stroke:var(--red);stroke-width:2.5}\n"
    ".b-run{stroke:var(--grey);stroke-width:9;stroke-opacity:.6}\n"
    ".key{display:inline-block;margin-right:1.2rem;white-space:nowrap}\n"
    ".key svg{display:inline-block;width:12px;height:12px;"
    "margin-right:.35rem;vertical-align:-1px}\n"
    ".key path{stroke-opacity:1}\n"
    ".keys{font-size:.85rem;color:var(--soft)}\n"
    ".grid2{display:grid;gap:1rem 1.5rem;"
    "grid-template-columns:repeat(auto-fill,minmax(17rem,1fr))}\n"
    "@media print{body{max-width:none;padding:0;font-size:11px}"
    "svg,tr,.key{break-inside:avoid}h2,h3{break-after:avoid}"
    ".wide{overflow:visible}}\n";

void
page_section(struct html *h, const char *title)
{
	html_open(h, "section");
	html_leaf(h, "h2", NULL, title);
}

void
page_section_end(struct html *h)
{
	html_close(h, "section");
}

void
page_note(struct html *h, const char *fmt, ...)
{
	char line[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	html_leaf(h, "p", "note", line);
}

/* Up to so many parameters have a column each. */
static bool
params_part(const struct page *r)
{
	return r->study->space->n <= COLUMNS;
}

static bool
param_is_number(const struct param *p)
{
	return p->type == PARAM_FLOAT || p->type == PARAM_INT;
}

static void
params_put(struct page *r, const char *json)
{
	const struct space *space = r->study->space;
	const struct json *value;
	struct json_doc *doc = NULL;
	struct buf text = { 0 };
	double number;
	size_t i;

	(void)json_parse(&doc, json, strlen(json), NULL, false, NULL);
	for (i = 0; i < space->n; i++) {
		value = doc == NULL
			    ? NULL
			    : json_get(json_root(doc), space->params[i].name);
		if (value != NULL && json_number(value, &number))
			rows_put_number(&text, number, 5);
		else if (value != NULL && json_string(value) != NULL)
			buf_puts(&text, json_string(value));
		else if (value != NULL)
			json_write(&text, value);
		html_leaf(&r->h, "td",
		    param_is_number(&space->params[i]) ? "n" : NULL,
		    buf_str(&text));
		buf_clear(&text);
	}
	json_free(doc);
	buf_free(&text);
}

static void
cell_put(struct page *r, const struct store_rows *rows, int col,
    const struct page_column *column)
{
	struct buf text = { 0 };
	const char *s = store_rows_text(rows, col);

	switch (column->kind) {
	case PAGE_TEXT:
	case PAGE_WORD:
		html_leaf(
		    &r->h, "td", column->kind == PAGE_WORD ? "w" : NULL, s);
		break;
	case PAGE_NUMBER:
		if (s != NULL && strspn(s, "-0123456789") == strlen(s))
			buf_puts(&text, s);
		else if (s != NULL)
			rows_put_number(
			    &text, store_rows_real(rows, col), PAGE_DIGITS);
		html_leaf(&r->h, "td", "n", buf_str(&text));
		break;
	case PAGE_PARAMS:
		if (params_part(r)) {
			params_put(r, s);
			break;
		}
		rows_put_params(&text, s, 5);
		html_leaf(&r->h, "td", NULL, buf_str(&text));
		break;
	}
	buf_free(&text);
}

static void
head_put(struct html *h, const char *text, bool number)
{
	html_open(h, "th");
	html_attr(h, "scope", "col");
	if (number)
		html_attr(h, "class", "n");
	html_text(h, text);
	html_close(h, "th");
}

static void
heads_put(struct page *r, const struct page_column *columns, size_t n)
{
	const struct space *space = r->study->space;
	struct html *h = &r->h;
	size_t i, k;

	html_open(h, "div");
	html_attr(h, "class", "wide");
	html_open(h, "table");
	html_open(h, "thead");
	html_open(h, "tr");
	for (i = 0; i < n; i++)
		if (columns[i].kind == PAGE_PARAMS && params_part(r))
			for (k = 0; k < space->n; k++)
				head_put(h, space->params[k].name,
				    param_is_number(&space->params[k]));
		else
			head_put(
			    h, columns[i].head, columns[i].kind == PAGE_NUMBER);
	html_close(h, "tr");
	html_close(h, "thead");
	html_open(h, "tbody");
}

int
page_table(struct page *r, const char *sql, const struct page_column *columns,
    size_t n, size_t *count, struct err *e)
{
	struct store_rows *rows;
	size_t i;
	int rc;

	*count = 0;
	if (store_rows_open(&rows, r->store, sql, NULL, e) != 0)
		return -1;
	while ((rc = store_rows_next(rows, e)) == 1) {
		if ((*count)++ == 0)
			heads_put(r, columns, n);
		html_open(&r->h, "tr");
		for (i = 0; i < n; i++)
			cell_put(r, rows, (int)i, &columns[i]);
		html_close(&r->h, "tr");
	}
	store_rows_close(rows);
	if (*count > 0) {
		html_close(&r->h, "tbody");
		html_close(&r->h, "table");
		html_close(&r->h, "div");
	}
	return rc;
}

static void
meta_put(struct html *h, const char *key, const char *name, const char *content)
{
	html_open(h, "meta");
	html_attr(h, key, name);
	html_attr(h, "content", content);
	html_close(h, "meta");
}

/* No script and no external resource: the page is self-contained. */
static void
top_put(struct page *r)
{
	struct html *h = &r->h;

	html_begin(h, PAGE_ABOUT);
	html_open(h, "html");
	html_attr(h, "xmlns", "http://www.w3.org/1999/xhtml");
	html_attr(h, "lang", "en");
	html_open(h, "head");
	html_open(h, "meta");
	html_attr(h, "charset", "utf-8");
	html_close(h, "meta");
	meta_put(h, "http-equiv", "Content-Security-Policy",
	    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; "
	    "form-action 'none'");
	meta_put(h, "name", "viewport", "width=device-width, initial-scale=1");
	meta_put(h, "name", "generator", PACKAGE_STRING);
	html_open(h, "title");
	html_textf(h, "%s: report of hpotune", r->row.name);
	html_close(h, "title");
	html_style(h, style);
	html_close(h, "head");
}

int
page_build(struct page *r, struct err *e)
{
	static int (*const sections[])(struct page *,
	    struct err *) = { section_head, section_history, section_front,
		section_curves, section_importance, section_best, section_stops,
		section_timeline, section_failures, section_events };
	size_t i;

	top_put(r);
	html_open(&r->h, "body");
	html_open(&r->h, "main");
	for (i = 0; i < sizeof sections / sizeof sections[0]; i++)
		if (sections[i](r, e) == -1)
			return -1;
	html_close(&r->h, "main");
	html_open(&r->h, "footer");
	html_text(&r->h,
	    "Written by " PACKAGE_STRING " from the study's database. Marks "
	    "and bars say what they are when they are pointed at. The page "
	    "needs nothing else: no script, no network.");
	html_close(&r->h, "footer");
	html_close(&r->h, "body");
	html_close(&r->h, "html");
	return 0;
}
