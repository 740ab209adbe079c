/*
 * Lines of CSV, of JSON, and the history in trainer_state.json.
 *
 * CSV: the first line has the names.  The step is the column "step", else
 * "epoch", else the number of the row.  Cells that are no numbers are skipped:
 * Lightning leaves them empty, Keras writes NA.  The separator is the first of
 * comma, semicolon and tab that the first line has.  A field in double quotes may
 * contain it, but no newline.
 */

#include <stdlib.h>
#include <string.h>

#include "trials/metric-files/metric-files-internal.h"
#include "trials/metric-line/metric-number.h"

enum { COLUMNS_MAX = METRIC_LINE_VALUES_MAX };

void
metric_csv_clear(struct metric_file *f)
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
		metric_files_note(
		    m, f, "it has more than 256 columns: the rest is not read");
	if (f->source->step != NULL) {
		f->step_column = column_find(f, f->source->step);
		if (f->step_column == f->header.n)
			metric_files_note(m, f,
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
			metric_files_note(m, f,
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
		metric_files_report(
		    m, f, text, strlen(text), step, cells[i].value, 0);
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
		metric_files_report(m, f, r->values[i].name,
		    strlen(r->values[i].name), step, r->values[i].value, 0);
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
		metric_files_note(m, f, m->line.why);
}

void
metric_csv_line(
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
bool
metric_trainer_read(
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
