/* Decodes and encodes targets of requests. */

#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/web/web-address.h"

static int
web_address_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* %XX decoded, and in forms + as a blank; NULL when it would hold a NUL. */
static char *
web_address_decode(const char *s, size_t len, bool form)
{
	char *out = xmalloc(len + 1);
	size_t i, n = 0;

	for (i = 0; i < len; i++) {
		if (s[i] == '%' && i + 2 < len &&
		    web_address_digit(s[i + 1]) >= 0 &&
		    web_address_digit(s[i + 2]) >= 0) {
			out[n] = (char)(web_address_digit(s[i + 1]) * 16 +
					web_address_digit(s[i + 2]));
			i += 2;
		} else
			out[n] = form && s[i] == '+' ? ' ' : s[i];
		if (out[n++] == '\0') {
			free(out);
			return NULL;
		}
	}
	out[n] = '\0';
	return out;
}

void
web_address_read_form(struct web_address *a, const char *s, size_t len)
{
	const char *end = s + len, *next, *equals;
	char *name, *value;

	for (; s < end && a->n_params < WEB_PARAMS; s = next + 1) {
		next = memchr(s, '&', (size_t)(end - s));
		if (next == NULL)
			next = end;
		equals = memchr(s, '=', (size_t)(next - s));
		if (equals == NULL)
			continue;
		name = web_address_decode(s, (size_t)(equals - s), true);
		value = web_address_decode(
		    equals + 1, (size_t)(next - equals - 1), true);
		if (name == NULL || value == NULL) {
			free(name);
			free(value);
			continue;
		}
		a->params[a->n_params].name = name;
		a->params[a->n_params++].value = value;
	}
}

/* A whole number from 1; 0 for any other text. */
static int64_t
web_address_trial_read(const char *s, size_t len)
{
	int64_t n = 0;
	size_t i;

	if (len == 0 || len > 18 || s[0] == '0')
		return 0;
	for (i = 0; i < len; i++) {
		if (s[i] < '0' || s[i] > '9')
			return 0;
		n = n * 10 + (s[i] - '0');
	}
	return n;
}

static bool
web_address_is(const char *s, size_t len, const char *word)
{
	return len == strlen(word) && memcmp(s, word, len) == 0;
}

/* What follows /s/NAME. */
static enum web_page
web_address_study_page(struct web_address *a, const char *s, size_t len)
{
	const char *slash;
	size_t n;

	if (len == 0)
		return WEB_PAGE_STUDY;
	if (web_address_is(s, len, "/live"))
		return WEB_PAGE_LIVE;
	if (web_address_is(s, len, "/do"))
		return WEB_PAGE_ACTION;
	if (web_address_is(s, len, "/chart"))
		return WEB_PAGE_CHART;
	if (web_address_is(s, len, "/trials"))
		return WEB_PAGE_TRIALS;
	if (len < 8 || memcmp(s, "/trial/", 7) != 0)
		return WEB_PAGE_NONE;
	s += 7;
	len -= 7;
	slash = memchr(s, '/', len);
	n = slash == NULL ? len : (size_t)(slash - s);
	a->trial = web_address_trial_read(s, n);
	if (a->trial == 0)
		return WEB_PAGE_NONE;
	if (n == len)
		return WEB_PAGE_TRIAL;
	if (web_address_is(s + n, len - n, "/line"))
		return WEB_PAGE_LINE;
	return web_address_is(s + n, len - n, "/log") ? WEB_PAGE_LOG
						      : WEB_PAGE_NONE;
}

static enum web_page
web_address_page_read(struct web_address *a, const char *s, size_t len)
{
	static const struct {
		const char *path;
		enum web_page page;
	} pages[] = { { "/", WEB_PAGE_INDEX }, { "/web.css", WEB_PAGE_STYLE },
		{ "/web.js", WEB_PAGE_SCRIPT },
		{ "/compare", WEB_PAGE_COMPARE } };
	const char *slash;
	size_t i, n;

	for (i = 0; i < sizeof pages / sizeof *pages; i++)
		if (web_address_is(s, len, pages[i].path))
			return pages[i].page;
	if (len < 4 || memcmp(s, "/s/", 3) != 0)
		return WEB_PAGE_NONE;
	s += 3;
	len -= 3;
	slash = memchr(s, '/', len);
	n = slash == NULL ? len : (size_t)(slash - s);
	a->study = n == 0 ? NULL : web_address_decode(s, n, false);
	return a->study == NULL ? WEB_PAGE_NONE
				: web_address_study_page(a, s + n, len - n);
}

/* A step up for each folder of the path; "./" when the list is beside. */
static char *
web_address_root_make(const char *path, size_t len)
{
	struct buf b = { 0 };
	size_t i, n = 0;

	for (i = 0; i < len; i++)
		if (path[i] == '/' && n++ > 0)
			buf_puts(&b, "../");
	if (b.len == 0)
		buf_puts(&b, "./");
	return buf_take(&b);
}

void
web_address_read(struct web_address *a, const char *target)
{
	size_t len = strcspn(target, "?#");

	*a = (struct web_address){ .root = web_address_root_make(target, len) };
	a->page = web_address_page_read(a, target, len);
	if (target[len] == '?')
		web_address_read_form(
		    a, target + len + 1, strcspn(target + len + 1, "#"));
}

void
web_address_fini(struct web_address *a)
{
	size_t i;

	free(a->root);
	free(a->study);
	for (i = 0; i < a->n_params; i++) {
		free(a->params[i].name);
		free(a->params[i].value);
	}
	*a = (struct web_address){ 0 };
}

const char *
web_address_param(const struct web_address *a, const char *name, size_t i)
{
	size_t k;

	for (k = 0; k < a->n_params; k++)
		if (strcmp(a->params[k].name, name) == 0 && i-- == 0)
			return a->params[k].value;
	return NULL;
}

int64_t
web_address_number(const struct web_address *a, const char *name, int64_t def)
{
	const char *s = web_address_param(a, name, 0);

	if (s == NULL)
		return def;
	return strcmp(s, "0") == 0 ? 0
	       : web_address_trial_read(s, strlen(s)) > 0
		   ? web_address_trial_read(s, strlen(s))
		   : def;
}

void
web_address_put(struct buf *out, const char *text)
{
	static const char plain[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._";

	for (; *text != '\0'; text++)
		if (strchr(plain, *text) != NULL)
			buf_putc(out, *text);
		else
			buf_printf(out, "%%%02x", (unsigned char)*text);
}

static void
web_address_pair_put(
    struct buf *out, bool *first, const char *name, const char *value)
{
	buf_putc(out, *first ? '?' : '&');
	*first = false;
	web_address_put(out, name);
	buf_putc(out, '=');
	web_address_put(out, value);
}

void
web_address_put_query(struct buf *out, const struct web_address *a,
    const char *name, const char *value)
{
	bool first = true;
	size_t i;

	for (i = 0; i < a->n_params; i++)
		if (strcmp(a->params[i].name, name) != 0 &&
		    strcmp(a->params[i].name, "page") != 0)
			web_address_pair_put(
			    out, &first, a->params[i].name, a->params[i].value);
	if (value != NULL)
		web_address_pair_put(out, &first, name, value);
}
