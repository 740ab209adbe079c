/* Numbers as people write them, and patterns that have only a part of one. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/model/study/study.h"
#include "tests/support/tap.h"
#include "trials/metric-line/metric-line.h"
#include "trials/metric-line/metric-number.h"

static const struct {
	const char *text;
	double value; /* NaN: it is no number, or may be two */
} texts[] = {
	{ "12", 12 },
	{ "-1.5e-3", -1.5e-3 },
	{ "0,531", 0.531 },
	{ "-0,531", -0.531 },
	{ "12,5", 12.5 },
	{ "1,5e-3", 1.5e-3 },
	{ "1234,567", 1234.567 },
	{ "1,234.5", 1234.5 },
	{ "12,345,678", 12345678 },
	{ "1.234,5", 1234.5 },
	{ "1.234.567,25", 1234567.25 },
	{ "1 234", 1234 },
	{ "1 234 567,5", 1234567.5 },
	{ "1'234.5", 1234.5 },
	{ "1_000", 1000 },
	{ "1_0_0", 100 },
	{ "+1_000.5", 1000.5 },
	{ "82.1%", 82.1 },
	{ "82,1 %", 82.1 },
	{ "12.3ms", 12.3 },
	{ "1.5e-3s", 1.5e-3 },
	{ "1,234.5 it/s", 1234.5 },
	{ "0.5 s", 0.5 },
	{ "np.float64(0.5)", 0.5 },
	{ "numpy.float32(-1e-3)", -1e-3 },
	{ "tensor(0.5)", 0.5 },
	{ "tensor(0.5, device='cuda:0', grad_fn=<NllLossBackward0>)", 0.5 },
	{ "tensor(0.5,", 0.5 },
	{ "tensor([0.5])", 0.5 },
	{ "Array(0.5, dtype=float32)", 0.5 },
	{ "Decimal('0.5')", 0.5 },
	{ "<tf.Tensor: shape=(), dtype=float32, numpy=0.25>", 0.25 },
	{ "<tf.Variable 'v:0' shape=() dtype=float32, numpy=-2.0>", -2 },
	{ "<tf.Tensor: shape=(2,), dtype=float32, numpy=array([1., 2.])>",
	    NAN },
	{ "<b>numpy=1>", NAN },
	{ "\"0.5\"", 0.5 },
	{ "'1e-3'", 1e-3 },
	{ "[0.5]", 0.5 },
	{ "[0.5, 0.25]", NAN },
	{ "\"0.5'", NAN },
	{ "(0.5)", NAN }, /* is -0.5 for accountants */
	{ "(0.5,)", 0.5 },
	{ "[ 22.5]", 22.5 },
	{ "[[0.5]]", 0.5 },
	{ "`0.5`", 0.5 },
	{ "**0.5**", 0.5 },
	{ "{0.5}", 0.5 },
	{ "0.912.", 0.912 },
	{ "0.912;", 0.912 },
	{ "0.9..", NAN },
	{ "0.5.1.", NAN },
	{ "0.912 +/- 0.010", 0.912 },
	{ "0.912+-0.010", 0.912 },
	{ "0.912 \302\261 0.010", 0.912 },
	{ "1e-3\302\2611e-4", 1e-3 },
	{ "0.912 \302\261", NAN },
	{ "\302\2610.5", NAN },
	{ "0.25f0", 0.25 },
	{ "1.5f-3", 1.5e-3 },
	{ "0.5f", NAN },
	{ "1\342\200\257234,5", 1234.5 },
	{ "12\302\240345", 12345 },
	{ "0.5\342\200\211%", 0.5 },
	{ "1.5x10^-3", 1.5e-3 },
	{ "1.5 x 10^3", 1.5e3 },
	{ "-2*10**-2", -2e-2 },
	{ "1.5\303\22710\342\201\273\342\201\264", 1.5e-4 }, /* × ⁻⁴ */
	{ "1,5\302\26710\302\262", 150 }, /* · ² */
	{ "1.5x10", NAN },
	{ "1.5x10^", NAN },
	{ "1.5x10^a", NAN },
	{ "3x1024", NAN },
	{ "1.5x10-3", 1.5e-3 },
	{ "x10^3", NAN },
	{ "0.15D-02", 0.15e-2 },
	{ "2d3", 2000 },
	{ "2d", NAN },
	{ "\342\210\2220.5", -0.5 }, /* U+2212 */
	{ "\342\210\222", NAN },
	{ "1.#INF", INFINITY },
	{ "-1.#INF00", -INFINITY },
	{ "1.#INFO", NAN },
	{ "tensor([0.5, 0.25])", NAN },
	{ "tensor(0.5) 1", NAN },
	{ "tensor(", NAN },
	{ "tensor(0.5", NAN },
	{ "Decimal('0.5'", NAN },
	{ "f(0.5)", NAN },
	{ "np.float64(0.5),", NAN },
	{ "1,234", NAN },
	{ "-1,234", NAN },
	{ "1,23,4", NAN },
	{ "1.2.3", NAN },
	{ "12,3456.5", NAN },
	{ "1,234,56", NAN },
	{ "0,123,456", NAN },
	{ "1 2", NAN },
	{ "12 34", NAN },
	{ "1,", NAN },
	{ ",5", NAN },
	{ "1,,5", NAN },
	{ "1__0", NAN },
	{ "12k", 12000 },
	{ "3.2K", 3200 },
	{ "1,5M", 1.5e6 },
	{ "3.2kB", 3.2 },
	{ "k", NAN },
	{ "3rd", NAN },
	{ "0x10", NAN },
	{ "%", NAN },
	{ "ms", NAN },
	{ "1e", NAN },
	{ "", NAN },
	{ "N/A", NAN },
	{ "1111111111111111111111111111111111111111111111111111111111111,5",
	    1111111111111111111111111111111111111111111111111111111111111.5 },
	{ "11111111111111111111111111111111111111111111111111111111111111111,5",
	    NAN },
};

static void
test_texts(void)
{
	char room[METRIC_NUMBER_TEXT];
	struct metric_number n;
	const char *text;
	double value;
	size_t i;

	for (i = 0; i < sizeof texts / sizeof *texts; i++) {
		text = texts[i].text;
		value = metric_number_text(&n, text, text + strlen(text), room)
			    ? metric_number_value(&n)
			    : NAN;
		ok(value == texts[i].value ||
			(isnan(value) && isnan(texts[i].value)),
		    "\"%s\"", text);
	}
}

#define PART "the group of a pattern has only a part of a number"
#define MINUS "the minus before the number that a pattern matches"
#define LONGER                                                           \
	"the name of a metric, for its pattern matches within a longer " \
	"name before it"
#define TEXT "the text that a pattern matched is not a number"

static const struct {
	const char *regex, *line, *why; /* NULL: it is read as: */
	double value;
	const char *but; /* … with this doubt; or NULL */
} rows[] = {
	{ "loss: ([-+.0-9eE]+)", "loss: 0.531", NULL, 0.531, NULL },
	{ "loss: ([-+.0-9eE]+)", "loss: 0,531", PART, 0, NULL },
	{ "loss: ([-+.0-9eE]+)", "loss: 1,234", PART, 0, NULL },
	{ "loss: ([-+.0-9eE]+)", "loss: 1,234.5 end", PART, 0, NULL },
	{ "loss: ([-+.0-9eE]+)", "loss: 1_000", PART, 0, NULL },
	{ "loss: ([0-9]+)", "loss: 0.531", PART, 0, NULL },
	{ "loss: ([0-9]+)", "loss: 3.0", NULL, 3, NULL },
	{ "loss: ([.0-9]+)", "loss: 1.5e-3", PART, 0, NULL },
	{ "([.0-9]+)$", "loss: 0,531", PART, 0, NULL },
	{ "([.0-9]+)$", "loss: -0.5", PART, 0, NULL },
	{ "([.0-9]+)$", "loss-0.5", NULL, 0.5, NULL },
	{ "loss: (\\S+)", "loss: 0,531", NULL, 0.531, NULL },
	{ "loss: (\\S+)", "loss: 82.1%", NULL, 82.1, NULL },
	{ "loss: (\\S+)", "loss: 12.3ms", NULL, 12.3, NULL },
	{ "loss: (.*)", "loss: 1 234,5 s", NULL, 1234.5, NULL },
	{ "loss: (\\S+)", "loss: 1,234", TEXT, 0, NULL },
	{ "loss: (\\S+)", "loss: 0.5,", TEXT, 0, NULL },
	{ "loss: ([.0-9]+)", "loss: 0.5D-01", PART, 0, NULL },
	{ "loss: ([.0-9]+)", "loss: 1.5x10^-3", PART, 0, NULL },
	{ "loss: ([.0-9]+)", "loss: 1.5\303\22710\342\201\273\302\263", PART, 0,
	    NULL },
	{ "loss: ([.0-9]+)", "loss: 1.#QNAN", PART, 0, NULL },
	{ "loss: ([.0-9]+)", "loss: 3x10 crops", NULL, 3, NULL },
	{ "loss: ([-+.0-9eE]+)", "loss: 1.5f-3", PART, 0, NULL },
	{ "loss: ([-+.0-9eE]+)", "loss: 0.25f0", NULL, 0.25, NULL },
	{ "loss: ([-+.0-9eE]+)", "loss: 3.2K of", PART, 0, NULL },
	{ "loss: ([-+.0-9eE]+)", "loss: 3.2 K", NULL, 3.2, NULL },
	{ "loss: ([-+.0-9eE]+)", "loss: 3.2kB", NULL, 3.2, NULL },
	{ "loss: ([-+.0-9eE]+)k", "loss: 3.2k", NULL, 3.2, NULL },
	{ "loss: ([-+.0-9eE]+)", "loss: 0x1.8p-1", PART, 0, NULL },
	{ "loss: ([-+.0-9eE]+)", "loss: 1\342\200\257234,5", PART, 0, NULL },
	{ "loss: ([0-9.]+)", "loss: 0.912.", NULL, 0.912, NULL },
	{ "loss: (\\S+)", "loss: 0.912\302\2610.01", NULL, 0.912, NULL },
	{ "loss: ([.0-9]+)", "loss: 3x1024", NULL, 3, NULL },
	/* PCRE2 10.42 compiles \S so that it matches no such character. */
	{ "loss: (\\S+)", "loss: 1.5\303\22710\342\201\273\302\263", NULL,
	    1.5e-3, NULL },
	{ "loss: (\\S+)", "loss: \342\210\2220.5", NULL, -0.5, NULL },
	{ "loss: (\\S+)", "loss: 5\302\2600.1", TEXT, 0, NULL },
	/* A list, the end of a sentence, and a pattern that says where it ends. */
	{ "loss: ([.0-9]+)", "loss: 0.5, acc: 0.9", NULL, 0.5, NULL },
	{ "loss: ([.0-9]+)", "loss: 0.5,0.25,0.125", NULL, 0.5, NULL },
	{ "loss: ([0-9]+)", "loss: 3,5,7", NULL, 3, NULL },
	{ "loss: ([0-9]+)", "loss: 5.", NULL, 5, NULL },
	{ "loss: ([0-9.]+)%", "loss: 93.5%", NULL, 93.5, NULL },
	{ "^([0-9]+),", "3,5", NULL, 3, NULL },
	{ "loss: ([0-9]+),([0-9]+)", "loss: 3,5", NULL, 3, NULL },
	{ "loss: ([0-9]+)", "loss: 12ms", NULL, 12, NULL },
	{ "loss: -?([.0-9]+)", "loss: -0.5", NULL, 0.5, MINUS },
	{ "loss: .*?([.0-9]+)", "loss: -0.5", NULL, 0.5, MINUS },
	{ "loss-([.0-9]+)", "loss-0.5", NULL, 0.5, NULL },
	{ "loss=([.0-9]+)", "train_loss=0.9 loss=0.5", NULL, 0.9, LONGER },
	{ "loss=([.0-9]+)", "train_loss=0.9", NULL, 0.9, NULL },
	{ "ss=([.0-9]+)", "loss=0.9", NULL, 0.9, NULL },
};

static void
test_parts(void)
{
	static struct metric_line r;
	char name[] = "loss", regex[64];
	struct study_metric metric = { .name = name, .regex = regex };
	const struct study_trial t = { .metrics = &metric, .n_metrics = 1 };
	struct metric_patterns *rules;
	bool good;
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		(void)snprintf(regex, sizeof regex, "%s", rows[i].regex);
		if (metric_patterns_new(&rules, &t, NULL) != 0)
			abort();
		good = metric_line_parse(
		    &r, rules, rows[i].line, strlen(rows[i].line));
		if (rows[i].why != NULL)
			is_str(good || r.why == NULL ? "" : r.why, rows[i].why,
			    rows[i].line);
		else
			is_near(good ? r.values[0].value : NAN, rows[i].value,
			    0, rows[i].line);
		if (rows[i].why == NULL)
			is_str(r.left_out != NULL ? r.left_out : "",
			    rows[i].but != NULL ? rows[i].but : "",
			    rows[i].line);
		metric_patterns_free(rules);
	}
}

int
main(void)
{
	test_texts();
	test_parts();
	return done_testing();
}
