/* Tables with a row for each value of a run, as experiment trackers export them. */

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/import/import-csv-long.h"
#include "src/import/import-csv-row.h"

enum { NONE = -1 };

static const char *const runs[] = { "run", "run_id", "run_name", "trial",
	"trial_id", "experiment_id", "sys/id", NULL };
static const char *const attributes[] = { "attribute", "attribute_path",
	"attribute_name", "metric", "key", "variable", "tag", "name", NULL };
static const char *const step_names[] = { "step", "epoch", "iteration", NULL };
/* Neptune has a column for each type. */
static const char *const value_names[] = { "value", "float_value", "int_value",
	"string_value", "bool_value", NULL };
static const char *const states[] = { "state", "status", "sys/state", NULL };
static const char *const marks[] = { "parameters/", "params/", "config/",
	"hparams/", "hyperparameters/", "param/", "config.", "params.", NULL };

/* The value of an attribute in a run that counts so far. */
struct long_value {
	const char *text; /* NULL: none */
	double step;
	bool stepped;
};

struct long_table {
	const char *file;
	struct import_csv_row in;
	int run, attribute, step; /* columns; NONE = none */
	int values[8]; /* columns, then NONE */
	char **names; /* of attributes, in the text */
	bool *stepped; /* whether some row of it has a step */
	size_t n, cap, cap_stepped;
	char **ids; /* of runs */
	struct long_value **rows; /* of each run, by attribute */
	size_t *widths;
	size_t runs, cap_runs, cap_rows, cap_widths;
};

/* The first column with one of the names, or NONE. */
static int
column_of(const struct import_csv_row *in, const char *const *names)
{
	size_t i;

	for (; *names != NULL; names++)
		for (i = 0; i < in->n; i++)
			if (strcasecmp(in->fields[i].text, *names) == 0)
				return (int)i;
	return NONE;
}

/* Whether the first row names the columns of such a table. */
static bool
long_is(struct long_table *t)
{
	const char *one[2] = { NULL, NULL };
	size_t i, n = 0;

	t->attribute = column_of(&t->in, attributes);
	t->run = column_of(&t->in, runs);
	t->step = column_of(&t->in, step_names);
	for (i = 0; value_names[i] != NULL; i++) {
		one[0] = value_names[i];
		t->values[n] = column_of(&t->in, one);
		n += t->values[n] != NONE;
	}
	t->values[n] = NONE;
	return t->attribute != NONE && t->run != NONE && n > 0 &&
	       t->attribute != t->run &&
	       (t->step != NONE ||
		   strncmp("attribute", t->in.fields[t->attribute].text, 9) ==
		       0);
}

static size_t
long_run_of(struct long_table *t, char *id)
{
	size_t i;

	/* The rows of a run mostly follow each other. */
	for (i = t->runs; i-- > 0;)
		if (strcmp(t->ids[i], id) == 0)
			return i;
	XGROW(t->ids, t->runs, t->cap_runs);
	XGROW(t->rows, t->runs, t->cap_rows);
	XGROW(t->widths, t->runs, t->cap_widths);
	t->ids[t->runs] = id;
	t->rows[t->runs] = NULL;
	t->widths[t->runs] = 0;
	return t->runs++;
}

static size_t
long_attribute_of(struct long_table *t, char *name)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if (strcmp(t->names[i], name) == 0)
			return i;
	XGROW(t->names, t->n, t->cap);
	XGROW(t->stepped, t->n, t->cap_stepped);
	t->names[t->n] = name;
	t->stepped[t->n] = false;
	return t->n++;
}

/* The value of this row and attribute, which is made. */
static struct long_value *
long_value_of(struct long_table *t, size_t run, size_t attribute)
{
	size_t n = t->widths[run];

	if (attribute >= n) {
		n = 2 * attribute + 8;
		t->rows[run] = xrealloc(t->rows[run], n * sizeof **t->rows);
		memset(t->rows[run] + t->widths[run], 0,
		    (n - t->widths[run]) * sizeof **t->rows);
		t->widths[run] = n;
	}
	return &t->rows[run][attribute];
}

static void
long_row_take(struct long_table *t)
{
	const struct import_csv_cell *f = t->in.fields;
	const char *text = "", *step;
	struct long_value *v;
	size_t run, attribute, i;
	bool stepped = false;
	double at = 0;
	char *end;

	for (i = 0; t->values[i] != NONE && *text == '\0'; i++)
		text = f[t->values[i]].text;
	if (t->step != NONE) {
		step = f[t->step].text;
		at = strtod(step, &end);
		stepped = end != step && *end == '\0' && at == at;
	}
	run = long_run_of(t, f[t->run].text);
	attribute = long_attribute_of(t, f[t->attribute].text);
	t->stepped[attribute] = t->stepped[attribute] || stepped;
	v = long_value_of(t, run, attribute);
	if (*text == '\0' || (v->text != NULL && stepped && at < v->step))
		return;
	*v = (struct long_value){
		.text = text, .step = stepped ? at : 0, .stepped = stepped
	};
}

/* A field, in quotes where it needs them. */
static void
field_put(struct buf *out, const char *text)
{
	if (strpbrk(text, ",\"\r\n;\t") == NULL) {
		buf_puts(out, text);
		return;
	}
	buf_putc(out, '"');
	for (; *text != '\0'; text++) {
		if (*text == '"')
			buf_putc(out, '"');
		buf_putc(out, *text);
	}
	buf_putc(out, '"');
}

static bool
word_of(const char *const *words, const char *name)
{
	for (; *words != NULL; words++)
		if (strcasecmp(*words, name) == 0)
			return true;
	return false;
}

/* The name behind config/ or a similar word, or NULL. */
static const char *
behind_mark(const char *name)
{
	const char *const *m;

	for (m = marks; *m != NULL; m++)
		if (strncasecmp(name, *m, strlen(*m)) == 0)
			return name + strlen(*m);
	return NULL;
}

/* The objective's attribute: that of the name, or the only one with steps. */
static int
long_objective(size_t *found, const struct long_table *t, const char *metric,
    struct err *e)
{
	struct buf all = { 0 };
	size_t i, n = 0;
	int rc = 0;

	for (i = 0; i < t->n; i++) {
		if (metric != NULL ? strcmp(t->names[i], metric) != 0
				   : !t->stepped[i])
			continue;
		*found = i;
		n++;
	}
	if (n == 1)
		return 0;
	for (i = 0; i < t->n; i++)
		if (t->stepped[i])
			buf_printf(
			    &all, "%s%s", all.len > 0 ? ", " : "", t->names[i]);
	if (metric != NULL)
		rc = err_set(e, ERR_USAGE, "%s: it has no attribute %s: %s",
		    t->file, metric, buf_str(&all));
	else
		rc = err_set(e, ERR_USAGE,
		    "%s: name the attribute of the objective with --metric: %s",
		    t->file, buf_str(&all));
	buf_free(&all);
	return rc;
}

/* How the columns are named. */
struct long_names {
	size_t objective;
	bool marked; /* some attributes begin with config/ */
	bool named; /* the user names the parameters */
};

static void
long_name_put(struct buf *out, const struct long_table *t, size_t i,
    const struct long_names *how)
{
	const char *name = t->names[i], *own = behind_mark(name);
	bool param = how->marked ? own != NULL : !t->stepped[i];

	buf_putc(out, ',');
	if (i == how->objective) {
		field_put(out, name);
		return;
	}
	if (word_of(states, name)) {
		buf_puts(out, "state");
		return;
	}
	if (param && !how->named)
		buf_puts(out, "params_");
	field_put(out, param && how->marked ? own : name);
}

static void
long_run_put(
    struct buf *out, const struct long_table *t, size_t run, size_t objective)
{
	const struct long_value *v = t->rows[run];
	size_t i;

	field_put(out, t->ids[run]);
	for (i = 0; i < t->n; i++) {
		buf_putc(out, ',');
		if (i < t->widths[run] && v[i].text != NULL)
			field_put(out, v[i].text);
		else if (word_of(states, t->names[i]))
			buf_puts(out, "completed");
	}
	buf_putc(out, ',');
	if (objective < t->widths[run] && v[objective].stepped)
		buf_printf(out, "%.17g", v[objective].step);
	buf_putc(out, '\n');
}

static int
long_put(struct buf *out, struct buf *notes, const struct long_table *t,
    const char **metric, bool named, struct err *e)
{
	struct long_names how = { .named = named };
	size_t i;

	if (long_objective(&how.objective, t, *metric, e) != 0)
		return -1;
	*metric = t->names[how.objective];
	for (i = 0; i < t->n; i++)
		how.marked = how.marked || behind_mark(t->names[i]) != NULL;
	buf_puts(out, "run");
	for (i = 0; i < t->n; i++)
		long_name_put(out, t, i, &how);
	buf_puts(out, ",step\n");
	for (i = 0; i < t->runs; i++)
		long_run_put(out, t, i, how.objective);
	buf_printf(notes,
	    "%s: the objective; each of the %zu runs is a trial with the value "
	    "of its last step\n",
	    *metric, t->runs);
	return 0;
}

static void
long_free(struct long_table *t)
{
	size_t i;

	for (i = 0; i < t->runs; i++)
		free(t->rows[i]);
	free(t->rows);
	free(t->widths);
	free(t->ids);
	free(t->names);
	free(t->stepped);
	free(t);
}

/* Where all fields of a row are there. */
static int
long_row_check(const struct long_table *t, size_t columns, struct err *e)
{
	if (t->in.n == columns)
		return 0;
	return err_set(e, ERR_USAGE,
	    "%s:%zu: it has %zu fields, and the first line %zu", t->file,
	    t->in.line, t->in.n, columns);
}

/* Whether the first line, of which this is a copy, names such columns. */
static bool
long_begins(struct long_table *t, char *line, size_t *columns)
{
	bool is;

	t->in.next = line;
	(void)import_csv_row_next(&t->in);
	is = long_is(t);
	*columns = t->in.n;
	return is;
}

int
import_csv_long(struct buf *out, struct buf *notes, const char **metric,
    bool named, char *text, const char *file, struct err *e)
{
	struct long_table *t = xcalloc(1, sizeof *t);
	size_t columns, n = strcspn(text, "\n");
	char *first = xstrndup(text, n);
	int rc = 0;

	t->file = file;
	t->in.separator = import_csv_row_separator(text);
	if (long_begins(t, first, &columns)) {
		t->in.next = text + n + (text[n] != '\0');
		t->in.line = 1;
		while (rc == 0 && import_csv_row_next(&t->in)) {
			if (t->in.n == 1 && *t->in.fields[0].text == '\0')
				continue;
			rc = long_row_check(t, columns, e);
			if (rc == 0)
				long_row_take(t);
		}
		if (rc == 0)
			rc = long_put(out, notes, t, metric, named, e);
	}
	free(first);
	long_free(t);
	return rc;
}
