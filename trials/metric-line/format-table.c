/*
 * A table with a line of names: skorch, spaCy, fastai, scikit-learn's gradient
 * boosting, and programs that print their own.
 *
 *	  epoch    train_loss    valid_acc    valid_loss     dur
 *	-------  ------------  -----------  ------------  ------
 *	      1        0.8067       0.5000        0.6857  0.0870
 *
 * Cells are parted by two blanks, a tab, '|' or the signs of Unicode for boxes; as
 * pandas prints it, a number that has no name begins a row.  A line of names is one when a line
 * of dashes or of numbers soon below fits it.  A cell belongs to the name that it stands
 * under.  The step is the column step, #, iter, iteration, round, epoch, gen, n_gen,
 * generation, episode or e, in this order; without one reports are counted.  A step may
 * be "3/10".
 *
 * Commas, semicolons or single blanks part cells, too, where the line behind the names
 * has as many of them, all numbers.
 */

#include <string.h>
#include <strings.h>

#include "trials/metric-line/metric-format.h"
#include "trials/metric-line/metric-internal.h"
#include "trials/metric-line/metric-number.h"

enum {
	FORMAT_TABLE_COLUMNS = 32,
	FORMAT_TABLE_NEAR = 16 /* lines from the names to the first row */
};

/* What parts cells: a character, or */
enum format_table_part {
	FORMAT_TABLE_WIDE = '\t', /* a tab, or two blanks */
	FORMAT_TABLE_BLANKS = ' ' /* blanks */
};

/* A column, and where it stands in a line. */
struct format_table_column {
	char name[METRIC_LINE_NAME_MAX + 1];
	uint16_t from, to;
};

struct format_table_head {
	char part; /* what parts its cells, one of enum format_table_part */
	size_t n;
	int step; /* index of its column; -1 = none */
	struct format_table_column columns[FORMAT_TABLE_COLUMNS];
};

/* The state of one log. */
struct format_table {
	struct format_table_head head; /* of the table; n is 0: none yet */
	struct format_table_head names; /* of a line that may be one of names */
	unsigned age; /* lines since then */
};

struct format_table_cell {
	struct metric_span text; /* may be empty between two '|' */
	size_t from, to; /* offsets in the line */
};

/*
 * Write a line with '|' and '-' in the place of the signs for boxes, U+2500 to
 * U+257F, and with "|" for "||" around and between names; as it is without them.
 */
static struct metric_span
format_table_plain(struct metric_span s, char room[METRIC_PART_MAX])
{
	static const char upright[] = "\202\203\206\207\212\213";
	struct metric_span t = metric_span_trim(s);
	bool twice = t.end - t.p > 3 && t.p[0] == '|' && t.p[1] == '|' &&
		     t.end[-1] == '|' && t.end[-2] == '|';
	char *to = room;

	if (s.end - s.p > METRIC_PART_MAX ||
	    (!twice && memchr(s.p, 0xe2, (size_t)(s.end - s.p)) == NULL))
		return s;
	while (s.p < s.end)
		if (s.end - s.p > 2 && memcmp(s.p, "\342\224", 2) == 0) {
			*to++ = strchr(upright, s.p[2]) != NULL ? '|' : '-';
			s.p += 3;
		} else if (s.end - s.p > 2 && memcmp(s.p, "\342\225", 2) == 0) {
			*to++ = (unsigned char)s.p[2] == 0x91 ? '|' : '-';
			s.p += 3;
		} else if (twice && s.end - s.p > 1 && s.p[0] == '|' &&
			   s.p[1] == '|')
			s.p++;
		else
			*to++ = *s.p++;
	return (struct metric_span){ room, to };
}

/* The next cell of a line. */
static struct metric_span
format_table_cell(struct metric_span *s, char part)
{
	const char text[] = { part, '\0' };
	struct metric_span cell = { s->p, s->p };

	if (part == FORMAT_TABLE_BLANKS)
		cell = metric_span_take_word(s);
	else if (part != FORMAT_TABLE_WIDE)
		cell = metric_span_trim(metric_span_take_until(s, text));
	else {
		while (s->p < s->end && *s->p != '\t' &&
		       !(s->end - s->p > 1 && s->p[0] == ' ' && s->p[1] == ' '))
			s->p++;
		cell.end = s->p;
		cell = metric_span_trim(cell);
		*s = metric_span_trim(*s);
	}
	/* As R and spreadsheets write names. */
	if (cell.end - cell.p > 2 && *cell.p == '"' && cell.end[-1] == '"') {
		cell.p++;
		cell.end--;
	}
	return cell;
}

/* The cells of a line; 0: too few, or too many. */
static size_t
format_table_cells(
    struct metric_span line, char part, struct format_table_cell *cells)
{
	struct metric_span s = metric_span_trim(line), cell;
	size_t n = 0;

	if (part == '|')
		(void)metric_span_take(&s, "|");
	while (s.p < s.end) {
		if (n == FORMAT_TABLE_COLUMNS)
			return 0;
		cell = format_table_cell(&s, part);
		cells[n++] =
		    (struct format_table_cell){ cell, (size_t)(cell.p - line.p),
			    (size_t)(cell.end - line.p) };
	}
	return n > 1 ? n : 0;
}

/* What parts the cells of a line, by itself. */
static char
format_table_part(struct metric_span line)
{
	struct metric_span s = metric_span_trim(line);
	size_t n = (size_t)(s.end - s.p);

	if (memchr(s.p, '|', n) != NULL)
		return '|';
	if (memchr(s.p, '\t', n) != NULL || metric_span_find(s, "  ") != NULL)
		return FORMAT_TABLE_WIDE;
	return memchr(s.p, ';', n) != NULL   ? ';'
	       : memchr(s.p, ',', n) != NULL ? ','
					     : FORMAT_TABLE_BLANKS;
}

/* Whether only a row just below shows that a line has names. */
static bool
format_table_is_loose(const struct format_table_head *h)
{
	return h->part != '|' && h->part != FORMAT_TABLE_WIDE;
}

/* A line of dashes, equal signs and the crosses between them. */
static bool
format_table_is_dashes(struct metric_span s)
{
	size_t dashes = 0;

	for (; s.p < s.end; s.p++) {
		if (strchr("-=+|: \t", *s.p) == NULL || *s.p == '\0')
			return false;
		dashes += *s.p == '-' || *s.p == '=';
	}
	return dashes > 3;
}

static int
format_table_step(const struct format_table_head *h)
{
	static const char *const names[] = { "step", "steps", "#", "iter",
		"iteration", "round", "epoch", "gen", "n_gen", "generation",
		"episode", "e", NULL };
	size_t i, k;

	for (k = 0; names[k] != NULL; k++)
		for (i = 0; i < h->n; i++)
			if (strcasecmp(h->columns[i].name, names[k]) == 0)
				return (int)i;
	return -1;
}

/* Names as the columns of a table; false: the line has other cells. */
static bool
format_table_names(struct format_table_head *h,
    const struct format_table_cell *cells, size_t n, char part)
{
	struct metric_number number;
	struct metric_span s;
	size_t i;

	*h = (struct format_table_head){ .part = part, .n = n };
	for (i = 0; i < n; i++) {
		s = cells[i].text;
		if (s.end - s.p == 1 && *s.p == '#')
			/* The step of spaCy, and the name of no metric. */
			memcpy(h->columns[i].name, "#", 2);
		else if (s.p == s.end ||
			 metric_number_scan(&number, s.p, s.end) == s.end ||
			 !metric_line_name_make(
			     h->columns[i].name, s.p, (size_t)(s.end - s.p)))
			return false;
		h->columns[i].from = (uint16_t)cells[i].from;
		h->columns[i].to = (uint16_t)cells[i].to;
	}
	h->step = format_table_step(h);
	return true;
}

/* Dashes below names are as wide as their columns. */
static void
format_table_widen(struct format_table_head *h, struct metric_span line)
{
	struct format_table_cell cells[FORMAT_TABLE_COLUMNS];
	size_t i, n = format_table_cells(line, format_table_part(line), cells);

	for (i = 0; n == h->n && i < n; i++) {
		h->columns[i].from = (uint16_t)cells[i].from;
		h->columns[i].to = (uint16_t)cells[i].to;
	}
}

/* The column of a cell; NULL: it stands under none, or under two. */
static const struct format_table_column *
format_table_column(const struct format_table_head *h,
    const struct format_table_cell *cell, size_t i, size_t n)
{
	const struct format_table_column *found = NULL;
	size_t k;

	if (h->part != FORMAT_TABLE_WIDE || n == h->n)
		return i < h->n ? &h->columns[i] : NULL;
	for (k = 0; k < h->n; k++) {
		if (cell->from >= h->columns[k].to ||
		    cell->to <= h->columns[k].from)
			continue;
		if (found != NULL)
			return NULL;
		found = &h->columns[k];
	}
	return found;
}

/* A step, "3" or "3/10"; false: it is none. */
static bool
format_table_row_step(struct metric_line *r, struct metric_span s)
{
	struct metric_number number;
	char room[METRIC_NUMBER_TEXT];
	int64_t of;

	if (metric_span_number(&number, s, room))
		r->has_step = metric_number_integer(&number, &r->step);
	else
		r->has_step = metric_span_take_count(&s, &r->step) &&
			      metric_span_take(&s, "/") &&
			      metric_span_take_count(&s, &of) && s.p == s.end;
	return r->has_step;
}

/* Whether enough of the cells of a row are numbers. */
static bool
format_table_enough(const struct format_table_head *h, size_t n, size_t numbers)
{
	if (h->part == FORMAT_TABLE_BLANKS)
		return numbers == n;
	if (format_table_is_loose(h))
		return numbers > 1 && 2 * numbers >= n;
	/* A text with one number is not yet a row. */
	return numbers > 1 || n < 3;
}

/* Read a line as a row of the table; false: it is none. */
static bool
format_table_row(struct metric_line *r, const struct format_table_head *h,
    struct metric_span line)
{
	struct format_table_cell all[FORMAT_TABLE_COLUMNS], *cells = all;
	const struct format_table_column *column;
	struct metric_number number;
	struct metric_span s, name;
	char room[METRIC_NUMBER_TEXT];
	size_t i, n, numbers = 0;

	if (h->n == 0 || (h->part == '|') != (format_table_part(line) == '|'))
		return false;
	n = format_table_cells(line, h->part, cells);
	if (h->part == FORMAT_TABLE_WIDE && n == h->n + 1 &&
	    cells[0].to <= h->columns[0].from &&
	    metric_number_scan(&number, cells[0].text.p, cells[0].text.end) ==
		cells[0].text.end) {
		cells++;
		n--;
	}
	if (n == 0 || n > h->n || (format_table_is_loose(h) && n != h->n))
		return false;
	for (i = 0; i < n; i++) {
		column = format_table_column(h, &cells[i], i, n);
		s = cells[i].text;
		if (column == NULL)
			return false;
		if (column - h->columns == h->step &&
		    format_table_row_step(r, s)) {
			numbers++;
			continue;
		}
		if (!metric_span_number(&number, s, room)) {
			if (i == 0 && h->part != '|')
				return false;
			continue;
		}
		if (column - h->columns == h->step)
			return false;
		numbers++;
		name.p = column->name;
		name.end = name.p + strlen(name.p);
		if (*name.p != '#')
			(void)metric_span_add(r, name, s);
	}
	return r->n > 0 && format_table_enough(h, n, numbers);
}

static enum metric_read
format_table_read(struct metric_line *r, struct metric_span s,
    const struct metric_reading *in)
{
	struct format_table_cell cells[FORMAT_TABLE_COLUMNS];
	struct format_table *t = in->state;
	struct format_table_head names;
	char room[METRIC_PART_MAX], part;
	bool sure; /* the table that is read is more certain than the names */
	size_t n;

	s = format_table_plain(s, room);
	if (format_table_is_dashes(s)) {
		if (t->names.n > 0 && format_table_is_loose(&t->names))
			t->age = 0;
		else if (t->names.n > 0) {
			t->head = t->names;
			format_table_widen(&t->head, s);
			t->names.n = 0;
		}
		return METRIC_READ_OTHER;
	}
	if (++t->age > FORMAT_TABLE_NEAR ||
	    (format_table_is_loose(&t->names) && t->age > 1))
		t->names.n = 0;
	sure = t->head.n > 0 && !format_table_is_loose(&t->head) &&
	       format_table_is_loose(&t->names);
	if (!sure && format_table_row(r, &t->names, s)) {
		t->head = t->names;
		t->names.n = 0;
		return METRIC_READ_REPORT;
	}
	metric_line_clear(r);
	if (format_table_row(r, &t->head, s))
		return METRIC_READ_REPORT;
	metric_line_clear(r);
	if (sure && format_table_row(r, &t->names, s)) {
		t->head = t->names;
		t->names.n = 0;
		return METRIC_READ_REPORT;
	}
	metric_line_clear(r);
	part = format_table_part(s);
	n = format_table_cells(s, part, cells);
	if (n > 0 && format_table_names(&names, cells, n, part) &&
	    !(format_table_is_loose(&names) && t->names.n > 0 &&
		!format_table_is_loose(&t->names))) {
		t->names = names;
		t->age = 0;
	}
	return METRIC_READ_OTHER;
}

const struct metric_format metric_format_table = {
	.loose = true,
	.state = sizeof(struct format_table),
	.read = format_table_read,
};
