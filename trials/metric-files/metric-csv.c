/*
 * CSV and TSV: the first line has the names.  The step is the column that the
 * study names, else one of the usual names, else the number of the row.  Cells
 * that are no numbers are skipped: Lightning leaves them empty, Keras writes NA.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/model/study/study.h"
#include "trials/metric-files/metric-files-internal.h"
#include "trials/metric-line/metric-number.h"

enum {
	COLUMNS_MAX = METRIC_LINE_VALUES_MAX,
	TEXT_SEEN = 40 /* bytes of a cell that a reason shows */
};

/* The last report of a column; all zero: none yet. */
struct last {
	bool is_set;
	int64_t step;
	double value;
};

/* What is known of a file. */
struct csv {
	/* Before the names were read: the last comment, or NULL. */
	char *comment;
	struct buf open; /* a row whose quotes have not ended */
	char given; /* the separator that a first line "sep=;" names; or 0 */
	bool found; /* a row has had a number */
	struct strv header; /* a name for each column; n = 0: not yet read */
	char separator;
	size_t step_column; /* header.n: none */
	struct last *last; /* of each column */
	char **texts; /* of each column: its first cell that is no number */
	int64_t rows; /* lines that were read, without the header */
};

static bool
metric_csv_fits(const char *name)
{
	return metric_search_ends(name, ".csv") ||
	       metric_search_ends(name, ".tsv");
}

/* Forget the columns. */
static void
metric_csv_forget(struct csv *c)
{
	size_t i;

	for (i = 0; c->texts != NULL && i < c->header.n; i++)
		free(c->texts[i]);
	free(c->texts);
	free(c->last);
	strv_free(c->header.v);
	c->texts = NULL;
	c->last = NULL;
	c->header = (struct strv){ 0 };
}

static void
metric_csv_clear(void *state)
{
	struct csv *c = state;

	metric_csv_forget(c);
	buf_free(&c->open);
	free(c->comment);
	free(c);
}

static bool
metric_csv_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* A cell without the blanks and quotes around it. */
struct cell {
	const char *p;
	size_t n;
	bool quoted;
};

/*
 * The next cell; *p moves behind its separator, which it may contain in double
 * quotes.
 */
static bool
metric_csv_cell(
    const char **p, const char *end, char separator, struct cell *cell)
{
	const char *at = *p, *to, *next;
	bool quoted = false, blanks = separator == ' ';

	if (at == NULL)
		return false;
	while (blanks && at < end && metric_csv_is_blank(*at))
		at++;
	for (to = at; to < end && (quoted || (blanks ? !metric_csv_is_blank(*to)
						     : *to != separator));
	     to++)
		if (*to == '"')
			quoted = !quoted &&
				 (to == at || metric_csv_is_blank(to[-1]) ||
				     to[-1] == '"');
	next = to + !blanks;
	while (blanks && next < end && metric_csv_is_blank(*next))
		next++;
	*p = to < end && (!blanks || next < end) ? next : NULL;
	while (at < to && metric_csv_is_blank(*at))
		at++;
	while (to > at && metric_csv_is_blank(to[-1]))
		to--;
	cell->quoted = to - at >= 2 && *at == '"' && to[-1] == '"';
	if (cell->quoted) {
		at++;
		to--;
	}
	while (cell->quoted && at < to && metric_csv_is_blank(*at))
		at++;
	while (cell->quoted && to > at && metric_csv_is_blank(to[-1]))
		to--;
	cell->p = at;
	cell->n = (size_t)(to - at);
	return true;
}

/*
 * The one of comma, semicolon, tab and bar that there is most of outside of quotes;
 * blanks where there is none of them.
 */
static char
metric_csv_separator(const char *line, size_t len)
{
	static const char separators[] = { ',', ';', '\t', '|', ' ' };
	size_t i, k, n, most = 0;
	char best = ',';
	bool quoted;

	for (i = 0; i < sizeof separators; i++) {
		for (k = n = 0, quoted = false; k < len; k++) {
			quoted ^= line[k] == '"';
			n += !quoted && line[k] == separators[i];
		}
		if (n > most && (separators[i] != ' ' || most == 0)) {
			most = n;
			best = separators[i];
		}
	}
	return best;
}

static size_t
metric_csv_column(const struct csv *c, const char *name, bool exact)
{
	size_t i;

	for (i = 0; i < c->header.n; i++)
		if ((exact ? strcmp : strcasecmp)(c->header.v[i], name) == 0)
			break;
	return i;
}

/* Which column is the step. */
static void
metric_csv_step(struct metric_file *f, struct csv *c)
{
	size_t i;

	if (f->source->step != NULL) {
		c->step_column = metric_csv_column(c, f->source->step, true);
		if (c->step_column == c->header.n)
			metric_file_note(f,
			    "it has no column with the name that trial.metrics "
			    "gives as step: the row is the step");
		return;
	}
	c->step_column = metric_csv_column(c, "step", false);
	for (i = 0;
	     c->step_column == c->header.n && metric_json_steps[i] != NULL; i++)
		c->step_column =
		    metric_csv_column(c, metric_json_steps[i], false);
}

/* Of two columns with one name the first is read. */
static void
metric_csv_doubles(struct metric_file *f, struct csv *c)
{
	char text[160];
	size_t i;

	for (i = 0; i < c->header.n; i++) {
		if (*c->header.v[i] == '\0' ||
		    metric_csv_column(c, c->header.v[i], true) == i)
			continue;
		(void)snprintf(text, sizeof text,
		    "it has two columns with the name %.64s: the first is read",
		    c->header.v[i]);
		metric_file_note(f, text);
		*c->header.v[i] = '\0';
	}
}

/* Read the names of the columns. */
static void
metric_csv_header(
    struct metric_file *f, struct csv *c, const char *line, size_t len)
{
	const char *p = line;
	struct cell cell;

	metric_csv_forget(c);
	c->separator =
	    c->given != 0 ? c->given : metric_csv_separator(line, len);
	while (c->header.n < COLUMNS_MAX &&
	       metric_csv_cell(&p, line + len, c->separator, &cell))
		strv_add(&c->header, xstrndup(cell.p, cell.n));
	c->last = xcalloc(c->header.n + 1, sizeof *c->last);
	c->texts = xcalloc(c->header.n + 1, sizeof *c->texts);
	metric_csv_doubles(f, c);
	if (p != NULL && c->header.n == COLUMNS_MAX)
		metric_file_note(
		    f, "it has more than 256 columns: the rest is not read");
	metric_csv_step(f, c);
}

/*
 * A number as people write it.  Where the comma does not separate the columns it is
 * a decimal one; else 1,234 in quotes may be either, and is none.
 */
static bool
metric_csv_number(struct metric_file *f, struct metric_number *n,
    const struct cell *cell, char room[METRIC_NUMBER_TEXT])
{
	const struct csv *c = f->state;
	const char *end = cell->p + cell->n;
	char *comma;

	if (cell->n == 0)
		return false;
	if (metric_number_text(n, cell->p, end, room))
		return true;
	if (!metric_number_doubt(cell->p, end) || cell->n >= METRIC_NUMBER_TEXT)
		return false;
	if (c->separator == ',') {
		metric_file_note(f,
		    "a number like 1,234 may be 1.234 or 1234: it was skipped");
		return false;
	}
	memcpy(room, cell->p, cell->n);
	comma = memchr(room, ',', cell->n);
	if (comma != NULL)
		*comma = '.';
	return metric_number_scan(n, room, room + cell->n) == room + cell->n;
}

/* A program that was resumed writes the names again, or other ones. */
static bool
metric_csv_is_header(const struct csv *c, const char *line, size_t len)
{
	const char *p = line;
	struct cell cell;
	size_t i, same = 0;

	for (i = 0; metric_csv_cell(&p, line + len, c->separator, &cell); i++) {
		if (cell.n == 0 ||
		    !((cell.p[0] | 0x20) >= 'a' && (cell.p[0] | 0x20) <= 'z'))
			return false;
		same += i < c->header.n && strlen(c->header.v[i]) == cell.n &&
			memcmp(c->header.v[i], cell.p, cell.n) == 0;
	}
	return same > 0 && same * 2 >= c->header.n;
}

/* Lightning writes the epoch again in every row of a step: once is enough. */
static bool
metric_csv_is_repeated(struct last *last, int64_t step, double value)
{
	bool same = last->is_set && last->step == step && last->value == value;

	*last = (struct last){ true, step, value };
	return same;
}

/* Keep the first text of a column, for the reason why it has no number. */
static void
metric_csv_keep(struct csv *c, size_t column, const struct cell *cell)
{
	if (cell->n > 0 && c->texts[column] == NULL)
		c->texts[column] = xstrndup(
		    cell->p, cell->n < TEXT_SEEN ? cell->n : TEXT_SEEN);
}

struct found {
	size_t column;
	double value;
};

/* The numbers of a row, and its step.  False: the step is no number. */
static bool
metric_csv_numbers(struct metric_file *f, const char *line, size_t len,
    struct found *out, size_t *n, int64_t *step)
{
	char room[METRIC_NUMBER_TEXT];
	const struct csv *c = f->state;
	const char *p = line;
	struct metric_number number;
	struct cell cell;
	size_t i;

	for (i = 0; i < c->header.n &&
		    metric_csv_cell(&p, line + len, c->separator, &cell);
	     i++) {
		if (!metric_csv_number(f, &number, &cell, room)) {
			metric_csv_keep(f->state, i, &cell);
			continue;
		}
		if (i != c->step_column)
			out[(*n)++] =
			    (struct found){ i, metric_number_value(&number) };
		else if (!metric_number_integer(&number, step))
			return false;
	}
	return true;
}

static void
metric_csv_row(
    struct metric_file *f, struct csv *c, const char *line, size_t len)
{
	struct found cells[COLUMNS_MAX];
	int64_t step = ++c->rows;
	const char *name;
	size_t n = 0, i;

	if (!metric_csv_numbers(f, line, len, cells, &n, &step)) {
		metric_file_note(f,
		    "a step is not an integer from 0 to 2^53: its row was "
		    "skipped");
		return;
	}
	c->found |= n > 0;
	for (i = 0; i < n; i++) {
		if (metric_csv_is_repeated(
			&c->last[cells[i].column], step, cells[i].value))
			continue;
		name = c->header.v[cells[i].column];
		metric_files_report_tag(
		    f, name, strlen(name), step, cells[i].value, 0);
	}
}

/* How many cells a line has, all of them numbers or empty; 0: others. */
static size_t
metric_csv_numbers_only(const char *line, size_t len)
{
	char separator = metric_csv_separator(line, len);
	struct metric_number n;
	const char *p = line;
	struct cell cell;
	size_t cells = 0, numbers = 0;

	for (; metric_csv_cell(&p, line + len, separator, &cell); cells++) {
		if (cell.n > 0 && metric_number_scan(&n, cell.p,
				      cell.p + cell.n) != cell.p + cell.n)
			return 0;
		numbers += cell.n > 0;
	}
	return numbers > 0 ? cells : 0;
}

/* Lines before the names of the columns, which may be in a comment. */
static void
metric_csv_begin(
    struct metric_file *f, struct csv *c, const char *line, size_t len)
{
	size_t cells;

	if (*line == '#') {
		free(c->comment);
		c->comment = xstrndup(line + 1, len - 1);
		return;
	}
	/* Excel writes it, and reads it. */
	if (len == 5 && memcmp(line, "sep=", 4) == 0) {
		c->given = line[4];
		return;
	}
	cells = metric_csv_numbers_only(line, len);
	if (cells == 0) {
		metric_csv_header(f, c, line, len);
		return;
	}
	if (c->comment != NULL)
		metric_csv_header(f, c, c->comment, strlen(c->comment));
	if (c->header.n == cells) {
		metric_csv_row(f, c, line, len);
		return;
	}
	c->header.n = 0;
	metric_file_note(f, "it has no line with the names of its columns");
}

/*
 * Whether a line names the columns, as the lines before it, a title or what was
 * run, have not: no row has had a number, and it has two texts or more, as many as
 * the line before or more, that are all names.
 */
static bool
metric_csv_is_late_header(const struct csv *c, const char *line, size_t len)
{
	static const char *const missing[] = { "na", "n/a", "nan", "none",
		"null", "inf", "true", "false", NULL };
	char separator =
	    c->given != 0 ? c->given : metric_csv_separator(line, len);
	const char *p = line;
	struct cell cell;
	size_t cells, i;

	if (c->found)
		return false;
	for (cells = 0; metric_csv_cell(&p, line + len, separator, &cell);
	     cells++) {
		if (cell.n == 0 ||
		    !((cell.p[0] | 0x20) >= 'a' && (cell.p[0] | 0x20) <= 'z'))
			return false;
		for (i = 0; missing[i] != NULL; i++)
			if (strlen(missing[i]) == cell.n &&
			    strncasecmp(missing[i], cell.p, cell.n) == 0)
				return false;
	}
	return cells > 1 && (cells >= c->header.n ||
				(c->separator == ' ' && separator != ' '));
}

/* A line without the end of the quotes of a cell goes on in the next one. */
static bool
metric_csv_is_open(const char *line, size_t len)
{
	bool open = false;
	size_t i;

	for (i = 0; i < len; i++)
		if (line[i] == '"')
			open = !open && (i == 0 || strchr(",;\t| \"",
						       line[i - 1]) != NULL);
	return open;
}

static void
metric_csv_whole(
    struct metric_file *f, struct csv *c, const char *line, size_t len)
{
	if (c->header.n == 0)
		metric_csv_begin(f, c, line, len);
	else if (*line == '#')
		return;
	else if (metric_csv_is_header(c, line, len) ||
		 metric_csv_is_late_header(c, line, len))
		metric_csv_header(f, c, line, len);
	else
		metric_csv_row(f, c, line, len);
}

static void
metric_csv_line(struct metric_file *f, const char *line, size_t len)
{
	static const char mark[] = "\357\273\277"; /* of UTF-8 */
	struct csv *c = f->state;

	if (c == NULL) {
		c = f->state = xcalloc(1, sizeof *c);
		if (len >= 3 && memcmp(line, mark, 3) == 0) {
			line += 3;
			len -= 3;
		}
	}
	if (memchr(line, '\r', len) != NULL)
		metric_file_note(f, "its lines end with CR alone");
	if (c->open.len == 0 && !metric_csv_is_open(line, len)) {
		if (len > 0)
			metric_csv_whole(f, c, line, len);
		return;
	}
	if (c->open.len > 0)
		buf_puts(&c->open, " ");
	buf_add(&c->open, line, len);
	if (c->open.len <= METRIC_LINE_MAX &&
	    metric_csv_is_open(c->open.data, c->open.len))
		return;
	if (c->open.len > METRIC_LINE_MAX)
		metric_file_note(f, "the quotes of a cell do not end");
	metric_csv_whole(f, c, c->open.data, c->open.len);
	buf_clear(&c->open);
}

/* What stands in the column of a metric in the place of a number. */
static bool
metric_csv_put_unread(
    const struct metric_file *f, const char *metric, struct buf *out)
{
	const struct csv *c = f->state;
	char made[METRIC_LINE_NAME_MAX + 1];
	const char *name;
	size_t i;

	for (i = 0; c != NULL && i < c->header.n; i++) {
		if (c->texts[i] == NULL)
			continue;
		name = metric_files_name(
		    f, c->header.v[i], strlen(c->header.v[i]), made);
		if (name != NULL && strcmp(name, metric) == 0)
			break;
		if (strcmp(c->texts[i], metric) == 0) {
			buf_printf(out,
			    "%s is a cell of its column %.64s, and not the "
			    "name of a column",
			    metric, c->header.v[i]);
			return true;
		}
	}
	if (c == NULL || i == c->header.n)
		return false;
	buf_puts(out, "the text \"");
	text_put_harmless(out, c->texts[i], strlen(c->texts[i]), TEXT_LINE);
	buf_printf(
	    out, "\" in its column %.64s is not a number", c->header.v[i]);
	return true;
}

static size_t
metric_csv_read(struct metric_file *f, const char *bytes, size_t n, bool final)
{
	return metric_file_lines(f, bytes, n, final, metric_csv_line);
}

const struct metric_reader metric_csv = {
	.word = "csv",
	.what = "the file, or a folder with CSV files",
	.has_step = true,
	.fits = metric_csv_fits,
	.read = metric_csv_read,
	.put_unread = metric_csv_put_unread,
	.clear = metric_csv_clear,
};
