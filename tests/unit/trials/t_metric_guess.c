/* The pattern that hpotune try suggests for a line. */

#include <math.h>
#include <string.h>

#include "src/base/err.h"
#include "src/model/study/study.h"
#include "tests/support/tap.h"
#include "trials/metric-line/metric-line.h"

#define V "(-?inf|nan|[-+.0-9eE]+)"

/* The metric, a line, the pattern (NULL: none), and what it reads. */
static const struct row {
	const char *metric, *line, *want;
	double value;
} rows[] = {
	{ "accuracy", "Cross Validation Accuracy = 99.5%", "Accuracy = +" V,
	    99.5 },
	{ "valid_loss", "| end of epoch   1 | valid loss  6.45 | ppl 633.40",
	    "valid loss\\s+" V, 6.45 },
	{ "val_loss", "Validation loss: 2e-3", "Validation loss: +" V, 2e-3 },
	{ "val_loss", "1 | train loss 0.5 | valid loss 0.6", "valid loss +" V,
	    0.6 },
	{ "train/loss", "1 | training loss 0.5 | test loss 0.6",
	    "training loss +" V, 0.5 },
	{ "test_loss", "Test set: Average loss: 0.05, Accuracy: 1/2",
	    "Test set: Average loss: +" V, 0.05 },
	{ "test_loss", "Test 3: loss 0.05", "loss +" V, 0.05 },
	{ "val_loss", "[1,  2000] loss: 2.199", NULL, 0 },
	{ "val_loss", "Train Epoch: 1 loss: 2.199", NULL, 0 },
	{ "mean_reward", "reward: 2", "reward: +" V, 2 },
	{ "val/top.5", "x val-top 5 (-0.5)", "val-top 5 . *" V, -0.5 },
	{ "P@1", "P@1\t0.685", "P@1\\s+" V, 0.685 },
	{ "loss", "'train_loss': 1, \"loss\": \"0.25\"", "loss': +" V, 1 },
	{ "loss", "\"loss\": \"0.25\"", "loss.: ." V, 0.25 },
	{ "loss", "\033[1mloss\033[0m = \033[31m3\033[0m", "loss = +" V, 3 },
	{ "loss", "50% loss=4\r100% loss=2\r done", "loss=" V, 2 },
	{ "loss", "loss: 0,531", "loss: +(-?inf|nan|[-+.,0-9eE]+)", 0.531 },
	{ "loss", "loss: 1_000 of", "loss: +(-?inf|nan|[-+._0-9eE]+)", 1000 },
	{ "loss", "loss: 1,234.5", "loss: +(-?inf|nan|[-+.,0-9eE]+)", 1234.5 },
	{ "loss", "loss: 1'234,5", "loss: +(-?inf|nan|[-+.,'_0-9eE]+)",
	    1234.5 },
	{ "loss", "loss: 12.3ms", "loss: +" V, 12.3 },
	{ "loss", "loss: 0.5, acc: 1", "loss: +" V, 0.5 },
	{ "loss", "loss: -inf, acc: 1", "loss: +" V, -INFINITY },
	{ "loss", "{'loss': np.float64(0.5), 'epoch': 1}",
	    "loss': np.float64. *" V, 0.5 },
	{ "loss", "loss tensor(0.5, device='cuda:0')", "loss tensor. *" V,
	    0.5 },
	{ "loss", "loss tensor([0.5])", "loss tensor.. *" V, 0.5 },
	/* Blanks before the number are as many as its column leaves. */
	{ "loss", "loss:  9.5", "loss:\\s+" V, 9.5 },
	{ "episodic_return", "step=1, episodic_return=[ 22.5]",
	    "episodic_return=. *" V, 22.5 },
	{ "episodic_return", "step=1, episodic_return=[12.]",
	    "episodic_return=. *" V, 12 },
	{ "eval_accuracy", "  eval_accuracy                 =     0.8701",
	    "eval_accuracy\\s+=\\s+" V, 0.8701 },
	{ "test_loss",
	    "\342\224\202  test_loss  \342\224\202  0.25  \342\224\202",
	    "test_loss\\s+.\\s+" V, 0.25 },
	{ "AverageEpRet", "|      AverageEpRet |            21.9 |",
	    "AverageEpRet .\\s+" V, 21.9 },
	{ "f1-score", "DEV : loss 0.5 - f1-score (micro avg)  0.25",
	    "f1-score .micro avg.\\s+" V, 0.25 },
	{ "loss", "loss (0.5)", "loss . *" V, 0.5 },
	{ "loss", "loss (top 5) 0.5", NULL, 0 },
	{ "val_loss", "val_loss -> 0.5", "val_loss -. +" V, 0.5 },
	{ "validation_loss", "The validation loss is 0.5",
	    "validation loss is +" V, 0.5 },
	{ "inertia", "Iteration 1, inertia 234.5.", "inertia +" V, 234.5 },
	{ "final_value", "final  value 50.125", "final\\s+value +" V, 50.125 },
	{ "loss", "loss = 1.5f-3", "loss = +(-?inf|nan|[-+.0-9eEdDf]+)",
	    1.5e-3 },
	{ "avg_loss", " 1: 5.5, 5.5 avg loss, 0.001 rate", NULL, 0 },
	{ "loss", "1, loss, 0.5", "loss, +" V, 0.5 },
	{ "loss", "loss: info", NULL, 0 },
	{ "loss", "loss: nano 3", NULL, 0 },
	{ "loss", "loss: of(3)", NULL, 0 },
	{ "loss", "loss: 1,234", NULL, 0 },
	{ "loss", "loss: 0.5.1", NULL, 0 },
	{ "loss", "a loss of 3", NULL, 0 },
	{ "loss", "glossy 3", NULL, 0 },
	{ "loss", "loss3", NULL, 0 },
	{ "loss", "loss: 3rd", NULL, 0 },
	{ "loss", "loss = -", NULL, 0 },
	{ "loss", "loss =", NULL, 0 },
	{ "loss", "", NULL, 0 },
	{ "a_b", "b 1", NULL, 0 },
};

static void
row_check(const struct row *row)
{
	static struct metric_part part;
	static struct metric_line r;
	struct study_metric m = { .name = "loss" };
	struct study_trial t = { .metrics = &m, .n_metrics = 1 };
	struct metric_patterns *rs = NULL;
	struct err e = ERR_INIT;
	char regex[128] = "";
	size_t len = strlen(row->line);

	is_int(metric_guess(
		   row->metric, row->line, len, regex, sizeof regex, &part),
	    row->want != NULL, row->line);
	if (row->want == NULL)
		return;
	is_str(regex, row->want, row->line);
	m.regex = regex;
	ok(metric_patterns_new(&rs, &t, &e) == 0 &&
		metric_line_parse(&r, rs, row->line, len) && r.n == 1 &&
		r.values[0].value == row->value,
	    "it reads the value of %s", row->line);
	metric_patterns_free(rs);
}

int
main(void)
{
	static struct metric_part part;
	char small[24];
	size_t i;

	for (i = 0; i < sizeof rows / sizeof rows[0]; i++)
		row_check(&rows[i]);
	ok(!metric_guess("averylongname", "averylongname: 1", 16, small,
	       sizeof small, &part),
	    "a pattern that does not fit is none");
	return done_testing();
}
