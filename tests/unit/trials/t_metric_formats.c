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
	if (r->left_out != NULL)
		buf_printf(out, ", but %s", r->left_out);
	buf_puts(out, "\n");
}

/* What is read of the lines of a text. */
static char *
read_text(const struct study_trial *t, const char *text, size_t len)
{
	static struct metric_line r;
	const char *end = text + len, *next;
	struct metric_patterns *rules;
	struct buf out = { 0 };
	size_t n;

	if (metric_patterns_new(&rules, t, NULL) != 0)
		return xstrdup("no rules");
	r.log = metric_log_new(rules);
	for (; text < end; text = next) {
		next = metric_line_next(text, end,
		    metric_patterns_objects(rules), &n, &r.overwritten);
		if (next == NULL) {
			n = (size_t)(end - text);
			next = end;
		}
		if (metric_line_parse(&r, rules, text, n))
			do
				put_line(&out, &r);
			while (metric_line_more(&r));
		else if (r.why != NULL)
			buf_printf(&out, "! %s\n", r.why);
	}
	/* As at the end of a log. */
	if (metric_line_parse(&r, rules, "", 0))
		do
			put_line(&out, &r);
		while (metric_line_more(&r));
	metric_log_free(r.log);
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
	     *got, text[65536];
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

	check_file(STUDY_LINES_XGBOOST, "lightgbm.txt",
	    "1 train/binary_logloss=0.60425 train/auc=0.995463 "
	    "valid/binary_logloss=0.592721 valid/auc=1\n"
	    "2 train/binary_logloss=0.531801 train/auc=0.995463 "
	    "valid/binary_logloss=0.517823 valid/auc=1\n"
	    "3 train/binary_logloss=0.471465 train/auc=0.995463 "
	    "valid/binary_logloss=0.45522 valid/auc=1\n");
	check_file(STUDY_LINES_XGBOOST, "xgboost.txt",
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
	check_file(STUDY_LINES_KERAS, "keras-checkpoint.txt",
	    "1 accuracy=0.5893 loss=0.6386\n"
	    "1 val_accuracy=0.7188 val_loss=0.6064\n"
	    "2 accuracy=0.8036 loss=0.5861\n"
	    "2 val_accuracy=0.942 val_loss=0.5601\n"
	    "3 accuracy=0.9732 loss=0.5433\n"
	    "3 val_accuracy=0.9866 val_loss=0.5214\n");
	check_file(STUDY_LINES_KERAS, "keras-plateau.txt",
	    "1 accuracy=0.5893 loss=0.6386 val_accuracy=0.7188 "
	    "val_loss=0.6064 learning_rate=0.01\n"
	    "2 accuracy=0.8036 loss=0.5861\n"
	    "2 val_accuracy=0.942 val_loss=0.5601 learning_rate=0.01\n"
	    "3 accuracy=0.9509 loss=0.5583\n"
	    "3 val_accuracy=0.9598 val_loss=0.5559 learning_rate=0.001\n"
	    "4 accuracy=0.9598 loss=0.5558\n"
	    "4 val_accuracy=0.9598 val_loss=0.5555 learning_rate=0.0001\n");
}

static void
test_keras(void)
{
	is_read(STUDY_LINES_KERAS,
	    "Epoch 1/2\n7/7 - 1s - loss: 0.63my note 0\n"
	    "7/7 - 1s - loss: 0.63 - val_loss: 0.6\n"
	    "Epoch 2/2\n1/7 - loss: 0.9\r7/7 - loss: 0.53 - acc: nan-note\n"
	    "7/7 - loss: 0.53 - acc: nan - val_loss: 0.5\n"
	    "2/2 - 0s - loss: 0.5\n",
	    "1 loss=0.63\n1 val_loss=0.6\n2 loss=0.53 acc=nan\n"
	    "2 val_loss=0.5\n2 evaluate_loss=0.5\n",
	    "Keras: a callback prints on the line of the bar");
	is_read(STUDY_LINES_KERAS,
	    "Epoch 1/2\n7/7 - loss: 0.6\nsaved\n7/7 - loss: 0.6\n"
	    "Epoch 2/2\n7/7 - loss: 0.5\n7/7 - loss: 0.4\n",
	    "1 loss=0.6\n2 loss=0.5\n2 evaluate_loss=0.4\n",
	    "Keras without validation: the same line again, and evaluate");
	is_read(STUDY_LINES_KERAS,
	    "7/7 - loss: 0.6\nsaved\n7/7 - loss: 0.6 - val_loss: 0.5\n"
	    "2/2 - loss: 0.5\n",
	    "1 loss=0.6\n1 val_loss=0.5\n1 evaluate_loss=0.5\n",
	    "Keras: one epoch has no line of its own");
	is_read(STUDY_LINES_KERAS,
	    "7/7 - loss: 0.6 - val_loss: 0.5\n2/2 - loss: 0.5\n"
	    "7/7 - loss: 0.4 - val_loss: 0.3\n7/7 - loss: 0.3 - val_loss: "
	    "0.2\n",
	    "1 loss=0.6 val_loss=0.5\n1 evaluate_loss=0.5\n"
	    "2 loss=0.4 val_loss=0.3\n3 loss=0.3 val_loss=0.2\n",
	    "Keras: fit of one epoch in a loop");
	is_read(STUDY_LINES_KERAS,
	    "Epoch 1/1\n1/7 - loss: 1\r3/7 - loss: 2\r\n"
	    "1/2 - loss: 0.1\r2/2 - loss: 0.2\n7/7 - loss: 0.6\n"
	    "INFO:root:2/2 - loss: 0.7\n8/7 - loss: 1\n3/7 of it\n",
	    "1 evaluate_loss=0.2\n1 loss=0.6\n1 evaluate_loss=0.7\n",
	    "Keras: a callback evaluates before the line of the epoch");
	is_read(STUDY_LINES_KERAS,
	    "\033[1mEpoch 1/1\033[0m\n2026-01-31 12:00:00 INFO 7/7 - loss: 1\n",
	    "1 loss=1\n", "Keras: colours, and the prefix of a logger");
}

static void
test_lines(void)
{
	is_read(STUDY_LINES_XGBOOST, "\033[1m[3]\033[0m\ttrain-rmse:0.5\n",
	    "3 train-rmse=0.5\n", "a line with colours");
	is_read(STUDY_LINES_XGBOOST,
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
	is_read(STUDY_LINES_JSON,
	    "{\"step\": 1, \"a\": 1}{\"step\": 2, \"a\": 2} {\"step\": 3, "
	    "\"a\": {\"b\": 3}},{\"step\": 4, \"a\": \"}{\", \"b\": 4}",
	    "1 a=1\n2 a=2\n3 a/b=3\n4 b=4\n",
	    "objects without a newline between them");
	is_read(STUDY_LINES_JSON,
	    "{\n  \"step\": 1,\n\n  \"a\": [\n    1\n  ],\n  \"b\": 1\n}\n"
	    "[\n  {\n    \"step\": 2,\n    \"b\": 2\n  },\n  {\"step\": 3, "
	    "\"b\": 3}\n]\n[{\"step\": 4, \"b\": 4}, {\"step\": 5, \"b\": "
	    "5}]\n",
	    "1 b=1\n2 b=2\n3 b=3\n4 b=4\n5 b=5\n",
	    "objects over several lines, and lists of objects");
	is_read(STUDY_LINES_JSON,
	    "{\ntrained\n{\"step\": 1, \"a\": 1}\n{\"a\": 1} {x}\n{\"a\": 1\n"
	    "Epoch\n{\"step\": 2, \"a\": 2}\n",
	    "1 a=1\n2 a=2\n", "and braces that begin none");
	is_read(STUDY_LINES_JSON,
	    "{'step': 1, 'a': np.float64(0.5), 'b': None, \"c\": tensor(1., "
	    "device='cuda:0'), 'd': 'it\\'s', 'e': {'f': True, 'g': -inf}}\n"
	    "{'step': 2,\n 'a': 0.25,\n 'b': (1, 2),\n 'c': 5}\n"
	    "{'a': f(1}\n{'a'; 1}\n{'step': x, 'a': 1}\n{a: 1}\n",
	    "1 a=0.5 c=1 e/g=-inf\n2 a=0.25 c=5\n",
	    "dictionaries as Python prints them");
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
		.lines = STUDY_LINES_XGBOOST | STUDY_LINES_JSON,
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

/* A pattern that is wider than was meant, and steps as people write them. */
static void
test_lines_alike(void)
{
	struct study_metric metrics[] = {
		{ .name = "loss", .regex = "loss ([0-9.]+)" },
	};
	char step[] = "epoch (\\S+)", digits[] = "epoch (\\d+)";
	struct study_trial t = {
		.metrics = metrics, .n_metrics = 1, .step_regex = step
	};
	static const char both[] = "epoch 1 train loss 0.5\n"
				   "epoch 1 Val loss 0.6\n"
				   "epoch 2 test_train loss 0.4\n";
	static const char thousands[] = "epoch 1,000 loss 1\nepoch 2k loss 2\n"
					"epoch 2.5k loss 3\nepoch 1M loss 4\n"
					"epoch x loss 5\n";
	char *got = read_text(&t, both, strlen(both));

	is_str(got,
	    "1 loss=0.5\n1 loss=0.6, but whether it is of the training or of "
	    "an evaluation, for a pattern matches both\n2 loss=0.4\n",
	    "one pattern for two metrics is said");
	free(got);
	got = read_text(&t, thousands, strlen(thousands));
	is_str(got,
	    "1000 loss=1\n2000 loss=2\n2500 loss=3\n1000000 loss=4\n"
	    "! the text that trial.step_regex matched is not a number\n",
	    "thousands of steps");
	free(got);
	t.step_regex = digits;
	got = read_text(&t, thousands, strlen(thousands));
	is_str(got,
	    "! the group of trial.step_regex has only a part of a number\n"
	    "! the group of trial.step_regex has only a part of a number\n"
	    "! the group of trial.step_regex has only a part of a number\n"
	    "! the group of trial.step_regex has only a part of a number\n"
	    "- loss=5\n",
	    "and a pattern that has only a part of them");
	free(got);
}

/* "tag" and "name" of an entry of JSON lines without a path. */
static void
test_tags(void)
{
	char tag[] = "val.m(B)", name[] = "map";
	struct study_tag tags[] = { { tag, name } };
	struct study_trial t = {
		.lines = STUDY_LINES_JSON, .tags = tags, .n_tags = 1
	};
	static const char text[] =
	    "{\"val\": {\"m(B)\": \"0.5\", \"n(B)\": 2}, \"step\": 3}\n"
	    "{\"val.m(B)\": 1, \"a\": 2}\n";
	char *got = read_text(&t, text, strlen(text));

	is_str(got, "3 map=0.5 val/n_B_=2\n- map=1 a=2\n",
	    "a metric has the name that its tag gets");
	free(got);
}

static void
test_more(void)
{
	check_file(STUDY_LINES_CATBOOST, "catboost.txt",
	    "0 learn=0.601919 test=0.596381\n1 learn=0.53 test=0.515011\n"
	    "2 learn=0.491638 test=0.491766\n3 learn=0.456125 test=0.464245\n");
	check_file(STUDY_LINES_SKLEARN, "sklearn-mlp.txt",
	    "1 loss=0.64023\n2 loss=0.630656\n3 loss=0.62171\n4 loss=0.6132\n");
	check_file(STUDY_LINES_SKLEARN, "sklearn-sgd.txt",
	    "1 avg_loss=1.30556 objective=1.34624\n"
	    "2 avg_loss=1.01541 objective=1.08599\n"
	    "3 avg_loss=0.839215 objective=0.899641\n"
	    "4 avg_loss=0.900123 objective=0.947081\n");
	is_read(STUDY_LINES_SKLEARN,
	    "-- Epoch 1\nNorm: 4.18, NNZs: 2, Bias: 0.538450, T: 180, "
	    "Avg. loss: 0.343083, Objective: 0.419268, "
	    "Validation score: 0.450000\nTotal training time: 0.01 seconds.\n",
	    "1 avg_loss=0.343083 objective=0.419268 validation_score=0.45\n",
	    "scikit-learn: early stopping of gradient descent");
	check_file(STUDY_LINES_SKLEARN, "sklearn-hist2.txt",
	    "1 train_loss=0.62701 val_loss=0.63701\n"
	    "2 train_loss=0.57481 val_loss=0.59517\n"
	    "3 train_loss=0.53257 val_loss=0.56357\n"
	    "4 train_loss=0.4952 val_loss=0.53444\n");
	check_file(STUDY_LINES_TABLE, "sklearn-gb2.txt",
	    "1 Train_Loss=1.2259 OOB_Improve=0.1223\n"
	    "2 Train_Loss=1.1251 OOB_Improve=0.1208\n"
	    "3 Train_Loss=1.0347 OOB_Improve=0.1006\n"
	    "4 Train_Loss=0.932 OOB_Improve=0.0707\n");
	is_read(STUDY_LINES_SKLEARN,
	    "Iteration 1, loss = 0.5\nIteration 1, loss = 0.4\n"
	    "Validation score: 0.75\nIteration 2, loss = 0.3\nIteration x\n"
	    "Iteration 1, loss = 0.2\n[1/2] of it\n",
	    "1 loss=0.5\n2 loss=0.4\n2 validation_score=0.75\n3 loss=0.3\n"
	    "4 loss=0.2\n",
	    "scikit-learn: a number that is not greater goes on");
	check_file(STUDY_LINES_TABLE, "skorch.txt",
	    "1 train_acc=0.4875 train_loss=0.8067 valid_acc=0.5 "
	    "valid_loss=0.6857 dur=0.087\n"
	    "2 train_acc=0.6125 train_loss=0.6644 valid_acc=0.675 "
	    "valid_loss=0.5851 dur=0.0581\n"
	    "3 train_acc=0.7438 train_loss=0.575 valid_acc=0.775 "
	    "valid_loss=0.5226 dur=0.0498\n"
	    "4 train_acc=0.7875 train_loss=0.5164 valid_acc=0.825 "
	    "valid_loss=0.4814 dur=0.0417\n");
	check_file(STUDY_LINES_TABLE, "spacy.txt",
	    "0 E=0 LOSS_TEXTCAT=0.25 CATS_SCORE=33.33 SCORE=0.33\n"
	    "4 E=1 LOSS_TEXTCAT=0.99 CATS_SCORE=33.33 SCORE=0.33\n"
	    "8 E=2 LOSS_TEXTCAT=0.96 CATS_SCORE=100 SCORE=1\n");
	check_file(STUDY_LINES_MMENGINE, "mmengine.txt",
	    "5 lr=0.5 time=0.0165 data_time=0.001 loss=0.6183\n"
	    "10 lr=0.5 time=0.0145 data_time=0.0049 loss=0.5946\n"
	    "1 accuracy=0.84 data_time=0.0038 time=0.0056\n"
	    "15 lr=0.5 time=0.0102 data_time=0.0054 loss=0.5242\n"
	    "20 lr=0.5 time=0.0102 data_time=0.0042 loss=0.4675\n");
	is_read(STUDY_LINES_MMENGINE,
	    "01/31 12:00:00 - mmengine - INFO - Iter(train) [ 100/2000]  lr: "
	    "1.0e-02  eta: 0:01:00  loss: 0.5\n"
	    "Iter(val) [10/10]    mIoU: 0.75  note: x\nIter(val) [ 5/10]  eta: "
	    "0:00:01  time: 1\n",
	    "100 lr=0.01 loss=0.5\n100 mIoU=0.75\n", "MMEngine by iterations");
}

static void
test_tqdm(void)
{
	static const char curve[] = "1 loss=0.526 val_loss=0.455\n"
				    "2 loss=0.345 val_loss=0.312\n"
				    "3 loss=0.256 val_loss=0.238\n"
				    "4 loss=0.204 val_loss=0.192\n";

	check_file(STUDY_LINES_TQDM, "tqdm-epochs.txt", curve);
	check_file(STUDY_LINES_TQDM, "tqdm-epochs-slow.txt", curve);
	check_file(STUDY_LINES_TQDM, "tqdm-batches.txt", curve);
	is_read(STUDY_LINES_TQDM,
	    "\r  0%| | 0/3 [00:00<?, ?it/s]\r 33%|#| 1/3 [00:01<00:02, 1it/s]"
	    "\r 33%|#| 1/3 [00:01<00:02, 1it/s, a=1]"
	    "\r 66%|##| 2/3 [00:02<00:01, 1it/s, a=1]"
	    "\r 66%|##| 2/3 [00:02<00:01, 1it/s, a=2]"
	    "\r100%|###| 3/3 [00:03<00:00, 1it/s, a=2]"
	    "\r100%|###| 3/3 [00:03<00:00, 1it/s, a=3]\n",
	    "1 a=1\n2 a=2\n3 a=3\n", "tqdm: values are set after the count");
	is_read(STUDY_LINES_TQDM,
	    "\r  0%| | 0/2 [00:00<?, ?it/s]\r  0%| | 0/2 [00:00<?, ?it/s, a=1]"
	    "\r100%|##| 2/2 [00:00<00:00, 9it/s, a=2]\n"
	    "\r  0%| | 0/2 [00:00<?, ?it/s]\r  0%| | 0/2 [00:00<?, ?it/s, a=3]"
	    "\r 50%|#| 1/2 [00:00<00:00, 9it/s, a=3]"
	    "\r100%|##| 2/2 [00:00<00:00, 9it/s, a=4]\n",
	    "1 a=1\n2 a=2\n3 a=3\n4 a=4\n",
	    "tqdm: the count goes on over bars without an epoch");
	is_read(STUDY_LINES_TQDM,
	    "\rEpoch 0: 100%|##| 2/2 [00:01<00:00, 2it/s, a=1]"
	    "\rEpoch 0: 100%|##| 2/2 [00:01<00:00, 2it/s, a=1, val=5]"
	    "\rEpoch 1:   0%| | 0/2 [00:00<?, ?it/s, a=1, val=5]"
	    "\rEpoch 1: 100%|##| 2/2 [00:01<00:00, 2it/s, a=3, val=5]"
	    "\rEpoch 1: 100%|##| 2/2 [00:01<00:00, 2it/s, a=3, val=4]\n",
	    "0 a=1 val=5\n1 a=3 val=4\n",
	    "tqdm: the last state of an epoch counts, from 0 as Lightning");
	is_read(STUDY_LINES_TQDM,
	    "\rall:  0%| | 0/2 [00:00<?, ?it/s]\n"
	    "\rpart:  0%| | 0/9 [00:00<?, ?it/s, a=9]\033[A\n"
	    "\rpart: 50%| | 5/9 [00:00<?, ?it/s, a=8]\033[A\n"
	    "\rall: 50%|#| 1/2 [00:00<?, 2it/s, b=1]\n"
	    "\rpart: 99%|#| 8/9 [00:00<?, ?it/s, a=7]\033[A\n"
	    "\rall:100%|#| 2/2 [00:00<?, 2it/s, b=2]\n",
	    "1 a=8\n1 b=1\n2 b=2\n2 a=7\n",
	    "tqdm: a bar within another one has its count and 1");
	is_read(STUDY_LINES_TQDM,
	    "\r  0%| | 0/3 [00:00<?, ?it/s]\r  0%| | 0/3 [00:00<?, ?it/s, a=1]"
	    "\r 33%|#| 1/3 [00:00<00:00, 9it/s, a=2]"
	    "\r 66%|#| 2/3 [00:00<00:00, 9it/s, a=2]"
	    "\r 66%|#| 2/3 [00:00<00:00, 9it/s, a=3]"
	    "\r100%|#| 3/3 [00:00<00:00, 9it/s, a=3]\n",
	    "1 a=1\n2 a=2\n3 a=3\n",
	    "tqdm: values before the count, which is not always shown");
	is_read(STUDY_LINES_TQDM,
	    "\r  0%| | 0/2 [00:00<?, ?it/s, a=9]"
	    "\r 50%|#| 1/2 [00:00<00:00, 9it/s, a=9]"
	    "\r 50%|#| 1/2 [00:00<00:00, 9it/s, a=1]"
	    "\r100%|#| 2/2 [00:00<00:00, 9it/s, a=2]\n",
	    "0 a=9\n1 a=1\n2 a=2\n",
	    "tqdm: values that it was made with are those of no step");
	is_read(STUDY_LINES_TQDM,
	    "\r  0%| | 0/2 [00:00<?, ?it/s, a=0.0]"
	    "\r  0%| | 0/2 [00:00<?, ?it/s, a=3]"
	    "\r 50%|#| 1/2 [00:00<00:00, 9it/s, a=3]"
	    "\r 50%|#| 1/2 [00:00<00:00, 9it/s, a=2]"
	    "\r100%|#| 2/2 [00:00<00:00, 9it/s, a=2]\n",
	    "1 a=3\n2 a=2\n",
	    "tqdm: zeros that it was made with are no values");
	is_read(STUDY_LINES_TQDM,
	    "\r  0%| | 0/2 [00:00<?, ?it/s, a=0]"
	    "\r 50%|#| 1/2 [00:00<00:00, 9it/s, a=0]"
	    "\r 50%|#| 1/2 [00:00<00:00, 9it/s, a=1]"
	    "\r100%|#| 2/2 [00:00<00:00, 9it/s, a=2]\n",
	    "1 a=1\n2 a=2\n",
	    "tqdm: the same, and values are set after the count");
	is_read(STUDY_LINES_TQDM,
	    "\r  0%| | 0/2 [00:00<?, ?it/s]\r  0%| | 0/2 [00:00<?, ?it/s, a=0]"
	    "\r 50%|#| 1/2 [00:00<00:00, 9it/s, a=0]"
	    "\r 50%|#| 1/2 [00:00<00:00, 9it/s, a=2]"
	    "\r100%|#| 2/2 [00:00<00:00, 9it/s, a=2]\n",
	    "1 a=0\n2 a=2\n", "tqdm: zeros that were set are values");
	is_read(STUDY_LINES_TQDM,
	    "\r[1/2]  50%|#         [00:00<?]"
	    "\rEpoch [1/2]: [1/2]  50%|#         [00:00<?]"
	    "\rEpoch [1/2]: [1/2]  50%|#        , loss=0.7 [00:00<?]"
	    "\rEpoch [1/2]: [2/2] 100%|##, loss=0.6, a=1 [00:00<00:00]\n"
	    "\rEpoch [2/2]: [1/2]  50%|#        , loss=0.5, a=2 [00:00<?]"
	    "\rEpoch [2/2]: [2/2] 100%|##, loss=0.4, a=3 [00:00<00:00]\n",
	    "1 loss=0.6 a=1\n2 loss=0.4 a=3\n", "tqdm: a bar of Ignite");
	is_read(STUDY_LINES_TQDM,
	    "\r[1/3]  33%|#         [00:00<?]\rEpoch: [1/3]  33%|#   [00:00<?]"
	    "\rEpoch: [1/3]  33%|#        , loss=0.7 [00:00<?]"
	    "\rEpoch: [1/3]  33%|#        , loss=0.6 [00:00<?]"
	    "\rEpoch: [2/3]  66%|##       , loss=0.6 [00:00<00:00]"
	    "\rEpoch: [2/3]  66%|##       , loss=0.5 [00:00<00:00]"
	    "\rEpoch: [3/3] 100%|###, loss=0.5 [00:00<00:00]\n",
	    "1 loss=0.7\n2 loss=0.6\n3 loss=0.5\n",
	    "tqdm: a bar of Ignite over the epochs, whose first is counted");
	is_read(STUDY_LINES_TQDM,
	    "\r[1/2]  50%|#         [00:00<?]\rEpoch: [1/2]  50%|#   [00:00<?]"
	    "\rEpoch: [1/2]  50%|#        , loss=0.7 [00:00<?]"
	    "\rEpoch: [1/2]  50%|#        , loss=0.6 [00:00<?]"
	    "\rEpoch: [2/2] 100%|##, loss=0.6 [00:00<00:00]\n",
	    "1 loss=0.7\n2 loss=0.6\n", "tqdm: the same of two epochs");
	is_read(STUDY_LINES_TQDM,
	    "\rEpoch 0: loss=0.5, val_loss=0.4: 50%|#| 1/2 [00:00<?, 2it/s]"
	    "\rEpoch 1: loss=0.3, val_loss=0.2: 99%|#| 2/2 [00:01<?, 2it/s]\n",
	    "0 loss=0.5 val_loss=0.4\n1 loss=0.3 val_loss=0.2\n",
	    "tqdm: an epoch and a colon before the values");
	is_read(STUDY_LINES_TQDM,
	    "\r  0%| | 0/2 [00:00<?, ?it/s]"
	    "\r 50%|#| 1/2 [00:00<?, 2it/s, epoch 1 loss=0.5]"
	    "\r100%|#| 2/2 [00:01<?, 2it/s, epoch 2 loss=0.4]\n",
	    "1 loss=0.5\n2 loss=0.4\n", "tqdm: a number in the text behind it");
	is_read(STUDY_LINES_TQDM,
	    "\rEpoch [1/2]: [1/2) 50%|#, loss=0.7 [00:00<?]"
	    "\rEpoch [1/2]: 1/2] 50%|#, loss=0.7 [00:00<?]"
	    "\rEpoch [1/2]: [1/2] 50% #, loss=0.7 [00:00<?]\n",
	    "", "tqdm: and what is none");
	is_read(STUDY_LINES_TQDM,
	    "\r  0%| | 0/2 [00:00<?, ?it/s]"
	    "\rTrain Loss: 0.5, acc=0.25 | a: 5e-05:   0%| | 0/2 [00:00<?, "
	    "?it/s]"
	    "\rTrain Loss: 0.5, acc=0.25 | a: 5e-05:  50%|#| 1/2 [00:00<?, "
	    "9it/s]"
	    "\rTrain Loss: nan, acc=0.5 | a: 1:  50%|#| 1/2 [00:00<00:00, "
	    "9it/s]"
	    "\rTrain Loss: nan, acc=0.5 | a: 1: 100%|#| 2/2 [00:00<00:00, "
	    "9it/s]"
	    "\n",
	    "1 Train_Loss=0.5 acc=0.25 a=5e-05\n2 Train_Loss=nan acc=0.5 a=1\n",
	    "tqdm: values in the text before the bar");
	is_read(STUDY_LINES_TQDM,
	    "\rEpoch 2/3 loss=0.5:  50%|#| 1/2 [00:00<00:00, 9it/s, acc=1 b=2]"
	    "\rEpoch 2/3 loss=0.25: 100%|#| 2/2 [00:00<00:00, 9it/s, acc: 2 b: "
	    "tensor(3.0000, device='cuda:0', grad_fn=<M>)]\n",
	    "2 acc=2 loss=0.25\n",
	    "tqdm: the epoch before values, and values parted by blanks");
	is_read(STUDY_LINES_TQDM,
	    "\rstep: 3:  50%|#| 1/2 [00:00<00:00, 9it/s, a=tensor(0.5000, "
	    "device='cuda:0'), b=1]\n",
	    "1 a=0.5 b=1\n", "tqdm: a number as torch shows it");
	is_read(STUDY_LINES_TQDM,
	    "\r1it [00:01,  1it/s, a=1]\r2it [00:02,  1it/s, a=2]\r\n"
	    "a list [1, 2]\n50%|# | 1/2\n[12:00, x]\n3/4 [0]\n",
	    "1 a=1\n2 a=2\n", "tqdm without a total, and lines that are none");
}

/* Tables of other programs and languages. */
static void
test_tables_alike(void)
{
	is_read(STUDY_LINES_TABLE,
	    "gen\tnevals\tavg    \tmin\tmax\n"
	    "0  \t100   \t46.12\t34 \t58 \n1  \t80    \t50.12\t40 \t60 \n",
	    "0 nevals=100 avg=46.12 min=34 max=58\n"
	    "1 nevals=80 avg=50.12 min=40 max=60\n",
	    "DEAP: blanks before a tab");
	is_read(STUDY_LINES_TABLE,
	    "n_gen  |  n_eval  |      hv\n=====================\n"
	    "     1 |      100 |  0.5\n     2 |      200 |  0.25\n",
	    "1 n_eval=100 hv=0.5\n2 n_eval=200 hv=0.25\n", "pymoo");
	is_read(STUDY_LINES_TABLE,
	    "Saved model\nepoch loss acc\n1 0.5 0.75\n  2  0.25 1\n3 nan 1\n"
	    "all 3 done\n1 2\n",
	    "1 loss=0.5 acc=0.75\n2 loss=0.25 acc=1\n3 loss=nan acc=1\n",
	    "cells that single blanks part");
	is_read(STUDY_LINES_TABLE,
	    "Saved model\n\n3 4\nof it, as said\nfive\n1, 2\n", "",
	    "words are names above a row of numbers alone");
	is_read(STUDY_LINES_TABLE,
	    "epoch,loss,phase,time\n0,0.5,train,00:05\n1,0.25,train,00:05\n"
	    "1, 2, 3\n",
	    "0 loss=0.5\n1 loss=0.25\n", "a CSV file on standard output");
	is_read(STUDY_LINES_TABLE, "\"epoch\",\"val loss\"\n1,0.5\n2,0.25\n",
	    "1 val_loss=0.5\n2 val_loss=0.25\n", "R: names in quotes");
	is_read(STUDY_LINES_TABLE, "epoch;loss\n1;0,5\n2;0,25\n",
	    "1 loss=0.5\n2 loss=0.25\n", "semicolons and decimal commas");
	is_read(STUDY_LINES_TABLE,
	    "Epoch  mem  box_loss  note\n1/3    0G   1.25      13\n"
	    "2/3    0G   1.5       13\n3/x  0G  1  1\n",
	    "1 box_loss=1.25 note=13\n2 box_loss=1.5 note=13\n",
	    "a step of several");
	is_read(STUDY_LINES_TABLE,
	    "epoch  loss\n1      0.5\nTraining done\n-----\n2      0.25\n",
	    "1 loss=0.5\n2 loss=0.25\n",
	    "words above dashes do not end a table");
}

/* Lines of the boosting libraries as R, SageMaker and Ray print them. */
static void
test_boosting_alike(void)
{
	is_read(STUDY_LINES_XGBOOST,
	    "[0]#011train-rmse:9.5#011validation-rmse:9.75\n"
	    "[2026-01-31:12:00:00:INFO] [1]\ttrain-rmse:9\n"
	    "(RemoteRayXGBoostActor pid=12) [2]\ttrain-rmse:8\n",
	    "0 train-rmse=9.5 validation-rmse=9.75\n1 train-rmse=9\n"
	    "2 train-rmse=8\n",
	    "XGBoost in logs of SageMaker and of Ray");
	is_read(STUDY_LINES_XGBOOST,
	    "[1]:  train's l2:0.5  valid's l2:0.75 \n"
	    "[1] \"[2]:  valid's l2:0.5\"\n",
	    "1 train/l2=0.5 valid/l2=0.75\n2 valid/l2=0.5\n", "LightGBM of R");
	is_read(STUDY_LINES_HF,
	    "{'eval_loss': 0.5, 'eval_each': [0.5, 1], 'eval_all': {'a': (1, "
	    "2)}, 'eval_text': f('a, b'), 'epoch': 1.0}\n{'a': [1}\n",
	    "- eval_loss=0.5 epoch=1\n", "Trainer: lists and dictionaries");
	is_read(STUDY_LINES_HF,
	    "[INFO|callbacks.py:310] 2026-01-31 12:00:00,123 >> {'loss': 1.5, "
	    "'epoch': 0.25}\n",
	    "- loss=1.5 epoch=0.25\n", "LLaMA-Factory");
	is_read(STUDY_LINES_FAIRSEQ,
	    "[2026-01-31 12:00:00,123][train_inner][INFO] - {\"epoch\": 1, "
	    "\"loss\": \"9.5\", \"num_updates\": \"50\"}\n",
	    "50 epoch=1 loss=9.5 num_updates=50\n", "fairseq-hydra-train");
}

static void
test_tables(void)
{
	check_file(STUDY_LINES_SB3, "sb3.txt",
	    "128 rollout/ep_len_mean=17.7 rollout/ep_rew_mean=17.7 "
	    "time/fps=201 time/iterations=1 time/time_elapsed=0 "
	    "time/total_timesteps=128\n"
	    "256 rollout/ep_len_mean=17.8 rollout/ep_rew_mean=17.8 "
	    "time/fps=181 time/iterations=2 time/time_elapsed=1 "
	    "time/total_timesteps=256 train/approx_kl=2.45078e-06 "
	    "train/clip_fraction=0 train/clip_range=0.2 "
	    "train/entropy_loss=-0.693 train/explained_variance=0.0171 "
	    "train/learning_rate=0.0003 train/loss=28.7 train/n_updates=2 "
	    "train/policy_gradient_loss=-0.000176 train/value_loss=64.6\n");
	is_read(STUDY_LINES_TABLE,
	    "epoch     train_loss  valid_loss  accuracy  time\n"
	    "0         0.9         0.8         0.5       00:05\n"
	    "1         0.7                     0.6       00:05\n"
	    "no row  of it\n2         0.5         0.4         0.7       "
	    "00:05\n",
	    "0 train_loss=0.9 valid_loss=0.8 accuracy=0.5\n"
	    "1 train_loss=0.7 accuracy=0.6\n"
	    "2 train_loss=0.5 valid_loss=0.4 accuracy=0.7\n",
	    "a table without dashes, with an empty cell");
	is_read(STUDY_LINES_TABLE,
	    "epoch     train_loss  valid_loss  time\n0         00:00\n"
	    "1         00:00\n2         0.5         0.4         00:05\n",
	    "2 train_loss=0.5 valid_loss=0.4\n",
	    "fastai: a training that goes on, with rows without numbers");
	is_read(STUDY_LINES_TABLE,
	    "| step | val loss | note |\n|:-----|---:|---|\n| 10 | 0.5 |  |\n"
	    "| 20 |  | x |\n| 30 | 0.25 | y |\n",
	    "10 val_loss=0.5\n30 val_loss=0.25\n", "a table of bars");
	is_read(STUDY_LINES_TABLE,
	    "loss\tacc\n0.5\t0.75\n0.25\t1\nSaved  2  files\n"
	    "Using  GPU\n3  of  4\nloss  0.5\n",
	    "- loss=0.5 acc=0.75\n- loss=0.25 acc=1\n",
	    "a table by tabs without a step, and lines that are none");
	is_read(STUDY_LINES_TABLE,
	    "\342\224\217\342\224\201\342\224\201\342\224\263\342\224\201"
	    "\342\224\223\n"
	    "\342\224\203 epoch \342\224\203 loss \342\224\203\n"
	    "\342\224\241\342\224\201\342\224\201\342\225\207\342\224\201"
	    "\342\224\251\n"
	    "\342\224\202 1     \342\224\202 0.5  \342\224\202\n"
	    "\342\225\221 2     \342\225\221 0.25 \342\225\221\n",
	    "1 loss=0.5\n2 loss=0.25\n", "rich: a table of signs for boxes");
	is_read(STUDY_LINES_TABLE,
	    "epoch  acc    time\n1      93.5%  1.2 s\n2      94,5%  1.3 s\n",
	    "1 acc=93.5\n2 acc=94.5\n",
	    "a table of numbers as people write them");
	is_read(STUDY_LINES_TQDM,
	    " 50%|#  | 1/2 [00:01<00:01, 1.0it/s, acc=93.5%, loss=0.5]\n",
	    "1 acc=93.5 loss=0.5\n", "tqdm: a value with a unit");
	is_read(STUDY_LINES_HF,
	    "{'eval_loss': 0.5, 'eval_f1': np.float64(0.25), 'epoch': 1.0}\n",
	    "- eval_loss=0.5 eval_f1=0.25 epoch=1\n",
	    "Trainer: a number of numpy");
	is_read(STUDY_LINES_TABLE,
	    "||  epoch ||  loss ||\n|      1 |   0.5 |\n", "1 loss=0.5\n",
	    "tabulate: a table of Jira");
	is_read(STUDY_LINES_TABLE,
	    "   epoch  loss\n0      1   0.5\n1      2   0.25\n",
	    "1 loss=0.5\n2 loss=0.25\n",
	    "pandas: a number without a name begins a row");
	is_read(STUDY_LINES_TQDM,
	    "  0%|   | 0.00/4.00k [00:00<?, ?B/s]\r"
	    " 25%|#  | 1.00k/4.00k [00:00<00:00, 8.25kB/s, loss=0.5]\r"
	    " 50%|#  | 2.00k/4.00k [00:00<00:00, 8.25kB/s, loss=0.5]\r"
	    " 50%|#  | 2.00k/4.00k [00:00<00:00, 8.25kB/s, loss=0.25]\n",
	    "1000 loss=0.5\n2000 loss=0.25\n", "tqdm: scaled units");
	is_read(STUDY_LINES_FAIRSEQ,
	    "2026-01-31 12:00:00 | INFO | train_inner | epoch 001:     10 / "
	    "100 "
	    "loss=9.5, ppl=724, num_updates=10, lr=1e-05, wall=1\n"
	    "2026-01-31 12:00:01 | INFO | train | epoch 001 | loss 5.5 | ppl "
	    "45 | "
	    "num_updates 100\n"
	    "2026-01-31 12:00:02 | INFO | valid | epoch 001 | valid on 'valid' "
	    "subset | loss 4.25 | ppl 19 | best_loss 4.25\n"
	    "2026-01-31 12:00:03 | INFO | fairseq.trainer | begin training\n",
	    "10 loss=9.5 ppl=724 num_updates=10 lr=1e-05 wall=1\n"
	    "1 train_loss=5.5 train_ppl=45 train_num_updates=100\n"
	    "1 valid_loss=4.25 valid_ppl=19 valid_best_loss=4.25\n",
	    "fairseq: simple");
	is_read(STUDY_LINES_FAIRSEQ | STUDY_LINES_JSON,
	    "2026-01-31 12:00:00 | INFO | train_inner | {\"epoch\": 1, "
	    "\"update\": 0.1, \"loss\": \"9.5\", \"num_updates\": \"10\"}\n"
	    "2026-01-31 12:00:01 | INFO | valid | {\"epoch\": 1, "
	    "\"valid_loss\": \"4.000\", \"valid_num_updates\": \"100\"}\n",
	    "10 epoch=1 update=0.1 loss=9.5 num_updates=10\n"
	    "1 epoch=1 valid_loss=4 valid_num_updates=100\n",
	    "fairseq: JSON with numbers as texts");
}

/* A bar that is overwritten, read with patterns. */
static void
bar_is(char *step, const char *text, const char *want, const char *what)
{
	struct study_metric metrics[] = {
		{ .name = "a", .regex = "a=([0-9.]+)" },
	};
	struct study_trial t = {
		.metrics = metrics, .n_metrics = 1, .step_regex = step
	};
	char *got = read_text(&t, text, strlen(text));

	is_str(got, want, what);
	free(got);
}

static void
test_bars(void)
{
	char step[] = "([0-9]+)/";

	bar_is(step, "\r 1/3 a=1\r 2/3 a=2\r 3/3 a=3\n",
	    "1 a=1\n2 a=2\n3 a=3\n", "a bar: each step is a report");
	bar_is(step, "\r1/3 a=1\r1/3 a=2\r2/3 a=2\r2/3 a=3\r2/3 a=3\r3/3 a=4\n",
	    "1 a=2\n2 a=3\n3 a=4\n", "a bar: the last state of a step counts");
	bar_is(step,
	    "\r0/3\r0/3 a=1\r1/3 a=1\r1/3 a=2\r2/3 a=2\r2/3 a=3\r3/3 a=3\n",
	    "1 a=1\n2 a=2\n3 a=3\n",
	    "a bar that shows values before it counts");
	bar_is(step, "\r1/3\r1/3 a=2\r2/3 a=2\rx\n\r2/3 a=3\r3/3 a=3\n",
	    "2 a=2\n3 a=3\n", "the same of a bar that goes on");
	bar_is(step, "\r1/3\r1/3 a=1\r1/3 a=2\n\r2/3\r2/3 a=2\r2/3 a=4\r \n",
	    "1 a=2\n2 a=4\n", "bars of one step each, which are named first");
	bar_is(step, "\r0/3 a=1\rsaved\n\r1/3 a=1\r1/3 a=2\r2/3 a=2\n",
	    "1 a=1\n2 a=2\n", "a bar that a line interrupts");
	bar_is(step, "\r1/3 a=1\r2/3 a=2\r      \r\n", "1 a=1\n2 a=2\n",
	    "a bar that is removed at its end");
	bar_is(step, "\r1/3 a=1\r\n", "1 a=1\n", "a bar of one state");
	bar_is(step, "\r0/3 a=0.0\r1/3 a=3\r2/3 a=2\r3/3 a=1\n",
	    "1 a=3\n2 a=2\n3 a=1\n", "zeros before the first step");
	bar_is(step, "\r0/3 a=0\r1/3 a=0\r1/3 a=2\r2/3 a=1\n", "1 a=2\n2 a=1\n",
	    "the same, and the count comes first");
	bar_is(step, "\r0/3 a=0\r0/3 a=3\r1/3 a=3\r1/3 a=2\r2/3 a=2\n",
	    "1 a=3\n2 a=2\n", "the same, and values come first");
	bar_is(step, "\r0/3\r0/3 a=0\r1/3 a=0\r1/3 a=2\r2/3 a=2\n",
	    "1 a=0\n2 a=2\n", "zeros behind a state without values");
	bar_is(step, "\r0/3 a=0\n\r0/3 a=0\r0/3 a=0\n", "0 a=0\n0 a=0\n",
	    "a bar that shows zeros alone");
	bar_is(NULL, "a=1\ra=2\ra=3\n", "- a=3\n",
	    "a bar without a step: its last state");
	bar_is(NULL, "a=1\ra=2\r   \n", "- a=2\n",
	    "a bar without a step that is removed");
	bar_is(NULL, "x\rhpotune: step=1 a=1\rhpotune: step=2 a=2\rx\n",
	    "1 a=1\n2 a=2\n", "tagged states of a bar");
	bar_is(step,
	    "\033[1G\033[K1/3 a=1\033[1G\033[K2/3 a=2\033[G\033[K3/3 a=3\n",
	    "1 a=1\n2 a=2\n3 a=3\n", "a bar that moves to the first column");
	bar_is(step, "\0337\033[1m1/3 a=1\0338\0337\033[1m2/3 a=2\0338\n",
	    "1 a=1\n2 a=2\n", "one that goes to where it was");
	bar_is(step, "1/3 \303\244 a=1\b\b\b\b\b\b\b\b\b2/3 \303\244 a=2\n",
	    "1 a=1\n2 a=2\n", "one that steps back");
	bar_is(step, "1/3 a=1\b2\n", "1 a=12\n", "but not by one character");
	bar_is(step, "1/3 a=1\r\n2/3 a=2\r\n", "1 a=1\n2 a=2\n",
	    "CR and newline end a line");
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
	test_keras();
	test_with_patterns();
	test_lines_alike();
	test_tags();
	test_more();
	test_tqdm();
	test_tables();
	test_tables_alike();
	test_boosting_alike();
	test_bars();
	test_names();
	return done_testing();
}
