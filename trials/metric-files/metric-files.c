/*
 * Finds the files of one attempt and reads them as they grow: which part is
 * new, whether a file was written anew, what is half written.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "src/base/file.h"
#include "src/base/mem.h"
#include "src/base/tfevents.h"
#include "src/model/study/study.h"
#include "trials/metric-files/metric-files.h"
#include "trials/metric-line/metric-line.h"
#include "trials/metric-line/metric-number.h"

enum {
	KEPT = 64, /* bytes by which a file is recognised */
	BUDGET = 1 << 20, /* bytes of one read */
	PATH_BYTES = 4352,
	READ_MS = 250,
	ROOM_MIN = METRIC_LINE_MAX + 1, /* one line, or many records */
	RECORD_MAX = 1 << 20, /* larger records are pictures and the like */
	STATE_MAX = 64 << 20, /* of a trainer_state.json */
	/* The kernel's clock of files lags behind the clock by a tick. */
	MTIME_LAG_US = 20000
};

/* A report of a column; all zero: none yet. */
struct metric_cell {
	bool is_set;
	int64_t step;
	double value;
};

/* One file that was found. */
struct metric_file {
	const struct study_file *source;
	char *path;
	/* Put before its tags, with '/': a folder of TensorBoard; or NULL. */
	char *prefix;
	dev_t dev;
	ino_t ino; /* 0 = not yet opened */
	int64_t size, mtime_us; /* at the last look */
	int64_t at; /* bytes that were read */
	char kept[KEPT]; /* the last ones before at */
	size_t n_kept;
	bool again; /* its reports may be recorded already */
	bool skip; /* inside a line that is too long */
	bool more; /* the budget ended before the file */
	bool over; /* nothing behind at can be read */
	bool noted;
	/* CSV: a name for each column, NULL where there is none. */
	struct strv header;
	bool has_header;
	char separator;
	size_t step_column; /* header.n: none */
	struct metric_cell *last; /* the last report of each column */
	int64_t rows; /* lines that were read, without the header */
};

struct metric_files {
	const struct study_trial *trial;
	char **paths;
	bool adopted;
	struct metric_file *files;
	size_t n, cap;
	int64_t read_ms, search_ms; /* when the next one is due */
	bool noted_many;
	char *room; /* of the last read */
	size_t room_size;
	struct metric_line line; /* scratch */
	const struct metric_files_sink *sink; /* of this read */
	int64_t since_us;
};

/* Once for each file: why a part of it was not read. */
static void
file_note(struct metric_files *m, struct metric_file *f, const char *why)
{
	char *text;

	if (f->noted)
		return;
	f->noted = true;
	text = xasprintf("%s: %s", f->path, why);
	m->sink->note(m->sink->arg, text);
	free(text);
}

/* The name that trial.metrics gives to a tag, or NULL. */
static const char *
tag_name(const struct study_trial *t, const char *tag, size_t len)
{
	size_t i;

	for (i = 0; i < t->n_tags; i++)
		if (strlen(t->tags[i].tag) == len &&
		    memcmp(t->tags[i].tag, tag, len) == 0)
			return t->tags[i].name;
	return NULL;
}

/* A report with the name that the study gives to this tag. */
static void
tag_report(struct metric_files *m, const struct metric_file *f, const char *tag,
    size_t tag_len, int64_t step, double value, int64_t time_us)
{
	char made[METRIC_LINE_NAME_MAX + 1];
	struct buf full = { 0 };
	const char *name;

	if (step < 0 || step > INT64_C(1) << 53)
		return;
	if (f->prefix != NULL)
		buf_printf(&full, "%s/", f->prefix);
	buf_add(&full, tag, tag_len);
	name = tag_name(m->trial, buf_str(&full), full.len);
	if (name == NULL &&
	    metric_line_name_make(made, buf_str(&full), full.len))
		name = made;
	buf_free(&full);
	if (name != NULL && strcmp(name, "step") != 0)
		m->sink->report(
		    m->sink->arg, name, step, value, time_us, f->again);
}

/* ---- which files below a folder are read -------------------------------- */

enum {
	DEPTH_MAX = 8, /* folders below the folder of a trial */
	ENTRIES_MAX = 10000, /* of one search */
	FILES_MAX = 1000
};

struct search {
	struct metric_files *m;
	const struct study_file *source;
	int entries; /* seen so far */
};

/* Folders that keep the same tags apart. */
static const char *const splits[] = { "train", "training", "val", "valid",
	"validation", "eval", "test", NULL };

static bool
ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), k = strlen(end);

	return n > k && strcmp(name + n - k, end) == 0;
}

static bool
is_events(const char *name)
{
	return strstr(name, "tfevents") != NULL;
}

static bool
name_fits(const struct study_file *source, const char *name)
{
	if (source->only != NULL)
		return strcmp(name, source->only) == 0;
	switch (source->format) {
	case STUDY_FILE_TENSORBOARD:
		return is_events(name);
	case STUDY_FILE_CSV:
		return ends_with(name, ".csv");
	case STUDY_FILE_JSON:
		return ends_with(name, ".jsonl");
	case STUDY_FILE_TRAINER_STATE:
		return strcmp(name, "trainer_state.json") == 0;
	}
	return false;
}

static struct metric_file *
file_find(const struct metric_files *m, const struct study_file *source,
    const char *path)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		if (m->files[i].source == source &&
		    strcmp(m->files[i].path, path) == 0)
			return &m->files[i];
	return NULL;
}

static void
file_found(struct search *s, const char *path, const char *prefix)
{
	struct metric_files *m = s->m;
	struct metric_file *f;

	if (file_find(m, s->source, path) != NULL || m->n == FILES_MAX)
		return;
	XGROW(m->files, m->n, m->cap);
	f = &m->files[m->n++];
	*f = (struct metric_file){ .source = s->source,
		.path = xstrdup(path),
		.prefix = prefix != NULL ? xstrdup(prefix) : NULL,
		.again = m->adopted };
}

static void
search_full(struct search *s, const char *path)
{
	char *text;

	if (s->m->noted_many)
		return;
	s->m->noted_many = true;
	text = xasprintf("%s has more than %d files: further ones are not "
			 "searched for metrics",
	    path, ENTRIES_MAX);
	s->m->sink->note(s->m->sink->arg, text);
	free(text);
}

/*
 * The prefix of event files in a folder: its name where that says what data
 * they are of, or where the folder above has event files too (add_scalars),
 * unless the name begins with a digit (add_hparams); else none.
 */
static const char *
prefix_of(const char *name, bool below_events)
{
	size_t i;

	for (i = 0; splits[i] != NULL; i++)
		if (strcmp(name, splits[i]) == 0)
			return name;
	return below_events && (*name < '0' || *name > '9') ? name : NULL;
}

static void folder_search(struct search *, const char *path, const char *name,
    bool below_events, int depth);

static int
by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int
is_visible(const struct dirent *d)
{
	return strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0;
}

static void
entry_search(struct search *s, const char *folder, const char *name,
    const char *prefix, bool events, int depth)
{
	char path[PATH_BYTES];
	struct stat st;
	int n = snprintf(path, sizeof path, "%s/%s", folder, name);

	if (n < 0 || (size_t)n >= sizeof path || lstat(path, &st) == -1)
		return;
	if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX)
		folder_search(s, path, name, events, depth + 1);
	else if (S_ISREG(st.st_mode) && name_fits(s->source, name))
		file_found(s, path, prefix);
}

/*
 * In the order of names, because those of event files grow.  Lightning writes
 * metrics.csv only where it writes no event files, unless both were asked for.
 */
static void
folder_search(struct search *s, const char *path, const char *name,
    bool below_events, int depth)
{
	struct dirent **list;
	int n = scandir(path, &list, is_visible, by_name), i;
	const char *prefix = NULL;
	bool events = false;

	if (n < 0)
		return;
	for (i = 0; i < n; i++)
		events |= is_events(list[i]->d_name);
	if (s->source->format == STUDY_FILE_TENSORBOARD && depth > 0)
		prefix = prefix_of(name, below_events);
	for (i = 0; i < n; i++) {
		if (++s->entries > ENTRIES_MAX)
			search_full(s, path);
		else if (!events || s->source->only == NULL ||
			 strcmp(list[i]->d_name, s->source->only) != 0)
			entry_search(
			    s, path, list[i]->d_name, prefix, events, depth);
		free(list[i]);
	}
	free(list);
}

/* The files that there are now, added to the list. */
static void
files_search(struct metric_files *m)
{
	struct search s = { .m = m };
	struct stat st;
	size_t i;

	for (i = 0; i < m->trial->n_files; i++) {
		s.source = &m->trial->files[i];
		if (stat(m->paths[i], &st) == -1)
			continue;
		if (S_ISDIR(st.st_mode))
			folder_search(&s, m->paths[i], "", false, 0);
		else
			file_found(&s, m->paths[i], NULL);
	}
}

/* ---- records of a TensorBoard event file -------------------------------- */

struct reading {
	struct metric_files *m;
	struct metric_file *f;
};

/* An event from before the attempt was written by an earlier one. */
static void
on_scalar(void *arg, const struct tfevents_scalar *s)
{
	const struct reading *r = arg;

	if (s->time_us != 0 && s->time_us < r->m->since_us)
		return;
	tag_report(
	    r->m, r->f, s->tag, s->tag_len, s->step, s->value, s->time_us);
}

/*
 * A record with a wrong checksum may be half written on a shared file system:
 * only after the end of the trial it is passed over.
 */
static size_t
events_read(struct metric_files *m, struct metric_file *f, const char *bytes,
    size_t n, bool final, uint64_t *need)
{
	struct reading r = { m, f };
	struct tfevents_record record;
	size_t at = 0;

	for (;;) {
		switch (tfevents_record_read(&record, bytes + at, n - at)) {
		case TFEVENTS_RECORD:
			(void)tfevents_scalars(
			    record.data, record.len, on_scalar, &r);
			break;
		case TFEVENTS_SHORT:
			*need = record.size;
			return at;
		case TFEVENTS_BAD_DATA:
			if (!final)
				return at;
			file_note(m, f, "a damaged record was skipped");
			break;
		case TFEVENTS_BAD_LENGTH:
			if (final)
				file_note(m, f,
				    "it is damaged: the rest of it is not "
				    "read");
			f->over = final;
			return at;
		}
		at += (size_t)record.size;
	}
}

/* ---- lines of CSV, of JSON, and the history in trainer_state.json ------- */

/*
 * CSV: the first line has the names.  The step is the column "step", else
 * "epoch", else the number of the row.  Cells that are no numbers are skipped:
 * Lightning leaves them empty, Keras writes NA.  The separator is the first of
 * comma, semicolon and tab that the first line has.  A field in double quotes
 * may contain it, but no newline.
 */

enum { COLUMNS_MAX = METRIC_LINE_VALUES_MAX };

static void
csv_clear(struct metric_file *f)
{
	strv_free(f->header.v);
	free(f->last);
	f->last = NULL;
	f->header = (struct strv){ 0 };
	f->has_header = false;
	f->rows = 0;
}

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* The next cell, without blanks and quotes; *p moves behind its separator. */
static bool
cell_next(const char **p, const char *end, char separator, const char **cell,
    size_t *len)
{
	const char *at = *p, *to;
	bool quoted = false;

	if (at == NULL)
		return false;
	for (to = at; to < end && (quoted || *to != separator); to++)
		quoted ^= *to == '"';
	*p = to < end ? to + 1 : NULL;
	while (at < to && is_blank(*at))
		at++;
	while (to > at && is_blank(to[-1]))
		to--;
	if (to - at >= 2 && *at == '"' && to[-1] == '"') {
		at++;
		to--;
	}
	*cell = at;
	*len = (size_t)(to - at);
	return true;
}

static char
separator_find(const char *line, size_t len)
{
	static const char separators[] = { ',', ';', '\t' };
	size_t i;

	for (i = 0; i < sizeof separators; i++)
		if (memchr(line, separators[i], len) != NULL)
			return separators[i];
	return ',';
}

static size_t
column_find(const struct metric_file *f, const char *name)
{
	size_t i;

	for (i = 0; i < f->header.n; i++)
		if (strcmp(f->header.v[i], name) == 0)
			break;
	return i;
}

static void
header_read(
    struct metric_files *m, struct metric_file *f, const char *line, size_t len)
{
	const char *p = line, *cell;
	size_t n;

	f->has_header = true;
	f->separator = separator_find(line, len);
	while (f->header.n < COLUMNS_MAX &&
	       cell_next(&p, line + len, f->separator, &cell, &n))
		strv_add(&f->header, xstrndup(cell, n));
	f->last = xcalloc(f->header.n + 1, sizeof *f->last);
	if (p != NULL && f->header.n == COLUMNS_MAX)
		file_note(
		    m, f, "it has more than 256 columns: the rest is not read");
	if (f->source->step != NULL) {
		f->step_column = column_find(f, f->source->step);
		if (f->step_column == f->header.n)
			file_note(m, f,
			    "it has no column with the name that trial.metrics "
			    "gives as step: the row is the step");
		return;
	}
	f->step_column = column_find(f, "step");
	if (f->step_column == f->header.n)
		f->step_column = column_find(f, "epoch");
}

struct cell {
	size_t column;
	double value;
};

/* Lightning writes the epoch again in every row of a step: once is enough. */
static bool
is_repeated(struct metric_cell *last, int64_t step, double value)
{
	bool same = last->is_set && last->step == step && last->value == value;

	*last = (struct metric_cell){ true, step, value };
	return same;
}

static void
row_read(
    struct metric_files *m, struct metric_file *f, const char *line, size_t len)
{
	struct cell cells[COLUMNS_MAX];
	const char *p = line, *text;
	struct metric_number number;
	int64_t step = ++f->rows;
	size_t n, i, found = 0;

	for (i = 0; i < f->header.n &&
		    cell_next(&p, line + len, f->separator, &text, &n);
	     i++) {
		if (n == 0 ||
		    metric_number_scan(&number, text, text + n) != text + n)
			continue;
		if (i != f->step_column)
			cells[found++] =
			    (struct cell){ i, metric_number_value(&number) };
		else if (!metric_number_integer(&number, &step)) {
			file_note(m, f,
			    "a step is not an integer from 0 to 2^53: its row "
			    "was skipped");
			return;
		}
	}
	for (i = 0; i < found; i++) {
		if (is_repeated(
			&f->last[cells[i].column], step, cells[i].value))
			continue;
		text = f->header.v[cells[i].column];
		tag_report(m, f, text, strlen(text), step, cells[i].value, 0);
	}
}

/* All values of the line, at its step or the given one. */
static void
line_report(struct metric_files *m, const struct metric_file *f, int64_t step)
{
	const struct metric_line *r = &m->line;
	size_t i;

	if (r->has_step)
		step = r->step;
	for (i = 0; i < r->n; i++)
		tag_report(m, f, r->values[i].name, strlen(r->values[i].name),
		    step, r->values[i].value, 0);
}

static void
json_line(
    struct metric_files *m, struct metric_file *f, const char *line, size_t len)
{
	f->rows++;
	if (metric_json_parse_step(&m->line, line, len,
		f->source->step != NULL ? f->source->step : "step"))
		line_report(m, f, f->rows);
	else if (m->line.why != NULL)
		file_note(m, f, m->line.why);
}

/* One line of CSV or JSON, without its newline. */
static void
line_read(
    struct metric_files *m, struct metric_file *f, const char *line, size_t len)
{
	if (len > 0 && line[len - 1] == '\r')
		len--;
	if (len == 0)
		return;
	if (f->source->format == STUDY_FILE_JSON)
		json_line(m, f, line, len);
	else if (f->has_header)
		row_read(m, f, line, len);
	else
		header_read(m, f, line, len);
}

/* The end of a text or a bracket at p, behind it; NULL: there is none. */
static const char *
value_end(const char *p, const char *end)
{
	int depth = 0;
	bool text = false;

	for (; p < end; p++) {
		if (text && *p == '\\')
			p++;
		else if (*p == '"')
			text = !text;
		else if (!text && (*p == '{' || *p == '['))
			depth++;
		else if (!text && (*p == '}' || *p == ']') && --depth == 0)
			return p + 1;
		if (!text && depth == 0)
			return p + 1;
	}
	return NULL;
}

/*
 * "log_history": [{"epoch": 1.0, "loss": 0.5, "step": 10}, …] of
 * transformers.TrainerState.  Python writes NaN in it, so it is no JSON.
 */
static bool
trainer_read(
    struct metric_files *m, struct metric_file *f, const char *bytes, size_t n)
{
	static const char key[] = "\"log_history\"";
	const char *p, *end = bytes + n, *to;

	p = memmem(bytes, n, key, sizeof key - 1);
	p = p != NULL ? memchr(p, '[', (size_t)(end - p)) : NULL;
	if (p == NULL || value_end(p, end) == NULL)
		return false;
	/* Each state has the whole history. */
	f->again = true;
	for (p++; p < end && *p != ']'; p++) {
		if (*p != '{')
			continue;
		to = value_end(p, end);
		if (metric_json_parse(&m->line, p, (size_t)(to - p)) &&
		    m->line.has_step)
			line_report(m, f, 0);
		p = to - 1;
	}
	return true;
}

/* ---- the files of an attempt -------------------------------------------- */

struct metric_files *
metric_files_new(
    const struct study_trial *trial, char *const *paths, bool adopted)
{
	struct metric_files *m;

	if (trial->n_files == 0 || paths == NULL)
		return NULL;
	m = xcalloc(1, sizeof *m);
	m->trial = trial;
	m->paths = strv_copy(paths);
	m->adopted = adopted;
	return m;
}

void
metric_files_free(struct metric_files *m)
{
	size_t i;

	if (m == NULL)
		return;
	for (i = 0; i < m->n; i++) {
		csv_clear(&m->files[i]);
		free(m->files[i].path);
		free(m->files[i].prefix);
	}
	free(m->files);
	free(m->room);
	strv_free(m->paths);
	free(m);
}

static void
room_need(struct metric_files *m, size_t n)
{
	if (m->room_size >= n)
		return;
	free(m->room);
	m->room = xmalloc(n);
	m->room_size = n;
}

/* Read the file from its start. */
static void
file_anew(struct metric_file *f)
{
	f->again |= f->at > 0;
	f->at = 0;
	f->n_kept = 0;
	f->skip = f->over = false;
	csv_clear(f);
}

/* Whether the file is another one, or was cut, or written anew, since. */
static bool
is_another(const struct metric_file *f, const struct stat *st, int fd)
{
	char now[KEPT];

	if (f->at == 0)
		return false;
	if (f->ino != st->st_ino || f->dev != st->st_dev || st->st_size < f->at)
		return true;
	return pread(fd, now, f->n_kept, f->at - (off_t)f->n_kept) !=
		   (ssize_t)f->n_kept ||
	       memcmp(now, f->kept, f->n_kept) != 0;
}

/* Move on by so many bytes, which are at the head of the room. */
static void
file_pass(struct metric_file *f, const char *bytes, size_t n)
{
	size_t new = n < KEPT ? n : KEPT, old = KEPT - new;

	f->at += (int64_t)n;
	if (old > f->n_kept)
		old = f->n_kept;
	memmove(f->kept, f->kept + f->n_kept - old, old);
	memcpy(f->kept + old, bytes + n - new, new);
	f->n_kept = old + new;
}

/* The whole lines of some bytes: how many bytes are done. */
static size_t
lines_read(struct metric_files *m, struct metric_file *f, const char *bytes,
    size_t n, bool final)
{
	const char *at = bytes, *end;
	size_t rest;

	while ((end = memchr(at, '\n', n - (size_t)(at - bytes))) != NULL) {
		if (!f->skip)
			line_read(m, f, at, (size_t)(end - at));
		f->skip = false;
		at = end + 1;
	}
	rest = n - (size_t)(at - bytes);
	if (rest > METRIC_LINE_MAX) {
		file_note(m, f, "a line is too long, and was skipped");
		f->skip = true;
		return n;
	}
	if (rest > 0 && final) {
		if (!f->skip)
			line_read(m, f, at, rest);
		return n;
	}
	return (size_t)(at - bytes);
}

/* A record that is too large is passed over once it is whole. */
static bool
record_skip(struct metric_file *f, int fd, int64_t size, uint64_t need)
{
	uint64_t left = (uint64_t)(size - f->at);

	if (need <= RECORD_MAX || need > left)
		return false;
	f->at += (int64_t)need;
	f->n_kept = 0;
	if (pread(fd, f->kept, KEPT, f->at - KEPT) == KEPT)
		f->n_kept = KEPT;
	return true;
}

/* Read on; returns the bytes that were read of the budget. */
static size_t
file_read_on(struct metric_files *m, struct metric_file *f, int fd,
    size_t budget, bool final)
{
	bool events = f->source->format == STUDY_FILE_TENSORBOARD;
	size_t want = ROOM_MIN, used = 0, done;
	uint64_t need = 0;
	ssize_t n;

	while (!f->over && used < budget) {
		room_need(m, want);
		n = pread(fd, m->room, want, f->at);
		if (n <= 0)
			break;
		done = events
			   ? events_read(m, f, m->room, (size_t)n, final, &need)
			   : lines_read(m, f, m->room, (size_t)n,
				 final && (size_t)n < want);
		file_pass(f, m->room, done);
		used += (size_t)n;
		if (done > 0)
			continue;
		if (record_skip(f, fd, f->size, need))
			continue;
		if ((size_t)n < want || need > RECORD_MAX || need <= want)
			break;
		want = (size_t)need;
	}
	f->more = used >= budget;
	if (final && events && !f->more && !f->over && f->at < f->size)
		file_note(m, f, "its last record is incomplete");
	return used;
}

static size_t
state_read(struct metric_files *m, struct metric_file *f, int fd, bool final)
{
	ssize_t n;

	if (f->size > STATE_MAX) {
		file_note(m, f, "it is too large");
		f->over = true;
		return 0;
	}
	room_need(m, (size_t)f->size + 1);
	n = pread(fd, m->room, (size_t)f->size, 0);
	if (n < 0)
		return 0;
	/* Half written, it is looked at again. */
	if (!trainer_read(m, f, m->room, (size_t)n)) {
		f->mtime_us = 0;
		if (final)
			file_note(m, f, "it is incomplete");
	}
	return (size_t)n;
}

static int64_t
mtime_us(const struct stat *st)
{
	return st->st_mtim.tv_sec * INT64_C(1000000) +
	       st->st_mtim.tv_nsec / 1000;
}

/* What is new in one file; the bytes that were read. */
static size_t
file_look(
    struct metric_files *m, struct metric_file *f, size_t budget, bool final)
{
	int fd = file_open(AT_FDCWD, f->path);
	struct stat st;
	size_t used = 0;
	bool same;

	if (fd == -1)
		return 0;
	if (fstat(fd, &st) == -1 ||
	    mtime_us(&st) + MTIME_LAG_US < m->since_us) {
		(void)close(fd);
		return 0;
	}
	same = f->ino == st.st_ino && f->dev == st.st_dev &&
	       f->size == st.st_size && f->mtime_us == mtime_us(&st);
	if (is_another(f, &st, fd))
		file_anew(f);
	f->dev = st.st_dev;
	f->ino = st.st_ino;
	f->size = st.st_size;
	f->mtime_us = mtime_us(&st);
	if (same && !final && !f->more)
		used = 0;
	else if (f->source->format != STUDY_FILE_TRAINER_STATE)
		used = file_read_on(m, f, fd, budget, final);
	else if (!same && !f->over)
		used = state_read(m, f, fd, final);
	(void)close(fd);
	return used;
}

bool
metric_files_read(struct metric_files *m, const struct metric_files_sink *sink,
    int64_t since_us, int64_t now_ms, bool final)
{
	size_t i, budget = BUDGET, used;

	if (!final && now_ms < m->read_ms)
		return false;
	m->read_ms = now_ms + READ_MS;
	m->sink = sink;
	m->since_us = since_us;
	if (final || now_ms >= m->search_ms) {
		files_search(m);
		/* A search of n files takes some n microseconds. */
		m->search_ms = now_ms + 1000 + (int64_t)m->n;
	}
	for (i = 0; i < m->n && budget > 0; i++) {
		used = file_look(m, &m->files[i], budget, final);
		budget -= used < budget ? used : budget;
	}
	if (budget > 0)
		return false;
	m->read_ms = now_ms;
	return true;
}
