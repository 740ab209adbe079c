/* Targets of requests: pages, names, numbers, forms, and back to text. */

#include <stdlib.h>

#include "src/base/mem.h"
#include "src/html/page-data.h"
#include "src/web/web-address.h"
#include "src/web/web-zoom.h"
#include "tests/support/tap.h"

static void
test_pages(void)
{
	static const struct {
		const char *target;
		enum web_page page;
		const char *study;
		int64_t trial;
	} rows[] = {
		{ "/", WEB_PAGE_INDEX, NULL, 0 },
		{ "/?a=b", WEB_PAGE_INDEX, NULL, 0 },
		{ "/#a", WEB_PAGE_INDEX, NULL, 0 },
		{ "/web.css", WEB_PAGE_STYLE, NULL, 0 },
		{ "/web.js?x", WEB_PAGE_SCRIPT, NULL, 0 },
		{ "/compare?study=a", WEB_PAGE_COMPARE, NULL, 0 },
		{ "/s/a", WEB_PAGE_STUDY, "a", 0 },
		{ "/s/a.b-c_d~2", WEB_PAGE_STUDY, "a.b-c_d~2", 0 },
		{ "/s/a%20b", WEB_PAGE_STUDY, "a b", 0 },
		{ "/s/a+b", WEB_PAGE_STUDY, "a+b", 0 },
		{ "/s/%e4%BC%9a", WEB_PAGE_STUDY, "\xe4\xbc\x9a", 0 },
		{ "/s/..%2f..%2fetc", WEB_PAGE_STUDY, "../../etc", 0 },
		{ "/s/a%2flive", WEB_PAGE_STUDY, "a/live", 0 },
		{ "/s/100%", WEB_PAGE_STUDY, "100%", 0 },
		{ "/s/100%4", WEB_PAGE_STUDY, "100%4", 0 },
		{ "/s/100%zz", WEB_PAGE_STUDY, "100%zz", 0 },
		{ "/s/a/live", WEB_PAGE_LIVE, "a", 0 },
		{ "/s/a/live?tick=1", WEB_PAGE_LIVE, "a", 0 },
		{ "/s/a/do", WEB_PAGE_ACTION, "a", 0 },
		{ "/s/a/trials?trial=1", WEB_PAGE_TRIALS, "a", 0 },
		{ "/s/a/trial/1", WEB_PAGE_TRIAL, "a", 1 },
		{ "/s/a/trial/1#log", WEB_PAGE_TRIAL, "a", 1 },
		{ "/s/a/chart?kind=history&as=svg", WEB_PAGE_CHART, "a", 0 },
		{ "/s/a/trial/12/line", WEB_PAGE_LINE, "a", 12 },
		{ "/s/a/trial/12/log?from=0", WEB_PAGE_LOG, "a", 12 },
		{ "/s/a/trial/999999999999999999", WEB_PAGE_TRIAL, "a",
		    999999999999999999 },
		/* None of these is a page. */
		{ "", WEB_PAGE_NONE, NULL, 0 },
		{ "?", WEB_PAGE_NONE, NULL, 0 },
		{ "*", WEB_PAGE_NONE, NULL, 0 },
		{ "x", WEB_PAGE_NONE, NULL, 0 },
		{ "//", WEB_PAGE_NONE, NULL, 0 },
		{ "/web.css/", WEB_PAGE_NONE, NULL, 0 },
		{ "/web.cs", WEB_PAGE_NONE, NULL, 0 },
		{ "/WEB.CSS", WEB_PAGE_NONE, NULL, 0 },
		{ "/login", WEB_PAGE_NONE, NULL, 0 },
		{ "/s", WEB_PAGE_NONE, NULL, 0 },
		{ "/s/", WEB_PAGE_NONE, NULL, 0 },
		{ "/s//live", WEB_PAGE_NONE, NULL, 0 },
		{ "/s/%00", WEB_PAGE_NONE, NULL, 0 },
		{ "/s/a%00b", WEB_PAGE_NONE, NULL, 0 },
		{ "http://localhost/", WEB_PAGE_NONE, NULL, 0 },
		{ "/s/a/", WEB_PAGE_NONE, "a", 0 },
		{ "/s/a/liv", WEB_PAGE_NONE, "a", 0 },
		{ "/s/a/live/", WEB_PAGE_NONE, "a", 0 },
		{ "/s/a/../b", WEB_PAGE_NONE, "a", 0 },
		{ "/s/a/trial", WEB_PAGE_NONE, "a", 0 },
		{ "/s/a/trial/", WEB_PAGE_NONE, "a", 0 },
		{ "/s/a/trial/0", WEB_PAGE_NONE, "a", 0 },
		{ "/s/a/trial/01", WEB_PAGE_NONE, "a", 0 },
		{ "/s/a/trial/-1", WEB_PAGE_NONE, "a", 0 },
		{ "/s/a/trial/+1", WEB_PAGE_NONE, "a", 0 },
		{ "/s/a/trial/1x", WEB_PAGE_NONE, "a", 0 },
		{ "/s/a/trial/%31", WEB_PAGE_NONE, "a", 0 },
		{ "/s/a/trial/1000000000000000000", WEB_PAGE_NONE, "a", 0 },
		{ "/s/a/trial/1/", WEB_PAGE_NONE, "a", 1 },
		{ "/s/a/trial/1/lo", WEB_PAGE_NONE, "a", 1 },
		{ "/s/a/trial/1/log/", WEB_PAGE_NONE, "a", 1 },
	};
	struct web_address a;
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		web_address_read(&a, rows[i].target);
		is_int(a.page, rows[i].page, rows[i].target);
		is_str(a.study, rows[i].study, "its study");
		is_int(a.trial, rows[i].trial, "its trial");
		web_address_fini(&a);
	}
}

/* Where a browser finds the list, from each page. */
static void
test_roots(void)
{
	static const struct {
		const char *target, *root;
	} rows[] = { { "/", "./" }, { "", "./" }, { "*", "./" },
		{ "/?a=/b/c", "./" }, { "/compare?study=a", "./" },
		{ "/#/", "./" }, { "/s/a", "../" }, { "/s/a%2fb", "../" },
		{ "/s/a/trials", "../../" }, { "/s/a/trial/1", "../../../" },
		{ "/s/a/trial/1/log?attempt=1", "../../../../" },
		{ "/a/b/c", "../../" } };
	struct web_address a;
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		web_address_read(&a, rows[i].target);
		is_str(a.root, rows[i].root, rows[i].target);
		web_address_fini(&a);
	}
}

static void
test_params(void)
{
	struct web_address a;

	web_address_read(
	    &a, "/?a=1&b=x+y%2Bz&a=2&c&=d&e=&f=%00&g=1=2&%61%26=3&&a=3#a=4");
	is_int(
	    (long long)a.n_params, 8, "pairs without = and with a NUL: none");
	is_str(web_address_param(&a, "a", 0), "1", "the first value");
	is_str(web_address_param(&a, "a", 1), "2", "the second");
	is_str(web_address_param(&a, "a", 2), "3", "the third");
	is_str(web_address_param(&a, "a", 3), NULL,
	    "what follows # is no parameter");
	is_str(web_address_param(&a, "b", 0), "x y+z", "+ is a blank");
	is_str(web_address_param(&a, "c", 0), NULL, "a name alone is nothing");
	is_str(web_address_param(&a, "", 0), "d", "a name may be empty");
	is_str(web_address_param(&a, "e", 0), "", "and so may a value");
	is_str(web_address_param(&a, "f", 0), NULL, "a NUL is not accepted");
	is_str(web_address_param(&a, "g", 0), "1=2", "the first = parts");
	is_str(web_address_param(&a, "a&", 0), "3", "names are decoded");
	web_address_fini(&a);
	is_int((long long)a.n_params, 0, "nothing is left");
}

static void
test_many(void)
{
	struct web_address a;
	struct buf b = { 0 };
	int i;

	buf_puts(&b, "/?");
	for (i = 0; i < 200; i++)
		buf_printf(&b, "n%d=%d&", i, i);
	web_address_read(&a, buf_str(&b));
	is_int((long long)a.n_params, WEB_PARAMS, "no more than there is room");
	is_str(web_address_param(&a, "n63", 0), "63", "the first ones count");
	web_address_read_form(&a, "x=1", 3);
	is_int((long long)a.n_params, WEB_PARAMS, "a form adds none then");
	web_address_fini(&a);
	buf_free(&b);
}

static void
test_numbers(void)
{
	static const struct {
		const char *text;
		int64_t want; /* -7: the default */
	} rows[] = { { "0", 0 }, { "1", 1 }, { "50", 50 },
		{ "999999999999999999", 999999999999999999 }, { "00", -7 },
		{ "01", -7 }, { "-1", -7 }, { "", -7 }, { "1%20", -7 },
		{ "1e3", -7 }, { "0x1", -7 }, { "9223372036854775808", -7 } };
	struct web_address a;
	char *target;
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		target = xasprintf("/?n=%s", rows[i].text);
		web_address_read(&a, target);
		is_int(web_address_number(&a, "n", -7), rows[i].want, target);
		web_address_fini(&a);
		free(target);
	}
	web_address_read(&a, "/?m=1");
	is_int(web_address_number(&a, "n", -7), -7, "absent: the default");
	web_address_fini(&a);
}

/* What is written is read again, whatever the bytes. */
static void
test_back(void)
{
	struct buf b = { 0 };
	struct web_address a;
	char name[256];
	int i;

	for (i = 0; i < 255; i++)
		name[i] = (char)(i + 1);
	name[255] = '\0';
	buf_puts(&b, "/s/");
	web_address_put(&b, name);
	ok(strspn(buf_str(&b) + 3,
	       "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	       "0123456789-._%") == b.len - 3,
	    "only harmless characters are written");
	web_address_read(&a, buf_str(&b));
	is_int(a.page, WEB_PAGE_STUDY, "all bytes in a name: the page");
	is_str(a.study, name, "and the name");
	web_address_fini(&a);

	buf_clear(&b);
	web_address_read(&a, "/?where=a+%3c+%22b%26%22&page=3&sort=x&sort=y");
	web_address_put_query(&b, &a, "sort", "z \"");
	is_str(buf_str(&b), "?where=a%20%3c%20%22b%26%22&sort=z%20%22",
	    "a parameter is set, the others are kept, the page is the first");
	buf_clear(&b);
	web_address_put_query(&b, &a, "where", NULL);
	is_str(buf_str(&b), "?sort=x&sort=y", "a parameter is removed");
	web_address_fini(&a);
	buf_clear(&b);
	web_address_read(&a, "/?page=3");
	web_address_put_query(&b, &a, "where", NULL);
	is_str(buf_str(&b), "", "nothing is left: no question mark");
	web_address_put_query(&b, &a, "page", "4");
	is_str(buf_str(&b), "?page=4", "the page itself is set");
	web_address_fini(&a);
	buf_free(&b);
}

static void
test_zoom(void)
{
	struct web_address a;
	struct page r = { 0 };
	const double *range;

	web_address_read(&a,
	    "/s/a?curves.x=10..50&curves.y=50..10&history.x=-1e3..1.5e3&"
	    "slice.a%20b.x=.5..1.&slice.c.x=nan..1&slice.d.x=1..inf&"
	    "history.y=1&x=1..2&slice.e.x=1..2x&slice.f.x=1...2");
	web_zoom_read(&r, &a);
	is_int((long long)r.n_zooms, 3, "ranges of an address");
	range = page_data_zoom(&r, "curves.x");
	ok(range != NULL && range[0] == 10 && range[1] == 50, "10..50");
	range = page_data_zoom(&r, "history.x");
	ok(range != NULL && range[0] == -1000 && range[1] == 1500,
	    "-1e3..1.5e3");
	range = page_data_zoom(&r, "slice.a b.x");
	ok(range != NULL && range[0] == 0.5 && range[1] == 1, ".5..1.");
	ok(page_data_zoom(&r, "curves.y") == NULL, "50..10 is no range");
	ok(page_data_zoom(&r, "history.y") == NULL, "1 is no range");
	ok(web_zoom_is_of(&r, "curves") && web_zoom_is_of(&r, "importance") &&
		!web_zoom_is_of(&r, "front"),
	    "sections with a range");
	free(r.zooms);
	web_address_fini(&a);
}

int
main(void)
{
	test_pages();
	test_roots();
	test_params();
	test_many();
	test_numbers();
	test_back();
	test_zoom();
	return done_testing();
}
