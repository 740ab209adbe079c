/*
 * Metrics from files: they grow, are half written, are written anew, and belong
 * to earlier attempts.
 */

#include <stdlib.h>
#include <sys/stat.h>

#include "src/base/mem.h"
#include "src/base/tfevents.h"
#include "src/model/study/study.h"
#include "tests/support/scratch.h"
#include "tests/support/tap.h"
#include "trials/metric-files/metric-files-internal.h"

static char dir[] = "/tmp/t_metric_files.XXXXXX";
static int64_t clock_ms;

static void
on_report(void *arg, const char *name, int64_t step, double value,
    int64_t time_us, bool again)
{
	buf_printf(arg, "%s%s %lld %.6g%s\n", again ? "?" : "", name,
	    (long long)step, value, time_us != 0 ? " t" : "");
}

static void
on_note(void *arg, const char *text)
{
	const char *at = strstr(text, ": ");

	buf_printf(arg, "! %s\n", at != NULL ? at + 2 : text);
}

/* All that is new. */
static void
is_new(struct metric_files *m, int64_t since_us, bool final, const char *want,
    const char *what)
{
	struct buf out = { 0 };
	const struct metric_files_sink sink = { on_report, on_note, &out };

	clock_ms += 5000;
	while (metric_files_read(m, &sink, since_us, clock_ms, final))
		continue;
	is_str(buf_str(&out), want, what);
	buf_free(&out);
}

static char *
path_of(const char *name)
{
	return xasprintf("%s/%s", dir, name);
}

static void
put_bytes(const char *name, const char *mode, const void *bytes, size_t n)
{
	char *path = path_of(name);
	FILE *f = fopen(path, mode);

	if (f == NULL || fwrite(bytes, 1, n, f) != n)
		ok(false, "%s cannot be written", path);
	if (f != NULL)
		(void)fclose(f);
	free(path);
}

static void
put(const char *name, const char *mode, const char *text)
{
	put_bytes(name, mode, text, strlen(text));
}

static void
folder(const char *name)
{
	char *path = path_of(name);

	(void)mkdir(path, 0700);
	free(path);
}

static struct metric_files *
open_one(
    struct study_trial *t, struct study_file *f, const char *name, bool adopted)
{
	char *path = path_of(name), *paths[] = { path, NULL };
	struct metric_files *m;

	t->files = f;
	t->n_files = 1;
	m = metric_files_new(t, paths, adopted);
	free(path);
	return m;
}

static void
test_csv(void)
{
	static char format[] = "csv";
	struct study_file f = { .format = format };
	struct study_trial t = { 0 };
	struct metric_files *m = open_one(&t, &f, "m.csv", false);

	is_new(m, 0, false, "", "a file that is not there is waited for");
	put("m.csv", "we", "epoch,step,loss,\"acc, top\"\n0,4,0.5,\n0,4,");
	is_new(m, 0, false, "epoch 4 0\nloss 4 0.5\n",
	    "whole rows are read, empty cells are not");
	put("m.csv", "ae", ",0.75\n");
	is_new(m, 0, false, "acc__top 4 0.75\n",
	    "the rest of a row completes it; the epoch of a step is read once");
	put("m.csv", "ae", "1,x,NA,inf\n1,2.5,1,1\n");
	is_new(m, 0, false,
	    "epoch 3 1\nacc__top 3 inf\n"
	    "! a step is not an integer from 0 to 2^53: its row was skipped\n",
	    "a step that is no number is the row; a broken one skips it");
	/* As Lightning does when a new metric appears. */
	put("m.csv", "we", "epoch,step,loss,val\n0,4,0.5,\n1,9,0.25,8\n");
	is_new(m, 0, false,
	    "?epoch 4 0\n?loss 4 0.5\n?epoch 9 1\n?loss 9 0.25\n?val 9 8\n",
	    "a file that is written anew is read again, and marked");
	put("m.csv", "ae", "2,14,0.125,9");
	is_new(m, 0, false, "", "a row without its end waits");
	is_new(m, 0, true, "?epoch 14 2\n?loss 14 0.125\n?val 14 9\n",
	    "the end of the trial is its end");
	is_new(m, 0, true, "", "and nothing is read twice");
	metric_files_free(m);
	f.step = strcpy((char[8]){ 0 }, "iter");
	put("k.csv", "we", "loss;iter\r\n0.5;7\r\n");
	m = open_one(&t, &f, "k.csv", true);
	is_new(m, 0, false, "?loss 7 0.5\n",
	    "semicolons, line ends of DOS, another step; after a restart "
	    "reports are marked");
	metric_files_free(m);
}

static void
test_json(void)
{
	static char format[] = "json";
	struct study_file f = { .format = format };
	struct study_trial t = { 0 };
	struct metric_files *m = open_one(&t, &f, "m.jsonl", false);

	put("m.jsonl", "we",
	    "{\"loss\": 0.5}\nx\n{\"step\": 9, \"loss\": 1}\n");
	is_new(m, 0, false,
	    "loss 1 0.5\n! the line is not one JSON object\nloss 9 1\n",
	    "JSON lines: the line is the step where none is given");
	metric_files_free(m);
}

/* One object, or a list, written anew for each report, without a newline. */
static void
test_json_anew(void)
{
	static char format[] = "json";
	struct study_file f = { .format = format };
	struct study_trial t = { 0 };
	struct metric_files *m = open_one(&t, &f, "n.json", false);

	put("n.json", "we", "{\"step\": 1, \"loss\"");
	is_new(m, 0, false, "", "half an object is waited for");
	put("n.json", "ae", ": 0.5}");
	is_new(m, 0, false, "loss 1 0.5\n", "and read without a newline");
	put("n.json", "we", "{\"step\": 2, \"loss\": 0.25}");
	is_new(m, 0, false, "?loss 2 0.25\n", "another one in its place");
	put("n.json", "we", "{\n \"step\": 3,\n \"loss\": 0.125\n}");
	is_new(m, 0, false, "?loss 3 0.125\n", "over several lines");
	put("n.json", "we", "[{\"step\": 3, \"loss\": 0.125}, {\"step\": 4");
	is_new(m, 0, false, "?loss 3 0.125\n", "a list that is half written");
	put("n.json", "ae", ", \"loss\": 1}]");
	is_new(m, 0, true, "?loss 4 1\n", "and its rest");
	metric_files_free(m);
}

/* Programs that write no newline, a comma, or a brace on the line of another. */
static void
test_json_together(void)
{
	static char format[] = "json";
	struct study_file f = { .format = format };
	struct study_trial t = { 0 };
	struct metric_files *m = open_one(&t, &f, "t.json", false);

	put("t.json", "we", "{\"loss\": 0.5}{\"loss\": 0.25}");
	is_new(m, 0, false, "loss 1 0.5\nloss 2 0.25\n",
	    "objects behind each other without a newline");
	put("t.json", "ae", "{\"loss\": 0.125}{\"lo");
	is_new(m, 0, false, "", "half of one is waited for");
	put("t.json", "ae", "ss\": 2}");
	is_new(m, 0, false, "loss 3 0.125\nloss 4 2\n", "and read");
	put("t.json", "ae", "\n{\"loss\": 3},\n  \n");
	is_new(m, 0, false, "loss 5 3\n", "a comma behind one");
	put("t.json", "ae", "{\n\"loss\": 4\n}{\n\"loss\": 5\n}\n");
	is_new(m, 0, false, "loss 6 4\nloss 7 5\n",
	    "one that begins where another ends");
	put("t.json", "ae", "{\"loss\": 6}x\n");
	is_new(m, 0, false, "loss 8 6\n! the line is not one JSON object\n",
	    "what is behind one is told");
	metric_files_free(m);
}

static void
test_trainer(void)
{
	static const char head[] =
	    "{\"epoch\": 1.0, \"note\": \"log\\\"[\", \"log_history\": [\n"
	    " {\"epoch\": 0.5, \"loss\": NaN, \"step\": 5},\n";
	static char format[] = "trainer_state";
	struct study_file f = { .format = format };
	struct study_trial t = { 0 };
	struct metric_files *m = open_one(&t, &f, "out", false);

	folder("out");
	folder("out/checkpoint-5");
	put("out/checkpoint-5/trainer_state.json", "we", head);
	is_new(m, 0, false, "", "a state that is half written is waited for");
	put("out/checkpoint-5/trainer_state.json", "ae",
	    " {\"eval_loss\": 0.25, \"step\": 5}], \"max\": 3}");
	is_new(m, 0, false, "?epoch 5 0.5\n?loss 5 nan\n?eval_loss 5 0.25\n",
	    "the history of a state is read");
	is_new(m, 0, false, "", "once");
	metric_files_free(m);
}

/* A record of an event. */
static size_t
record_frame(unsigned char *out, const unsigned char *data, uint64_t n)
{
	uint32_t crc;

	memcpy(out, &n, 8);
	crc = tfevents_checksum(out, 8);
	memcpy(out + 8, &crc, 4);
	memcpy(out + 12, data, n);
	crc = tfevents_checksum(data, n);
	memcpy(out + 12 + n, &crc, 4);
	return (size_t)n + 16;
}

/* A record of one scalar, as tensorboardX writes it. */
static size_t
record_make(unsigned char *out, double time_s, int64_t step, float value)
{
	unsigned char data[32] = { 0x09 };

	memcpy(data + 1, &time_s, 8);
	data[9] = 0x10;
	data[10] = (unsigned char)step;
	/* Summary.Value: tag "x", simple_value. */
	memcpy(data + 11, "\x2a\x0a\x0a\x08\x0a\x01x\x15", 8);
	memcpy(data + 19, &value, 4);
	return record_frame(out, data, 23);
}

/* What add_hparams writes before its results. */
static size_t
record_hparams(unsigned char *out)
{
	static const char tag[] = "_hparams_/session_end_info";
	unsigned char data[64] = { 0x2a, sizeof tag + 3, 0x0a, sizeof tag + 1,
		0x0a, sizeof tag - 1 };

	memcpy(data + 6, tag, sizeof tag - 1);
	return record_frame(out, data, sizeof tag + 5);
}

static void
test_events(void)
{
	static char format[] = "tensorboard";
	struct study_file f = { .format = format };
	struct study_tag tag = { strcpy((char[8]){ 0 }, "eval/x"),
		strcpy((char[8]){ 0 }, "goal") };
	struct study_trial t = { .tags = &tag, .n_tags = 1 };
	struct metric_files *m;
	unsigned char one[64], two[64];
	size_t n;

	folder("tb");
	folder("tb/eval");
	folder("tb/part");
	folder("tb/1700.5");
	m = open_one(&t, &f, "tb", false);
	n = record_make(one, 1000, 1, 0.5F);
	(void)record_make(two, 2000, 2, 0.25F);
	put_bytes("tb/events.out.tfevents.1", "we", one, n);
	put_bytes("tb/events.out.tfevents.1", "ae", two, 20);
	is_new(m, 0, false, "x 1 0.5 t\n", "whole records are read");
	put_bytes("tb/events.out.tfevents.1", "ae", two + 20, n - 20);
	put_bytes("tb/events.out.tfevents.2", "we", two, n);
	put_bytes("tb/eval/events.out.tfevents.1", "we", two, n);
	put_bytes("tb/part/events.out.tfevents.1", "we", two, n);
	put_bytes("tb/1700.5/events.out.tfevents.1", "we", two, n);
	is_new(m, 0, false,
	    "x 2 0.25 t\nx 2 0.25 t\ngoal 2 0.25 t\nx 2 0.25 t\n"
	    "part/x 2 0.25 t\n",
	    "the rest of a record, new files, and folders with their names; "
	    "a tag has the name that is asked for");
	two[20] ^= 1;
	put_bytes("tb/events.out.tfevents.2", "ae", two, n);
	put_bytes("tb/events.out.tfevents.2", "ae", one, n);
	put_bytes("tb/events.out.tfevents.3", "we", one, n - 1);
	is_new(m, 0, false, "", "a damaged record is waited for");
	is_new(m, 0, true,
	    "! a damaged record was skipped\nx 1 0.5 t\n! its last record "
	    "is incomplete\n",
	    "at the end of the trial it is passed over, and said");
	metric_files_free(m);
	m = open_one(&t, &f, "tb/events.out.tfevents.1", true);
	is_new(m, INT64_C(1500) * 1000000, false, "?x 2 0.25 t\n",
	    "events from before the attempt are not read");
	metric_files_free(m);
	m = open_one(&t, &f, "tb", false);
	is_new(m, INT64_C(4000000000) * 1000000, false, "",
	    "files last written before the attempt are not read");
	metric_files_free(m);
}

/* A curve in tb, and in a folder below it what add_hparams writes at the end. */
static void
test_results(void)
{
	static char format[] = "tensorboard";
	struct study_file f = { .format = format };
	struct study_trial t = { 0 };
	struct metric_files *m;
	unsigned char one[64], two[64], hparams[64];
	size_t n = record_make(one, 1000, 0, 0.25F);
	size_t n_hparams = record_hparams(hparams);

	(void)record_make(two, 1001, 1, 0.5F);
	folder("hp");
	folder("hp/170");
	put_bytes("hp/170/a.tfevents", "we", hparams, n_hparams);
	put_bytes("hp/170/a.tfevents", "ae", one, n);
	put_bytes("hp/b.tfevents", "we", hparams, n_hparams);
	m = open_one(&t, &f, "hp", false);
	is_new(m, 0, false, "", "results wait for the end of the trial");
	put_bytes("hp/b.tfevents", "ae", two, n);
	is_new(m, 0, false, "x 1 0.5 t\n",
	    "a file with hyperparameters and a curve is read");
	is_new(m, 0, true, "", "a result of a metric that has a curve is none");
	metric_files_free(m);
	put_bytes("hp/b.tfevents", "we", hparams, n_hparams);
	m = open_one(&t, &f, "hp", false);
	is_new(m, 0, false, "", "a metric without a curve waits, too");
	is_new(m, 0, true, "x 0 0.25 t\n", "and its result is read at the end");
	is_new(m, 0, true, "", "once");
	metric_files_free(m);
	m = open_one(&t, &f, "hp", false);
	is_new(m, 0, false, "", "a file of results");
	put_bytes("hp/170/a.tfevents", "ae", two, n);
	is_new(m, 0, false, "x 0 0.25 t\nx 1 0.5 t\n",
	    "with a second value it is a curve after all");
	metric_files_free(m);
}

/* A file that a library has written, below the folder of the test. */
static void
put_recorded(const char *recorded, const char *name)
{
	const char *top = getenv("TOP_SRCDIR");
	char bytes[4096];
	char *path = xasprintf(
	    "%s/tests/data/metrics/%s", top != NULL ? top : ".", recorded);
	FILE *f = fopen(path, "r");
	size_t n = f != NULL ? fread(bytes, 1, sizeof bytes, f) : 0;

	ok(n > 0, "%s is read", path);
	put_bytes(name, "we", bytes, n);
	if (f != NULL)
		(void)fclose(f);
	free(path);
}

/* As SummaryWriter of tensorboardX has written them. */
static void
test_recorded(void)
{
	static char format[] = "tensorboard";
	struct study_file f = { .format = format };
	struct study_trial t = { 0 };
	struct metric_files *m;

	folder("rec");
	folder("rec/1795760371.5049095");
	put_recorded("hparams-curve.tfevents", "rec/events.out.tfevents.1.vm");
	put_recorded("hparams.tfevents",
	    "rec/1795760371.5049095/events.out.tfevents.1.vm");
	m = open_one(&t, &f, "rec", false);
	is_new(m, 0, true,
	    "val_acc 0 0.5 t\ntrain/loss 0 1 t\nval_acc 1 0.6 t\n"
	    "train/loss 1 0.5 t\nval_acc 2 0.7 t\ntrain/loss 2 0.333333 t\n"
	    "val_acc 3 0.8 t\ntrain/loss 3 0.25 t\n",
	    "add_hparams of tensorboardX changes no curve");
	metric_files_free(m);
}

/* Some programs write whole seconds. */
static void
test_seconds(void)
{
	static char format[] = "tensorboard";
	struct study_file f = { .format = format };
	struct study_trial t = { 0 };
	struct metric_files *m;
	unsigned char one[64];
	size_t n;

	folder("s");
	n = record_make(one, 1000, 1, 0.5F);
	put_bytes("s/a.tfevents", "we", one, n);
	n = record_make(one, 1000.5, 2, 0.5F);
	put_bytes("s/a.tfevents", "ae", one, n);
	n = record_make(one, 999, 3, 0.5F);
	put_bytes("s/a.tfevents", "ae", one, n);
	m = open_one(&t, &f, "s", false);
	is_new(m, INT64_C(1000700000), true, "x 1 0.5 t\n",
	    "a whole second may be any time within it");
	metric_files_free(m);
}

/* More than one read takes. */
static void
test_large(void)
{
	static char format[] = "tensorboard";
	struct study_file f = { .format = format };
	struct study_trial t = { 0 };
	struct metric_files *m;
	unsigned char one[64], *large;
	size_t n, i, count = 40000;
	struct buf out = { 0 };
	const struct metric_files_sink sink = { on_report, on_note, &out };
	uint64_t size = 3 << 20;
	uint32_t crc;

	folder("large");
	n = record_make(one, 1000, 1, 0.5F);
	for (i = 0; i < count; i++)
		put_bytes("large/a.tfevents", i == 0 ? "we" : "ae", one, n);
	large = xcalloc(1, (size_t)size + 16);
	memcpy(large, &size, 8);
	crc = tfevents_checksum(large, 8);
	memcpy(large + 8, &crc, 4);
	put_bytes("large/a.tfevents", "ae", large, (size_t)size + 16);
	free(large);
	put_bytes("large/a.tfevents", "ae", one, n);
	m = open_one(&t, &f, "large", false);
	clock_ms += 5000;
	ok(metric_files_read(m, &sink, 0, clock_ms, false) && out.len > 0 &&
		out.len < count * 10,
	    "one read ends before a large file does");
	while (metric_files_read(m, &sink, 0, clock_ms, false))
		continue;
	is_int((long long)out.len, (long long)(count + 1) * 10,
	    "all is read, and a picture is passed over");
	buf_free(&out);
	metric_files_free(m);
}

static void
on_found(void *arg, const char *path, const char *prefix, bool below)
{
	(void)path;
	(void)prefix;
	(void)below;
	++*(int *)arg;
}

/* Files that are not searched are not kept, sorted or looked at. */
/* Two files have one metric, as those of one tool for each part of the data. */
static void
test_both(void)
{
	struct study_file f = { .format = "csv" };
	struct study_trial t = { 0 };
	struct metric_files *m;

	folder("both");
	put("both/a.csv", "we", "step,loss\n1,2\n2,1\n");
	m = open_one(&t, &f, "both", false);
	is_new(m, 0, false, "loss 1 2\nloss 2 1\n", "the first of two files");
	put("both/b.csv", "we", "step,loss,acc\n3,5,1\n");
	is_new(m, 0, false, "loss 3 5\nacc 3 1\n", "one that goes on");
	put("both/c.csv", "we", "step,loss\n2,7\n1,8\n");
	is_new(m, 0, false,
	    "! both have loss, and the later report of a step counts: name "
	    "one of them in path\nloss 2 7\nloss 1 8\n",
	    "one that has the same steps, which is said once");
	put("both/b.csv", "ae", "4,4,1\n");
	is_new(m, 0, true, "loss 4 4\nacc 4 1\n", "and no more");
	metric_files_free(m);
}

static void
test_others(void)
{
	enum { OTHERS = 12000 };
	struct study_file f = { .format = "csv" };
	struct study_trial t = { 0 };
	struct metric_search s = { .fits = metric_search_is_events,
		.found = on_found };
	struct metric_files *m;
	char name[64], *path;
	int i, found = 0;

	folder("others");
	put("others/z.csv", "we", "step,loss\n1,2\n");
	for (i = 0; i < OTHERS; i++) {
		(void)snprintf(name, sizeof name, "others/a-%d.png", i);
		put(name, "we", "");
	}
	m = open_one(&t, &f, "others", false);
	is_new(m, 0, true, "loss 1 2\n", "one file behind many others");
	metric_files_free(m);
	path = path_of("others");
	s.arg = &found;
	metric_search(&s, path);
	ok(s.seen == OTHERS + 1 && s.entries == 0 && !s.is_full,
	    "all are seen, and none is looked at");
	s = (struct metric_search){ .fits = metric_search_is_events,
		.found = on_found,
		.arg = &found };
	free(path);
	path = path_of("oth*/*.csv");
	metric_search(&s, path);
	ok(found == 1 && s.entries < 50 && !s.is_full,
	    "and of a pattern only what it matches");
	free(path);
}

int
main(void)
{
	if (mkdtemp(dir) == NULL)
		return 1;
	test_csv();
	test_json();
	test_json_anew();
	test_json_together();
	test_trainer();
	test_events();
	test_results();
	test_seconds();
	test_recorded();
	test_large();
	test_both();
	test_others();
	(void)scratch_delete(dir);
	return done_testing();
}
