/* Text for terminals: UTF-8, escapes, widths, near words, tables, curves. */

#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/view/sparkline.h"
#include "src/view/table.h"
#include "tests/support/tap.h"

static void
check_decode(void)
{
	static const struct {
		const char *bytes, *what;
		int len;
		uint32_t code;
	} rows[] = {
		{ "a", "ASCII", 1, 'a' },
		{ "\303\251", "two bytes", 2, 0xe9 },
		{ "\342\202\254", "three bytes", 3, 0x20ac },
		{ "\360\237\230\200", "four bytes", 4, 0x1f600 },
		{ "\300\257", "overlong slash", 0, 0 },
		{ "\340\200\257", "overlong in three", 0, 0 },
		{ "\355\240\200", "half of a pair", 0, 0 },
		{ "\364\220\200\200", "beyond the last", 0, 0 },
		{ "\200", "begins in the middle", 0, 0 },
		{ "\303a", "second byte is none", 0, 0 },
		{ "\303", "ends too soon", -1, 0 },
		{ "\360\237\230", "ends too soon by one", -1, 0 },
	};
	uint32_t code;
	size_t i;
	int n;

	for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		code = 0;
		n = text_decode(rows[i].bytes, strlen(rows[i].bytes), &code);
		ok(n == rows[i].len && (n <= 0 || code == rows[i].code),
		    "UTF-8: %s", rows[i].what);
	}
}

static void
check_harmless(void)
{
	static const struct {
		const char *bytes, *line, *lines;
	} rows[] = {
		{ "plain", "plain", "plain" },
		{ "a\tb\n", "a\\x09b\\x0a", "a\tb\n" },
		{ "\033[2J\007\177", "\\x1b[2J\\x07\\x7f",
		    "\\x1b[2J\\x07\\x7f" },
		{ "\302\233", "\\xc2\\x9b", "\\xc2\\x9b" },
		{ "\342\200\256x", "\\xe2\\x80\\xaex", "\\xe2\\x80\\xaex" },
		{ "\342\201\246", "\\xe2\\x81\\xa6", "\\xe2\\x81\\xa6" },
		{ "\377h\303\251", "\\xffh\303\251", "\\xffh\303\251" },
	};
	struct buf out = { 0 };
	size_t i, n;

	for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		n = strlen(rows[i].bytes);
		buf_clear(&out);
		text_put_harmless(&out, rows[i].bytes, n, TEXT_LINE);
		is_str(buf_str(&out), rows[i].line, "harmless in a line");
		buf_clear(&out);
		text_put_harmless(&out, rows[i].bytes, n, TEXT_LINES);
		is_str(buf_str(&out), rows[i].lines, "harmless in a log");
	}
	buf_clear(&out);
	text_put_harmless(&out, "a\0b", 3, TEXT_LINES);
	is_str(buf_str(&out), "a\\x00b", "a NUL too");
	buf_free(&out);
}

static void
check_cut(void)
{
	char out[8];

	text_cut(out, sizeof out, "1234567");
	is_str(out, "1234567", "a reason that fits is whole");
	text_cut(out, sizeof out, "12345678");
	is_str(out, "1234…", "one that does not shows that it was cut");
	text_cut(out, sizeof out, "123ä5678");
	is_str(out, "123…", "between two characters");
}

static void
check_nearest(void)
{
	static const char *const words[] = { "start", "status", "stop", "show",
		"best", NULL };

	is_str(text_nearest("strat", words), "start", "two letters swapped");
	is_str(text_nearest("stauts", words), "status", "in the middle too");
	is_str(text_nearest("shwo", words), "show", "a short word");
	is_str(text_nearest("bes", words), "best", "one letter missing");
	is_str(text_nearest("flabbergast", words), NULL, "nothing is near");
	is_str(text_nearest("", words), NULL, "nothing is near nothing");
	is_str(text_nearest("xyz", words), NULL, "three other letters");
	is_str(text_nearest("list", words), NULL, "two of four letters");
}

static struct table *
table_make(void)
{
	struct table *t = table_new();

	table_column(t, "n", TABLE_RIGHT);
	table_column(t, "name", TABLE_LEFT);
	table_column(t, "empty", TABLE_LEFT);
	table_column(t, "text", TABLE_SHRINK);
	table_cell_real(t, 7, 3);
	table_cell(t, "h\303\251", TABLE_GOOD);
	table_cell(t, NULL, TABLE_PLAIN);
	table_cell(t, "a long line of text\033", TABLE_PLAIN);
	table_cell_real(t, 123.456, 4);
	table_cell(t, "x", TABLE_PLAIN);
	table_cell(t, "", TABLE_PLAIN);
	table_cell(t, "", TABLE_PLAIN);
	return t;
}

static void
check_table(void)
{
	struct table *t = table_make();
	struct buf out = { 0 };

	is_int((long long)table_rows(t), 2, "two rows");
	table_put(&out, t, 0, false, true);
	is_str(buf_str(&out),
	    "    n  name  text\n"
	    "    7  h\303\251    a long line of text\\x1b\n"
	    "123.5  x\n",
	    "aligned, without empty columns");
	buf_clear(&out);
	table_put(&out, t, 24, false, true);
	is_str(buf_str(&out),
	    "    n  name  text\n"
	    "    7  h\303\251    a long lin\342\200\246\n"
	    "123.5  x\n",
	    "cut to the width");
	buf_clear(&out);
	table_put(&out, t, 18, false, false);
	is_str(buf_str(&out), "    7  h\303\251\n123.5  x\n",
	    "a column that cannot fit is left out");
	buf_clear(&out);
	table_put(&out, t, 0, true, true);
	ok(strstr(buf_str(&out), "\033[1m    n  name") != NULL &&
		strstr(buf_str(&out), "\033[32mh\303\251") != NULL &&
		strstr(buf_str(&out), "text\\x1b\n") != NULL,
	    "in colours");
	buf_free(&out);
	table_free(t);
}

static void
spark_is(const struct sparkline *curve, const struct sparkline_frame *frame,
    size_t width, const char *want, const char *what)
{
	struct buf out = { 0 };

	sparkline_put(&out, curve, frame, width);
	is_str(buf_str(&out), want, what);
	buf_free(&out);
}

static void
check_spark(void)
{
	struct sparkline curves[2] = { { 0 } };
	struct sparkline_frame frame;
	int i;

	for (i = 0; i < 8; i++)
		sparkline_add(&curves[0], i, i);
	sparkline_frame_fit(&frame, curves, 2);
	ok(frame.first == 0 && frame.last == 7 && frame.low == 0 &&
		frame.high == 7,
	    "the frame of a ramp");
	spark_is(&curves[0], &frame, 8, "▁▂▃▄▅▆▇█", "a ramp");
	spark_is(&curves[0], &frame, 4, "▂▄▆█", "the last value of a column");
	spark_is(&curves[0], &frame, 16, "▁▁▂▂▃▃▄▄▅▅▆▆▇▇██", "stretched");
	sparkline_add(&curves[1], 2, 7);
	sparkline_add(&curves[1], 3, NAN);
	sparkline_add(&curves[1], 4, 1e300);
	sparkline_frame_fit(&frame, curves, 1);
	spark_is(&curves[1], &frame, 8, "  █!█   ",
	    "blank before and after, ! for NaN, cut at the top");
	sparkline_free(&curves[0]);
	sparkline_frame_fit(&frame, curves, 1);
	spark_is(&curves[0], &frame, 3, "   ", "nothing");
	sparkline_add(&curves[0], 5, -INFINITY);
	sparkline_frame_fit(&frame, curves, 1);
	spark_is(&curves[0], &frame, 1, "!", "one value that is none");
	sparkline_free(&curves[0]);
	sparkline_add(&curves[0], INT64_MAX - 1, 1);
	sparkline_add(&curves[0], INT64_MAX, 1);
	sparkline_frame_fit(&frame, curves, 1);
	spark_is(&curves[0], &frame, 1, "▅", "a level at the last step");
	sparkline_free(&curves[0]);
	for (i = 0; i < 100; i++)
		sparkline_add(&curves[0], i, i == 50 ? 1e9 : i);
	sparkline_frame_fit(&frame, curves, 1);
	ok(frame.high < 100, "one wild value does not set the frame");
	sparkline_free(&curves[0]);
	sparkline_free(&curves[1]);
}

static void
check_url(const char *url, const char *want)
{
	struct buf b = { 0 };

	text_put_url(&b, url);
	is_str(buf_str(&b), want, "an address for a message");
	buf_free(&b);
}

static void
test_url(void)
{
	check_url(
	    "http://host:1/path?a=b@c#d@e", "http://host:1/path?a=b@c#d@e");
	check_url("https://me:secret@host/a", "https://host/a");
	check_url("https://me:se@cr/et@host/a", "https://cr/et@host/a");
	check_url("https://me:se@cret@host", "https://host");
	check_url("me@host/a", "host/a");
	check_url("", "");
}

int
main(void)
{
	bool utf8 = setlocale(LC_CTYPE, "C.UTF-8") != NULL;

	check_decode();
	check_harmless();
	check_nearest();
	check_cut();
	if (utf8) {
		is_int((long long)text_width("h\303\251\346\227\245"), 4,
		    "columns of wide letters");
		is_int((long long)text_fit("h\303\251\346\227\245x", 3), 3,
		    "what fits");
		check_table();
		check_spark();
	} else
		skip("widths, tables, curves", "no locale C.UTF-8");
	test_url();
	return done_testing();
}
