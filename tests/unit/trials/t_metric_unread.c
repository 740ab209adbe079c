/*
 * Why a metric is in no report: each finding by one line, the text of each, and
 * that none is ever stated of a line in which it does not hold.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/model/study/study.h"
#include "tests/support/tap.h"
#include "trials/metric-unread/metric-unread.h"

static struct metric_unread unread;
static struct metric_line line_read;

static struct metric_patterns *
patterns_make(const char *regex, unsigned lines)
{
	struct study_metric m = { .name = "loss", .regex = (char *)regex };
	struct study_trial t = {
		.metrics = &m, .n_metrics = regex != NULL, .lines = lines
	};
	struct metric_patterns *out = NULL;
	struct err e = ERR_INIT;

	if (metric_patterns_new(&out, &t, &e) != 0)
		ok(false, "%s", e.text);
	return out;
}

/* One line of the log as a reader has it. */
static void
look(struct metric_patterns *patterns, const char *line, size_t len)
{
	metric_unread_begin(&unread, "loss", patterns);
	(void)metric_line_parse(&line_read, patterns, line, len);
	metric_unread_line(&unread, false, &line_read, line, len);
}

/* The pattern (NULL: none), a line, the finding, and its text. */
static const struct row {
	const char *regex, *line;
	enum metric_unread_kind kind;
	const char *text, *named; /* NULL: there is none */
} rows[] = {
	{ NULL, "all is well", METRIC_UNREAD_NOTHING, NULL, NULL },
	{ NULL, "hpotune: loss=1", METRIC_UNREAD_NOTHING, NULL, NULL },
	{ "x=(.*)", "all is well", METRIC_UNREAD_NOTHING,
	    "its pattern in trial.metrics matched no line",
	    "the pattern of loss in trial.metrics matched no line" },
	{ NULL, "a loss of money", METRIC_UNREAD_WORDS,
	    "it stands in the line \"a loss of money\" without a number "
	    "behind it",
	    "loss stands in the line \"a loss of money\" without a number "
	    "behind it" },
	{ "x=(.*)", "a loss of money", METRIC_UNREAD_WORDS,
	    "its pattern in trial.metrics matched no line; it stands in the "
	    "line \"a loss of money\" without a number behind it",
	    "the pattern of loss in trial.metrics matched no line; loss stands "
	    "in the line \"a loss of money\" without a number behind it" },
	{ NULL, "glossy floss", METRIC_UNREAD_NOTHING, NULL, NULL },
	{ NULL, "epoch 1 loss: 0.5", METRIC_UNREAD_GUESS,
	    "it stands in the line \"epoch 1 loss: 0.5\", which nothing reads "
	    "(hpotune try suggests a pattern)",
	    NULL },
	{ NULL, "rank hpotune: step=1 loss=0.5", METRIC_UNREAD_PREFIX,
	    "it stands behind other text in the line \"rank hpotune: step=1 "
	    "loss=0.5\", and a report begins its line",
	    NULL },
	{ NULL, "INFO {\"loss\": 0.5}", METRIC_UNREAD_PREFIX,
	    "it stands behind other text in the line \"INFO {\"loss\": 0.5}\", "
	    "and a report begins its line",
	    NULL },
	{ NULL, " {\"step\": 1, \"loss\": 0.5}", METRIC_UNREAD_JSON,
	    "it stands in a line of JSON, \"{\"step\": 1, \"loss\": 0.5}\", "
	    "which trial.reads \"json\" would read",
	    NULL },
	{ NULL, "{\"a\": {\"b\": [1, {\"val\": {\"loss\": 1}}]}}",
	    METRIC_UNREAD_NESTED,
	    "it stands in a line of JSON, inside \"val\" and not at the top "
	    "level",
	    NULL },
	{ NULL, "{\"loss\": \"4.000\"}", METRIC_UNREAD_TEXT,
	    "it stands in a line of JSON with the text \"4.000\", which is not "
	    "a number",
	    NULL },
	{ NULL, "{\"loss\": null}", METRIC_UNREAD_TEXT,
	    "it stands in a line of JSON with null, which is not a number",
	    NULL },
	{ NULL, "hpotune: loss=half", METRIC_UNREAD_REFUSED,
	    "the line \"hpotune: loss=half\" was not read: a value is not a "
	    "number",
	    NULL },
	{ NULL, "hpotune: loss=1 and more", METRIC_UNREAD_REFUSED,
	    "the line \"hpotune: loss=1 and more\" was not read: a word is not "
	    "NAME=NUMBER",
	    NULL },
	{ "loss (\\S+)", "loss of, 0.5", METRIC_UNREAD_MATCHED,
	    "its pattern in trial.metrics matched, but the text of its group, "
	    "\"of,\", is not a number",
	    "the pattern of loss in trial.metrics matched, but the text of its "
	    "group, \"of,\", is not a number" },
	{ "loss ([0-9]+)", "loss 0,531", METRIC_UNREAD_PART,
	    "its pattern in trial.metrics has in its group only a part of the "
	    "number \"0,531\"",
	    NULL },
	{ "loss(=([0-9]+))?", "no loss", METRIC_UNREAD_NO_GROUP,
	    "its pattern in trial.metrics matched the line \"no loss\", and "
	    "its group matched nothing there",
	    NULL },
	{ "(a+)+$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab",
	    METRIC_UNREAD_SLOW,
	    "its pattern in trial.metrics took too long on the line "
	    "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab\"",
	    NULL },
};

static void
text_check(const struct row *row, bool named, const char *want)
{
	struct buf out = { 0 };
	bool any = metric_unread_put(&unread, named, &out);

	is_int(any, want != NULL, row->line);
	is_str(buf_str(&out), want != NULL ? want : "", row->line);
	buf_free(&out);
}

static void
test_each(void)
{
	const struct row *row;
	struct metric_patterns *patterns;

	for (row = rows; row < rows + sizeof rows / sizeof *rows; row++) {
		patterns = patterns_make(row->regex, 0);
		look(patterns, row->line, strlen(row->line));
		is_int(unread.kind, row->kind, row->line);
		text_check(row, false, row->text);
		if (row->named != NULL)
			text_check(row, true, row->named);
		metric_patterns_free(patterns);
	}
}

/* Lines that no text of the table can be. */
static void
test_sizes(void)
{
	static const char zero[] = "loss=1\0";
	char *line = xcalloc(1, METRIC_LINE_MAX + 9);

	look(NULL, zero, sizeof zero - 1);
	is_int(unread.kind, METRIC_UNREAD_BINARY, "a zero byte");
	memset(line, 'x', METRIC_LINE_MAX + 8);
	memcpy(line + 5000, " loss=1 ", 8);
	look(NULL, line, 6000);
	is_int(unread.kind, METRIC_UNREAD_CUT, "behind what is matched");
	look(NULL, line, METRIC_LINE_MAX + 1);
	is_int(unread.kind, METRIC_UNREAD_LONG, "a line that is too long");
	metric_unread_begin(&unread, "loss", NULL);
	metric_unread_long(&unread, "glosses", 7);
	is_int(unread.kind, METRIC_UNREAD_NOTHING, "one without the name");
	free(line);
}

/* Where JSON is read no reason names the key that is set. */
static void
test_objects(void)
{
	static const char broken[] = "{\"step\": 1, \"loss\": 0.5, }x",
			  behind[] = "DLLL {\"data\": {\"loss\": 0.5}}";
	struct metric_patterns *patterns =
	    patterns_make(NULL, STUDY_LINES_JSON);
	struct buf out = { 0 };

	look(patterns, broken, sizeof broken - 1);
	(void)metric_unread_put(&unread, true, &out);
	is_str(buf_str(&out),
	    "loss stands in the line \"{\"step\": 1, \"loss\": 0.5, }x\", "
	    "which begins as JSON and is no whole object",
	    "an object that is none");
	look(patterns, behind, sizeof behind - 1);
	is_int(unread.kind, METRIC_UNREAD_PREFIX,
	    "a text before an object comes before what is in it");
	buf_free(&out);
	metric_patterns_free(patterns);
}

/* What is best known is kept, and the first of equals. */
static void
test_order(void)
{
	static const char *const lines[] = { "loss of a", "loss of b",
		"loss = 3", "{\"loss\": \"x\"}", "loss = 4" };
	struct buf out = { 0 };
	size_t i;

	metric_unread_begin(&unread, "loss", NULL);
	for (i = 0; i < sizeof lines / sizeof *lines; i++) {
		(void)metric_line_parse(
		    &line_read, NULL, lines[i], strlen(lines[i]));
		metric_unread_line(
		    &unread, false, &line_read, lines[i], strlen(lines[i]));
		if (i == 1)
			is_str(unread.seen, "loss of a", "the first of equals");
	}
	is_str(unread.seen, "the text \"x\"", "the most telling one");
	unread.kind = METRIC_UNREAD_NOTHING;
	unread.has_pattern = unread.part = true;
	(void)metric_unread_put(&unread, false, &out);
	is_str(buf_str(&out), "its pattern in trial.metrics has read nothing",
	    "where not all was looked at, not \"matched no line\"");
	buf_free(&out);
}

/* Pieces of which lines are made: each kind of trap beside the others. */
static const char *const pieces[] = { "loss",
	"loss=", "loss: ", "\"loss\": ", "\"loss\"", "{", "}", "{\"val\": {",
	"[", "]", ", ", "0.5", "1e-3", "nan", "half", "\"0.5\"", "null", "true",
	"hpotune: ", "step=1 ", "rank ", " ", "\r", "\033[1m", "\t", ":", "\\",
	"\"", "acc=2 ", "val_loss ", "Loss " };

/* The name stands in the line. */
static bool
has_name(const char *line)
{
	return strstr(line, "loss") != NULL;
}

/* Whether what the kind states holds for the line, by other means. */
static bool
holds(enum metric_unread_kind kind, const char *line, bool pattern)
{
	const char *brace = strchr(line, '{'), *tag = strstr(line, "hpotune:");
	double value;
	char *end;

	switch (kind) {
	case METRIC_UNREAD_NOTHING:
		return true;
	case METRIC_UNREAD_WORDS:
	case METRIC_UNREAD_GUESS:
		return strcasestr(line, "loss") != NULL;
	case METRIC_UNREAD_PREFIX:
		return has_name(line) && ((tag != NULL && tag != line) ||
					     (brace != NULL && brace != line));
	case METRIC_UNREAD_JSON:
	case METRIC_UNREAD_BROKEN:
		return brace != NULL && strstr(line, "\"loss\"") != NULL &&
		       strspn(line, " \t") == (size_t)(brace - line);
	case METRIC_UNREAD_NESTED:
		return brace != NULL && strchr(brace + 1, '{') != NULL &&
		       strstr(line, "\"loss\"") != NULL;
	case METRIC_UNREAD_TEXT:
		return brace != NULL && strstr(line, "\"loss\"") != NULL &&
		       (strstr(line, strncmp(unread.seen, "the", 3) == 0
					 ? "\""
					 : unread.seen) != NULL ||
			   strchr(unread.seen, '\\') != NULL);
	case METRIC_UNREAD_REFUSED:
		return has_name(line) && line_read.n == 0 &&
		       line_read.why != NULL;
	case METRIC_UNREAD_MATCHED:
		value = strtod(unread.seen, &end);
		(void)value;
		return pattern && strstr(line, "loss") != NULL &&
		       (*end != '\0' || end == unread.seen);
	case METRIC_UNREAD_NO_GROUP:
	case METRIC_UNREAD_PART:
	case METRIC_UNREAD_SLOW:
		return pattern;
	case METRIC_UNREAD_LONG:
	case METRIC_UNREAD_BINARY:
	case METRIC_UNREAD_CUT:
		break;
	}
	return false; /* no line of pieces is as long, or has a zero */
}

static bool
reported(void)
{
	size_t i;

	for (i = 0; i < line_read.n; i++)
		if (strcmp(line_read.values[i].name, "loss") == 0)
			return true;
	return false;
}

static void
test_never_false(void)
{
	struct metric_patterns *patterns[] = { patterns_make(NULL, 0),
		patterns_make("loss=(\\S*)", 0),
		patterns_make(NULL, STUDY_LINES_JSON) };
	int seen[METRIC_UNREAD_MATCHED + 1] = { 0 }, i, wrong = 0;
	struct rng rng;
	char line[256];
	size_t k, n;

	rng_init(&rng, 32, 0);
	for (i = 0; i < 200000; i++) {
		line[0] = '\0';
		n = 1 + rng_below(&rng, 9);
		for (k = 0; k < n; k++)
			strcat(line, pieces[rng_below(&rng,
					 sizeof pieces / sizeof *pieces)]);
		look(patterns[i % 3], line, strlen(line));
		seen[unread.kind]++;
		if (holds(unread.kind, line, i % 3 == 1) &&
		    (i % 3 == 2 ? unread.kind != METRIC_UNREAD_JSON
				: unread.kind != METRIC_UNREAD_BROKEN) &&
		    (!reported() || unread.kind == METRIC_UNREAD_NOTHING))
			continue;
		if (wrong++ < 5)
			printf("# kind %d of: %s\n", (int)unread.kind, line);
	}
	is_int(wrong, 0, "no finding is false");
	for (i = 0; i <= METRIC_UNREAD_MATCHED; i++)
		if (i != METRIC_UNREAD_LONG && i != METRIC_UNREAD_BINARY &&
		    i != METRIC_UNREAD_CUT && i != METRIC_UNREAD_SLOW &&
		    i != METRIC_UNREAD_NO_GROUP && i != METRIC_UNREAD_PART)
			ok(seen[i] > 0, "kind %d is among them", i);
	metric_patterns_free(patterns[0]);
	metric_patterns_free(patterns[1]);
	metric_patterns_free(patterns[2]);
}

int
main(void)
{
	test_each();
	test_sizes();
	test_objects();
	test_order();
	test_never_false();
	return done_testing();
}
