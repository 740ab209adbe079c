/* A table of trials in CSV (RFC 4180), as other tools and ours export it. */

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/import/import-csv-long.h"
#include "src/import/import-csv-row.h"
#include "src/import/import-results.h"
#include "src/import/import-study.h"

#define WHOLE_MOST 9e15 /* beyond it a double is no exact whole number */

enum role {
	ROLE_NONE,
	ROLE_PARAM,
	ROLE_OBJECTIVE,
	ROLE_STATE,
	ROLE_STEP,
	ROLE_RESULT /* by its name; left out */
};

/* What the values of a column are, quoted or not. */
enum kind {
	KIND_TEXT, /* texts, whatever they look like */
	KIND_MIXED, /* each for itself */
	KIND_WORDS, /* numbers, None, true and false, in quotes or not */
	KIND_NUMBER,
	KIND_INTEGER,
	KIND_WHOLE /* integers that stand there as 99.0: one is missing */
};

struct table {
	const char *file;
	struct import_csv_row in; /* the one that is read */
	char *names[IMPORT_CSV_COLUMNS];
	enum role roles[IMPORT_CSV_COLUMNS];
	enum kind kinds[IMPORT_CSV_COLUMNS];
	size_t columns;
	struct import_csv_cell *cells; /* of all rows, columns of each */
	size_t *lines; /* of the rows */
	size_t rows, cap_cells, cap_lines;
	bool bare; /* some field of the rows is not quoted */
	bool commits; /* of an agent's loop: the commit is the setting */
	/* What a note tells. */
	size_t diverged; /* rows whose objective is NaN or infinite */
	size_t never; /* rows of commits that have not run */
	size_t left_out; /* rows by their state */
	const char *state; /* of the first of them */
	size_t no_number; /* rows whose objective is a text */
	const char *text; /* of the first of them */
	size_t text_line;
};

/* The columns that tools have beside parameters. */
static const char *const values[] = { "objective", "value", "values_0", NULL };
static const char *const steps[] = { "step", "training_iteration", "epoch",
	NULL };
static const char *const others[] = { "trial", "number", "trial_id", "id",
	"name", "run", "run_id", "run_name", "status", "experiment_tag", "date",
	"timestamp", "hostname", "node_ip", "pid", "done", "created", "runtime",
	"datetime_start", "datetime_complete", "duration", "time_total_s",
	"time_this_iter_s", "iterations_since_restore", "time_since_restore",
	"model_uri", "output_uri", "user", "tags", "notes", "sweep", "",
	"_runtime", "_step", "_timestamp", "start time", "end time", "run id",
	"source type", "source name", "source version", "experiment id",
	"artifact uri", "lifecycle stage", "job type", "agent", "updated",
	"heartbeat", "description", "wall_time", NULL };
static const char *const prefixes[] = { "params_", "config/", "param.",
	"params.", "Config.", "param_", NULL };

static bool
among(const char *const *words, const char *name)
{
	for (; *words != NULL; words++)
		if (strcasecmp(*words, name) == 0)
			return true;
	return false;
}

/*
 * Whether the last word of a name is that of a result: best_test_acc, val/f1.
 * Names of parameters end otherwise: loss_weight, val_size.
 */
static bool
is_result_name(const char *name)
{
	static const char *const words[] = { "loss", "acc", "accuracy", "f1",
		"auc", "auroc", "auprc", "error", "err", "rmse", "mse", "mae",
		"mape", "r2", "bpb", "bleu", "rouge", "wer", "cer", "iou",
		"miou", "dice", "psnr", "ssim", "nll", "elbo", "perplexity",
		"ppl", "recall", "precision", "score", "reward", "return",
		NULL };
	const char *last = name + strlen(name);

	while (last > name && isalnum((unsigned char)last[-1]))
		last--;
	return among(words, last);
}

/* The rest of a name behind a prefix of parameters, or NULL. */
static const char *
behind_prefix(const char *name)
{
	const char *const *p;

	for (p = prefixes; *p != NULL; p++)
		if (strncmp(name, *p, strlen(*p)) == 0)
			return name + strlen(*p);
	return NULL;
}

/* Whether a name is in a list with commas. */
static bool
listed(const char *list, const char *name)
{
	size_t n = strlen(name);

	for (; list != NULL; list = strchr(list, ',')) {
		list += *list == ',';
		if (strncmp(list, name, n) == 0 &&
		    (list[n] == ',' || list[n] == '\0'))
			return true;
	}
	return false;
}

/* Whether the name of a column, with an ending, is that of another one. */
static bool
has_with_end(const struct table *t, const char *name, const char *end)
{
	size_t n = strlen(name), i;

	for (i = 0; i < t->columns; i++)
		if (strncmp(t->names[i], name, n) == 0 &&
		    strcmp(t->names[i] + n, end) == 0)
			return true;
	return false;
}

/*
 * Curves of runs beside each other, as a chart of W&B is exported: "RUN - METRIC"
 * with its __MIN and __MAX.
 */
static int
chart_refuse(const struct table *t, struct err *e)
{
	size_t i;

	for (i = 0; i < t->columns; i++)
		if (strstr(t->names[i], " - ") != NULL &&
		    has_with_end(t, t->names[i], "__MIN") &&
		    has_with_end(t, t->names[i], "__MAX"))
			return err_set(e, ERR_USAGE,
			    "%s: it is a chart of W&B, whose rows are steps of "
			    "curves, without parameters: export the table of "
			    "the runs",
			    t->file);
	return 0;
}

static int
objective_find(struct table *t, const char **metric, struct err *e)
{
	struct buf all = { 0 };
	size_t i;
	int rc = 0;

	for (i = 0; i < t->columns; i++)
		if (*metric != NULL ? strcmp(t->names[i], *metric) == 0
				    : among(values, t->names[i]))
			break;
	if (i < t->columns) {
		t->roles[i] = ROLE_OBJECTIVE;
		*metric = t->names[i];
		return 0;
	}
	for (i = 0; i < t->columns; i++)
		buf_printf(&all, "%s%s", i > 0 ? ", " : "", t->names[i]);
	if (*metric != NULL)
		rc = err_set(e, ERR_USAGE, "%s: it has no column %s: %s",
		    t->file, *metric, buf_str(&all));
	else
		rc = err_set(e, ERR_USAGE,
		    "%s: name the column of the objective with --metric: %s",
		    t->file, buf_str(&all));
	buf_free(&all);
	return rc;
}

static bool
has_column(const struct table *t, const char *name)
{
	size_t i;

	for (i = 0; i < t->columns; i++)
		if (strcasecmp(t->names[i], name) == 0)
			return true;
	return false;
}

/* Which columns are parameters. */
static void
roles_find(struct table *t, const char *params)
{
	bool marked = false;
	size_t i;

	for (i = 0; i < t->columns; i++)
		marked = marked || behind_prefix(t->names[i]) != NULL;
	t->commits =
	    !marked && has_column(t, "commit") && has_column(t, "status");
	for (i = 0; i < t->columns; i++) {
		if (t->roles[i] != ROLE_NONE)
			continue;
		if (params != NULL)
			t->roles[i] = listed(params, t->names[i]) ? ROLE_PARAM
								  : ROLE_NONE;
		else if (t->commits)
			t->roles[i] = strcasecmp(t->names[i], "commit") == 0
					  ? ROLE_PARAM
					  : ROLE_NONE;
		else if (marked)
			t->roles[i] = behind_prefix(t->names[i]) != NULL
					  ? ROLE_PARAM
					  : ROLE_NONE;
		else if (!among(others, t->names[i]) &&
			 !among(values, t->names[i]))
			t->roles[i] = ROLE_PARAM;
		if (t->roles[i] == ROLE_PARAM &&
		    (params != NULL || behind_prefix(t->names[i]) != NULL))
			continue;
		if (strcasecmp(t->names[i], "state") == 0)
			t->roles[i] = ROLE_STATE;
		else if (among(steps, t->names[i]))
			t->roles[i] = ROLE_STEP;
	}
}

static bool
import_csv_number_of(const char *text, double *x)
{
	char *end;

	*x = strtod(text, &end);
	return end != text && *end == '\0';
}

static struct import_csv_cell *
cell_of(const struct table *t, size_t row, size_t column)
{
	return &t->cells[row * t->columns + column];
}

/* Where all fields are quoted, "" is a value that is missing, not a text. */
static bool
is_missing(const struct table *t, const struct import_csv_cell *cell)
{
	return *cell->text == '\0' && (!cell->quoted || !t->bare);
}

static bool
is_none(const struct import_csv_cell *cell)
{
	return strcmp(cell->text, "None") == 0 ||
	       strcmp(cell->text, "null") == 0;
}

/* Whether Python or JSON has the text for true, false or null. */
static bool
import_csv_is_word(const struct import_csv_cell *cell)
{
	return is_none(cell) || strcasecmp(cell->text, "true") == 0 ||
	       strcasecmp(cell->text, "false") == 0;
}

/*
 * The kind of a column: quotes say nothing, W&B and others put them around all
 * fields.  pandas writes whole numbers with a point where one is missing.
 */
static enum kind
import_csv_kind_of(const struct table *t, size_t column)
{
	size_t row, numbers = 0, missing = 0, words = 0;
	bool whole = true, decimal = false;
	const struct import_csv_cell *cell;
	double x;

	if (t->commits && strcasecmp(t->names[column], "commit") == 0)
		return KIND_TEXT; /* 3038052 and 12e4567 are none but names */
	for (row = 0; row < t->rows; row++) {
		cell = cell_of(t, row, column);
		if (is_missing(t, cell)) {
			missing++;
			continue;
		}
		if (!import_csv_number_of(cell->text, &x)) {
			if (!import_csv_is_word(cell))
				return KIND_MIXED;
			words++;
			continue;
		}
		if (!isfinite(x)) {
			missing++;
			continue;
		}
		numbers++;
		whole = whole && x == floor(x) && fabs(x) < WHOLE_MOST;
		decimal = decimal || strpbrk(cell->text, ".eE") != NULL;
	}
	if (numbers == 0 || words > 0)
		return words > 0 ? KIND_WORDS : KIND_MIXED;
	if (!whole || (decimal && missing == 0))
		return KIND_NUMBER;
	return decimal ? KIND_WHOLE : KIND_INTEGER;
}

/* Whether a text is JSON of a list or an object. */
static bool
is_tree(const char *text)
{
	struct json_doc *doc;

	if ((*text != '[' && *text != '{') ||
	    json_parse(&doc, text, strlen(text), NULL, false, NULL) != 0)
		return false;
	json_free(doc);
	return true;
}

/*
 * Whether a number of a column with texts is one, too: 10 and 0.5, not 0012, 1e2
 * or 12345678901234567890, which may be names and would not stay as they are.
 */
static bool
import_csv_number_stays(const char *text)
{
	struct buf again = { 0 };
	double x;
	bool same;

	if (!import_csv_number_of(text, &x) || !isfinite(x))
		return true;
	buf_printf(&again, "%.15g", x);
	same = strcmp(buf_str(&again), text) == 0 ||
	       (strchr(text, '.') != NULL && strpbrk(text, "eE") == NULL);
	buf_free(&again);
	return same;
}

/*
 * A value of a mixed column: true, false, null, a list, a number where it is
 * not quoted or no other value is a text, or a text.
 */
static void
import_csv_word_put(struct json_writer *w, const char *name,
    const struct import_csv_cell *cell, bool numbers)
{
	const char *text = cell->text;
	struct json_doc *doc;
	double x;

	numbers = numbers || (!cell->quoted && import_csv_number_stays(text));
	if (is_tree(text))
		json_writer_raw(w, name, text);
	else if (numbers &&
		 json_parse(&doc, text, strlen(text), NULL, false, NULL) == 0) {
		json_writer_raw(w, name, text);
		json_free(doc);
	} else if (strcasecmp(text, "true") == 0 ||
		   strcasecmp(text, "false") == 0)
		json_writer_bool(w, name, strcasecmp(text, "true") == 0);
	else if (is_none(cell))
		json_writer_null(w, name);
	else if (numbers && import_csv_number_of(text, &x) && isfinite(x))
		json_writer_number(w, name, x);
	else
		json_writer_text(w, name, text);
}

static void
import_csv_value_put(struct json_writer *w, const char *name,
    const struct import_csv_cell *cell, enum kind kind)
{
	const char *text = cell->text;
	struct json_doc *doc;
	double x = NAN;

	if (kind == KIND_TEXT) {
		json_writer_text(w, name, text);
		return;
	}
	if (kind == KIND_MIXED || kind == KIND_WORDS) {
		import_csv_word_put(w, name, cell, kind == KIND_WORDS);
		return;
	}
	(void)import_csv_number_of(text, &x);
	if (!isfinite(x))
		return;
	if (kind == KIND_INTEGER || kind == KIND_WHOLE)
		json_writer_integer(w, name, (int64_t)x);
	else if (json_parse(&doc, text, strlen(text), NULL, false, NULL) == 0) {
		json_writer_raw(w, name, text); /* as it is written: 1.0 */
		json_free(doc);
	} else
		json_writer_number(w, name, x);
}

/*
 * The state by the words of Optuna, W&B, Ray, MLflow, those who write a table
 * themselves, and agents that change a program commit by commit.
 */
static const char *
import_csv_state_of(const char *text)
{
	static const char *const all[][12] = {
		{ "completed", "complete", "finished", "terminated", "done",
		    "success", "succeeded", "ok", "keep", "discard",
		    "baseline" },
		{ "stopped", "pruned", "early_stopped", "earlystopped" },
		{ "failed", "fail", "crashed", "error", "failure", "crash" }
	};
	size_t i, k;

	for (i = 0; i < 3; i++)
		for (k = 0; all[i][k] != NULL; k++)
			if (strcasecmp(all[i][k], text) == 0)
				return all[i][0];
	return NULL;
}

/*
 * The name of the parameter in a column; of two with the same name the second
 * gets a number.  import_results makes it one that is valid here.
 */
static void
column_name(struct buf *out, const struct table *t, size_t column)
{
	const char *name = t->names[column], *own = behind_prefix(name), *other;
	size_t i, same = 0;

	own = own != NULL ? own : name;
	for (i = 0; i < column; i++) {
		other = behind_prefix(t->names[i]);
		other = other != NULL ? other : t->names[i];
		same += t->roles[i] == ROLE_PARAM && strcmp(own, other) == 0;
	}
	if (same > 0)
		buf_printf(out, "%s_%zu", own, same + 1);
	else
		buf_puts(out, own);
}

/* The state of a row; NULL: it has not ended. */
static const char *
import_csv_row_state(struct table *t, size_t row)
{
	const char *state = "completed", *text;
	size_t i;

	for (i = 0; i < t->columns; i++) {
		if (t->roles[i] != ROLE_STATE)
			continue;
		text = cell_of(t, row, i)->text;
		state = import_csv_state_of(text);
		if (state == NULL && t->left_out++ == 0)
			t->state = text;
	}
	return state;
}

/* Whether the program of a row took no memory, so that it has not run. */
static bool
has_no_memory(const struct table *t, size_t row)
{
	double x;
	size_t i;

	for (i = 0; i < t->columns; i++)
		if (strcasestr(t->names[i], "memory") != NULL ||
		    strcasestr(t->names[i], "vram") != NULL)
			return import_csv_number_of(
				   cell_of(t, row, i)->text, &x) &&
			       x == 0;
	return false;
}

/*
 * The value of a row's objective; false: it has none.  A loop of commits writes 0
 * where the program has crashed.
 */
static bool
row_result(struct table *t, size_t row, const char **state, double *x)
{
	const struct import_csv_cell *cell;
	size_t i;

	for (i = 0; t->roles[i] != ROLE_OBJECTIVE; i++)
		;
	cell = cell_of(t, row, i);
	if (is_missing(t, cell))
		return false;
	if (!import_csv_number_of(cell->text, x)) {
		if (t->no_number++ == 0) {
			t->text = cell->text;
			t->text_line = t->lines[row];
		}
		return false;
	}
	if (t->commits && strcmp(*state, "failed") == 0)
		return false;
	if (t->commits && *x == 0 && has_no_memory(t, row)) {
		t->never++;
		*state = "failed";
		return false;
	}
	if (isfinite(*x))
		return true;
	t->diverged++;
	*state = "failed";
	return false;
}

static void
import_csv_row_put(struct json_writer *w, struct table *t, size_t row)
{
	const char *state = import_csv_row_state(t, row);
	struct buf clean = { 0 };
	const struct import_csv_cell *cell;
	bool found;
	double x;
	size_t i;

	if (state == NULL)
		return;
	found = row_result(t, row, &state, &x);
	json_writer_object(w, NULL);
	json_writer_text(w, "state", state);
	if (found)
		json_writer_number(w, "objective", x);
	for (i = 0; i < t->columns; i++)
		if (t->roles[i] == ROLE_STEP &&
		    import_csv_number_of(cell_of(t, row, i)->text, &x) &&
		    isfinite(x))
			json_writer_number(w, "step", x);
	json_writer_object(w, "params");
	for (i = 0; i < t->columns; i++) {
		cell = cell_of(t, row, i);
		if (t->roles[i] != ROLE_PARAM || is_missing(t, cell))
			continue;
		buf_clear(&clean);
		column_name(&clean, t, i);
		import_csv_value_put(w, buf_str(&clean), cell, t->kinds[i]);
	}
	buf_free(&clean);
	json_writer_end(w);
	json_writer_end(w);
}

/* Store the rows behind the first line. */
static int
import_csv_rows_read(struct table *t, struct err *e)
{
	size_t line, i;

	for (line = t->in.line + 1; import_csv_row_next(&t->in);
	     line = t->in.line + 1) {
		if (t->in.n == 1 && *t->in.fields[0].text == '\0')
			continue;
		if (t->in.n != t->columns)
			return err_set(e, ERR_USAGE,
			    "%s:%zu: it has %zu fields, and the first line "
			    "%zu",
			    t->file, line, t->in.n, t->columns);
		XGROW(t->lines, t->rows, t->cap_lines);
		t->lines[t->rows] = line;
		for (i = 0; i < t->in.n; i++) {
			XGROW(t->cells, t->rows * t->columns + i, t->cap_cells);
			t->cells[t->rows * t->columns + i] = t->in.fields[i];
			t->bare = t->bare || !t->in.fields[i].quoted;
		}
		t->rows++;
	}
	return 0;
}

/* A column of words that are states is one, whatever else it is named. */
static void
status_find(struct table *t)
{
	size_t i, row, known = 0;

	for (i = 0; i < t->columns; i++)
		if (t->roles[i] == ROLE_STATE)
			return;
	for (i = 0; i < t->columns; i++)
		if (t->roles[i] == ROLE_NONE &&
		    strcasecmp(t->names[i], "status") == 0)
			break;
	for (row = 0; i < t->columns && row < t->rows; row++)
		known += import_csv_state_of(cell_of(t, row, i)->text) != NULL;
	if (known > 0)
		t->roles[i] = ROLE_STATE;
}

static int
import_csv_table_read(
    struct table *t, const char **metric, const char *params, struct err *e)
{
	size_t i;

	if (!import_csv_row_next(&t->in) || t->in.n < 2)
		return err_set(e, ERR_USAGE,
		    "%s: its first line does not name columns", t->file);
	t->columns = t->in.n;
	for (i = 0; i < t->in.n; i++)
		t->names[i] = t->in.fields[i].text;
	if (chart_refuse(t, e) != 0 || objective_find(t, metric, e) != 0)
		return -1;
	roles_find(t, params);
	if (import_csv_rows_read(t, e) != 0)
		return -1;
	status_find(t);
	for (i = 0; i < t->columns; i++) {
		t->kinds[i] = import_csv_kind_of(t, i);
		/* Of numbers that are not whole: "precision" may be 16. */
		if (params == NULL && t->roles[i] == ROLE_PARAM &&
		    behind_prefix(t->names[i]) == NULL &&
		    t->kinds[i] == KIND_NUMBER && is_result_name(t->names[i]))
			t->roles[i] = ROLE_RESULT;
	}
	return 0;
}

/* Columns that nobody called parameters: results may be among them. */
static void
columns_note(const struct table *t, const char *params, struct buf *notes)
{
	bool first = true;
	size_t i;

	for (i = 0; i < t->columns; i++)
		if (t->roles[i] == ROLE_PARAM &&
		    (params != NULL || behind_prefix(t->names[i]) != NULL))
			return;
	if (t->commits && params == NULL) {
		buf_puts(notes,
		    "parameters: commit; a program that runs it gets "
		    "--commit=…, and other columns are left out\n");
		return;
	}
	buf_puts(notes, "parameters: ");
	for (i = 0; i < t->columns; i++)
		if (t->roles[i] == ROLE_PARAM) {
			buf_printf(
			    notes, "%s%s", first ? "" : ", ", t->names[i]);
			first = false;
		}
	buf_puts(notes, first ? "no column"
			      : ": results among them are left out with "
				"--params and the names of the others");
	buf_putc(notes, '\n');
}

static void
import_csv_notes_put(const struct table *t, const char *metric,
    const char *params, struct buf *notes)
{
	struct buf name = { 0 };
	const char *twice;
	size_t i;

	columns_note(t, params, notes);
	for (i = 0; i < t->columns; i++)
		if (t->roles[i] == ROLE_RESULT)
			buf_printf(notes,
			    "%s: it is left out as a result: --params would "
			    "name it with the parameters\n",
			    t->names[i]);
	for (i = 0; i < t->columns; i++) {
		if (t->roles[i] != ROLE_PARAM)
			continue;
		buf_clear(&name);
		column_name(&name, t, i);
		twice = behind_prefix(t->names[i]);
		twice = twice != NULL ? twice : t->names[i];
		if (strcmp(buf_str(&name), twice) != 0)
			buf_printf(notes,
			    "%s: an earlier column has this name: here it is "
			    "%s\n",
			    t->names[i], buf_str(&name));
	}
	buf_free(&name);
	for (i = 0; i < t->columns; i++)
		if (t->roles[i] == ROLE_PARAM && t->kinds[i] == KIND_WHOLE)
			buf_printf(notes,
			    "%s: an int: all values are whole, and pandas "
			    "writes 99 as 99.0 where others are missing\n",
			    t->names[i]);
	if (t->left_out > 0)
		buf_printf(notes,
		    "%zu of %zu rows are left out by their state: \"%s\"%s\n",
		    t->left_out, t->rows, t->state,
		    t->left_out > 1 ? " is the first" : "");
	if (t->never > 0)
		buf_printf(notes,
		    "%zu of %zu rows have failed: 0 is their %s and their "
		    "memory, as of a program that has not run\n",
		    t->never, t->rows, metric);
	if (t->no_number > 0)
		buf_printf(notes,
		    "%s: %zu of %zu rows have no number there: line %zu has "
		    "\"%s\"\n",
		    metric, t->no_number, t->rows, t->text_line, t->text);
}

/* A table with a row for each trial. */
static int
import_csv_wide(struct buf *trials, struct buf *notes,
    struct import_results *to, const char *params, char *text, const char *file,
    struct err *e)
{
	struct table *t = xcalloc(1, sizeof *t);
	struct json_writer w = { .out = trials };
	size_t row;
	int rc;

	t->file = file;
	t->in.next = text;
	t->in.separator = import_csv_row_separator(text);
	rc = import_csv_table_read(t, &to->metric, params, e);
	if (rc == 0) {
		json_writer_array(&w, NULL);
		for (row = 0; row < t->rows; row++)
			import_csv_row_put(&w, t, row);
		json_writer_end(&w);
		to->diverged = t->diverged;
		import_csv_notes_put(t, to->metric, params, notes);
	}
	free(t->cells);
	free(t->lines);
	free(t);
	return rc;
}

int
import_csv(struct buf *trials, struct buf *notes, struct import_results *to,
    const char *params, char *text, const char *file, struct err *e)
{
	const char *metric = to->metric;
	struct buf wide = { 0 };
	int rc;

	if (strncmp(text, "\xef\xbb\xbf", 3) == 0) /* a byte order mark */
		text += 3;
	rc = import_csv_long(
	    &wide, notes, &metric, params != NULL, text, file, e);
	if (rc == 0 && wide.len == 0)
		rc = import_csv_wide(trials, notes, to, params, text, file, e);
	else if (rc == 0) {
		to->metric = metric;
		rc = import_csv_wide(
		    trials, notes, to, params, wide.data, file, e);
		to->metric = metric; /* not that in wide */
	}
	buf_free(&wide);
	return rc;
}
