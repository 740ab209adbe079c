/* Pages of reports: escaped text, axes, ticks, decimated drawings. */

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/html/axis.h"
#include "src/html/html.h"
#include "src/html/decimate.h"
#include "src/model/space.h"
#include "tests/support/tap.h"

static void
escapes(void)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "<b>&\"'", "&lt;b&gt;&amp;&quot;&#39;" },
		{ "a\tb\nc", "a\tb\nc" },
		{ "\r\033[2J\x7f", "\\x0d\\x1b[2J\\x7f" },
		{ "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
		    "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80" },
		{ "\xc2\x85\xe2\x80\xae", "\\xc2\\x85\\xe2\\x80\\xae" },
		{ "\xff\xc0\xaf\xed\xa0\x80",
		    "\\xff\\xc0\\xaf\\xed\\xa0\\x80" },
		{ "\xef\xbf\xbf\xf0\x9f\xbf\xbe",
		    "\\xef\\xbf\\xbf\\xf0\\x9f\\xbf\\xbe" },
		{ "\xe2\x82", "\\xe2\\x82" },
		{ "", "" },
	};
	struct buf want = { 0 };
	size_t i;

	for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct html h = { 0 };

		html_open(&h, "p");
		html_attr(&h, "title", cases[i].in);
		html_textf(&h, "%s", cases[i].in);
		html_close(&h, "p");
		buf_clear(&want);
		buf_printf(&want, "<p title=\"%s\">%s</p>\n", cases[i].out,
		    cases[i].out);
		is_str(buf_str(&h.out), buf_str(&want),
		    "text and attribute are escaped alike");
		buf_free(&h.out);
	}
	buf_free(&want);
}

static void
elements(void)
{
	struct html h = { 0 };

	html_begin(&h, "ours");
	html_open(&h, "td");
	html_close(&h, "td");
	html_open(&h, "path");
	html_attrf(&h, "d", "M%d 0", 3);
	html_close(&h, "path");
	html_leaf(&h, "td", "n", NULL);
	is_str(buf_str(&h.out),
	    "<!DOCTYPE html>\n<!-- ours -->\n<td></td><path d=\"M3 0\"/>\n"
	    "<td class=\"n\"></td>",
	    "elements, empty ones too");
	is_int((long long)h.depth, 0, "all are closed");
	buf_free(&h.out);
}

/* Ticks as one text. */
static const char *
labels(const struct axis *a, size_t most)
{
	static char text[512];
	struct tick ticks[AXIS_TICKS];
	size_t n = axis_ticks(a, most, ticks), i;

	text[0] = '\0';
	for (i = 0; i < n; i++) {
		if (i > 0)
			strcat(text, " | ");
		strcat(text, ticks[i].label);
	}
	return text;
}

static void
ticks_of(
    enum axis_kind kind, double low, double high, size_t most, const char *want)
{
	struct axis a = {
		.kind = kind, .low = low, .high = high, .from = 0, .to = 1
	};

	is_str(labels(&a, most), want, want);
}

static void
ticks(void)
{
	ticks_of(AXIS_LINEAR, 0, 1, 6, "0.0 | 0.2 | 0.4 | 0.6 | 0.8 | 1.0");
	ticks_of(AXIS_LINEAR, -1.2, 1.3, 5, "-1.0 | -0.5 | 0.0 | 0.5 | 1.0");
	ticks_of(AXIS_LINEAR, 0.91, 0.93, 5,
	    "0.910 | 0.915 | 0.920 | 0.925 | 0.930");
	ticks_of(AXIS_LINEAR, 2e7, 5e7, 4, "2e+07 | 3e+07 | 4e+07 | 5e+07");
	ticks_of(AXIS_LINEAR, 1e-9, 3e-9, 3, "1e-09 | 2e-09 | 3e-09");
	ticks_of(AXIS_LINEAR, 0, 1, 5, "0.0 | 0.5 | 1.0");
	ticks_of(AXIS_COUNT, 1, 6, 5, "2 | 4 | 6");
	ticks_of(AXIS_COUNT, 1, 6, 6, "1 | 2 | 3 | 4 | 5 | 6");
	ticks_of(AXIS_LINEAR, 0.1, 0.2, 1, "0.2");
	ticks_of(AXIS_COUNT, 0, 3, 12, "0 | 1 | 2 | 3");
	ticks_of(AXIS_COUNT, 0, 101, 6, "0 | 20 | 40 | 60 | 80 | 100");
	ticks_of(AXIS_LOG, 1e-4, 0.3, 5, "0.0001 | 0.001 | 0.01 | 0.1");
	ticks_of(AXIS_LOG, 16, 256, 5, "20 | 50 | 100 | 200");
	ticks_of(AXIS_LOG, 1e-12, 1, 5, "1e-12 | 1e-09 | 1e-06 | 0.001 | 1");
	ticks_of(AXIS_LOG, 0.11, 0.14, 4, "0.11 | 0.12 | 0.13 | 0.14");
	ticks_of(AXIS_TIME, 0, 100, 4, "0s | 30s | 1m | 1m 30s");
	ticks_of(AXIS_TIME, 0, 20000, 6, "0s | 1h | 2h | 3h | 4h | 5h");
	ticks_of(AXIS_TIME, 0, 4e5, 5, "0s | 1d | 2d | 3d | 4d");
	ticks_of(AXIS_LINEAR, 0, 1, 0, "");
}

/* Whatever an axis is, its ticks lie on it and ascend. */
static bool
ticks_hold(const struct axis *a, size_t most)
{
	struct tick t[AXIS_TICKS];
	size_t n = axis_ticks(a, most, t), i;

	for (i = 0; i < n; i++)
		if (!isfinite(t[i].value) || t[i].at < a->from ||
		    t[i].at > a->to || t[i].label[0] == '\0' ||
		    (i > 0 && !(t[i].value > t[i - 1].value)))
			return false;
	return n <= most;
}

static void
ticks_anywhere(void)
{
	static const double ends[] = { -HUGE_VAL, -1e300, -1e16, -3, -1e-300, 0,
		1e-300, 1e-9, 0.1, 0.3, 1, 1.0000000000000002, 7, 1e6, 1e16,
		1e16 + 2, 1e300, HUGE_VAL };
	const size_t n = sizeof ends / sizeof ends[0];
	size_t i, k, most, bad = 0;
	int kind;

	for (i = 1; i < n - 1; i++)
		for (k = i + 1; k < n - 1; k++)
			for (kind = AXIS_LINEAR; kind <= AXIS_TIME; kind++)
				for (most = 1; most <= AXIS_TICKS; most++) {
					struct axis a = { .low = ends[i],
						.high = ends[k],
						.from = 0,
						.to = 1 };

					a.kind = (enum axis_kind)kind;
					if (kind == AXIS_LOG && a.low <= 0)
						continue;
					bad += !ticks_hold(&a, most);
				}
	is_int((long long)bad, 0, "ticks ascend and lie on their axis");
}

static void
frames(void)
{
	double some[] = { 3, 1, NAN, 2, INFINITY, -INFINITY };
	double none[] = { NAN };
	double same[] = { 5, 5 };
	double huge[] = { DBL_MAX, -DBL_MAX, 0 };
	double decades[] = { 1e-4, 1e-3, 1e-2, 1e-1, 1 };
	double wild[40];
	struct axis a = { .kind = AXIS_LINEAR, .from = 10, .to = 0 };
	size_t i;

	axis_fit(&a, some, 6);
	ok(a.low < 1 && a.low > 0.5 && a.high > 3 && a.high < 3.5,
	    "what is finite fits, with a little room");
	is_near(axis_at(&a, 2), 5, 1e-9, "the middle is in the middle");
	is_near(axis_at(&a, 99), 0, 0, "what is beyond stands at the end");
	ok(axis_holds(&a, 2) && !axis_holds(&a, 99), "and is not within");
	axis_fit(&a, none, 1);
	ok(a.low == 0 && a.high == 1, "of nothing: 0 to 1");
	axis_fit(&a, same, 2);
	ok(a.low < 5 && a.high > 5, "of one value: around it");
	axis_fit(&a, huge, 3);
	ok(isfinite(a.high - a.low) && isfinite(axis_at(&a, 1e308)),
	    "the largest numbers do not overflow");
	for (i = 0; i < 40; i++)
		wild[i] = (double)i;
	wild[39] = 1e9;
	axis_fit(&a, wild, 40);
	ok(a.high < 200 && a.low < 0, "a value far from all others is out");
	axis_include(&a, 1e9);
	ok(axis_holds(&a, 1e9), "unless it is asked for");
	axis_include(&a, NAN);
	ok(isfinite(a.low) && isfinite(a.high), "NaN is never");
	is_int(a.kind, AXIS_LINEAR, "all that on a linear axis");
	axis_fit(&a, decades, 5);
	is_int(a.kind, AXIS_LOG, "decades make it logarithmic");
	is_near(axis_at(&a, 1e-2), 5, 1e-9, "with its middle in the middle");
	axis_include(&a, -1);
	ok(a.low > 0, "and nothing that is not positive");
}

static void
param_ticks_over(const struct space *s, const char *name, double from,
    double to, const char *want)
{
	struct tick t[AXIS_TICKS];
	struct buf got = { 0 };
	size_t i, n;

	n = axis_param(s, (size_t)space_find(s, name), NULL, from, to, 5, t);
	for (i = 0; i < n; i++)
		buf_printf(
		    &got, "%s%s@%.0f", i > 0 ? " " : "", t[i].label, t[i].at);
	is_str(buf_str(&got), want, name);
	buf_free(&got);
}

static void
param_ticks(const struct space *s, const char *name, const char *want)
{
	param_ticks_over(s, name, 100, 200, want);
}

static void
params(void)
{
	static const char text[] =
	    "{\"lin\": {\"type\": \"float\", \"min\": 0, \"max\": 1},"
	    "\"log\": {\"type\": \"float\", \"min\": 0.001, \"max\": 10, "
	    "\"scale\": \"log\"},"
	    "\"rev\": {\"type\": \"float\", \"min\": 0.9, \"max\": 0.9999, "
	    "\"scale\": \"reverse-log\"},"
	    "\"few\": {\"type\": \"int\", \"min\": 1, \"max\": 4},"
	    "\"ilog\": {\"type\": \"int\", \"min\": 1, \"max\": 3, "
	    "\"scale\": \"log\"},"
	    "\"step\": {\"type\": \"float\", \"min\": 0, \"max\": 0.5, "
	    "\"step\": 0.1},"
	    "\"opt\": {\"type\": \"choice\", \"values\": [\"sgd\", true, 3, "
	    "\"a name that is much too long\"]},"
	    "\"many\": {\"type\": \"choice\", \"values\": "
	    "[0,1,2,3,4,5,6,7,8,9]},"
	    "\"fix\": {\"type\": \"fixed\", \"value\": 1},"
	    "\"when\": {\"type\": \"float\", \"min\": 0, \"max\": 4, "
	    "\"when\": {\"opt\": [\"sgd\"]}}}";
	struct err e = ERR_INIT;
	struct json_doc *doc;
	struct space *s;

	if (json_parse(&doc, text, strlen(text), NULL, false, &e) == -1 ||
	    space_read(&s, json_root(doc), &e) == -1) {
		ok(false, "%s", e.text);
		return;
	}
	param_ticks(s, "lin", "0.0@100 0.5@150 1.0@200");
	param_ticks(s, "log", "0.001@100 0.01@125 0.1@150 1@175 10@200");
	param_ticks(s, "rev", "0.9@100 0.99@133 0.999@167 0.9999@200");
	param_ticks(s, "few", "1@112 2@138 3@162 4@188");
	param_ticks(s, "ilog", "1@128 2@170");
	param_ticks(s, "step", "0.0@108 0.2@142 0.4@175");
	/* Labels of choices do not meet: some are left out, or they are cut. */
	param_ticks(s, "opt", "sgd@112 3@162");
	param_ticks_over(
	    s, "opt", 100, 300, "sgd@125 true@175 3@225 a name…@275");
	param_ticks_over(
	    s, "opt", 100, 500, "sgd@150 true@250 3@350 a name that …@450");
	param_ticks_over(
	    s, "opt", 200, 100, "sgd@188 true@162 3@138 a name that …@112");
	param_ticks(s, "many", "0@105 2@125 4@145 6@165 8@185");
	param_ticks(s, "fix", "");
	param_ticks(s, "when", "0@100 1@125 2@150 3@175 4@200");
	space_free(s);
	json_free(doc);
}

static void
squares(void)
{
	struct decimate t;

	decimate_init(&t, 10, 10, 2);
	ok(decimate_take(&t, 1, 1), "the first mark of a square is drawn");
	ok(!decimate_take(&t, 1.9, 0.1), "the next one is not");
	ok(decimate_take(&t, 2.1, 1), "one beside it is");
	ok(decimate_take(&t, -50, 1e9) && !decimate_take(&t, -1, 1e12),
	    "what is outside is at the edge");
	decimate_fini(&t);
}

static void
lines(void)
{
	struct buf d = { 0 };
	struct decimate_line t = { .d = &d, .column = 1 };
	int i;

	decimate_line_add(&t, 0, 5);
	decimate_line_add(&t, 1, 6);
	decimate_line_add(&t, 2, NAN);
	decimate_line_add(&t, 3, -0.04);
	decimate_line_end(&t);
	is_str(buf_str(&d), "M0 5L1 6M3 0m-2 0a2 2 0 1 0 4 0a2 2 0 1 0-4 0",
	    "NaN interrupts, a point alone is a ring");
	buf_clear(&d);
	decimate_line_add(&t, 0.1, 5);
	decimate_line_add(&t, 0.2, 9);
	decimate_line_add(&t, 0.3, 1);
	decimate_line_add(&t, 0.4, 4);
	decimate_line_add(&t, 0.5, 6);
	decimate_line_add(&t, 2, 7);
	decimate_line_end(&t);
	is_str(buf_str(&d), "M0.2 9L0.3 1L0.5 6L2 7",
	    "of a column the extremes, as they came, and the end");
	buf_clear(&d);
	for (i = 0; i < 100000; i++)
		decimate_line_add(&t, i / 1000.0, i % 7);
	decimate_line_end(&t);
	ok(d.len > 100 && d.len < 6000, "no more than three points a column");
	buf_free(&d);
}

int
main(void)
{
	escapes();
	elements();
	ticks();
	ticks_anywhere();
	frames();
	params();
	squares();
	lines();
	return done_testing();
}
