/*
 * Arbitrary bytes as a file that metrics are read from.  The first byte selects
 * the format, the next two say where the file ends at the first look: what is
 * read of a file that grows is what is read of it at once.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/mem.h"
#include "src/model/study/study.h"
#include "trials/metric-files/metric-files.h"
#include "trials/metric-line/metric-internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static char path[] = "/tmp/fuzz_files.XXXXXX";

static void
need(bool good)
{
	if (!good)
		abort();
}

static void
on_report(void *arg, const char *name, int64_t step, double value,
    int64_t time_us, bool again)
{
	size_t len = strlen(name);

	(void)time_us;
	(void)again;
	need(len > 0 && metric_line_name_len(name, name + len) == len);
	need(step >= 0 && step <= INT64_C(1) << 53);
	buf_printf(arg, "%s %lld %.17g\n", name, (long long)step, value);
}

static void
on_note(void *arg, const char *text)
{
	(void)arg;
	need(text != NULL && *text != '\0');
}

static void
put(const char *mode, const uint8_t *bytes, size_t n)
{
	FILE *f = fopen(path, mode);

	need(f != NULL && fwrite(bytes, 1, n, f) == n);
	(void)fclose(f);
}

static void
look(struct metric_files *m, struct buf *out, int64_t ms, bool final)
{
	const struct metric_files_sink sink = { on_report, on_note, out };

	while (metric_files_read(m, &sink, 0, ms, final))
		continue;
}

/* What is read of the bytes, whose first ones are there at the first look. */
static char *
read_all(const struct study_trial *t, const uint8_t *bytes, size_t n, size_t at)
{
	char *paths[] = { path, NULL };
	struct metric_files *m = metric_files_new(t, paths, false);
	struct buf out = { 0 };

	put("w", bytes, at);
	look(m, &out, 1000, false);
	put("a", bytes + at, n - at);
	look(m, &out, 9000, true);
	look(m, &out, 9000, true);
	metric_files_free(m);
	return buf_take(&out);
}

static void
remove_path(void)
{
	(void)unlink(path);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char *formats[] = { "csv", "json", "trainer_state", "text",
		"tensorboard" };
	static struct study_tag tag = { .tag = "a.b", .name = "c" };
	static struct study_metric metric = { .name = "loss",
		.regex = "loss[=: ]+(\\S+)" };
	static bool made;
	struct study_file f = { .path_text = path };
	const struct study_trial t = {
		.files = &f, .n_files = 1, .tags = &tag, .n_tags = 1
	};
	char *whole, *grown;
	size_t at;
	int fd;

	if (!made) {
		fd = mkstemp(path);
		need(fd != -1 && atexit(remove_path) == 0);
		(void)close(fd);
		made = true;
	}
	if (size < 3)
		return 0;
	f.format = formats[data[0] % (sizeof formats / sizeof formats[0])];
	f.step = data[0] >= 128 ? "n" : NULL;
	if (strcmp(f.format, "text") == 0) {
		f.lines = ~0U;
		f.metrics = &metric;
		f.n_metrics = 1;
		f.step = NULL;
	}
	at = (size_t)(data[1] | data[2] << 8);
	data += 3;
	size -= 3;
	whole = read_all(&t, data, size, size);
	if (at < size && strcmp(f.format, "trainer_state") != 0) {
		grown = read_all(&t, data, size, at);
		need((whole == NULL) == (grown == NULL) &&
		     (whole == NULL || strcmp(whole, grown) == 0));
		free(grown);
	}
	free(whole);
	return 0;
}
