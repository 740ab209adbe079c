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
#include "src/cli/check/read-log.h"
#include "src/model/study/study.h"
#include "src/view/table.h"
#include "trials/metric-line/metric-line.h"
#include "trials/metric-unread/metric-unread.h"

enum { READ_LOG_DIGITS = 6, READ_LOG_CHUNK = 16384, NAMES_SHOWN = 5 };

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

/* A file that is read line by line: the log, or the one of metrics. */
struct line_part {
	struct buf kept; /* the beginning of a line */
	bool skip; /* the line is too long: its rest is not read */
};

struct read_log {
	const struct study *study;
	struct metric_patterns *patterns;
	struct metric_line line; /* scratch */
	struct metric_part part; /* scratch */
	struct metric_log *states; /* between the lines of its output */
	struct buf bar; /* the last state of a progress bar, not yet shown */
	size_t n_bar; /* such states */
	struct guess *guesses; /* one for each objective and constraint */
	/* As many as guesses, then one for each pattern of trial.metrics. */
	struct metric_unread *unread;
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
	size_t n = study->n_objectives + study->n_constraints, i;

	*out = NULL;
	l->study = study;
	l->guesses = xcalloc(n, sizeof *l->guesses);
	l->unread = xcalloc(n + study->trial.n_metrics, sizeof *l->unread);
	if (metric_patterns_new(&l->patterns, &study->trial, e) != 0) {
		read_log_free(l);
		return -1;
	}
	for (i = 0; i < n + study->trial.n_metrics; i++)
		metric_unread_begin(&l->unread[i],
		    i < n ? study_aim_metric(study, i)
			  : study->trial.metrics[i - n].name,
		    l->patterns);
	l->states = metric_log_new(l->patterns);
	*out = l;
	return 0;
}

void
read_log_free(struct read_log *l)
{
	if (l == NULL)
		return;
	metric_patterns_free(l->patterns);
	metric_log_free(l->states);
	buf_free(&l->bar);
	buf_free(&l->log.kept);
	buf_free(&l->metrics.kept);
	free(l->guesses);
	free(l->unread);
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
read_log_sum_add(struct read_log *l, const struct metric_value *v)
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
		read_log_sum_add(l, &m->values[i]);
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
read_log_is_blank(const char *s, size_t len)
{
	while (len > 0 && (s[len - 1] == ' ' || s[len - 1] == '\t'))
		len--;
	return len == 0;
}

/* A line as a terminal shows it, which is what patterns are matched against. */
static void
text_show(struct read_log *l, struct buf *out, const char *s, size_t len)
{
	if (len > METRIC_PART_MAX)
		text_put_harmless(out, s, len, TEXT_LINES);
	else {
		(void)metric_line_part(&l->part, s, len);
		text_put_harmless(out, l->part.p, l->part.len, TEXT_LINES);
	}
	buf_putc(out, '\n');
}

/* What a line shows of the metrics that no line has reported yet. */
static void
unread_line(struct read_log *l, bool json, const char *s, size_t len)
{
	size_t i, n = needed_count(l->study) + l->study->trial.n_metrics;

	for (i = 0; i < n; i++)
		if (sum_find(l, l->unread[i].metric) == NULL)
			metric_unread_line(
			    &l->unread[i], json, &l->line, s, len);
}

/* The end of a line: the last state of its progress bar is shown before it. */
static void
line_show(struct read_log *l, struct buf *out, const char *s, size_t len)
{
	if (l->n_bar > 1)
		buf_puts(out, "... ");
	if (l->n_bar > 0)
		buf_add(out, l->bar.data, l->bar.len);
	(void)metric_line_part(&l->part, s, len);
	if (l->n_bar == 0 || !read_log_is_blank(l->part.p, l->part.len))
		text_show(l, out, s, len);
	l->n_bar = 0;
}

/* Output of the trial: a line, or a state of a progress bar. */
static void
output_take(
    struct read_log *l, struct buf *out, bool bar, const char *s, size_t len)
{
	bool read = false;

	l->line.log = l->states;
	l->line.overwritten = bar;
	if (!bar)
		line_show(l, out, s, len);
	/* As the server: binary output is no report. */
	if (memchr(s, '\0', len) != NULL) {
		unread_line(l, false, s, len);
		return;
	}
	read = metric_line_parse(&l->line, l->patterns, s, len);
	unread_line(l, false, s, len);
	if (!read)
		guess_line(l, s, len);
	(void)metric_line_part(&l->part, s, len);
	if (bar && read) {
		text_show(l, out, s, len);
		l->n_bar = 0;
	} else if (bar && !read_log_is_blank(l->part.p, l->part.len)) {
		buf_clear(&l->bar);
		text_show(l, &l->bar, s, len);
		l->n_bar++;
	}
	do
		read_put(l, out, read);
	while (read && metric_line_more(&l->line));
}

/* A line of $HPOTUNE_METRICS. */
static void
json_take(struct read_log *l, struct buf *out, const char *s, size_t len)
{
	bool read;

	buf_puts(out, "$HPOTUNE_METRICS: ");
	text_put_harmless(out, s, len, TEXT_LINES);
	buf_putc(out, '\n');
	if (memchr(s, '\0', len) == NULL) {
		read = metric_json_parse(&l->line, s, len);
		unread_line(l, true, s, len);
		read_put(l, out, read);
	} else
		unread_line(l, true, s, len);
}

/* A line that is too long is only mentioned. */
static void
read_log_line_take(struct read_log *l, struct line_part *p, struct buf *out,
    bool bar, const char *s, size_t len)
{
	if (len > METRIC_LINE_MAX) {
		buf_printf(out, "    not read: a line of more than %d bytes\n",
		    METRIC_LINE_MAX);
		unread_line(l, p == &l->metrics, s, len);
	} else if (p == &l->metrics)
		json_take(l, out, s, len);
	else
		output_take(l, out, bar, s, len);
}

static void
part_feed(struct read_log *l, struct line_part *p, struct buf *out,
    const char *data, size_t len)
{
	bool objects = p == &l->metrics || metric_patterns_objects(l->patterns);
	const char *at, *all, *next;
	size_t rest, n;
	bool bar;

	buf_add(&p->kept, data, len);
	at = all = buf_str(&p->kept);
	while ((next = metric_line_next(
		    at, all + p->kept.len, objects, &n, &bar)) != NULL) {
		if (!p->skip)
			read_log_line_take(l, p, out, bar, at, n);
		p->skip = false;
		at = next;
	}
	rest = p->kept.len - (size_t)(at - all);
	if (rest > METRIC_LINE_MAX) {
		if (!p->skip)
			read_log_line_take(l, p, out, false, at, rest);
		p->skip = true;
		rest = 0;
	}
	if (rest > 0)
		memmove(p->kept.data, at, rest);
	p->kept.len = rest;
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
	if (l->log.kept.len > 0 || l->n_bar > 0)
		part_feed(l, &l->log, out, "\n", 1);
	if (l->metrics.kept.len > 0)
		part_feed(l, &l->metrics, out, "\n", 1);
	/* Bars that were shown at the end. */
	l->line.log = l->states;
	l->line.overwritten = false;
	if (metric_line_parse(&l->line, l->patterns, "", 0))
		do
			read_put(l, out, true);
		while (metric_line_more(&l->line));
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

/* Whether the trial has a result by this objective or constraint. */
static bool
is_read(const struct read_log *l, size_t i)
{
	const struct metric_sum *sum =
	    sum_find(l, study_aim_metric(l->study, i));

	if (sum == NULL)
		return false;
	return i > 0 || l->study->value_last ? isfinite(sum->value)
					     : !isnan(sum->least);
}

bool
read_log_is_whole(const struct read_log *l)
{
	size_t i;

	for (i = 0; i < l->study->n_objectives; i++)
		if (!is_read(l, i))
			return false;
	return true;
}

/* Where a metric may be: in a line that no pattern reads, or by another name. */
static void
read_log_advice_put(const struct read_log *l, const struct guess *g,
    const char *metric, struct buf *out)
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

/* Why no line reports it, where one shows more than its name. */
static bool
unread_put(const struct read_log *l, size_t i, struct buf *out)
{
	const struct metric_unread *u = &l->unread[i];

	return (u->has_pattern || u->kind > METRIC_UNREAD_GUESS) &&
	       u->kind != METRIC_UNREAD_GUESS &&
	       metric_unread_put(u, false, out);
}

/* No line and no file reports it. */
static void
unreported_put(const struct read_log *l, size_t i, struct buf *out)
{
	const struct study_trial *t = &l->study->trial;
	const char *metric = l->unread[i].metric;

	if (unread_put(l, i, out))
		return;
	if (l->unread[i].has_pattern) {
		buf_puts(out, "its pattern in trial.metrics matched no line");
		read_log_advice_put(l, &l->guesses[i], metric, out);
		return;
	}
	buf_puts(out, "no line reports it");
	if (t->n_files > 0)
		buf_puts(out, l->has_recorded
				  ? ", and no file of the trial"
				  : "; the files of a trial are not read here");
	if (t->n_files == 0 || l->n_sums > 0)
		read_log_advice_put(l, &l->guesses[i], metric, out);
}

/* What the study needs and was not read: a clause, or NULL. */
static char *
missing_text(const struct read_log *l, size_t i)
{
	const char *metric = study_aim_metric(l->study, i);
	const struct metric_sum *sum = sum_find(l, metric);
	struct buf out = { 0 };

	if (is_read(l, i))
		return NULL;
	buf_printf(&out,
	    "%s %s: ", i < l->study->n_objectives ? "objective" : "constraint",
	    metric);
	if (sum == NULL)
		unreported_put(l, i, &out);
	else if (isnan(sum->least))
		buf_puts(&out, "no report is a finite number");
	else
		buf_puts(&out, "its last report is not a finite number");
	return buf_take(&out);
}

static bool
read_log_is_needed(const struct study *s, const char *metric)
{
	size_t i;

	for (i = 0; i < needed_count(s); i++)
		if (strcmp(study_aim_metric(s, i), metric) == 0)
			return true;
	return false;
}

/* A pattern of a metric that the study does not need. */
static char *
unmatched_text(const struct read_log *l, size_t i)
{
	const struct metric_unread *u = &l->unread[i];
	struct buf out = { 0 };

	if (sum_find(l, u->metric) != NULL ||
	    read_log_is_needed(l->study, u->metric))
		return NULL;
	buf_printf(&out, "metric %s: ", u->metric);
	(void)metric_unread_put(u, false, &out);
	return buf_take(&out);
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
		text = i < n ? missing_text(l, i) : unmatched_text(l, i);
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
read_log_steps_put(struct buf *out, const struct metric_sum *sum)
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
		read_log_steps_put(&steps, sum);
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
