/*
 * trial.reads: the lines that real libraries print (tests/data/metrics), and
 * lines that look like them.
 */

#include <stdlib.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/model/study/study.h"
#include "tests/support/tap.h"
#include "trials/metric-line/metric-line.h"

static void
put_line(struct buf *out, const struct metric_line *r)
{
	size_t i;

	if (r->has_step)
		buf_printf(out, "%lld", (long long)r->step);
	else
		buf_puts(out, "-");
	for (i = 0; i < r->n; i++)
		buf_printf(
		    out, " %s=%.6g", r->values[i].name, r->values[i].value);
	buf_puts(out, "\n");
}

/* What is read of the lines of a text. */
static char *
read_text(const struct study_trial *t, const char *text, size_t len)
{
	static struct metric_line r;
	const char *end = text + len, *nl;
	struct metric_patterns *rules;
	struct buf out = { 0 };

	r.epoch = 0;
	if (metric_patterns_new(&rules, t, NULL) != 0)
		return xstrdup("no rules");
	for (; text < end; text = nl + 1) {
		nl = memchr(text, '\n', (size_t)(end - text));
		if (nl == NULL)
			nl = end;
		if (metric_line_parse(&r, rules, text, (size_t)(nl - text)))
			put_line(&out, &r);
		else if (r.why != NULL)
			buf_printf(&out, "! %s\n", r.why);
	}
	metric_patterns_free(rules);
	buf_puts(&out, "");
	return buf_take(&out);
}

static void
is_read(unsigned lines, const char *text, const char *want, const char *what)
{
	const struct study_trial t = { .lines = lines };
	char *got = read_text(&t, text, strlen(text));

	is_str(got != NULL ? got : "", want, what);
	free(got);
}

static void
check_file(unsigned lines, const char *name, const char *want)
{
	const struct study_trial t = { .lines = lines };
	const char *top = getenv("TOP_SRCDIR");
	char *path = xasprintf(
		 "%s/tests/data/metrics/%s", top != NULL ? top : ".", name),
	     *got, text[8192];
	FILE *in = fopen(path, "re");
	size_t n = in != NULL ? fread(text, 1, sizeof text, in) : 0;

	if (in != NULL)
		(void)fclose(in);
	free(path);
	got = read_text(&t, text, n);
	is_str(got, want, name);
	free(got);
}

static void
test_recorded(void)
{
	static const char keras[] =
	    "1 accuracy=0.4115 loss=0.8772 val_accuracy=0.375 val_loss=0.9072\n"
	    "2 accuracy=0.4115 loss=0.8704 val_accuracy=0.3906 "
	    "val_loss=0.9004\n"
	    "3 accuracy=0.4167 loss=0.8639 val_accuracy=0.3906 "
	    "val_loss=0.8937\n";

	check_file(STUDY_LINES_BOOSTING, "lightgbm.txt",
	    "1 train/binary_logloss=0.60425 train/auc=0.995463 "
	    "valid/binary_logloss=0.592721 valid/auc=1\n"
	    "2 train/binary_logloss=0.531801 train/auc=0.995463 "
	    "valid/binary_logloss=0.517823 valid/auc=1\n"
	    "3 train/binary_logloss=0.471465 train/auc=0.995463 "
	    "valid/binary_logloss=0.45522 valid/auc=1\n");
	check_file(STUDY_LINES_BOOSTING, "xgboost.txt",
	    "0 train-logloss=0.45839 train-error=0.01333 eval-logloss=0.45031 "
	    "eval-error=0\n"
	    "1 train-logloss=0.32535 train-error=0.01333 eval-logloss=0.3167 "
	    "eval-error=0\n"
	    "2 train-logloss=0.24047 train-error=0.01333 eval-logloss=0.23103 "
	    "eval-error=0\n");
	check_file(
	    STUDY_LINES_FASTTEXT, "fasttext.txt", "- avg.loss=0.012772\n");
	check_file(STUDY_LINES_KERAS, "keras-1.txt", keras);
	check_file(STUDY_LINES_KERAS, "keras-2.txt", keras);
}

static void
test_lines(void)
{
	is_read(STUDY_LINES_BOOSTING, "\033[1m[3]\033[0m\ttrain-rmse:0.5\n",
	    "3 train-rmse=0.5\n", "a line with colours");
	is_read(STUDY_LINES_BOOSTING,
	    "[5]\tcv_agg's l2: 0.5 + 0.01\tcv_agg's auc: nan\n"
	    "[22:30:01] [6]\ttest-error:0.25\n"
	    "[LightGBM] [Info] Iteration:7, valid_1 binary_logloss : 0.125\n"
	    "[8]\tno metric\n[x]\ta:1\nloss: 3\n[9\ta:1\n",
	    "5 cv_agg/l2=0.5 cv_agg/auc=nan\n6 test-error=0.25\n"
	    "7 valid_1/binary_logloss=0.125\n",
	    "boosting: cross-validation, a time before it, LightGBM's program");
	is_read(STUDY_LINES_FASTTEXT,
	    "N\t3000\nP@1\t0.5\nR@5\t0.25\nP@x\t1\nProgress: 3%\n",
	    "- P@1=0.5\n- R@5=0.25\n", "fastText: what test prints");
	is_read(STUDY_LINES_KERAS,
	    "Epoch 2/3\n10/32 - 1s - loss: 9\n32/32 - 1s - loss: 0.5\n"
	    "8/8 - 0s - 2ms/step - accuracy: 0.75\n",
	    "2 loss=0.5\n2 evaluate_accuracy=0.75\n",
	    "Keras: the end of an epoch alone; evaluate has its own names");
	is_read(STUDY_LINES_HF,
	    "{'loss': '0.1234', 'learning_rate': '5e-05', 'epoch': '0.5'}\n"
	    " 50%|##   | 1/2\r       \r{'eval_loss': 0.5, 'eval_f1': nan}\n"
	    "{'note': 'text'}\n{'loss': 1\n{'a' 1}\n",
	    "- loss=0.1234 learning_rate=5e-05 epoch=0.5\n"
	    "- eval_loss=0.5 eval_f1=nan\n",
	    "Trainer: numbers with quotes and without");
	is_read(STUDY_LINES_JSON,
	    "{\"step\": 4, \"loss\": 0.5, \"note\": \"x\"}\r\n"
	    "{\"level\": \"info\", \"step\": \"init\"}\nno JSON\n{broken\n",
	    "4 loss=0.5\n", "JSON lines between others");
	is_read(0, "[1]\ta-b:1\n{\"loss\": 1}\n{'loss': 1}\nP@1\t1\n", "",
	    "without trial.reads none is read");
}

static void
test_with_patterns(void)
{
	struct study_metric metrics[] = {
		{ .name = "rate", .regex = "rate ([0-9.]+)" },
		{ .name = "a", .regex = "a:([0-9.]+)" },
	};
	char rounds[] = "round";
	struct study_trial t = { .metrics = metrics,
		.n_metrics = 2,
		.lines = STUDY_LINES_BOOSTING | STUDY_LINES_JSON,
		.lines_step = rounds };
	static const char text[] =
	    "[4]\ta:1\tb:2 rate 3\n[4]\ta:1\tb:2\n{\"round\": 6, \"c\": 2}\n"
	    "rate 8\nhpotune: step=9 d=1\n";
	char *got = read_text(&t, text, strlen(text));

	is_str(got, "4 a=1 b=2 rate=3\n4 a=1 b=2\n6 c=2\n- rate=8\n9 d=1\n",
	    "patterns add the names that a line lacks; the step may have "
	    "another name");
	free(got);
}

static void
test_names(void)
{
	char made[METRIC_LINE_NAME_MAX + 1], longest[METRIC_LINE_NAME_MAX + 2];

	ok(metric_line_name_make(made, "metrics/mAP50(B)", 16),
	    "a name is made");
	is_str(made, "metrics/mAP50_B_", "other bytes become _");
	ok(metric_line_name_make(made, "1st", 3), "a digit begins no name");
	is_str(made, "_1st", "_ stands before it");
	ok(metric_line_name_make(made, "%x", 2), "a sign begins no name");
	is_str(made, "_x", "_ stands in its place");
	memset(longest, 'a', sizeof longest);
	ok(metric_line_name_make(made, longest, METRIC_LINE_NAME_MAX) &&
		!metric_line_name_make(made, longest, sizeof longest) &&
		!metric_line_name_make(made, "", 0),
	    "64 bytes are a name, 65 and none are not");
}

int
main(void)
{
	test_recorded();
	test_lines();
	test_with_patterns();
	test_names();
	return done_testing();
}
