/* Lines of a training job's log: tables; and lines split in two. */

#include <stdlib.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/model/study/study.h"
#include "tests/support/tap.h"
#include "trials/metric-line/metric-line.h"
#include "trials/sagemaker/logs/sm-log-line.h"

static struct metric_line report;
static struct metric_patterns *rules;

static const char *
show(struct buf *b, bool good)
{
	size_t i;

	buf_clear(b);
	if (!good) {
		buf_printf(b, "no%s%s", report.why != NULL ? ": " : "",
		    report.why != NULL ? report.why : "");
		return buf_str(b);
	}
	if (report.has_step)
		buf_printf(b, "%lld", (long long)report.step);
	else
		buf_puts(b, "-");
	for (i = 0; i < report.n; i++)
		buf_printf(b, " %s=%.17g", report.values[i].name,
		    report.values[i].value);
	return buf_str(b);
}

#define ROW(line, want)                      \
	{                                    \
		line, want, sizeof(line) - 1 \
	}
#define WORD "no: a word is not NAME=NUMBER"
#define RANK0 "[1,mpirank:0,algo-1]<stdout>:"

static const struct row {
	const char *line, *want;
	size_t len;
} rows[] = {
	ROW("hpotune: step=3 loss=0.25", "3 loss=0.25"),
	ROW("hpotune: step=3 loss=0.25\n", "3 loss=0.25"),
	ROW("hpotune: step=3 loss=0.25\r\n", "3 loss=0.25"),
	ROW("  hpotune: loss=1,", "- loss=1"),
	ROW("", "no"),
	ROW("\n\r\n", "no"),
	ROW("nothing", "no"),
	/* ranks of mpirun */
	ROW(RANK0 "hpotune: step=1 loss=2", "1 loss=2"),
	ROW(RANK0 " hpotune: step=1 loss=2\n", "1 loss=2"),
	ROW("[1,mpirank:0,algo-1]<stderr>:hpotune: loss=2", "- loss=2"),
	ROW("[1,0]<stdout>:hpotune: loss=2", "- loss=2"),
	ROW("[1,0]<stdout>: hpotune-json: {\"loss\": 2}", "- loss=2"),
	ROW("[1,mpirank:1,algo-1]<stdout>:hpotune: loss=2", "no"),
	ROW("[1,mpirank:10,algo-2]<stdout>:hpotune: loss=2", "no"),
	ROW("[1,mpirank:00,algo-1]<stdout>:hpotune: loss=2", "no"),
	ROW("[1,7]<stdout>:hpotune-json: {\"loss\": 2}", "no"),
	ROW("[1,7]<stdout>:acc: 0.5", "no"),
	ROW(RANK0 "acc: 0.5", "- acc=0.5"),
	/* no ranks, whatever they look like */
	ROW("[1,7] acc: 0.5", "- acc=0.5"),
	ROW("[12, 3] acc: 0.5", "- acc=0.5"),
	ROW("[", "no"),
	ROW("[1", "no"),
	ROW("[1,", "no"),
	ROW("[1,mpirank:", "no"),
	ROW("[1,mpirank:0", "no"),
	ROW("[1,mpirank:0]", "no"),
	ROW("[1,mpirank:0]<stdout>", "no"),
	ROW("[1,mpirank:0]<stdout>:", "no"),
	/* what our entry script says for other ranks, and at the end */
	ROW("hpotune-rank-1: step=1 loss=3", "no"),
	ROW("hpotune-rank-12: hpotune-json: {\"loss\": 3}", "no"),
	ROW("hpotune-rank-1: acc: 0.5", "no"),
	ROW("hpotune-end: status 0", "no"),
	ROW("hpotune-end: status 143\n", "no"),
	ROW("hpotune: loss=0.5hpotune-end: status 0", "- loss=0.5"),
	ROW("acc: 0.5hpotune-end: status 0", "- acc=0.5"),
	ROW("hpotune-run: the trial exited with status 1", "no"),
	/* lines of the metrics file */
	ROW("hpotune-json: {\"loss\": 0.5, \"step\": 4}", "4 loss=0.5"),
	ROW("hpotune-json:{\"loss\": NaN}", "- loss=nan"),
	ROW("hpotune-json: {\"loss\": 0.5} ", "- loss=0.5"),
	ROW("50%|##   |hpotune-json: {\"loss\": 0.5}", "- loss=0.5"),
	ROW("50%|##\r60%|###hpotune-json: {\"loss\": 0.5}\n", "- loss=0.5"),
	ROW("hpotune-json: {\"loss\": 0.",
	    "no: the line is not one JSON object"),
	ROW("hpotune-json:", "no"),
	ROW("hpotune-json: [1]", "no: the line is not one JSON object"),
	/* a progress bar */
	ROW("50%|##\rhpotune: loss=2", "- loss=2"),
	ROW("hpotune: loss=2\r50%", "- loss=2"),
	ROW("a\rb\racc: 0.25", "- acc=0.25"),
	/* any bytes */
	ROW("hpotune: loss=2\0", "no: a value is not a number"),
	ROW("hpotune: \0loss=2", WORD),
	ROW("\xff\xfe hpotune: loss=2", "no"),
	ROW("hpotune: loss\xc3=2", WORD),
	ROW("acc: 0.5 \xff\xff", "- acc=0.5"),
	ROW("\xef\xbf\xbd"
	    "acc: 0.5",
	    "- acc=0.5"),
	/* the toolkit's own words */
	ROW("2026-11-20 10:00:00,1 sagemaker-training-toolkit INFO     "
	    "Reporting training SUCCESS",
	    "no"),
};

/* A line as the name of a check. */
static const char *
name_of(const char *line)
{
	static char names[4][128];
	static int next;
	char *name = names[next++ % 4], *p;

	(void)snprintf(name, sizeof names[0], "\"%s\"", line);
	for (p = name; *p != '\0'; p++)
		if (*p == '\n' || *p == '\r')
			*p = '~';
	return name;
}

static void
test_rows(void)
{
	struct buf b = { 0 };
	size_t i;

	for (i = 0; i < sizeof rows / sizeof rows[0]; i++)
		is_str(show(&b, sm_log_line_parse(
				    &report, rules, rows[i].line, rows[i].len)),
		    rows[i].want, name_of(rows[i].line));
	buf_free(&b);
}

static void
test_long(void)
{
	struct buf line = { 0 }, b = { 0 };

	buf_puts(&line, "hpotune: loss=");
	while (line.len < METRIC_LINE_MAX)
		buf_putc(&line, '1');
	is_str(show(&b, sm_log_line_parse(&report, rules, line.data, line.len)),
	    "- loss=inf", "as long as a line may be");
	buf_putc(&line, '1');
	is_str(show(&b, sm_log_line_parse(&report, rules, line.data, line.len)),
	    "no: the line is too long", "a byte longer");
	ok(!sm_log_line_parse(&report, NULL, "", 0), "no bytes at all");
	buf_free(&line);
	buf_free(&b);
}

static void
test_ends(void)
{
	static const struct {
		const char *line;
		long long before;
	} ends[] = {
		{ "hpotune-end: status 0", 0 },
		{ "hpotune-end: status 137\r\n", 0 },
		{ "abchpotune-end: status 1", 3 },
		{ "hpotune-end: status ", -1 },
		{ "hpotune-end: status x", -1 },
		{ "hpotune-end: status 1 ", -1 },
		{ "hpotune-end: 1", -1 },
		{ "1", -1 },
		{ "", -1 },
	};
	size_t i, before;
	bool yes;

	for (i = 0; i < sizeof ends / sizeof ends[0]; i++) {
		yes = sm_log_line_ends(ends[i].line, &before);
		is_int(yes ? (long long)before : -1, ends[i].before,
		    name_of(ends[i].line));
	}
}

static void
test_head(void)
{
	is_int(
	    (long long)sm_log_line_head("hpotune-json: {}"), 0, "a line alone");
	is_int((long long)sm_log_line_head("abchpotune-json: {}"), 3,
	    "a line behind one that was not ended");
	is_int((long long)sm_log_line_head("abc"), 0, "no such line");
	is_int((long long)sm_log_line_head("[1,1]<stdout>:hpotune-json: {}"), 0,
	    "a rank");
	is_int((long long)sm_log_line_head("hpotune-rank-1: hpotune-json: {}"),
	    0, "another rank");
}

/* ---- lines that were cut ---------------------------------------------------- */

static void
test_open(void)
{
	static const struct {
		const char *line;
		bool open;
	} lines[] = {
		{ "", false },
		{ "nothing", false },
		{ "hpotune: loss=0.5", true },
		{ "hpotune: loss=0.5\n", true },
		{ "hpotune: loss=0.5,", false },
		{ "hpotune: loss=0.5,\r\n", false },
		{ "hpotune: lo", true },
		{ RANK0 "hpotune: loss=0.5", true },
		{ "hpotune-json: {\"loss\": 0.5}", false },
		{ "hpotune-json: {\"loss\": 0.", true },
		{ "acc: 0.5", true },
		{ "ac", false },
	};
	size_t i;

	for (i = 0; i < sizeof lines / sizeof lines[0]; i++)
		ok(sm_log_line_open(&report, rules, lines[i].line) ==
			lines[i].open,
		    "%s: %s", lines[i].open ? "may go on" : "whole",
		    name_of(lines[i].line));
	ok(!sm_log_line_open(&report, NULL, "acc: 0.5"),
	    "without patterns no plain line matters");
}

static void
test_join(void)
{
	static const struct {
		const char *held, *next;
		enum sm_log_line_next what;
		const char *both;
	} pairs[] = {
		{ "hpotune: loss=0.12", "hpotune: loss=0.3", SM_LOG_LINE_WHOLE,
		    0 },
		{ "hpotune: loss=0.12", "  hpotune: loss=0.3",
		    SM_LOG_LINE_WHOLE, 0 },
		{ "hpotune: loss=0.12", "epoch 3", SM_LOG_LINE_WHOLE, 0 },
		{ "hpotune: loss=0.12", "", SM_LOG_LINE_WHOLE, 0 },
		{ "hpotune: loss=0.12", " ", SM_LOG_LINE_WHOLE, 0 },
		{ "hpotune: loss=0.12", "12.5", SM_LOG_LINE_WHOLE, 0 },
		/* half a number, perhaps */
		{ "hpotune: loss=0.12", "34", SM_LOG_LINE_DOUBT, 0 },
		{ "hpotune: loss=0.12\n", "34\n", SM_LOG_LINE_DOUBT, 0 },
		{ "hpotune: loss=1", ".5", SM_LOG_LINE_DOUBT, 0 },
		{ "hpotune: loss=1", "e-5", SM_LOG_LINE_DOUBT, 0 },
		{ "hpotune: loss=1", "2 acc=3", SM_LOG_LINE_DOUBT, 0 },
		{ "hpotune: loss=1 step=1", "2", SM_LOG_LINE_DOUBT, 0 },
		{ RANK0 "hpotune: loss=1", RANK0 "2", SM_LOG_LINE_DOUBT, 0 },
		{ "acc: 0.5", "7", SM_LOG_LINE_DOUBT, 0 },
		{ "acc: 0.5", "7 acc: 0.25", SM_LOG_LINE_DOUBT, 0 },
		/* cut where no number ends */
		{ "hpotune: step=3 lo", "ss=0.5", SM_LOG_LINE_GOES_ON,
		    "hpotune: step=3 loss=0.5" },
		{ "hpotune: step=1", "2 loss=0.5\n", SM_LOG_LINE_GOES_ON,
		    "hpotune: step=12 loss=0.5" },
		{ "hpotune: loss=", "0.5", SM_LOG_LINE_GOES_ON,
		    "hpotune: loss=0.5" },
		{ "hpotune: loss=0.5", " acc=0.5", SM_LOG_LINE_GOES_ON,
		    "hpotune: loss=0.5 acc=0.5" },
		{ "hpotune: loss=0.5", " step=1", SM_LOG_LINE_GOES_ON,
		    "hpotune: loss=0.5 step=1" },
		{ RANK0 "hpotune: lo", RANK0 "ss=0.5", SM_LOG_LINE_GOES_ON,
		    RANK0 "hpotune: loss=0.5" },
		{ "hpotune-json: {\"loss\": 0.", "5}", SM_LOG_LINE_GOES_ON,
		    "hpotune-json: {\"loss\": 0.5}" },
		/* others in between */
		{ RANK0 "hpotune: loss=1",
		    "[1,mpirank:1,algo-1]<stdout>:hpotune: loss=2",
		    SM_LOG_LINE_OTHER, 0 },
		/* patterns may match what stands behind */
		{ "acc: 0.5", "epoch 2 acc: 0.6", SM_LOG_LINE_WHOLE, 0 },
		{ "acc: 0.5", "acc: 0.6", SM_LOG_LINE_WHOLE, 0 },
		{ "acc: 0.5", " 7", SM_LOG_LINE_WHOLE, 0 },
	};
	char *both;
	size_t i;

	for (i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
		ok(sm_log_line_join(rules, pairs[i].held, pairs[i].next,
		       &both) == pairs[i].what,
		    "%s, %s", name_of(pairs[i].held), name_of(pairs[i].next));
		is_str(both, pairs[i].both, "both of them");
		free(both);
	}
}

int
main(void)
{
	struct study_metric metric = { .name = "acc",
		.regex = "acc: ([0-9.]+)" };
	struct study_trial trial = { .metrics = &metric, .n_metrics = 1 };
	struct err e = ERR_INIT;

	if (metric_patterns_new(&rules, &trial, &e) != 0) {
		printf("Bail out! %s\n", e.text);
		return 1;
	}
	test_rows();
	test_long();
	test_ends();
	test_head();
	test_open();
	test_join();
	metric_patterns_free(rules);
	return done_testing();
}
