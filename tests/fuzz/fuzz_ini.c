/*
 * Arbitrary bytes as a shared file of AWS's tools.  Accepted files are written
 * again in the simplest form and must be parsed to the same.
 */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "trials/aws/config/aws-ini.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
need(bool good)
{
	if (!good)
		abort();
}

static bool
same(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* The lines of a value below the first are indented. */
static void
put_value(struct buf *b, const char *s)
{
	for (; *s != '\0'; s++) {
		buf_putc(b, *s);
		if (*s == '\n')
			buf_puts(b, "  ");
	}
}

static void
put_item(struct buf *b, const struct aws_ini_item *x)
{
	buf_printf(b, "[%s]\n%s =", x->section, x->key);
	if (x->sub != NULL)
		buf_printf(b, "\n  %s =", x->sub);
	buf_putc(b, ' ');
	put_value(b, x->value);
	buf_putc(b, '\n');
}

static void
check(const struct aws_ini *ini)
{
	struct aws_ini_item x, y;
	struct err e = ERR_INIT;
	struct aws_ini *again;
	struct buf b = { 0 };
	size_t i;

	for (i = 0; aws_ini_at(ini, i, &x); i++) {
		need(aws_ini_has(ini, NULL, x.section));
		need(aws_ini_get(ini, NULL, x.section, x.key, x.sub) != NULL);
		put_item(&b, &x);
	}
	need(aws_ini_parse(&again, buf_str(&b), b.len, "again", &e) == 0);
	for (i = 0; aws_ini_at(ini, i, &x); i++) {
		need(aws_ini_at(again, i, &y));
		need(same(x.section, y.section) && same(x.key, y.key) &&
		     same(x.sub, y.sub) && same(x.value, y.value));
	}
	need(!aws_ini_at(again, i, &y));
	aws_ini_free(again);
	buf_free(&b);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err e = ERR_INIT;
	struct aws_ini *ini;

	if (aws_ini_parse(&ini, (const char *)data, size, "fuzz", &e) < 0) {
		need(strncmp(e.text, "fuzz:", 5) == 0);
		return 0;
	}
	check(ini);
	(void)aws_ini_has(ini, "profile", "x");
	(void)aws_ini_get(ini, "profile", "x y", "region", NULL);
	aws_ini_free(ini);
	return 0;
}
