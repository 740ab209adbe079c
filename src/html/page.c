/* The page: style, order of sections, and its file. */

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "src/base/atomic-file.h"
#include "src/base/digest.h"
#include "src/base/err.h"
#include "src/base/file.h"
#include "src/base/mem.h"
#include "src/html/page.h"
#include "src/html/section.h"

const char page_style[] =
#include "src/html/page-style.inc"
    ;
const char page_script[] =
#include "src/html/page-script.inc"
    ;

/* XML would read < and & of the script as markup. */
static void
script_text(struct buf *out, const char *script)
{
	assert(strstr(script, "</script") == NULL &&
	       strstr(script, "]]>") == NULL);
	buf_puts(out, "//<![CDATA[\n");
	buf_puts(out, script);
	buf_puts(out, "//]]>\n");
}

/*
 * A constant script, which is not escaped: an element that HTML and XML read
 * alike.
 */
static void
script_put(struct html *h, const char *script)
{
	html_open(h, "script");
	html_text(h, NULL);
	script_text(&h->out, script);
	html_close(h, "script");
}

/* Append the SHA-256 of what script_put writes, for a policy: base 64. */
static void
script_digest_put(struct buf *out, const char *script)
{
	unsigned char digest[DIGEST_LEN];
	char text[DIGEST_BASE64];
	struct buf b = { 0 };

	script_text(&b, script);
	sha256(digest, b.data, b.len);
	digest_base64(text, digest);
	buf_puts(out, text);
	buf_free(&b);
}

/*
 * No external resource: the page is self-contained.  Its own script is allowed
 * by its digest, and no other.
 */
static void
top_put(struct page *r, bool script)
{
	struct html *h = &r->h;
	struct buf policy = { 0 };

	buf_puts(&policy,
	    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; "
	    "form-action 'none'");
	if (script) {
		buf_puts(&policy, "; script-src 'sha256-");
		script_digest_put(&policy, page_script);
		buf_putc(&policy, '\'');
	}

	html_head_open(h, PAGE_ABOUT);
	html_meta(h, "http-equiv", "Content-Security-Policy", buf_str(&policy));
	buf_free(&policy);
	html_meta(h, "name", "viewport", "width=device-width, initial-scale=1");
	html_meta(h, "name", "generator", PACKAGE_STRING);
	html_open(h, "title");
	html_textf(h, "%s: report of hpotune", r->row.name);
	html_close(h, "title");
	html_style(h, page_style);
	html_close(h, "head");
}

const struct page_section *const page_sections[] = {
	&section_head,
	&section_about,
	&section_history,
	&section_front,
	&section_curves,
	&section_metrics,
	&section_parallel,
	&section_importance,
	&section_best,
	&section_stops,
	&section_timeline,
	&section_failures,
	&section_notes,
	&section_events,
	&section_study,
	NULL,
};

int
page_build(struct page *r, bool script, struct err *e)
{
	size_t i;

	top_put(r, script);
	html_open(&r->h, "body");
	html_open(&r->h, "main");
	for (i = 0; page_sections[i] != NULL; i++)
		if (page_sections[i]->put(r, e) == -1)
			return -1;
	html_close(&r->h, "main");
	html_open(&r->h, "footer");
	html_text(&r->h,
	    "Written by " PACKAGE_STRING " from the study's database. Point "
	    "at a mark or a bar to see its values. The page uses no other "
	    "file and no network.");
	html_close(&r->h, "footer");
	if (script)
		script_put(&r->h, page_script);
	html_close(&r->h, "body");
	html_close(&r->h, "html");
	return 0;
}

/* 1: an earlier report exists, 0: no file; anything else is an error. */
static int
there(const char *path, struct err *e)
{
	struct html first = { 0 };
	char start[256];
	ssize_t n = 0;
	bool ours;
	int fd;

	fd = file_open(AT_FDCWD, path);
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
