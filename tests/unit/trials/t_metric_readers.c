/*
 * Formats of files that metrics are read from, as people and libraries write
 * them, and what study.json may say of them.
 */

#include <stdlib.h>
#include <sys/stat.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/model/study/study.h"
#include "tests/support/scratch.h"
#include "tests/support/tap.h"
#include "trials/metric-files/metric-files.h"

static char dir[] = "/tmp/t_metric_readers.XXXXXX";

static void
on_report(void *arg, const char *name, int64_t step, double value,
    int64_t time_us, bool again)
{
	(void)time_us;
	buf_printf(arg, "%s%s@%lld=%.6g ", again ? "?" : "", name,
	    (long long)step, value);
}

static void
on_note(void *arg, const char *text)
{
	const char *at = strstr(text, ": ");

	buf_printf(arg, "! %s ", at != NULL ? at + 2 : text);
}

/* A study whose trial has these keys; NULL: e says why there is none. */
static struct study *
study_of(const char *keys, struct err *e)
{
	char *text = xasprintf(
	    "{\"study\":\"s\",\"objective\":{\"metric\":\"a\",\"goal\":"
	    "\"minimize\"},\"parameters\":{\"x\":{\"type\":\"float\",\"min\":0,"
	    "\"max\":1}},\"trial\":{\"command\":[\"a\"],%s},\"limits\":"
	    "{\"trials\":1}}",
	    keys);
	struct study *s = NULL;

	if (study_parse(&s, text, strlen(text), "s.json", e) != 0)
		s = NULL;
	else if (metric_files_check(&s->trial, e) != 0) {
		study_free(s);
		s = NULL;
	}
	free(text);
	return s;
}

static void
put(const char *name, const char *bytes, size_t n)
{
	char *path = xasprintf("%s/%s", dir, name), *slash;
	FILE *f;

	for (slash = path + strlen(dir) + 1;
	     (slash = strchr(slash, '/')) != NULL; slash++) {
		*slash = '\0';
		(void)mkdir(path, 0700);
		*slash = '/';
	}
	f = fopen(path, "w");
	if (f == NULL || fwrite(bytes, 1, n, f) != n)
		ok(false, "%s cannot be written", path);
	if (f != NULL)
		(void)fclose(f);
	free(path);
}

/* What a study with these keys reads below the folder of the test. */
static void
is_read(const char *keys, const char *want, const char *what)
{
	struct buf out = { 0 };
	const struct metric_files_sink sink = { on_report, on_note, &out };
	struct err e = ERR_INIT;
	struct study *s = study_of(keys, &e);
	struct strv paths = { 0 };
	struct metric_files *m;
	const char *text;
	size_t i;

	if (s == NULL) {
		is_str(e.text, "", what);
		return;
	}
	for (i = 0; i < s->trial.n_files; i++) {
		text = s->trial.files[i].path_text;
		strv_add(&paths, strcmp(text, ".") == 0
				     ? xstrdup(dir)
				     : xasprintf("%s/%s", dir, text));
	}
	m = metric_files_new(&s->trial, paths.v, false);
	while (metric_files_read(m, &sink, 0, 1000, true))
		continue;
	if (out.len > 0)
		out.data[--out.len] = '\0';
	is_str(buf_str(&out), want, what);
	metric_files_free(m);
	buf_free(&out);
	strv_free(paths.v);
	study_free(s);
	(void)scratch_delete(dir);
	(void)mkdir(dir, 0700);
}

struct row {
	const char *keys, *name, *text, *want, *what;
};

#define FROM(format, path) \
	"\"metrics\":[{\"from\":\"" format "\",\"path\":\"" path "\"}]"
#define CSV FROM("csv", "m.csv")
#define JSON FROM("json", "m.jsonl")

static const struct row csv[] = {
	{ CSV, "m.csv",
	    "#{\"t_start\": 1795744801.296242, \"env_id\": \"CartPole-v1\"}\n"
	    "r,l,t\n18.0,18,35.7\n29.0,29,36.3\n",
	    "r@1=18 l@1=18 t@1=35.7 r@2=29 l@2=29 t@2=36.3",
	    "stable-baselines3's monitor.csv: a comment before the header" },
	{ CSV, "m.csv", "\357\273\277epoch,a\n0,1\n", "a@0=1",
	    "a mark of UTF-8 before the header" },
	{ CSV, "m.csv", "epoch;a;b\n1;0,5;1.234,25\n2;-1,5e-3;7\n",
	    "a@1=0.5 b@1=1234.25 a@2=-0.0015 b@2=7", "decimal commas" },
	{ CSV, "m.csv", "epoch;a\n1;1,234\n", "a@1=1.234",
	    "a comma that separates no columns is a decimal one" },
	{ CSV, "m.csv", "epoch,a,b\n1,93.5%,2 s\n", "a@1=93.5 b@1=2", "units" },
	{ CSV, "m.csv", "iter\tLogloss\n0\t0.69\n1\t0.5\n",
	    "Logloss@0=0.69 Logloss@1=0.5", "tabs, as CatBoost has them" },
	{ CSV, "m.csv", "\"epoch\",\"a, b\",c\n\"1\",\" 0.5 \",\"0,25\"\n",
	    "a__b@1=0.5 c@1=0.25", "numbers in quotes" },
	{ CSV, "m.csv", "# made by x\n# epoch,a\n0,1\n1,2\n", "a@0=1 a@1=2",
	    "the names are in a comment, as numpy.savetxt writes them" },
	{ CSV, "m.csv", "# made by x\n0,1\n",
	    "! it has no line with the names of its columns",
	    "but not in every comment" },
	{ CSV, "m.csv", "0,1\n1,2\nepoch,a\n2,3\n",
	    "! it has no line with the names of its columns a@2=3",
	    "no names" },
	{ CSV, "m.csv", "epoch,a\n0,1\n# resumed\n1,2\n", "a@0=1 a@1=2",
	    "a comment between rows" },
	{ CSV, "m.csv", "a\n\"1,234\"\n\"0,234\"\n",
	    "! a number like 1,234 may be 1.234 or 1234: it was skipped "
	    "a@2=0.234",
	    "three digits behind a comma may be thousands: they are none" },
	{ CSV, "m.csv",
	    "                  epoch,         train/box_loss, "
	    "metrics/mAP50(B)\n"
	    "                      0,                 1.7341,          0.5\n",
	    "train/box_loss@0=1.7341 metrics/mAP50_B_@0=0.5",
	    "blanks around names, as Ultralytics wrote them" },
	{ CSV, "m.csv", "Run of today\n\nmodel: x\nepoch,a\n0,1\n", "a@0=1",
	    "lines before the names" },
	{ CSV, "m.csv", "Log, 2026-01-31\nepoch,a\n0,1\n", "a@0=1",
	    "a title with a comma" },
	{ CSV, "m.csv", "epoch,a\nNA,None\n0,1\n", "a@0=1",
	    "words for no number are no names" },
	{ CSV, "m.csv", "sep=;\nepoch;a\n0;0,5\n", "a@0=0.5",
	    "the separator that Excel names" },
	{ CSV, "m.csv", "epoch,text,a\n0,\"x\n, \"\"y\"\"\n\",1\n1,5\"x,2\n",
	    "a@0=1 a@1=2", "a text over several lines" },
	{ CSV, "m.csv", "epoch,a,a\n0,1,2\n",
	    "! it has two columns with the name a: the first is read a@0=1",
	    "a name twice" },
	{ CSV, "m.csv", "\200\004\225", "! it is a pickle of Python",
	    "a pickle" },
	{ CSV, "m.csv", "\377\376e", "! it is in UTF-16, and UTF-8 is read",
	    "UTF-16" },
	{ CSV, "m.csv", "epoch,a\r0,1\r", "! its lines end with CR alone",
	    "CR alone" },
	{ CSV, "m.csv", "epoch,a\n0,1\n1,2\nepoch,a\n2,3\n",
	    "a@0=1 a@1=2 a@2=3", "the header again" },
	{ CSV, "m.csv", "a,b\n1,2\n3,4\na,c,b\n5,6,7\n",
	    "a@1=1 b@1=2 a@2=3 b@2=4 a@3=5 c@3=6 b@3=7",
	    "another header; rows go on" },
	{ CSV, "m.csv", "a,epoch\nnan,1\nNA,2\n,3\ninf,4\nx,5\n",
	    "a@1=nan a@4=inf", "cells without a number" },
	{ CSV, "m.csv", "Step,Value\n5,0.5\n", "Value@5=0.5",
	    "the step in other letters" },
	{ CSV, "m.csv", "time/total_timesteps,rollout/ep_rew_mean\n512,20.5\n",
	    "rollout/ep_rew_mean@512=20.5", "steps of stable-baselines3" },
	{ CSV, "m.csv", "epoch  a b\n 1 0.5   2 \n2 0,25 3\n",
	    "a@1=0.5 b@1=2 a@2=0.25 b@2=3", "blanks between the columns" },
	{ CSV, "m.csv", "# epoch a\n1.0e+00 5.0e-01\n2.0e+00 2.5e-01\n",
	    "a@1=0.5 a@2=0.25", "as numpy.savetxt writes them" },
	{ CSV, "m.csv", "| epoch | val loss |\n|---|---|\n| 1 | 0.5 |\n",
	    "val_loss@1=0.5", "bars between them" },
	{ CSV, "m.csv", "# a\n\n\nepoch,a\n# b\n1,2\n", "a@1=2",
	    "empty lines, and a comment behind the header" },
	{ "\"metrics\":[{\"from\":\"csv\",\"path\":\"m.csv\",\"tag\":\"val\","
	  "\"name\":\"a\"},{\"from\":\"csv\",\"path\":\"m.csv\",\"step\":\"n\","
	  "\"tag\":\"x(B)\",\"name\":\"b\"}]",
	    "m.csv", "n,val,x(B)\n7,1,2\n", "a@7=1 b@7=2",
	    "entries of one file are one source" },
};

static const struct row json[] = {
	{ "\"metrics\":[{\"from\":\"json\",\"path\":\"m.jsonl\",\"tag\":"
	  "\"metrics/mAP50-95(B)\",\"name\":\"map\"}]",
	    "m.jsonl", "{\"metrics/mAP50-95(B)\": 0.2, \"epoch\": 1}\n",
	    "map@1=0.2 epoch@1=1", "a tag with brackets" },
	{ JSON, "m.jsonl",
	    "{'epoch': 1, 'a': np.float64(0.5)}\n{'epoch': 2, \"a\": None}\n",
	    "epoch@1=1 a@1=0.5 epoch@2=2",
	    "dictionaries as Python prints them" },
	{ JSON, "m.jsonl", "{\"metrics/mAP50-95(B)\": 0.2, \"a %\": 1}\n",
	    "metrics/mAP50-95_B_@1=0.2 a__@1=1",
	    "and the name it has without" },
	{ "\"metrics\":[{\"from\":\"json\",\"path\":\"m.jsonl\",\"step\":"
	  "\"num_updates\",\"tag\":\"val.loss\",\"name\":\"a\"}]",
	    "m.jsonl",
	    "{\"val\": {\"loss\": \"4.000\", \"ppl\": 16}, "
	    "\"num_updates\": \"90\"}\n",
	    "a@90=4 val/ppl@90=16", "texts that are numbers, objects inside" },
	{ "\"metrics\":[{\"from\":\"json\",\"path\":\"m.jsonl\",\"tag\":"
	  "\"pr\303\251cision\",\"name\":\"a\"}]",
	    "m.jsonl", "{\"pr\\u00e9cision\": 1}\n{\"pr\303\251cision\": 2}\n",
	    "a@1=1 a@2=2", "a tag in UTF-8, and as Python writes it" },
	{ JSON, "m.jsonl", "{\n  \"eval_loss\": 0.5,\n  \"step\": 9\n}",
	    "eval_loss@9=0.5", "an object over several lines" },
	{ JSON, "m.jsonl",
	    "[{\"step\": 4, \"a\": 1},\n {\"b\": [{}], \"a\": NaN}]\n",
	    "a@4=1 a@2=nan", "a list of objects" },
	{ JSON, "m.jsonl",
	    "[\n  {\n    \"s\": \"}\",\n    \"a\": 1\n  },\n  {\n    \"a\": 2\n"
	    "  }\n]",
	    "a@1=1 a@2=2", "over several lines" },
	{ JSON, "m.jsonl", "[1, {\"a\": 2}, ",
	    "! its list has something else than objects a@1=2",
	    "a list of other things, not ended" },
	{ JSON, "m.jsonl", "[:{\"a\": 2}{",
	    "! its list has something else than objects a@1=2", "no JSON" },
	{ JSON, "m.jsonl",
	    "{\"epoch\": 0, \"a\": 1}\n{\"epoch\": 10, \"a\": 2}",
	    "epoch@0=0 a@0=1 epoch@10=10 a@10=2", "the epoch is the step" },
	{ JSON, "m.jsonl", "{\"epoch\": 1, \"iteration\": 5, \"step\": 7}",
	    "epoch@7=1 iteration@7=5", "unless there is a step" },
	{ JSON, "m.jsonl",
	    "{\"epoch\": 0.5, \"a\": 1}\n{\"epoch\": 4, \"a\": 2}",
	    "epoch@1=0.5 a@1=1 epoch@2=4 a@2=2",
	    "an epoch that is no step, and none later" },
	{ JSON, "m.jsonl", "{\"a\": \"tensor(0.5)\"}\n", "a@1=0.5",
	    "a text as Python shows an object" },
	{ JSON, "m.jsonl", "{\"a\": [1, 2]}\n",
	    "! its numbers are in lists, which are not read", "lists" },
	{ JSON, "m.jsonl", "\357\273\277{\"a\": 1}\n{\"a\": 2}", "a@1=1 a@2=2",
	    "behind the mark of UTF-8" },
	{ JSON, "m.jsonl", "{\"a\": 1}\n{\n\"a\": 2\n},\n{\"a\": 3}\n",
	    "a@1=1 a@2=2 a@3=3", "several" },
	{ "\"metrics\":[{\"from\":\"json\",\"path\":\"*/scalars.json\"}]",
	    "20260101_000000/scalars.json", "{\"loss\": 1, \"step\": 5}\n",
	    "loss@5=1", "a pattern of paths" },
	{ "\"metrics\":[{\"from\":\"json\",\"path\":\"work/**/s*.json\"}]",
	    "work/a/b/scalars.json", "{\"loss\": 1, \"step\": 5}\n", "loss@5=1",
	    "any folders" },
	{ "\"metrics\":[{\"from\":\"json\",\"path\":\"**/scalars.json\"}]",
	    "scalars.json", "{\"loss\": 1, \"step\": 5}\n", "loss@5=1",
	    "or none" },
	{ "\"metrics\":[{\"from\":\"json\",\"path\":\"*/scalars.json\"}]",
	    "a/b/scalars.json", "{\"loss\": 1}\n", "", "but * is one of them" },
	{ "\"metrics\":[{\"from\":\"csv\",\"path\":\"logs/v*\"}]",
	    "logs/v1/deep/m.csv", "a\n1\n", "a@1=1",
	    "all files of a folder that the pattern names" },
	{ JSON, "m.jsonl/*.jsonl", "{\"a\": 1}\n", "a@1=1",
	    "a file whose name has a star" },
};

static const struct row state[] = {
	{ FROM("trainer_state", "t.json"), "t.json",
	    "{\"log_history\": [\"{\"]}", "", "a text with a brace" },
	{ FROM("trainer_state", "t.json"), "t.json",
	    "{\"a\": \"\\\"log_history\\\": [\", \"b\": [{\"log_history\": 1}],"
	    " \"log_history\": [\"]\", 1, null, [{}], {\"n\": \"}\", \"step\": "
	    "3,"
	    " \"loss\": NaN, \"f\": \"inf\"}], \"c\": 1}",
	    "?loss@3=nan ?f@3=inf", "braces and names in texts" },
	{ FROM("trainer_state", "t.json"), "t.json", "{\"log_history\": {}}",
	    "! it is incomplete", "no list" },
	{ FROM("trainer_state", "t.json"), "t.json", "[[[[[[[[",
	    "! it is incomplete", "brackets alone" },
	{ FROM("trainer_state", "t.json"), "t.json", "{\"log_history\": [}]}",
	    "", "a bracket of another kind" },
};

#define TEXT                                                      \
	"\"metrics\":[{\"path\":\"mnist.log\",\"name\":\"loss\"," \
	"\"regex\":\"metricName: loss, metricValue: ([.0-9]+)\"}]"

static const struct row text[] = {
	{ TEXT, "mnist.log",
	    "x\n{metricName: loss, metricValue: 0.4}\n"
	    "{metricName: loss, metricValue: 0.3}\n",
	    "loss@1=0.4 loss@2=0.3", "a pattern of a file" },
	{ TEXT ",\"step_regex\":\"^([0-9]+)\"", "mnist.log",
	    "7 metricName: loss, metricValue: 0.4\n", "loss@7=0.4",
	    "the step of all patterns" },
	{ "\"step_regex\":\"x\",\"metrics\":[{\"from\":\"text\",\"path\":"
	  "\"a.log\",\"name\":\"a\",\"regex\":\"a=(\\\\S+)\"},{\"path\":"
	  "\"a.log\",\"step_regex\":\"e=(\\\\S+)\",\"name\":\"b\",\"regex\":"
	  "\"b=(\\\\S+)\"}]",
	    "a.log", "e=1 a=2 b=3\n", "a@1=2 b@1=3",
	    "two patterns of one file, and its own step" },
	{ "\"metrics\":[{\"path\":\"l/*.txt\",\"reads\":[\"xgboost\","
	  "\"keras\"]}]",
	    "l/9.txt", "[3]\ttrain-rmse:0.51\teval-rmse:0.62\n",
	    "train-rmse@3=0.51 eval-rmse@3=0.62", "lines of a library" },
	{ "\"metrics\":[{\"from\":\"text\",\"path\":\"logs\"}]", "logs/a.log",
	    "hpotune: step=4 a=2\n", "a@4=2",
	    "tagged lines of all logs in a folder" },
	{ "\"metrics\":[{\"path\":\"a.log\",\"reads\":\"hf\"}]", "a.log",
	    "{'eval_loss': '0.5', 'epoch': '1.0'}\n"
	    "{'eval_loss': '0.4', 'epoch': '2.0'}\n"
	    "{'eval_loss': '0.3', 'epoch': '2.0'}\n",
	    "eval_loss@1=0.5 epoch@1=1 eval_loss@2=0.4 epoch@2=2",
	    "the same epoch is the same report" },
	{ "\"metrics\":[{\"path\":\"a.log\",\"reads\":\"keras\"}]", "a.log",
	    "Epoch 1/2\n1/2 - 0s - loss: 3\r2/2 - 0s - loss: 2\n"
	    "Epoch 2/2\n2/2 - 0s - loss: 1\n",
	    "loss@1=2 loss@2=1", "a line between two lines, and a bar" },
};

static const struct row preset[] = {
	{ "\"reads\":\"mmengine\"", "20260101/vis_data/scalars.json",
	    "{\"loss\": 1.5, \"epoch\": 1, \"step\": 5}\n",
	    "loss@5=1.5 epoch@5=1", "mmengine" },
	{ "\"reads\":\"sb3\"", "logs/progress.csv",
	    "rollout/ep_rew_mean,time/total_timesteps\n,128\n20.5,256\n",
	    "rollout/ep_rew_mean@256=20.5", "sb3" },
	{ "\"reads\":\"catboost\"", "catboost_info/test_error.tsv",
	    "iter\tLogloss\tAUC\n0\t0.7\t0.5\n",
	    "test/Logloss@0=0.7 test/AUC@0=0.5", "catboost" },
	{ "\"reads\":\"ultralytics\"", "runs/detect/train/results.csv",
	    "epoch,time,val/box_loss\n1,2.5,0.5\n",
	    "time@1=2.5 val/box_loss@1=0.5", "ultralytics" },
};

static void
test_rows(const struct row *rows, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		put(rows[i].name, rows[i].text, strlen(rows[i].text));
		is_read(rows[i].keys, rows[i].want, rows[i].what);
	}
}

static const struct wrong {
	const char *keys, *why;
} wrongs[] = {
	{ "\"metrics\":[{\"from\":\"csvv\"}]",
	    "trial.metrics[0].from: expected tensorboard, csv, json, "
	    "trainer_state or text; did you mean \"csv\"?" },
	{ "\"metrics\":[{\"from\":\"csv\"}]",
	    "trial.metrics[0]: path is missing: the file, or a folder with CSV "
	    "files" },
	{ "\"metrics\":[{\"from\":\"text\"}]",
	    "trial.metrics[0]: path is missing: the file whose lines are "
	    "read" },
	{ "\"metrics\":[{\"from\":\"tensorboard\",\"step\":\"a\"}]",
	    "trial.metrics[0].step: this key goes with \"from\": csv or "
	    "json" },
	{ "\"metrics\":[{\"from\":\"csv\",\"path\":\"a\",\"name\":\"a\","
	  "\"tag\":\"b\",\"regex\":\"c\"}]",
	    "trial.metrics[0].regex: this key goes with \"from\": text, or "
	    "without from" },
	{ "\"metrics\":[{\"path\":\"a\",\"name\":\"a\",\"tag\":\"b\",\"regex\":"
	  "\"(c)\"}]",
	    "trial.metrics[0].tag: this key does not go with the lines of a "
	    "text" },
	{ "\"metrics\":[{\"path\":\"a\",\"name\":\"a\",\"regex\":\"c\"}]",
	    "trial.metrics[0].regex: expected a group in parentheses around "
	    "the value" },
	{ "\"metrics\":[{\"path\":\"a\",\"name\":\"a\",\"regex\":\"(c)\","
	  "\"step_regex\":\"(\"}]",
	    "trial.metrics[0].step_regex: missing closing parenthesis at "
	    "character 1" },
};

static void
test_wrong(void)
{
	struct err e = ERR_INIT;
	struct study *s;
	const char *at;
	size_t i;

	for (i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++) {
		s = study_of(wrongs[i].keys, &e);
		at = s == NULL ? strstr(e.text, "trial.") : NULL;
		is_str(at != NULL ? at : "", wrongs[i].why, "a wrong key");
		if (s != NULL)
			study_free(s);
	}
}

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

int
main(void)
{
	if (mkdtemp(dir) == NULL)
		return 1;
	test_rows(csv, COUNT(csv));
	test_rows(json, COUNT(json));
	test_rows(state, COUNT(state));
	test_rows(text, COUNT(text));
	test_rows(preset, COUNT(preset));
	test_wrong();
	(void)scratch_delete(dir);
	return done_testing();
}
