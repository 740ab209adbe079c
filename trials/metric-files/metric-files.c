/* The files of one attempt: finds them, reads them in turn, names their metrics. */

#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/base/reading.h"
#include "src/model/study/study.h"
#include "trials/metric-files/metric-files-internal.h"

enum {
	BUDGET = 1 << 20, /* bytes of one read */
	READ_MS = 250,
	FILES_MAX = 1000,
	OWNERS_MAX = 256 /* names whose files are compared */
};

/* The file that has reported a name first. */
struct owner {
	char name[METRIC_LINE_NAME_MAX + 1];
	const struct metric_file *file;
	int64_t step; /* the last one */
};

struct metric_files {
	const struct study_trial *trial;
	char **paths;
	/*
	 * The patterns of the lines of each of trial.files; NULL: it has none.
	 */
	struct metric_patterns **patterns;
	bool adopted;
	struct metric_file **files;
	size_t n, cap;
	int64_t read_ms, search_ms; /* when the next one is due */
	bool noted_many, noted_both;
	struct owner *owners;
	size_t n_owners, cap_owners;
	char *room; /* of the last read */
	size_t room_size;
	struct metric_line line; /* scratch */
	const struct metric_files_sink *sink; /* of this read */
	int64_t since_us;
};

void
metric_files_note(const struct metric_files *m, const char *text)
{
	m->sink->note(m->sink->arg, text);
}

int64_t
metric_files_since(const struct metric_file *f)
{
	return f->of->since_us;
}

char *
metric_files_room(const struct metric_file *f, size_t n)
{
	struct metric_files *m = f->of;

	if (m->room_size < n) {
		free(m->room);
		m->room = xmalloc(n);
		m->room_size = n;
	}
	return m->room;
}

const char *
metric_files_name(const struct metric_file *f, const char *tag, size_t len,
    char out[METRIC_LINE_NAME_MAX + 1])
{
	struct buf full = { 0 };
	const char *name;

	if (f->prefix != NULL)
		buf_printf(&full, "%s/", f->prefix);
	buf_add(&full, tag, len);
	name = metric_tag_name(f->of->trial->tags, f->of->trial->n_tags,
	    buf_str(&full), full.len, f->reader->has_objects);
	if (name == NULL &&
	    metric_line_name_make(out, buf_str(&full), full.len) &&
	    strcmp(out, "step") != 0)
		name = out;
	buf_free(&full);
	return name;
}

static const char *
metric_files_json_name(void *arg, const char *path, size_t len,
    char room[METRIC_LINE_NAME_MAX + 1])
{
	return metric_files_name(arg, path, len, room);
}

struct metric_line *
metric_files_json(struct metric_file *f, const char *text, size_t len)
{
	const struct metric_json_names names = { .step = f->source->step,
		.name = metric_files_json_name,
		.arg = f };
	struct metric_line *r = &f->of->line;
	struct buf json = { 0 };
	bool good = metric_json_parse_names(r, text, len, &names);
	const char *why = r->why;

	if (!good && metric_python_json(&json, text, text + len))
		good = metric_json_parse_names(r, json.data, json.len, &names);
	buf_free(&json);
	if (!good && why != NULL)
		metric_file_note(f, why);
	return good ? r : NULL;
}

/*
 * Say once that two files of one search have the same steps of one metric, as
 * train/loss.tsv and val/loss.tsv.
 */
static void
metric_files_compare(
    const struct metric_file *f, const char *name, int64_t step)
{
	struct metric_files *m = f->of;
	struct owner *o = NULL;
	char *text;
	size_t i;

	if (m->noted_both || !f->reader->has_step)
		return;
	for (i = 0; i < m->n_owners && o == NULL; i++)
		if (m->owners[i].file->source == f->source &&
		    strcmp(m->owners[i].name, name) == 0)
			o = &m->owners[i];
	if (o == NULL) {
		if (m->n_owners == OWNERS_MAX ||
		    strlen(name) > METRIC_LINE_NAME_MAX)
			return;
		XGROW(m->owners, m->n_owners, m->cap_owners);
		o = &m->owners[m->n_owners++];
		*o = (struct owner){ .file = f, .step = step };
		memcpy(o->name, name, strlen(name) + 1);
	}
	if (o->file == f) {
		o->step = step;
		return;
	}
	if (step > o->step)
		return;
	m->noted_both = true;
	text = xasprintf("%s and %s: both have %s, and the later report of a "
			 "step counts: name one of them in path",
	    o->file->path, f->path, name);
	metric_files_note(m, text);
	free(text);
}

bool
metric_files_reports(const struct metric_files *m, const char *metric)
{
	size_t i;

	for (i = 0; m != NULL && i < m->n_owners; i++)
		if (strcmp(m->owners[i].name, metric) == 0)
			return true;
	return false;
}

void
metric_files_report(const struct metric_file *f, const char *name, int64_t step,
    double value, int64_t time_us)
{
	const struct metric_files_sink *sink = f->of->sink;

	metric_files_compare(f, name, step);
	if (step >= 0 && step <= INT64_C(1) << 53)
		sink->report(sink->arg, name, step, value, time_us, f->again);
}

void
metric_files_report_tag(const struct metric_file *f, const char *tag,
    size_t len, int64_t step, double value, int64_t time_us)
{
	char made[METRIC_LINE_NAME_MAX + 1];
	const char *name = metric_files_name(f, tag, len, made);

	if (name != NULL)
		metric_files_report(f, name, step, value, time_us);
}

bool
metric_files_has_name(const struct metric_file *f, const char *name)
{
	const struct metric_files *m = f->of;
	size_t i;

	for (i = 0; i < m->n; i++)
		if (m->files[i] != f && m->files[i]->reader->has_name != NULL &&
		    m->files[i]->reader->has_name(m->files[i], name))
			return true;
	return false;
}

/* What is searched. */
struct source {
	struct metric_files *m;
	size_t i; /* of trial.files */
};

static bool
metric_files_has(const struct metric_files *m, const struct study_file *source,
    const char *path)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		if (m->files[i]->source == source &&
		    strcmp(m->files[i]->path, path) == 0)
			return true;
	return false;
}

static void
metric_files_found(void *arg, const char *path, const char *prefix, bool below)
{
	const struct source *s = arg;
	struct metric_files *m = s->m;
	const struct study_file *source = &m->trial->files[s->i];
	struct metric_file *f;

	if (metric_files_has(m, source, path) || m->n == FILES_MAX)
		return;
	XGROW(m->files, m->n, m->cap);
	f = xcalloc(1, sizeof *f);
	m->files[m->n++] = f;
	*f = (struct metric_file){ .of = m,
		.reader = metric_reader_find(source->format),
		.source = source,
		.patterns = m->patterns[s->i],
		.path = xstrdup(path),
		.below = below,
		.again = m->adopted };
	if (prefix == NULL)
		prefix = source->prefix;
	f->prefix = prefix != NULL ? xstrdup(prefix) : NULL;
	f->left = reading_is_left(path, NULL);
	if (f->left)
		metric_file_note(f, reading_left_text);
}

static void
metric_files_full(struct metric_files *m, const char *path)
{
	char *text;

	if (m->noted_many)
		return;
	m->noted_many = true;
	text = xasprintf(
	    "%s has too many files: not all of them are searched for metrics",
	    path);
	metric_files_note(m, text);
	free(text);
}

/* The files that there are now, added to the list; how many entries were seen. */
static int64_t
metric_files_search(struct metric_files *m)
{
	const struct metric_reader *reader;
	const struct study_file *source;
	struct source of = { .m = m };
	int64_t seen = 0;

	for (of.i = 0; of.i < m->trial->n_files; of.i++) {
		source = &m->trial->files[of.i];
		reader = metric_reader_find(source->format);
		if (reader == NULL)
			continue;
		struct metric_search s = { .fits = reader->fits,
			.only = source->only,
			.unless_events = source->unless_events,
			.has_folders = reader->has_folders,
			.found = metric_files_found,
			.arg = &of };
		metric_search(&s, m->paths[of.i]);
		seen += s.seen;
		if (s.is_full)
			metric_files_full(m, m->paths[of.i]);
	}
	return seen;
}

/* The patterns of the lines of one source, as those of a log. */
static int
metric_files_patterns(struct metric_patterns **out, const struct study_trial *t,
    const struct study_file *f, struct err *e)
{
	const struct study_trial log = { .metrics = f->metrics,
		.n_metrics = f->n_metrics,
		.step_regex =
		    f->step_regex != NULL ? f->step_regex : t->step_regex,
		.lines = f->lines,
		.tags = t->tags,
		.n_tags = t->n_tags };

	return metric_patterns_new(out, &log, e);
}

struct metric_files *
metric_files_new(
    const struct study_trial *trial, char *const *paths, bool adopted)
{
	const struct metric_reader *reader;
	struct metric_files *m;
	size_t i;

	if (trial->n_files == 0 || paths == NULL)
		return NULL;
	m = xcalloc(1, sizeof *m);
	m->trial = trial;
	m->paths = strv_copy(paths);
	m->adopted = adopted;
	m->patterns = xcalloc(trial->n_files, sizeof(struct metric_patterns *));
	for (i = 0; i < trial->n_files; i++) {
		reader = metric_reader_find(trial->files[i].format);
		if (reader != NULL && reader->is_text)
			(void)metric_files_patterns(
			    &m->patterns[i], trial, &trial->files[i], NULL);
	}
	return m;
}

void
metric_files_free(struct metric_files *m)
{
	size_t i;

	if (m == NULL)
		return;
	for (i = 0; i < m->n; i++)
		metric_file_free(m->files[i]);
	for (i = 0; i < m->trial->n_files; i++)
		metric_patterns_free(m->patterns[i]);
	free(m->patterns);
	free(m->files);
	free(m->owners);
	free(m->room);
	strv_free(m->paths);
	free(m);
}

/* What the first file that has something has in the place of a number. */
static void
metric_files_put_found(const struct metric_files *m, size_t first,
    const char *metric, struct buf *out)
{
	const struct metric_file *f;
	struct buf text = { 0 };
	size_t i;

	for (i = first; i < m->n && text.len == 0; i++) {
		f = m->files[i];
		if (f->reader->put_unread != NULL && f->state != NULL)
			(void)f->reader->put_unread(f, metric, &text);
		if (text.len == 0 && f->noted != NULL && i == first)
			buf_puts(&text, f->noted);
	}
	if (text.len > 0)
		buf_printf(out, ": %s", buf_str(&text));
	buf_free(&text);
}

bool
metric_files_put_unread(
    const struct metric_files *m, const char *metric, struct buf *out)
{
	size_t i, n = 0, first = 0;

	for (i = 0; m != NULL && i < m->n; i++)
		if (m->files[i]->size > 0 && n++ == 0)
			first = i;
	for (i = 0; n == 0 && m != NULL && i < m->n; i++)
		if (m->files[i]->left) {
			buf_printf(out, "%s: %s", m->files[i]->path,
			    reading_left_text);
			return true;
		}
	if (n == 0)
		return false;
	buf_puts(out, m->files[first]->path);
	if (n > 1)
		buf_printf(out, " and %zu other%s", n - 1, n == 2 ? "" : "s");
	buf_printf(out, " %s read, and %s no number of %s",
	    n == 1 ? "was" : "were", n == 1 ? "has" : "have", metric);
	metric_files_put_found(m, first, metric, out);
	return true;
}

bool
metric_files_read(struct metric_files *m, const struct metric_files_sink *sink,
    int64_t since_us, int64_t now_ms, bool final)
{
	size_t i, budget = BUDGET, used;
	int64_t seen;

	if (!final && now_ms < m->read_ms)
		return false;
	m->read_ms = now_ms + READ_MS;
	m->sink = sink;
	m->since_us = since_us;
	if (final || now_ms >= m->search_ms) {
		seen = metric_files_search(m);
		/*
		 * A search of n files takes some n microseconds, and 64 entries
		 * take 20: one of a large folder takes less than 3 % of a core.
		 */
		m->search_ms = now_ms + 1000 + (int64_t)m->n + seen / 64;
	}
	for (i = 0; i < m->n && budget > 0; i++) {
		used = metric_file_look(m->files[i], budget, final);
		budget -= used < budget ? used : budget;
	}
	if (budget == 0) {
		m->read_ms = now_ms;
		return true;
	}
	for (i = 0; i < m->n && final; i++)
		if (m->files[i]->reader->end != NULL)
			m->files[i]->reader->end(m->files[i]);
	return false;
}

/* Keys of trial.metrics, and which formats they go with. */
static const struct {
	const char *key;
	bool of_text; /* else: of formats whose reports have names */
} keys[] = {
	{ "regex", true },
	{ "step_regex", true },
	{ "reads", true },
	{ "tag", false },
	{ "step", false },
};

static int
metric_files_check_key(const struct json *entry,
    const struct metric_reader *reader, size_t i, struct err *e)
{
	const struct json *j = json_get(entry, keys[i].key);

	if (j == NULL)
		return 0;
	if (keys[i].of_text && !reader->is_text)
		return json_err_key(
		    j, e, "this key goes with \"from\": text, or without from");
	if (!keys[i].of_text && reader->is_text)
		return json_err_key(
		    j, e, "this key does not go with the lines of a text");
	if (strcmp(keys[i].key, "step") == 0 && !reader->has_step)
		return json_err_key(
		    j, e, "this key goes with \"from\": csv or json");
	return 0;
}

/* An entry of trial.metrics with "from" or "path". */
static int
metric_files_check_entry(const struct json *entry, struct err *e)
{
	const char *words[METRIC_READERS_MAX + 1];
	const struct json *from = json_get(entry, "from");
	const struct metric_reader *reader = &metric_text;
	size_t i;

	metric_reader_words(words);
	if (from != NULL) {
		if (json_read_word(from, words, &i, e) != 0)
			return -1;
		reader = metric_reader_find(words[i]);
	}
	if (json_get(entry, "path") == NULL && reader->what != NULL)
		return json_err(entry, e, "path is missing: %s", reader->what);
	for (i = 0; i < sizeof keys / sizeof keys[0]; i++)
		if (metric_files_check_key(entry, reader, i, e) != 0)
			return -1;
	return 0;
}

/* The step of a file alone, for an error that names the right key. */
static int
metric_files_check_step(const struct study_file *f, struct err *e)
{
	const struct study_trial log = { .step_regex = f->step_regex };
	struct err why = ERR_INIT;
	struct metric_patterns *patterns;
	const char *at;

	if (f->step_regex == NULL ||
	    metric_patterns_new(&patterns, &log, &why) == 0) {
		if (f->step_regex != NULL)
			metric_patterns_free(patterns);
		return 0;
	}
	at = strstr(why.text, ": ");
	return json_err(json_get(f->where, "step_regex"), e, "%.400s",
	    at != NULL ? at + 2 : why.text);
}

int
metric_files_check(const struct study_trial *t, struct err *e)
{
	struct metric_patterns *patterns;
	const struct json *j;
	size_t i;

	j = t->metrics_where != NULL ? json_first(t->metrics_where) : NULL;
	for (; j != NULL; j = json_next(j))
		if ((json_get(j, "from") != NULL ||
			json_get(j, "path") != NULL) &&
		    metric_files_check_entry(j, e) != 0)
			return -1;
	for (i = 0; i < t->n_files; i++) {
		if (metric_files_check_step(&t->files[i], e) != 0)
			return -1;
		if (metric_files_patterns(&patterns, t, &t->files[i], e) != 0)
			return -1;
		metric_patterns_free(patterns);
	}
	return 0;
}
