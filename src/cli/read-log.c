/* Reads the output of a trial and shows what is read of it. */

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/cli/read-log.h"
#include "src/cli/common/table.h"
#include "src/model/study/study.h"
#include "trials/metric-line/metric-line.h"

enum {
	READ_LOG_DIGITS = 6,
	READ_LOG_CHUNK = 16384,
	SHOWN_PARTS = 2, /* of a line with carriage returns */
	NAMES_SHOWN = 5
};

/* All reports of one metric. */
struct metric_sum {
	char name[METRIC_LINE_NAME_MAX + 1];
	int64_t reports;
	bool has_steps;
	int64_t first, last; /* steps, where has_steps */
	double value; /* the last one */
	double least, most; /* of the finite ones; NaN = none */
	bool from_file; /* no line reports it */
};

/* A line that nothing is read of, and a pattern that would read a metric. */
struct guess {
	char regex[160], line[81];
};

/* One of the two files. */
struct line_part {
	struct buf kept; /* the beginning of a line */
	bool skip; /* the line is too long: its rest is not read */
};

struct read_log {
	const struct study *study;
	struct metric_patterns *patterns;
	struct metric_line line; /* scratch */
	struct metric_part part; /* scratch */
	struct guess *guesses; /* one for each objective and constraint */
	struct line_part log, metrics;
	struct metric_sum *sums;
	size_t n_sums, cap_sums;
	bool has_recorded; /* what was read of files is known, too */
	int64_t
	    file_step; /* of the line that read_log_add_recorded appends to */
	int file_values; /* in that line; 0: it is not begun */
};

int
read_log_new(struct read_log **out, const struct study *study, struct err *e)
{
	struct read_log *l = xcalloc(1, sizeof *l);

	*out = NULL;
	l->study = study;
	l->guesses = xcalloc(
	    study->n_objectives + study->n_constraints, sizeof *l->guesses);
	if (metric_patterns_new(&l->patterns, &study->trial, e) != 0) {
		free(l->guesses);
		free(l);
		return -1;
	}
	*out = l;
	return 0;
}

void
read_log_free(struct read_log *l)
{
	if (l == NULL)
		return;
	metric_patterns_free(l->patterns);
	buf_free(&l->log.kept);
	buf_free(&l->metrics.kept);
	free(l->guesses);
	free(l->sums);
	free(l);
}

static const struct metric_sum *
sum_find(const struct read_log *l, const char *name)
{
	size_t i;

	for (i = 0; i < l->n_sums; i++)
		if (strcmp(l->sums[i].name, name) == 0)
			return &l->sums[i];
	return NULL;
}

static struct metric_sum *
sum_make(struct read_log *l, const char *name)
{
	struct metric_sum *sum;
	size_t i;

	for (i = 0; i < l->n_sums; i++)
		if (strcmp(l->sums[i].name, name) == 0)
			return &l->sums[i];
	XGROW(l->sums, l->n_sums, l->cap_sums);
	sum = &l->sums[l->n_sums++];
	*sum = (struct metric_sum){ .least = NAN, .most = NAN };
	(void)snprintf(sum->name, sizeof sum->name, "%s", name);
	return sum;
}

static void
sum_add_step(struct metric_sum *sum, int64_t step)
{
	if (!sum->has_steps || step < sum->first)
		sum->first = step;
	if (!sum->has_steps || step > sum->last)
		sum->last = step;
	sum->has_steps = true;
}

static void
sum_add_value(struct metric_sum *sum, double value)
{
	sum->reports++;
	sum->value = value;
	if (!isfinite(value))
		return;
	if (!(sum->least <= value))
		sum->least = value;
	if (!(sum->most >= value))
		sum->most = value;
}

static void
sum_add(struct read_log *l, const struct metric_value *v)
{
	struct metric_sum *sum = sum_make(l, v->name);

	if (l->line.has_step)
		sum_add_step(sum, l->line.step);
	sum_add_value(sum, v->value);
}

void
read_log_has_recorded(struct read_log *l)
{
	l->has_recorded = true;
}

void
read_log_add_recorded(struct read_log *l, struct buf *out, const char *name,
    int64_t step, double value)
{
	const struct metric_sum *known = sum_find(l, name);
	struct metric_sum *sum;

	if (known != NULL && !known->from_file)
		return;
	sum = sum_make(l, name);
	sum->from_file = true;
	if (l->file_values == 0 || step != l->file_step) {
		read_log_end_recorded(l, out);
		buf_printf(out, "    read from a file: step %" PRId64, step);
	}
	buf_printf(out, ", %s %.*g", name, READ_LOG_DIGITS, value);
	l->file_values++;
	l->file_step = step;
	sum_add_step(sum, step);
	sum_add_value(sum, value);
}

void
read_log_end_recorded(struct read_log *l, struct buf *out)
{
	if (l->file_values > 0)
		buf_putc(out, '\n');
	l->file_values = 0;
}

/* "    read: step 3, loss 0.24", or why nothing was read. */
static void
read_put(struct read_log *l, struct buf *out, bool read)
{
	const struct metric_line *m = &l->line;
	const char *between = ": ";
	size_t i;

	if (!read) {
		if (m->why != NULL)
			buf_printf(out, "    not read: %s\n", m->why);
		return;
	}
	buf_puts(out, "    read");
	if (m->has_step) {
		buf_printf(out, ": step %" PRId64, m->step);
		between = ", ";
	}
	for (i = 0; i < m->n; i++) {
		buf_printf(out, "%s%s %.*g", between, m->values[i].name,
		    READ_LOG_DIGITS, m->values[i].value);
		between = ", ";
		sum_add(l, &m->values[i]);
	}
	if (m->left_out != NULL)
		buf_printf(out, "; a part was not read: %s", m->left_out);
	buf_putc(out, '\n');
}

static size_t
needed_count(const struct study *s)
{
	return s->n_objectives + s->n_constraints;
}

/* Keep the last line that has a metric which no line has reported yet. */
static void
guess_line(struct read_log *l, const char *s, size_t len)
{
	struct guess g;
	size_t i;

	for (i = 0; i < needed_count(l->study); i++) {
		if (sum_find(l, study_aim_metric(l->study, i)) != NULL ||
		    !metric_guess(study_aim_metric(l->study, i), s, len,
			g.regex, sizeof g.regex, &l->part))
			continue;
		(void)snprintf(
		    g.line, sizeof g.line, "%.*s", (int)l->part.len, l->part.p);
		l->guesses[i] = g;
	}
}

static bool
is_blank(const char *s, size_t len)
{
	while (len > 0 && (s[len - 1] == ' ' || s[len - 1] == '\t'))
		len--;
	return len == 0;
}

/*
 * A line as a terminal shows it, which is what patterns are matched against; of
 * a progress bar its last two texts.
 */
static void
line_show(struct read_log *l, struct buf *out, const char *s, size_t len)
{
	struct buf shown[SHOWN_PARTS] = { 0 };
	size_t n = 0, rest = len;

	if (len > METRIC_PART_MAX && memchr(s, '\r', len) == NULL) {
		text_put_harmless(out, s, len, TEXT_LINES);
		buf_putc(out, '\n');
		return;
	}
	do {
		rest = metric_line_part(&l->part, s, rest);
		if (!is_blank(l->part.p, l->part.len))
			text_put_harmless(
			    &shown[n++], l->part.p, l->part.len, TEXT_LINES);
	} while (rest > 0 && n < SHOWN_PARTS);
	if (rest > 0)
		buf_puts(out, "... ");
	while (n > 0) {
		buf_puts(out, buf_str(&shown[--n]));
		buf_free(&shown[n]);
		if (n > 0)
			buf_putc(out, '\n');
	}
	buf_putc(out, '\n');
}

/* A whole line, without its newline. */
static void
line_take(
    struct read_log *l, struct buf *out, bool json, const char *s, size_t len)
{
	bool zeros = memchr(s, '\0', len) != NULL, read;

	if (json) {
		buf_puts(out, "$HPOTUNE_METRICS: ");
		text_put_harmless(out, s, len, TEXT_LINES);
		buf_putc(out, '\n');
	} else
		line_show(l, out, s, len);
	/* As the server: binary output is no report. */
	if (zeros)
		return;
	read = json ? metric_json_parse(&l->line, s, len)
		    : metric_line_parse(&l->line, l->patterns, s, len);
	if (!read && !json)
		guess_line(l, s, len);
	read_put(l, out, read);
}

/* Keep the beginning of a line; a line that is too long is only counted. */
static void
part_keep(struct line_part *p, struct buf *out, const char *s, size_t len)
{
	if (p->skip)
		return;
	buf_add(&p->kept, s, len);
	if (p->kept.len <= METRIC_LINE_MAX)
		return;
	buf_printf(out, "    not read: a line of more than %d bytes\n",
	    METRIC_LINE_MAX);
	buf_clear(&p->kept);
	p->skip = true;
}

static void
part_feed(struct read_log *l, struct line_part *p, struct buf *out,
    const char *data, size_t len)
{
	const char *end;
	size_t n;

	while ((end = memchr(data, '\n', len)) != NULL) {
		n = (size_t)(end - data);
		part_keep(p, out, data, n);
		if (!p->skip)
			line_take(l, out, p == &l->metrics, buf_str(&p->kept),
			    p->kept.len);
		buf_clear(&p->kept);
		p->skip = false;
		data = end + 1;
		len -= n + 1;
	}
	part_keep(p, out, data, len);
}

void
read_log_feed(struct read_log *l, struct buf *out, const char *data, size_t len)
{
	part_feed(l, &l->log, out, data, len);
}

void
read_log_feed_metrics(
    struct read_log *l, struct buf *out, const char *data, size_t len)
{
	part_feed(l, &l->metrics, out, data, len);
}

void
read_log_end(struct read_log *l, struct buf *out)
{
	if (l->log.kept.len > 0)
		part_feed(l, &l->log, out, "\n", 1);
	if (l->metrics.kept.len > 0)
		part_feed(l, &l->metrics, out, "\n", 1);
}

static void
out_write(struct buf *out, FILE *to)
{
	if (to != NULL)
		(void)fwrite(buf_str(out), 1, out->len, to);
	buf_clear(out);
}

int
read_log_file(struct read_log *l, const char *path, FILE *to, struct err *e)
{
	bool input = strcmp(path, "-") == 0;
	FILE *f = input ? stdin : fopen(path, "re");
	char bytes[READ_LOG_CHUNK];
	struct buf out = { 0 };
	size_t n;
	int failed;

	if (f == NULL)
		return err_set(e, ERR_FILE, "%s: %s", path, strerror(errno));
	while ((n = fread(bytes, 1, sizeof bytes, f)) > 0) {
		read_log_feed(l, &out, bytes, n);
		out_write(&out, to);
	}
	failed = ferror(f) != 0 ? errno : 0;
	read_log_end(l, &out);
	out_write(&out, to);
	buf_free(&out);
	if (!input)
		(void)fclose(f);
	if (failed != 0)
		return err_set(e, ERR_FILE, "%s: %s", path, strerror(failed));
	return 0;
}

static bool
is_read(const struct read_log *l, const char *metric)
{
	const struct metric_sum *sum = sum_find(l, metric);

	return sum != NULL && !isnan(sum->least);
}

bool
read_log_is_whole(const struct read_log *l)
{
	size_t i;

	for (i = 0; i < l->study->n_objectives; i++)
		if (!is_read(l, l->study->objectives[i].metric))
			return false;
	return true;
}

static bool
has_pattern(const struct read_log *l, const char *metric)
{
	size_t i;

	for (i = 0; i < l->study->trial.n_metrics; i++)
		if (strcmp(l->study->trial.metrics[i].name, metric) == 0)
			return true;
	return false;
}

/* Where a metric may be: in a line that no pattern reads, or by another name. */
static void
advice_put(const struct read_log *l, const struct guess *g, const char *metric,
    struct buf *out)
{
	struct json_writer w = { .out = out, .spacing = JSON_SPACED };
	size_t i;

	if (*g->regex != '\0') {
		buf_puts(out, "; give trial.metrics ");
		json_writer_object(&w, NULL);
		json_writer_text(&w, "name", metric);
		json_writer_text(&w, "regex", g->regex);
		json_writer_end(&w);
		buf_puts(out, ", which reads \"");
		text_put_harmless(out, g->line, strlen(g->line), TEXT_LINES);
		buf_putc(out, '"');
	} else if (l->n_sums > 0) {
		buf_puts(out, "; the trial reports");
		for (i = 0; i < l->n_sums && i < NAMES_SHOWN; i++)
			buf_printf(
			    out, "%s %s", i > 0 ? "," : "", l->sums[i].name);
		if (i < l->n_sums)
			buf_puts(out, " and others");
	} else
		buf_printf(out,
		    ": print \"hpotune: step=N %s=VALUE\", or give "
		    "trial.metrics a pattern",
		    metric);
}

/* What the study needs and was not read: a clause, or NULL. */
static char *
missing_text(const struct read_log *l, size_t i)
{
	const char *metric = study_aim_metric(l->study, i);
	const struct metric_sum *sum = sum_find(l, metric);
	struct buf out = { 0 };

	if (is_read(l, metric))
		return NULL;
	buf_printf(&out,
	    "%s %s: ", i < l->study->n_objectives ? "objective" : "constraint",
	    metric);
	if (sum != NULL)
		buf_puts(&out, "no report is a finite number");
	else if (has_pattern(l, metric)) {
		buf_puts(&out, "its pattern in trial.metrics matched no line");
		if (*l->guesses[i].regex != '\0')
			advice_put(l, &l->guesses[i], metric, &out);
	} else {
		buf_puts(&out, "no line reports it");
		if (l->study->trial.n_files > 0)
			buf_puts(&out,
			    l->has_recorded
				? ", and no file of the trial"
				: "; the files of a trial are not read here");
		if (l->has_recorded && l->n_sums == 0 &&
		    study_files_elsewhere(&l->study->trial))
			buf_puts(&out, STUDY_FILES_ELSEWHERE);
		if (l->study->trial.n_files == 0 || l->n_sums > 0)
			advice_put(l, &l->guesses[i], metric, &out);
	}
	return buf_take(&out);
}

static bool
is_needed(const struct study *s, const char *metric)
{
	size_t i;

	for (i = 0; i < needed_count(s); i++)
		if (strcmp(study_aim_metric(s, i), metric) == 0)
			return true;
	return false;
}

/* A pattern of a metric that the study does not need. */
static char *
unmatched_text(const struct read_log *l, const char *metric)
{
	if (sum_find(l, metric) != NULL || is_needed(l->study, metric))
		return NULL;
	return xasprintf(
	    "the pattern of %s in trial.metrics matched no line", metric);
}

/* Calls put for each text of what is missing. */
static void
missing_each(
    const struct read_log *l, void (*put)(void *, const char *), void *arg)
{
	const struct study *s = l->study;
	size_t i, n = needed_count(s);
	char *text;

	for (i = 0; i < n + s->trial.n_metrics; i++) {
		if (i < n)
			text = missing_text(l, i);
		else
			text = unmatched_text(l, s->trial.metrics[i - n].name);
		if (text != NULL)
			put(arg, text);
		free(text);
	}
}

static void
missing_put(void *arg, const char *text)
{
	buf_printf(arg, "missing: %s\n", text);
}

static void
missing_put_json(void *arg, const char *text)
{
	json_writer_text(arg, NULL, text);
}

static void
steps_put(struct buf *out, const struct metric_sum *sum)
{
	if (sum->has_steps && sum->first == sum->last)
		buf_printf(out, "%" PRId64, sum->first);
	else if (sum->has_steps)
		buf_printf(
		    out, "%" PRId64 " to %" PRId64, sum->first, sum->last);
}

void
read_log_put_sum(
    const struct read_log *l, struct buf *out, int width, bool colour)
{
	struct table *table = table_new();
	struct buf steps = { 0 };
	const struct metric_sum *sum;
	size_t i;

	table_column(table, "metric", TABLE_SHRINK);
	table_column(table, "reports", TABLE_RIGHT);
	table_column(table, "steps", TABLE_RIGHT);
	table_column(table, "last", TABLE_RIGHT);
	table_column(table, "least", TABLE_RIGHT);
	table_column(table, "greatest", TABLE_RIGHT);
	for (i = 0; i < l->n_sums; i++) {
		sum = &l->sums[i];
		buf_clear(&steps);
		steps_put(&steps, sum);
		table_cell(table, sum->name, TABLE_PLAIN);
		table_cell_real(table, (double)sum->reports, 15);
		table_cell(table, buf_str(&steps), TABLE_PLAIN);
		table_cell_real(table, sum->value, READ_LOG_DIGITS);
		table_cell_real(table, sum->least, READ_LOG_DIGITS);
		table_cell_real(table, sum->most, READ_LOG_DIGITS);
	}
	if (l->n_sums > 0)
		table_put(out, table, width, colour, true);
	missing_each(l, missing_put, out);
	table_free(table);
	buf_free(&steps);
}

void
read_log_put_json(const struct read_log *l, struct json_writer *w)
{
	const struct metric_sum *sum;
	size_t i;

	json_writer_array(w, "metrics");
	for (i = 0; i < l->n_sums; i++) {
		sum = &l->sums[i];
		json_writer_object(w, NULL);
		json_writer_text(w, "name", sum->name);
		json_writer_integer(w, "reports", sum->reports);
		if (sum->has_steps) {
			json_writer_integer(w, "first_step", sum->first);
			json_writer_integer(w, "last_step", sum->last);
		}
		json_writer_number(w, "last", sum->value);
		json_writer_number(w, "least", sum->least);
		json_writer_number(w, "greatest", sum->most);
		json_writer_end(w);
	}
	json_writer_end(w);
	json_writer_array(w, "missing");
	missing_each(l, missing_put_json, w);
	json_writer_end(w);
}
