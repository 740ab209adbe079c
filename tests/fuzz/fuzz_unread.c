/*
 * Arbitrary bytes as a log in which a metric was not read: the first byte
 * selects its name and what reads it.  The reason is one harmless line, and
 * quotes nothing that the bytes do not have.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/model/study/study.h"
#include "trials/metric-line/metric-line.h"
#include "trials/metric-unread/metric-unread.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
need(bool good)
{
	if (!good)
		abort();
}

/* Without what a terminal would obey. */
static bool
is_harmless(const char *text)
{
	for (; *text != '\0'; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			return false;
	return true;
}

static struct metric_patterns *
patterns_new(void)
{
	static struct study_metric metric = { .name = "loss",
		.regex = "loss[=: ]+([^ ]*)" };
	static struct study_metric other = { .name = "val_loss",
		.regex = "val_loss(?: is ([0-9.]+))?" };
	static struct study_metric both[2];
	const struct study_trial t = { .metrics = both, .n_metrics = 2 };
	struct metric_patterns *patterns = NULL;

	both[0] = metric;
	both[1] = other;
	need(metric_patterns_new(&patterns, &t, NULL) == 0);
	return patterns;
}

static void
look(struct metric_unread *u, const struct metric_patterns *patterns, bool json,
    const char *p, const char *end)
{
	static struct metric_line read;
	const char *to;
	size_t n;

	for (; p < end; p = to + (to < end)) {
		to = memchr(p, '\n', (size_t)(end - p));
		if (to == NULL)
			to = end;
		n = (size_t)(to - p);
		if (json)
			(void)metric_json_parse(&read, p, n);
		else
			(void)metric_line_parse(&read, patterns, p, n);
		metric_unread_line(u, json, &read, p, n);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = { "loss", "val_loss", "a/b", "m" };
	static struct metric_patterns *patterns;
	static struct metric_unread u;
	const struct metric_patterns *used;
	struct buf why = { 0 };
	const char *bytes;

	if (patterns == NULL)
		patterns = patterns_new();
	if (size < 1)
		return 0;
	bytes = (const char *)data + 1;
	used = (data[0] & 4) != 0 ? patterns : NULL;
	metric_unread_begin(&u, names[data[0] % 4], used);
	look(&u, used, (data[0] & 8) != 0, bytes, bytes + size - 1);
	if (metric_unread_put(&u, (data[0] & 16) != 0, &why))
		need(why.len > 0);
	need(is_harmless(buf_str(&why)) && why.len < 4096);
	buf_free(&why);
	return 0;
}
