/* Lines of a packed program, and lines over descriptors. */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/rng.h"
#include "tests/support/tap.h"
#include "trials/pack/pack-exit-note.h"
#include "trials/pack/pack-line-io.h"
#include "trials/pack/pack-protocol.h"
#include "trials/metric-line/metric-line.h"

static const struct row {
	const char *line;
	enum pack_message_kind said;
	int64_t trial, attempt;
	int code;
	const char *text;
} rows[] = {
	{ "", PACK_MESSAGE_EMPTY, 0, 0, 0, "" },
	{ " \t\r", PACK_MESSAGE_EMPTY, 0, 0, 0, "" },
	{ "{\"trial\":7,\"step\":3,\"acc\":0.5}", PACK_MESSAGE_REPORT, 7, 0, 0,
	    "{\"step\":3,\"acc\":0.5}" },
	{ " { \"acc\" : 0.1 , \"trial\" : 7 , \"b\" : -1e-3 } ",
	    PACK_MESSAGE_REPORT, 7, 0, 0, "{\"acc\":0.1,\"b\":-0.001}" },
	{ "{\"trial\":7,\"attempt\":2,\"step\":0,\"acc\":1}",
	    PACK_MESSAGE_REPORT, 7, 2, 0, "{\"step\":0,\"acc\":1}" },
	{ "{\"trial\":7,\"a\":NaN,\"b\":Infinity,\"c\":-Infinity}",
	    PACK_MESSAGE_REPORT, 7, 0, 0,
	    "{\"a\":NaN,\"b\":Infinity,\"c\":-Infinity}" },
	{ "{\"trial\":9007199254740992,\"a\":1}", PACK_MESSAGE_REPORT,
	    9007199254740992, 0, 0, "{\"a\":1}" },
	/* Left to the reader of metrics to refuse, or to pass over. */
	{ "{\"trial\":7,\"step\":-3,\"a\":1}", PACK_MESSAGE_REPORT, 7, 0, 0,
	    "{\"step\":-3,\"a\":1}" },
	{ "{\"trial\":7,\"a b\":1}", PACK_MESSAGE_REPORT, 7, 0, 0,
	    "{\"a_b\":1}" },
	/* A number in quotes is one, as in metrics.jsonl. */
	{ "{\"trial\":\"7\",\"a\":\"0.5\"}", PACK_MESSAGE_REPORT, 7, 0, 0,
	    "{\"a\":0.5}" },
	{ "{\"trial\":7,\"note\":\"x\"}", PACK_MESSAGE_REPORT, 7, 0, 0,
	    "{\"note\":\"x\"}" },
	{ "{\"trial\":7}", PACK_MESSAGE_REPORT, 7, 0, 0, "{}" },
	{ "{\"trial\":7,\"end\":0}", PACK_MESSAGE_END, 7, 0, 0, "" },
	{ "{\"end\":255,\"trial\":7,\"attempt\":3}", PACK_MESSAGE_END, 7, 3,
	    255, "" },
	{ "{\"trial\":7,\"end\":1,\"why\":\"a\\nb\\rc\"}", PACK_MESSAGE_END, 7,
	    0, 1, "a b c" },
	{ "{\"trial\":7,\"end\":1,\"why\":3}", PACK_MESSAGE_END, 7, 0, 1, "" },
	{ "{\"log\":\"epoch \\\"3\\\"\"}", PACK_MESSAGE_LOG, 0, 0, 0,
	    "epoch \"3\"" },
	{ "{\"log\":\"x\",\"trial\":7,\"step\":1}", PACK_MESSAGE_LOG, 7, 0, 0,
	    "x" },
	{ "{\"trial\":7,\"end\":256}", PACK_MESSAGE_INVALID, 7, 0, 0,
	    "end is no whole number from 0 to 255" },
	{ "{\"trial\":7,\"end\":-1}", PACK_MESSAGE_INVALID, 7, 0, 0,
	    "end is no whole number from 0 to 255" },
	{ "{\"trial\":7,\"end\":true}", PACK_MESSAGE_INVALID, 7, 0, 0,
	    "end is no whole number from 0 to 255" },
	{ "{\"log\":3}", PACK_MESSAGE_INVALID, 0, 0, 0, "log is no text" },
	{ "{\"step\":1,\"a\":2}", PACK_MESSAGE_INVALID, 0, 0, 0,
	    "no trial is named" },
	{ "{\"end\":0}", PACK_MESSAGE_INVALID, 0, 0, 0, "no trial is named" },
	{ "{}", PACK_MESSAGE_INVALID, 0, 0, 0, "no trial is named" },
	{ "{\"trial\":0,\"a\":1}", PACK_MESSAGE_INVALID, 0, 0, 0,
	    "trial is no whole number from 1" },
	{ "{\"trial\":1.5,\"a\":1}", PACK_MESSAGE_INVALID, 0, 0, 0,
	    "trial is no whole number from 1" },
	{ "{\"trial\":\"x7\",\"a\":1}", PACK_MESSAGE_INVALID, 0, 0, 0,
	    "trial is no whole number from 1" },
	{ "{\"trial\":1e300,\"a\":1}", PACK_MESSAGE_INVALID, 0, 0, 0,
	    "trial is no whole number from 1" },
	{ "{\"trial\":7,\"attempt\":0,\"a\":1}", PACK_MESSAGE_INVALID, 7, 0, 0,
	    "attempt is no whole number from 1" },
	{ "[7]", PACK_MESSAGE_INVALID, 0, 0, 0, "it is no object" },
	{ "7", PACK_MESSAGE_INVALID, 0, 0, 0, "it is no object" },
	{ "epoch 3", PACK_MESSAGE_INVALID, 0, 0, 0, NULL },
	{ "{\"trial\":7,\"a\":1", PACK_MESSAGE_INVALID, 0, 0, 0, NULL },
	{ "{\"trial\":7,\"a\":1}}", PACK_MESSAGE_INVALID, 0, 0, 0, NULL },
	{ "{\"trial\":7,\"trial\":8}", PACK_MESSAGE_INVALID, 0, 0, 0, NULL },
};

static void
test_rows(void)
{
	struct pack_message p = { 0 };
	const struct row *r;
	size_t i;

	for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		r = &rows[i];
		pack_protocol_read(&p, r->line, strlen(r->line));
		is_int(p.said, r->said, r->line);
		is_int(p.trial, r->trial, "… trial");
		is_int(p.attempt, r->attempt, "… attempt");
		is_int(p.code, r->code, "… code");
		if (r->text != NULL)
			is_str(buf_str(&p.text), r->text, "… text");
	}
	buf_free(&p.text);
}

/* Bytes changed, taken and added: whatever it says, it is one line. */
static void
test_mutations(void)
{
	struct pack_message p = { 0 };
	struct rng rng;
	size_t i, k, len, bad = 0;
	char line[256];

	rng_init(&rng, 5, 1);
	for (i = 0; i < 100000; i++) {
		const char *from =
		    rows[i % (sizeof rows / sizeof rows[0])].line;

		len = strlen(from);
		memcpy(line, from, len + 1);
		for (k = 0; len > 0 && k < 1 + i % 3; k++)
			line[rng_below(&rng, len)] = (char)rng_below(&rng, 256);
		if (i % 5 == 0 && len > 0)
			len = rng_below(&rng, len);
		line[len] = '\0';
		pack_protocol_read(&p, line, len);
		bad += strpbrk(buf_str(&p.text), "\n\r") != NULL;
		bad += p.said == PACK_MESSAGE_REPORT && p.trial < 1;
		bad += p.said == PACK_MESSAGE_END &&
		       (p.trial < 1 || p.code < 0 || p.code > 255);
	}
	is_int(bad, 0, "a hundred thousand broken lines");
	buf_free(&p.text);
}

static void
test_io(void)
{
	struct pack_line_io in, out;
	int p[2];
	size_t len, i;
	char *line;
	static char big[3 * 65536];

	if (pipe2(p, O_CLOEXEC) == -1)
		abort();
	pack_line_io_open(&in, p[0], 10);
	pack_line_io_open(&out, p[1], 10);
	pack_line_io_put(&out, "one\ntw", 6);
	pack_line_io_flush(&out);
	pack_line_io_read(&in);
	is_str(pack_line_io_next(&in, &len), "one", "a line");
	is_int(len, 3, "its length");
	ok(pack_line_io_next(&in, &len) == NULL, "half a line is none");
	pack_line_io_put(&out, "o\nelevenbytes\nthree\n", 20);
	pack_line_io_flush(&out);
	pack_line_io_read(&in);
	is_str(pack_line_io_next(&in, &len), "two", "both halves");
	is_str(pack_line_io_next(&in, &len), "three",
	    "one too long is passed over");
	is_int(in.skipped, 1, "and counted");
	memset(big, 'x', sizeof big);
	pack_line_io_put(&out, big, sizeof big);
	pack_line_io_put(&out, "\nend", 4);
	for (i = 0; pack_line_io_pending(&out) > 0; i++) {
		pack_line_io_flush(&out);
		pack_line_io_read(&in);
		ok(pack_line_io_next(&in, &len) == NULL && in.in.cap < 200000,
		    "an endless line takes no room");
	}
	pack_line_io_read(&in);
	pack_line_io_close(&out);
	while (!in.over)
		pack_line_io_read(&in);
	line = pack_line_io_next(&in, &len);
	is_str(line, "end", "the last line needs no newline");
	is_int(in.skipped, 2, "the long one is counted once");
	pack_line_io_put(&in, "x", 1);
	is_int(pack_line_io_pending(&in), 0,
	    "nothing is kept for one that is gone");
	pack_line_io_close(&in);
}

static void
test_end(void)
{
	char dir[] = "/tmp/t_pack_line.XXXXXX", path[64], why[8];
	enum pack_exit_note kind;
	FILE *f;

	if (mkdtemp(dir) == NULL)
		abort();
	ok(!pack_exit_note_read(dir, &kind, why, sizeof why),
	    "no file, no end");
	pack_exit_note_write(dir, PACK_EXIT_LOST, "a long story");
	ok(pack_exit_note_read(dir, &kind, why, sizeof why) &&
		kind == PACK_EXIT_LOST,
	    "the note is read as it was written");
	is_str(why, "a lo…", "… as much as fits");
	(void)snprintf(path, sizeof path, "%s/" PACK_EXIT_NOTE_FILE, dir);
	f = fopen(path, "w");
	if (f == NULL)
		abort();
	(void)fputs("glorious\nwhy\n", f);
	(void)fclose(f);
	ok(!pack_exit_note_read(dir, &kind, why, sizeof why),
	    "nonsense is no end");
	(void)unlink(path);
	(void)rmdir(dir);
}

int
main(void)
{
	test_rows();
	test_mutations();
	test_io();
	test_end();
	return done_testing();
}
