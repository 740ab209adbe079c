/*
 * Arbitrary bytes as a line of output.  The first byte selects the reader;
 * results must be well formed, and printed again must be read the same.
 */

#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/model/study/study.h"
#include "trials/metric-line/metric-line.h"
#include "trials/metric-line/metric-number.h"
#include "trials/metric-line/metric-internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
need(bool good)
{
	if (!good)
		abort();
}

static bool
same(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

static void
check_report(const struct metric_line *r)
{
	size_t i, len;

	need(r->n > 0 && r->n <= METRIC_LINE_VALUES_MAX);
	need(!r->has_step || (r->step >= 0 && r->step <= INT64_C(1) << 53));
	for (i = 0; i < r->n; i++) {
		len = strlen(r->values[i].name);
		need(len > 0 && metric_line_name_len(r->values[i].name,
				    r->values[i].name + len) == len);
	}
}

static void
check_again(const struct metric_line *r)
{
	static struct metric_line again;
	struct buf b = { 0 };
	size_t i;

	buf_puts(&b, "hpotune:");
	if (r->has_step)
		buf_printf(&b, " step=%lld", (long long)r->step);
	for (i = 0; i < r->n; i++)
		buf_printf(
		    &b, " %s=%.17g", r->values[i].name, r->values[i].value);
	if (b.len <= METRIC_LINE_MAX) {
		need(metric_line_parse(&again, NULL, b.data, b.len));
		need(again.n == r->n && again.step == r->step);
		for (i = 0; i < r->n; i++)
			need(same(again.values[i].value, r->values[i].value));
	}
	buf_free(&b);
}

static void
check_number(const char *text, size_t len)
{
	struct metric_number n;
	char *copy = xstrndup(text, len), *end;
	const char *after = metric_number_scan(&n, copy, copy + strlen(copy));

	if (after != NULL && n.kind == NUMBER_FINITE && copy[0] != '+' &&
	    strpbrk(copy, "xX") == NULL) {
		need(same(metric_number_value(&n), strtod(copy, &end)));
		need(end == after);
	}
	free(copy);
}

static void
check_rules(struct metric_line *r, const char *text, size_t len)
{
	static struct study_metric metrics[] = {
		{ .name = "loss", .regex = "loss[=: ]+(\\S+)" },
		{ .name = "acc", .regex = "acc(?:uracy)?=(.*?)%?$" },
		{ .name = "deep", .regex = "(a+)+[bd]" },
	};
	struct study_trial t = { .metrics = metrics,
		.n_metrics = 3,
		.step_regex = "(?i)epoch (\\d+)" };
	struct metric_patterns *rules;

	need(metric_patterns_new(&rules, &t, NULL) == 0);
	if (metric_line_parse(r, rules, text, len))
		check_report(r);
	metric_patterns_free(rules);
}

/* All formats of trial.reads, line by line. */
static void
check_formats(struct metric_line *r, const char *text, size_t len)
{
	const struct study_trial t = { .lines = ~0U };
	const char *end = text + len, *next;
	struct metric_patterns *rules;
	size_t n;

	need(metric_patterns_new(&rules, &t, NULL) == 0);
	r->log = metric_log_new(rules);
	for (; text < end; text = next) {
		next = metric_line_next(text, end, true, &n, &r->overwritten);
		if (next == NULL) {
			n = (size_t)(end - text);
			next = end;
		}
		need(n <= (size_t)(next - text) && next > text);
		if (!metric_line_parse(r, rules, text, n))
			continue;
		do
			check_report(r);
		while (metric_line_more(r));
	}
	metric_log_free(r->log);
	r->log = NULL;
	r->overwritten = false;
	metric_patterns_free(rules);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct metric_line r;
	const char *text = (const char *)data + 1;
	bool good = false;

	if (size == 0)
		return 0;
	size--;
	switch (data[0]) {
	case '#':
		check_number(text, size);
		return 0;
	case '^':
		check_formats(&r, text, size);
		return 0;
	case '~':
		check_rules(&r, text, size);
		return 0;
	case '{':
		good = metric_json_parse(&r, text - 1, size + 1);
		break;
	default:
		good = metric_line_parse(&r, NULL, text, size);
		break;
	}
	if (good) {
		check_report(&r);
		check_again(&r);
	}
	need(good || r.n == 0);
	return 0;
}
