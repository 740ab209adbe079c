/* The page: style, order of sections, and its file. */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/cli/common/atomic-file.h"
#include "src/html/page.h"
#include "src/html/section.h"

/*
 * Colours of Okabe and Ito, distinguishable with colour blindness, darker on
 * white and lighter on black.
 */
const char page_style[] =
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
    ".axis{stroke:var(--soft);stroke-width:1.5}\n"
    ".at{text-anchor:end;font-size:9px}\n"
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
	html_style(h, page_style);
	html_close(h, "head");
}

const struct page_section page_sections[] = {
	{ "head", section_head },
	{ "history", section_history },
	{ "front", section_front },
	{ "curves", section_curves },
	{ "parallel", section_parallel },
	{ "importance", section_importance },
	{ "best", section_best },
	{ "stops", section_stops },
	{ "timeline", section_timeline },
	{ "failures", section_failures },
	{ "events", section_events },
	{ .name = NULL },
};

int
page_build(struct page *r, struct err *e)
{
	const struct page_section *section;

	top_put(r);
	html_open(&r->h, "body");
	html_open(&r->h, "main");
	for (section = page_sections; section->name != NULL; section++)
		if (section->put(r, e) == -1)
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

/* ---- the file ------------------------------------------------------------ */

/* 1: an earlier report exists, 0: no file; anything else is an error. */
static int
there(const char *path, struct err *e)
{
	struct html first = { 0 };
	char start[256];
	ssize_t n = 0;
	bool ours;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd == -1 && errno == ENOENT)
		return 0;
	if (fd == -1 && errno != ELOOP)
		return err_set(e, ERR_FILE, "%s: %s", path, strerror(errno));
	if (fd != -1) {
		n = read(fd, start, sizeof start);
		(void)close(fd);
	}
	html_begin(&first, PAGE_ABOUT);
	ours = n >= (ssize_t)first.out.len &&
	       memcmp(start, first.out.data, first.out.len) == 0;
	buf_free(&first.out);
	if (ours)
		return 1;
	return err_set(e, ERR_FILE,
	    "%s: exists and is not a report of hpotune: choose another "
	    "file with --output",
	    path);
}

int
page_file_write(const char *path, const struct buf *text, struct err *e)
{
	int rc = there(path, e);

	return rc == -1 ? -1 : atomic_file_write(path, rc == 1, text, e);
}
