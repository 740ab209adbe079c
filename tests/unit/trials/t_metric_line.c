/* Lines of output and their reports: a table, then random lines. */

#include <locale.h>
#include <stdlib.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/model/study/study.h"
#include "tests/support/tap.h"
#include "trials/metric-line/metric-line.h"
#include "trials/metric-line/metric-number.h"

/* What was read, as text: "3 a=1 b=2", "- a=1", "no", "no: why". */
static const char *
show(struct buf *b, const struct metric_line *r, bool good)
{
	size_t i;

	buf_clear(b);
	if (!good) {
		buf_printf(b, "no%s%s", r->why != NULL ? ": " : "",
		    r->why != NULL ? r->why : "");
		return buf_str(b);
	}
	if (r->has_step)
		buf_printf(b, "%lld", (long long)r->step);
	else
		buf_puts(b, "-");
	for (i = 0; i < r->n; i++)
		buf_printf(
		    b, " %s=%.17g", r->values[i].name, r->values[i].value);
	if (r->left_out != NULL)
		buf_printf(b, ", but %s", r->left_out);
	return buf_str(b);
}

#define STEP "step is not an integer from 0 to 2^53"
#define WORD "a word is not NAME=NUMBER"
#define VALUE "a value is not a number"
#define TWICE "a metric is given twice"
#define NONE "no metric in the line"
#define JSON "the line is not one JSON object"
#define NAME "a number has a name that no metric may have"
#define SAME "two numbers have the name of one metric"
#define N64 "abcdefghijklmnopqrstuvwxyz_ABCDEFGHIJKLMNOPQRSTUVWXYZ/0123456789"

#define ROW(line, want)                      \
	{                                    \
		line, want, sizeof(line) - 1 \
	}

static const struct row {
	const char *line, *want;
	size_t len;
} tagged[] = {
	ROW("                    val_loss=0.4545, a=1     ",
	    "no: it is the rest of a line that a logger has broken: give "
	    "trial.env a greater COLUMNS"),
	ROW("                    val_loss=0.4545 a=b     ", "no"),
	ROW("                    val_loss=0.4545", "no"),
	ROW("    val_loss=0.4545     ", "no"),
	ROW("                         ", "no"),
	ROW("hpotune: step=3 val_accuracy=0.5 loss=0.25",
	    "3 val_accuracy=0.5 loss=0.25"),
	ROW("hpotune: loss=0.25 step=3", "3 loss=0.25"),
	ROW("hpotune:loss=2", "- loss=2"),
	ROW("hpotune: recall@10=0.5", "- recall@10=0.5"),
	ROW("hpotune: @10=0.5", "no: " WORD),
	ROW(" \t hpotune: \t loss=2 \t ", "- loss=2"),
	ROW("hpotune: loss=2\r", "- loss=2"),
	ROW("hpotune: loss=2\r\r", "- loss=2"),
	ROW(" 50%|##\rhpotune: loss=2", "- loss=2"),
	ROW("hpotune: loss=2\r 51%|##", "- loss=2"),
	ROW("hpotune: a=1, b=2,", "- a=1 b=2"),
	ROW("hpotune: a=1,5", "no: " VALUE),
	ROW("hpotune: a=1,,", "no: " VALUE),
	ROW("hpotune: a=nan b=NaN c=-nan", "- a=nan b=nan c=nan"),
	ROW("hpotune: a=inf b=-Infinity c=+INF d=infinity",
	    "- a=inf b=-inf c=inf d=inf"),
	ROW("hpotune: a=1e999 b=-1e999 c=1e-999", "- a=inf b=-inf c=0"),
	ROW("hpotune: a=1e99999999999999999999", "- a=inf"),
	ROW("hpotune: a=0e99999999999999999999 b=-0", "- a=0 b=-0"),
	ROW("hpotune: a=+1.5 b=.5 c=5. d=1E+2", "- a=1.5 b=0.5 c=5 d=100"),
	ROW("hpotune: a=.", "no: " VALUE),
	ROW("hpotune: a=", "no: " VALUE),
	ROW("hpotune: a=-", "no: " VALUE),
	ROW("hpotune: a=+-1", "no: " VALUE),
	ROW("hpotune: a=1e", "no: " VALUE),
	ROW("hpotune: a=0x10", "no: " VALUE),
	ROW("hpotune: a=1_000", "no: " VALUE),
	ROW("hpotune: a=12%", "no: " VALUE),
	ROW("hpotune: a=nanx", "no: " VALUE),
	ROW("hpotune: a=1 a=2", "no: " TWICE),
	ROW("hpotune: a=1 ab=2 A=3", "- a=1 ab=2 A=3"),
	ROW("hpotune: step=1 step=1 a=1", "no: step is given twice"),
	ROW("hpotune: step=0 a=1", "0 a=1"),
	ROW("hpotune: step=3.0 a=1", "3 a=1"),
	ROW("hpotune: step=1e3 a=1", "1000 a=1"),
	ROW("hpotune: step=30e-1 a=1", "3 a=1"),
	ROW("hpotune: step=-0 a=1", "0 a=1"),
	ROW("hpotune: step=9007199254740992 a=1", "9007199254740992 a=1"),
	ROW("hpotune: step=9007199254740993 a=1", "no: " STEP),
	ROW("hpotune: step=9007199254740991.5 a=1", "no: " STEP),
	ROW("hpotune: step=1.00000000000000000000000000000001 a=1",
	    "no: " STEP),
	ROW("hpotune: step=99999999999999999999999999 a=1", "no: " STEP),
	ROW("hpotune: step=1e300 a=1", "no: " STEP),
	ROW("hpotune: step=-1 a=1", "no: " STEP),
	ROW("hpotune: step=nan a=1", "no: " STEP),
	ROW("hpotune: step=inf a=1", "no: " STEP),
	ROW("hpotune: step=x a=1", "no: " VALUE),
	ROW("hpotune: step=3", "no: " NONE),
	ROW("hpotune:", "no: " NONE),
	ROW("hpotune: done", "no: " WORD),
	ROW("hpotune: a=1 done", "no: " WORD),
	ROW("hpotune: a = 1", "no: " WORD),
	ROW("hpotune: 1a=1", "no: " WORD),
	ROW("hpotune: a b=1", "no: " WORD),
	ROW("hpotune: =1", "no: " WORD),
	ROW("hpotune: phase=train", "no: " VALUE),
	ROW("hpotune: step=3 loss=0.hpotune: step=3 loss=0.5", "no: " VALUE),
	ROW("hpotune: val/a.b:c-d_9=1", "- val/a.b:c-d_9=1"),
	ROW("hpotune: " N64 "=1", "- " N64 "=1"),
	ROW("hpotune: " N64 "x=1", "no: " WORD),
	ROW("hpotune: \xc3\xa4=1", "no: " WORD),
	ROW("hpotune: a\xff=1", "no: " WORD),
	ROW("hpotune: a=1\033[0m", "- a=1"),
	ROW("\033[32mhpotune: a=1", "- a=1"),
	ROW("\033[1;32mhpotune: step=2\033[0m a=1\033[0m", "2 a=1"),
	ROW("hpotune: a=1\0 b=2", "no: " VALUE),
	ROW("hpotune: a\0=1", "no: " WORD),
	ROW("hpotune", "no"),
	ROW("HPOTUNE: a=1", "no"),
	ROW("[rank0] hpotune: a=1", "- a=1"),
	ROW("\357\273\277hpotune: a=1", "- a=1"),
	ROW("\357\273\277INFO: hpotune: a=1", "- a=1"),
	ROW("[rank0]: hpotune: a=1", "- a=1"),
	ROW("[default0]:hpotune: a=1", "- a=1"),
	ROW("[rank1]: hpotune: a=1", "no"),
	ROW("[rank10]: INFO:root:hpotune: a=1", "no"),
	ROW("INFO:root:hpotune: step=1 a=1", "1 a=1"),
	ROW("INFO hpotune: a=1", "- a=1"),
	ROW("2026-01-31 12:00:00,123 INFO train: hpotune: a=1", "- a=1"),
	ROW("2026-01-31 12:00:00,123 - my.train - INFO - hpotune: a=1",
	    "- a=1"),
	ROW("2026-01-31T12:00:00.123Z hpotune: a=1", "- a=1"),
	ROW("2026/01/31 12:00:00 - mmengine - INFO - hpotune: a=1", "- a=1"),
	ROW("2026-01-31 12:00:00.123 | INFO     | __main__:run:12 - hpotune: a=1",
	    "- a=1"),
	ROW("[2026-01-31 12:00:00,123][__main__][INFO] - hpotune: a=1",
	    "- a=1"),
	ROW("[12:00:00] hpotune: a=1", "- a=1"),
	ROW("2026-01-31 12:00:00 [info     ] hpotune: a=1", "- a=1"),
	ROW("2026-01-31 12:00:00 [error    ] hpotune: a=1", "- a=1"),
	ROW("[info x] hpotune: a=1", "- a=1"),
	/* Loggers of other languages, launchers, workers. */
	ROW("[ Info: hpotune: a=1", "- a=1"),
	ROW("2026/01/31 12:00:00 main.go:12: hpotune: a=1", "- a=1"),
	ROW("time=2026-01-31T12:00:00.000Z level=INFO msg=\"hpotune: a=1\" b=2",
	    "- a=1"),
	ROW("{\"event\": \"hpotune: step=1 a=1\", \"level\": \"info\"}",
	    "1 a=1"),
	ROW("[1] \"hpotune: a=1\"", "- a=1"),
	ROW("[1] \"hpotune: a=1", "no"),
	ROW("say \"hpotune: a=1\"", "no"),
	ROW("[2026-01-31T12:00:00Z INFO  train] hpotune: a=1", "- a=1"),
	ROW("[2026-01-31:12:00:00:INFO] hpotune: a=1", "- a=1"),
	ROW("2026-01-31T12:00:00.123456Z  INFO epoch{n=3}: train: hpotune: a=1",
	    "- a=1"),
	ROW("I0131 12:00:00.123456  1234 train.cc:12] hpotune: a=1", "- a=1"),
	ROW("I20260131 12:00:00.123456  1234 train.cc:12] hpotune: a=1",
	    "- a=1"),
	ROW("2026-01-31 12:00:00 [info     ] hpotune: a=1   [train] run=3",
	    "- a=1"),
	ROW("[2026-01-31T12:00:00+00:00] app.INFO: hpotune: a=1 [] []",
	    "- a=1"),
	ROW("[INFO|trainer.py:123] 2026-01-31 12:00:00,123 >> hpotune: a=1",
	    "- a=1"),
	ROW("\033[36m(train pid=12, ip=10.0.0.1)\033[0m hpotune: a=1", "- a=1"),
	ROW("[2026-01-31, 12:00:00 UTC] {subprocess.py:93} INFO - hpotune: a=1",
	    "- a=1"),
	ROW("[prterun-host-12345@1,0]<stdout>: hpotune: a=1", "- a=1"),
	ROW("[prterun-host-12345@1,3]<stdout>: hpotune: a=1", "no"),
	ROW("[0] hpotune: a=1", "- a=1"),
	ROW("[1] hpotune: a=1", "no"),
	ROW("[GPU0] hpotune: a=1", "- a=1"),
	ROW("[GPU1] hpotune: a=1", "no"),
	ROW("(rank 1) hpotune: a=1", "no"),
	ROW("12\thpotune: a=1", "- a=1"),
	ROW("Jan 31 12:00:00 host train[123]: hpotune: a=1", "- a=1"),
	ROW("12:00PM INF hpotune: a=1", "- a=1"),
	ROW("01/31/2026 12:00:00 PM hpotune: a=1", "- a=1"),
	ROW("1767225600.123 hpotune: a=1", "- a=1"),
	ROW("I, [2026-01-31T12:00:00.1 #12]  INFO -- : hpotune: a=1", "- a=1"),
	ROW("+ echo [1]: hpotune: a=1", "no"),
	ROW("x: hpotune: step=3 loss=0.hpotune: step=3 loss=0.5", "no: " VALUE),
	ROW("x: hpotune: a=1 of", "no: " WORD),
	ROW("Jan 31 12:00:00 hpotune: a=1", "- a=1"),
	ROW("Jan  3 12:00:00.123 hpotune: a=1", "- a=1"),
	ROW("Jam 31 12:00:00 hpotune: a=1", "no"),
	ROW("[12:00:00] INFO     hpotune: step=2 a=1          my_train.py:12",
	    "2 a=1"),
	ROW("           INFO     hpotune: step=2 a=1          train.py:12  ",
	    "2 a=1"),
	ROW("[12:00:00] INFO     hpotune: a=1 train.py:12", "no: " WORD),
	ROW("[12:00:00] INFO     hpotune:     train.py:12",
	    "no: no metric in the line"),
	ROW("hpotune: a=1          train.py:12", "no: " WORD),
	ROW("INFO:root:hpotune: a=x", "no: " VALUE),
	ROW("01/31/2026 12:00:00 - INFO - __main__ - hpotune: a=1", "- a=1"),
	ROW("[01/31/26 12:00:00] INFO     hpotune: a=1", "- a=1"),
	ROW("2026-01-31 12:00:00.123 | \033[1mINFO \033[0m | \033[36mt\033[0m:"
	    "\033[36m<module>\033[0m:\033[36m12\033[0m - \033[1mhpotune: "
	    "a=1\033[0m",
	    "- a=1"),
	ROW("I0131 12:00:00.000000 140735 train.py:12] hpotune: a=1", "- a=1"),
	ROW("[1,0]<stdout>:hpotune: a=1", "- a=1"),
	ROW("[1,2]<stdout>:hpotune: a=1", "no"),
	ROW("0: hpotune: a=1", "- a=1"),
	ROW("3: hpotune: a=1", "no"),
	ROW("[rank: 0] hpotune: a=1", "- a=1"),
	ROW("2026-01-31 12:00:00,123 train        INFO     hpotune: a=1",
	    "- a=1"),
	ROW("[2026-01-31 12:00:00,123] [INFO] [logging.py:96:log_dist] [Rank 0] "
	    "hpotune: a=1",
	    "- a=1"),
	ROW("[2026-01-31 12:00:00,123] [INFO] [logging.py:96:log_dist] [Rank 1] "
	    "hpotune: a=1",
	    "no"),
	ROW(" 30%|#  | 3/10 [00:01<00:02,  3.5it/s]hpotune: step=3 a=1",
	    "3 a=1"),
	ROW("3it [00:01, 2.9s/it] hpotune: a=1", "- a=1"),
	ROW("+ echo [1/2] hpotune: a=1", "no"),
	ROW("say hpotune: a=1", "no"),
	ROW("12 hpotune: a=1", "no"),
	ROW("INFO my train hpotune: a=1", "no"),
	ROW("hpotune-ranks: rank 1: hpotune: a=1", "no"),
	ROW("loss=2", "no"),
	ROW("", "no"),
	ROW("\r\r\r", "no"),
}, json[] = {
	ROW("{\"step\": 3, \"val_accuracy\": 0.5}", "3 val_accuracy=0.5"),
	ROW(" { \"a\" : 1 } \r", "- a=1"),
	ROW("{\"a\":1,\"step\":2.0}", "2 a=1"),
	ROW("{\"a\":NaN,\"b\":-Infinity,\"c\":Infinity,\"d\":nan,\"e\":inf}",
	    "- a=nan b=-inf c=inf d=nan e=inf"),
	ROW("{\"a\":1e999}", "- a=inf"),
	ROW("{\"a\":1,\"phase\":\"tr\\u00e9\\n\",\"b\":true,\"c\":null}",
	    "- a=1"),
	ROW("{\"x\":[1,{\"y\":[]},{}],\"a\":1}", "- a=1"),
	ROW("{\"a\\/b\":1,\"\\u0061\":2}", "- a/b=1 a=2"),
	ROW("{\"" N64 "\":1}", "- " N64 "=1"),
	ROW("{\"" N64 "x\":1}", "no: " NAME),
	ROW("{\"a b\":1}", "- a_b=1"),
	ROW("{\"\":1}", "no: " NAME),
	ROW("{\"\xc3\xa4\":1}",
	    "no: a number has a name that no metric may have"),
	ROW("{\"a\\u0000\":1}", "- a_=1"),
	ROW("{\"a\\u0161\":1}", "- a__=1"),
	ROW("{\"a\\ud83d\\ude00\":1}", "- a____=1"),
	ROW("{\"a\\ud83dx\":1}", "- a___x=1"),
	ROW("{\"a b\":\"text\",\"a\":1}", "- a=1"),
	ROW("{\"step\":3,\"a b\":1,\"a\":1}", "3 a_b=1 a=1"),
	ROW("{\"a\":1,\"mAP@[.5:.95]\":0.5}", "- a=1 mAP@_.5:.95_=0.5"),
	ROW("{\"a\":1,\"5\":2,\"b\":3}", "- a=1 _5=2 b=3"),
	ROW("{\"a b\":x,\"a\":1}", "no: " JSON),
	ROW("{\"acc@5\":0.5,\"mAP@0.5:0.95\":1}", "- acc@5=0.5 mAP@0.5:0.95=1"),
	ROW("{\"a\":1,\"a\":2}", "no: " TWICE),
	/* Texts that are numbers, and objects inside. */
	ROW("{\"epoch\":1,\"valid_loss\":\"4.000\",\"phase\":\"4 y\"}",
	    "- epoch=1 valid_loss=4"),
	ROW("{\"a\":\" -1e-3 \",\"b\":\"\",\"c\":\"nan\",\"d\":\"1,5\"}",
	    "- a=-0.001 c=nan d=1.5"),
	ROW("{\"a\":\"93.5%\",\"b\":\"1,234\",\"c\":\"1,234.5\"}",
	    "- a=93.5 c=1234.5"),
	ROW("{\"val\":{\"loss\":4,\"top\":{\"1\":\"0.5\"},\"l\":[1]},\"b\":2}",
	    "- val/loss=4 val/top/1=0.5 b=2"),
	ROW("{\"val\":{\"loss\":4},\"val/loss\":3}",
	    "- val/loss=3, but " SAME),
	ROW("{\"val/loss\":3,\"val\":{\"loss\":4}}",
	    "- val/loss=3, but " SAME),
	ROW("{\"a b\":3,\"a(b\":4}", "- a_b=3, but " SAME),
	ROW("{\"a\":{},\"b\":{\"c\":{}},\"d\":1}", "- d=1"),
	ROW("{\"a\":{\"b\":1}", "no: " JSON),
	ROW("{\"a\":{\"b\":1,},\"c\":1}", "no: " JSON),
	ROW("{\"step\":1,\"step\":2,\"a\":1}", "no: step is given twice"),
	ROW("{\"step\":1.5,\"a\":1}", "no: " STEP),
	ROW("{\"step\":\"1\",\"a\":1}", "1 a=1"),
	ROW("{\"step\":\"x\",\"a\":1}", "no: " STEP),
	ROW("{\"step\":{\"a\":1},\"a\":1}", "no: " STEP),
	ROW("{\"step\":null,\"a\":1}", "no: " STEP),
	ROW("{\"step\":NaN,\"a\":1}", "no: " STEP),
	ROW("{\"step\":-1,\"a\":1}", "no: " STEP),
	ROW("{\"step\":9007199254740993,\"a\":1}", "no: " STEP),
	ROW("{\"step\":1}", "no: " NONE),
	ROW("{}", "no: " NONE),
	ROW("", "no"),
	ROW(" \t", "no"),
	ROW("[1]", "no: " JSON),
	ROW("{\"a\":1} {\"a\":2}", "no: " JSON),
	ROW("{\"a\":1}}", "no: " JSON),
	ROW("{\"a\":1", "no: " JSON),
	ROW("{\"a\":1,}", "no: " JSON),
	ROW("{\"a\":1 \"b\":2}", "no: " JSON),
	ROW("{\"a\":}", "no: " JSON),
	ROW("{\"a\"}", "no: " JSON),
	ROW("{\"a", "no: " JSON),
	ROW("{a:1}", "no: " JSON),
	ROW("{'a':1}", "no: " JSON),
	ROW("{\"a\":007}", "no: " JSON),
	ROW("{\"a\":-01}", "no: " JSON),
	ROW("{\"a\":.5}", "no: " JSON),
	ROW("{\"a\":5.}", "no: " JSON),
	ROW("{\"a\":5.e1}", "no: " JSON),
	ROW("{\"a\":+5}", "no: " JSON),
	ROW("{\"a\":0x5}", "no: " JSON),
	ROW("{\"a\":1,\"b\":nul}", "no: " JSON),
	ROW("{\"a\":1,\"b\":\"\\x\"}", "no: " JSON),
	ROW("{\"a\":1,\"b\":\"\\u12g4\"}", "no: " JSON),
	ROW("{\"a\":1,\"b\":\"\t\"}", "no: " JSON),
	ROW("{\"a\":1,\"b\":[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]}",
	    "no: " JSON),
	ROW("{\"a\":1\0}", "no: " JSON),
	ROW("{\"a\":1,\"b\":\"\0\"}", "no: " JSON),
}, matched[] = {
	ROW("Epoch 3: loss = 0.25, acc 93.5%", "3 loss=0.25 acc=93.5"),
	ROW("Epoch 3: LOSS: 7", "3 loss=7"),
	ROW("loss = 0.25", "- loss=0.25"),
	ROW("loss = 0.25 loss: 7", "- loss=0.25"),
	ROW("Epoch 3: acc N/A%", "no: the text that a pattern matched is not a number"),
	ROW("Epoch 3: loss = 1 acc N/A%", "3 loss=1"),
	ROW("Epoch 3.5: loss = 1", "no: " STEP),
	ROW("\357\273\277Epoch 3: loss = 1", "3 loss=1"),
	ROW("Epoch nothing", "no"),
	ROW("loss = 1\r", "- loss=1"),
	ROW("loss = 1\rloss = 2\r", "- loss=2"),
	/* Progress bars: what was printed before the last CR counts, too. */
	ROW("Epoch 3: loss = 1\rEpoch 4: loss = 2\r done \r  ", "4 loss=2"),
	ROW("Epoch 3: loss = 1\rEpoch 4 of 9", "3 loss=1"),
	ROW("loss = 1\racc N/A%",
	    "no: the text that a pattern matched is not a number"),
	ROW("\rEpoch 1\r\r\r", "no"),
	/* Colours, a link and a title, backspaces. */
	ROW("loss\033[0m = \033[1;32m0.5\033[0m acc \033[31m93\033[m%",
	    "- loss=0.5 acc=93"),
	ROW("\033]8;;http://x/loss = 3\033\\loss = 4\033]0;loss = 5\a",
	    "- loss=4"),
	ROW("lo\b\033(Bss = 1\b\b2", "- loss=12"),
	ROW("loss = 1\033", "- loss=1"),
	ROW("loss = 1\033[31", "- loss=1"),
	ROW("loss = 1\033]0;", "- loss=1"),
	ROW("\xff\xfeloss = 1\xff", "- loss=1"),
	ROW("\033[1mloss = nan", "- loss=nan"),
	ROW("loss = 1\0", "- loss=1"),
	ROW("hpotune: loss=9", "- loss=9"),
	ROW("hpotune: junk loss = 9", "no: " WORD),
	ROW("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac",
	    "no: a pattern took too long"),
	ROW("loss = 2 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac",
	    "- loss=2"),
};

static struct metric_patterns *
rules(void)
{
	struct study_metric metrics[] = {
		{ .name = "loss", .regex = "loss = ([-+.\\w]+)" },
		{ .name = "loss", .regex = "LOSS: (\\d+)" },
		{ .name = "acc", .regex = "acc(.*)%" },
		{ .name = "deep", .regex = "((a+)+)[bd]" },
	};
	struct study_trial t = { .metrics = metrics,
		.n_metrics = 4,
		.step_regex = "Epoch ([\\d.]+)" };
	struct metric_patterns *rs = NULL;
	struct err e = ERR_INIT;

	ok(metric_patterns_new(&rs, &t, &e) == 0, "patterns compile %s",
	    e.text);
	return rs;
}

static void
test_rows(const struct row *rows, size_t n, const struct metric_patterns *rs,
    bool is_json)
{
	static struct metric_line r;
	struct buf b = { 0 };
	size_t i;
	char *line;
	bool good;

	for (i = 0; i < n; i++) {
		/* On the heap, so that a sanitizer sees a byte too far. */
		line = xmalloc(rows[i].len + (rows[i].len == 0));
		memcpy(line, rows[i].line, rows[i].len);
		good = is_json ? metric_json_parse(&r, line, rows[i].len)
			       : metric_line_parse(&r, rs, line, rows[i].len);
		is_str(show(&b, &r, good), rows[i].want, "one line");
		free(line);
	}
	buf_free(&b);
}

static void
test_bad_rules(void)
{
	struct study_metric m = { .name = "loss", .regex = "loss=(" };
	struct study_trial t = { .metrics = &m, .n_metrics = 1 };
	struct metric_patterns *rs;
	struct err e = ERR_INIT;

	ok(metric_patterns_new(&rs, &t, &e) != 0, "an open group is refused");
	is_str(e.text,
	    "trial.metrics[0].regex: missing closing parenthesis "
	    "at character 6",
	    "and the error gives the position");
	m.regex = "loss=.*";
	ok(metric_patterns_new(&rs, &t, &e) != 0, "a group is required");
	m = (struct study_metric){ .name = "a b", .regex = "(.)" };
	ok(metric_patterns_new(&rs, &t, &e) != 0, "and a name that is a name");
	m.name = "step";
	ok(metric_patterns_new(&rs, &t, &e) != 0, "other than step");
	m.name = "a";
	t.step_regex = "[";
	ok(metric_patterns_new(&rs, &t, &e) != 0, "step_regex is checked");
}

/* Long lines: limits hold, and no number is cut where the patterns end. */
static void
test_long(const struct metric_patterns *rs)
{
	static struct metric_line r;
	struct buf b = { 0 };
	int i;

	buf_puts(&b, "hpotune:");
	for (i = 0; i < METRIC_LINE_VALUES_MAX; i++)
		buf_printf(&b, " m%d=%d", i, i);
	ok(metric_line_parse(&r, NULL, b.data, b.len) &&
		r.n == METRIC_LINE_VALUES_MAX && r.values[255].value == 255,
	    "256 metrics in one line");
	buf_puts(&b, " more=1");
	ok(!metric_line_parse(&r, NULL, b.data, b.len) && r.n == 0,
	    "257 metrics in one line are refused");
	buf_clear(&b);
	for (i = 0; i < 4095 - 10; i++)
		buf_putc(&b, i == 2000 ? ' ' : '.');
	buf_puts(&b, " loss = 0.123456");
	ok(!metric_line_parse(&r, rs, b.data, b.len),
	    "a number across the end of the head is not half read");
	for (i = 0; i < METRIC_LINE_MAX; i++)
		buf_putc(&b, 'a');
	ok(!metric_line_parse(&r, rs, b.data, b.len) &&
		!metric_json_parse(&r, b.data, b.len),
	    "a line that is too long is refused");
	buf_free(&b);
}

static uint64_t
bits(double d)
{
	uint64_t u;

	memcpy(&u, &d, sizeof u);
	return u;
}

/* A random number as text, of the many ways to write one. */
static int
print_number(struct rng *g, char *text, size_t n)
{
	double d;
	uint64_t u;
	int digits = (int)rng_below(g, 20);

	switch (rng_below(g, 5)) {
	case 0:
		u = rng_u64(g);
		memcpy(&d, &u, sizeof d);
		return snprintf(text, n, "%.*e", digits, d);
	case 1:
		return snprintf(text, n, "%.*f", digits, rng_normal(g) * 100);
	case 2:
		return snprintf(text, n, "%llu.%llue%d",
		    (unsigned long long)(rng_u64(g) >> rng_below(g, 64)),
		    (unsigned long long)(rng_u64(g) >> rng_below(g, 64)),
		    (int)rng_below(g, 60) - 30);
	case 3: /* exactly between two doubles */
		d = (double)((rng_u64(g) >> 11) | INT64_C(1) << 52);
		return snprintf(text, n, "%.0f.5", d);
	default:
		return snprintf(text, n, "%.17g",
		    ldexp(1 + rng_uniform(g), (int)rng_below(g, 120) - 60));
	}
}

static void
test_numbers(void)
{
	struct rng g;
	struct metric_number num;
	char text[512], *end;
	const char *after;
	int i, len, wrong = 0;
	double want;

	rng_init(&g, 7, 1);
	for (i = 0; i < 500000 && wrong < 5; i++) {
		len = print_number(&g, text, sizeof text);
		want = strtod(text, &end);
		after = metric_number_scan(&num, text, text + len);
		if (after == end &&
		    bits(metric_number_value(&num)) == bits(want))
			continue;
		if (after == end && isnan(want) &&
		    isnan(metric_number_value(&num)))
			continue;
		printf("# %s: %a, not %a\n", text, metric_number_value(&num),
		    want);
		wrong++;
	}
	is_int(wrong, 0, "numbers are those of strtod, bit for bit");
	if (setlocale(LC_NUMERIC, "de_DE.UTF-8") == NULL)
		skip("in a locale with decimal commas", "it is not installed");
	else {
		metric_number_scan(&num, "1.5e30", "1.5e30" + 6);
		is_near(metric_number_value(&num), 1.5e30, 0, "in any locale");
	}
	setlocale(LC_NUMERIC, "C");
}

static const char name_chars[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789.:/-@";

static void
random_report(struct rng *g, struct metric_line *r)
{
	size_t i, j, len;
	uint64_t u;

	memset(r, 0, sizeof *r);
	r->has_step = rng_below(g, 2) == 0;
	r->step = r->has_step ? (int64_t)(rng_u64(g) >> 11) : 0;
	r->n = 1 + rng_below(g, 8);
	for (i = 0; i < r->n; i++) {
		/* The first letter keeps the names apart. */
		r->values[i].name[0] = (char)('A' + i);
		len = 1 + rng_below(g, METRIC_LINE_NAME_MAX);
		for (j = 1; j < len; j++)
			r->values[i].name[j] =
			    name_chars[rng_below(g, sizeof name_chars - 1)];
		u = rng_u64(g);
		memcpy(&r->values[i].value, &u, sizeof u);
		if (isnan(r->values[i].value))
			r->values[i].value = NAN;
	}
}

static void
print_report(struct buf *b, const struct metric_line *r, bool is_json)
{
	static char *names[] = { "NaN", "Infinity", "-Infinity" };
	const char *sep = is_json ? "{" : "hpotune:";
	double v;
	size_t i;

	buf_clear(b);
	for (i = 0; i < r->n; i++) {
		if (i == r->n / 2 && r->has_step) {
			buf_printf(b,
			    is_json ? "%s\"step\": %lld" : "%s step=%lld", sep,
			    (long long)r->step);
			sep = is_json ? ", " : "";
		}
		v = r->values[i].value;
		buf_printf(b, is_json ? "%s\"%s\": " : "%s %s=", sep,
		    r->values[i].name);
		if (isfinite(v))
			buf_printf(b, "%.17g", v);
		else
			buf_puts(b, names[isnan(v) ? 0 : v > 0 ? 1 : 2]);
		sep = is_json ? ", " : "";
	}
	buf_puts(b, is_json ? "}" : "");
}

/* What is printed is read back, and a line cut short never lies. */
static void
test_random(void)
{
	static struct metric_line r, back;
	struct buf b = { 0 }, want = { 0 }, got = { 0 };
	struct rng g;
	int i, wrong = 0;
	bool is_json, good;

	rng_init(&g, 7, 2);
	for (i = 0; i < 20000; i++) {
		random_report(&g, &r);
		is_json = i % 2 == 0;
		print_report(&b, &r, is_json);
		good = is_json ? metric_json_parse(&back, b.data, b.len)
			       : metric_line_parse(&back, NULL, b.data, b.len);
		show(&want, &r, true);
		wrong += strcmp(buf_str(&want), show(&got, &back, good)) != 0;
		if (is_json)
			wrong += metric_json_parse(
			    &back, b.data, rng_below(&g, b.len));
	}
	is_int(wrong, 0, "20,000 random reports are read as printed");
	buf_free(&b);
	buf_free(&want);
	buf_free(&got);
}

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

int
main(void)
{
	struct metric_patterns *rs = rules();

	test_rows(tagged, COUNT(tagged), NULL, false);
	test_rows(json, COUNT(json), NULL, true);
	test_rows(matched, COUNT(matched), rs, false);
	test_bad_rules();
	test_long(rs);
	test_numbers();
	test_random();
	metric_patterns_free(rs);
	return done_testing();
}
