/*
 * A request to hpotune web as lines: target, Host, Origin, secret, form token,
 * filter of trials.  Addresses can be written and read again, ranges of charts
 * are two finite numbers that ascend, nobody is let in who should not be, and
 * SQLite finds a filter to be one expression that reads columns alone.
 */

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <sqlite3.h>

#include "src/base/mem.h"
#include "src/web/web-access.h"
#include "src/web/web-address.h"
#include "src/web/web-filter.h"
#include "src/web/web-zoom.h"

#define TOKEN "0123456789abcdef0123456789abcdef"
#define FORM "fedcba9876543210fedcba9876543210"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

enum { LINES = 6 };

static void
need(bool good)
{
	if (!good)
		abort();
}

/* Each parameter is the same after it is written and read. */
static void
check_address(const char *target)
{
	struct web_address a, again;
	struct buf b = { 0 };
	double range[2];
	size_t i, k = 0;

	web_address_read(&a, target);
	need(a.n_params <= WEB_PARAMS);
	need(a.trial >= 0 && (a.page != WEB_PAGE_TRIAL || a.trial > 0));
	need(a.page < WEB_PAGE_STUDY || a.study != NULL);
	for (i = 0; i < a.n_params; i++)
		need(!web_zoom_range(range, &a, a.params[i].name) ||
		     (isfinite(range[0]) && isfinite(range[1]) &&
			 range[0] < range[1]));
	if (a.study != NULL) {
		buf_puts(&b, "/s/");
		web_address_put(&b, a.study);
	} else
		buf_putc(&b, '/');
	web_address_put_query(&b, &a, "page", NULL);
	need(strpbrk(buf_str(&b), "\"'<> \r\n") == NULL);
	web_address_read(&again, buf_str(&b));
	need((a.study == NULL) == (again.study == NULL));
	need(a.study == NULL || strcmp(a.study, again.study) == 0);
	for (i = 0; i < a.n_params; i++) {
		if (strcmp(a.params[i].name, "page") == 0)
			continue;
		need(k < again.n_params);
		need(strcmp(a.params[i].name, again.params[k].name) == 0);
		need(strcmp(a.params[i].value, again.params[k++].value) == 0);
		need(web_address_number(&a, a.params[i].name, 0) >= 0);
	}
	need(k == again.n_params);
	web_address_fini(&a);
	web_address_fini(&again);
	buf_free(&b);
}

static bool
begins(const char *text, const char *with)
{
	return strncasecmp(text, with, strlen(with)) == 0;
}

/* Necessary conditions, in other words than those of web-access.c. */
static void
check_access(const struct web_access_headers *h, bool token, bool read_only)
{
	struct web_access a = { .form = FORM, .read_only = read_only };
	const char *origin;

	if (token)
		memcpy(a.token, TOKEN, sizeof a.token);
	if (web_access_read(&a, h) == WEB_ALLOWED) {
		need(h->host != NULL);
		need(begins(h->host, "localhost") ||
		     begins(h->host, "127.0.0.1") || begins(h->host, "[::1]"));
		need(strpbrk(h->host, "/@ ,;") == NULL);
		need(!token || begins(h->target, "/" TOKEN));
		need(!token || strcspn(h->target + 1, "/?#") == 32);
	}
	if (web_access_act(&a, h) == WEB_ALLOWED) {
		need(web_access_read(&a, h) == WEB_ALLOWED && !read_only);
		need(h->form != NULL && strcmp(h->form, FORM) == 0);
		origin = h->origin == NULL ? NULL : strstr(h->origin, "://");
		need(origin != NULL && strcasecmp(origin + 3, h->host) == 0);
	}
}

/* Reading columns of t, and the functions of ~, is all that is done. */
static int
on_authorize(void *arg, int action, const char *one, const char *two,
    const char *database, const char *trigger)
{
	(void)arg;
	(void)database;
	(void)trigger;
	need(action == SQLITE_SELECT ||
	     (action == SQLITE_READ && strcmp(one, "t") == 0) ||
	     (action == SQLITE_FUNCTION &&
		 (strcmp(two, "instr") == 0 || strcmp(two, "lower") == 0)));
	return SQLITE_OK;
}

static void
check_filter(const char *filter)
{
	static const struct web_filter_column columns[] = { { "lr", "lr" },
		{ "state", "state" }, { "it's", "other" }, { NULL, NULL } };
	static sqlite3 *db;
	struct buf sql = { 0 };
	sqlite3_stmt *statement;
	const char *rest;

	if (db == NULL) {
		need(sqlite3_open(":memory:", &db) == SQLITE_OK);
		need(sqlite3_exec(db, "CREATE TABLE t (lr, state, other)", NULL,
			 NULL, NULL) == SQLITE_OK);
		(void)sqlite3_set_authorizer(db, on_authorize, NULL);
	}
	buf_puts(&sql, "SELECT 1 FROM t WHERE ");
	if (web_filter_sql(&sql, filter, columns, NULL) == 0) {
		buf_puts(&sql, " LIMIT 1");
		need(sqlite3_prepare_v2(db, buf_str(&sql), -1, &statement,
			 &rest) == SQLITE_OK);
		need(*rest == '\0' && sqlite3_stmt_readonly(statement) != 0);
		need(strcmp(rest - 8, " LIMIT 1") == 0);
		(void)sqlite3_finalize(statement);
	}
	buf_free(&sql);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data, *end = text + size, *nl;
	char *lines[LINES], *target;
	struct web_access_headers h;
	int i;

	for (i = 0; i < LINES; i++) {
		nl = i == LINES - 1 || text == end
			 ? NULL
			 : memchr(text, '\n', (size_t)(end - text));
		nl = nl != NULL ? nl : end;
		lines[i] = xstrndup(text, (size_t)(nl - text));
		text = nl < end ? nl + 1 : end;
	}
	h = (struct web_access_headers){ .host = lines[1],
		.origin = lines[2][0] == '\0' ? NULL : lines[2],
		.form = lines[4] };
	check_address(lines[0]);
	target = xasprintf("%s%s", lines[3], lines[0]);
	h.target = target;
	for (i = 0; i < 4; i++)
		check_access(&h, (i & 1) != 0, (i & 2) != 0);
	free(target);
	check_filter(lines[5]);
	for (i = 0; i < LINES; i++)
		free(lines[i]);
	return 0;
}
