/*
 * An experiment of Syne Tune: metadata.json, and the table of its reports, which
 * results_callback.py writes.
 */

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/import/import-csv-row.h"
#include "src/import/import-results.h"
#include "src/import/import-study.h"

static const char config[] = "config_";

/* The last report of a trial so far. */
struct report {
	struct import_csv_cell *fields;
	double step;
};

struct reports {
	const char *file;
	struct import_csv_row in;
	char **names; /* of the columns */
	size_t columns;
	int trial, step, objective, decision; /* columns; -1 = none */
	struct report *rows; /* of each trial, as it began */
	size_t n, cap;
	double last; /* greatest step of all */
};

static int
synetune_column(const struct reports *t, const char *name)
{
	size_t i;

	for (i = 0; i < t->columns; i++)
		if (name != NULL && strcmp(t->names[i], name) == 0)
			return (int)i;
	return -1;
}

/* The columns by the first line. */
static int
synetune_columns_read(
    struct reports *t, const char *metric, const char *time_attr, struct err *e)
{
	size_t i;

	(void)import_csv_row_next(&t->in);
	t->columns = t->in.n;
	t->names = xcalloc(t->columns, sizeof *t->names);
	for (i = 0; i < t->columns; i++)
		t->names[i] = t->in.fields[i].text;
	t->trial = synetune_column(t, "trial_id");
	t->objective = synetune_column(t, metric);
	t->decision = synetune_column(t, "st_decision");
	t->step = synetune_column(t, time_attr);
	if (t->step == -1)
		t->step = synetune_column(t, "epoch");
	if (t->step == -1)
		t->step = synetune_column(t, "st_worker_iter");
	if (t->trial != -1 && t->objective != -1)
		return 0;
	return err_set(e, ERR_USAGE, "%s: it has no column %s", t->file,
	    t->trial == -1 ? "trial_id" : metric);
}

static void
synetune_row_take(struct reports *t)
{
	const struct import_csv_cell *f = t->in.fields;
	double step = t->step != -1 ? strtod(f[t->step].text, NULL) : 0;
	struct report *r;
	size_t i;

	for (i = t->n; i-- > 0;)
		if (strcmp(t->rows[i].fields[t->trial].text,
			f[t->trial].text) == 0)
			break;
	if (i == (size_t)-1) {
		XGROW(t->rows, t->n, t->cap);
		i = t->n++;
		t->rows[i].fields = xcalloc(t->columns, sizeof *f);
	} else if (step < t->rows[i].step)
		return;
	r = &t->rows[i];
	memcpy(r->fields, f, t->columns * sizeof *f);
	r->step = step;
	t->last = fmax(t->last, step);
}

static int
synetune_rows_read(struct reports *t, struct err *e)
{
	while (import_csv_row_next(&t->in)) {
		if (t->in.n == 1 && *t->in.fields[0].text == '\0')
			continue;
		if (t->in.n != t->columns)
			return err_set(e, ERR_USAGE,
			    "%s:%zu: it has %zu fields, and the first line %zu",
			    t->file, t->in.line, t->in.n, t->columns);
		synetune_row_take(t);
	}
	return 0;
}

/* A value of a parameter, as its domain has it: pandas writes 32.0 for 32. */
static void
synetune_value_put(struct json_writer *w, const char *name, const char *text,
    const struct json *domain)
{
	const char *class = json_string(json_get(domain, "domain_cls"));
	const struct json *j =
	    json_get(json_get(domain, "domain_kwargs"), "categories");
	struct json_doc *doc;
	char *end;
	double x = strtod(text, &end);
	bool number = end != text && *end == '\0' && isfinite(x), same;

	for (j = json_first(j); j != NULL; j = json_next(j)) {
		double y;

		same = json_string(j) != NULL
			   ? strcmp(json_string(j), text) == 0
			   : number && json_number(j, &y) && x == y;
		if (json_type(j) == JSON_BOOL)
			same = strcasecmp(json_spaced(j), text) == 0;
		if (same) {
			json_write(json_writer_value(w, name), j);
			return;
		}
	}
	if (class != NULL && number)
		json_writer_number(w, name, x);
	else if (domain != NULL && class == NULL)
		json_write(json_writer_value(w, name), domain);
	else if (json_parse(&doc, text, strlen(text), NULL, false, NULL) == 0) {
		json_write(json_writer_value(w, name), json_root(doc));
		json_free(doc);
	} else
		json_writer_text(w, name, text);
}

/* A trial that was stopped before the last step of all has stopped. */
static void
synetune_trial_put(struct json_writer *w, struct import_results *to,
    const struct reports *t, const struct report *r, const struct json *space)
{
	const struct import_csv_cell *f = r->fields;
	const char *text = f[t->objective].text, *name;
	char *end;
	double x = strtod(text, &end);
	bool failed = end == text || *end != '\0' || !isfinite(x);
	bool stopped = t->decision != -1 &&
		       strcmp(f[t->decision].text, "STOP") == 0 &&
		       r->step < t->last;
	size_t i;

	to->diverged += failed;
	to->stops = to->stops || stopped;
	json_writer_object(w, NULL);
	json_writer_text(w, "state",
	    failed    ? "failed"
	    : stopped ? "stopped"
		      : "completed");
	if (!failed)
		json_writer_number(w, "objective", x);
	if (t->step != -1)
		json_writer_number(w, "step", r->step);
	json_writer_object(w, "params");
	for (i = 0; i < t->columns; i++) {
		if (strncmp(t->names[i], config, sizeof config - 1) != 0 ||
		    *f[i].text == '\0')
			continue;
		name = t->names[i] + sizeof config - 1;
		synetune_value_put(w, name, f[i].text, json_get(space, name));
	}
	json_writer_end(w);
	json_writer_end(w);
}

int
import_synetune(struct buf *trials, struct buf *notes,
    struct import_results *to, const struct json *meta,
    const struct json *space, char *text, const char *file, struct err *e)
{
	struct reports *t = xcalloc(1, sizeof *t);
	struct json_writer w = { .out = trials };
	const struct json *kwargs = json_get(meta, "scheduler_kwargs");
	size_t i;
	int rc;

	t->file = file;
	t->in.next = text;
	t->in.separator = ',';
	rc = synetune_columns_read(
	    t, to->metric, json_string(json_get(kwargs, "time_attr")), e);
	if (rc == 0)
		rc = synetune_rows_read(t, e);
	if (rc == 0) {
		json_writer_array(&w, NULL);
		for (i = 0; i < t->n; i++)
			synetune_trial_put(&w, to, t, &t->rows[i], space);
		json_writer_end(&w);
		buf_puts(notes,
		    "Syne Tune's table does not say which trials have crashed "
		    "or still ran: each has completed here with its last "
		    "report, unless the scheduler stopped it before the last "
		    "step\n");
	}
	for (i = 0; i < t->n; i++)
		free(t->rows[i].fields);
	free(t->rows);
	free(t->names);
	free(t);
	return rc;
}

/* A domain of Syne Tune as a distribution of Optuna, as import_params reads it. */
static bool
synetune_domain_put(struct json_writer *w, const struct json *d)
{
	const char *class = json_string(json_get(d, "domain_cls"));
	const char *sampler = json_string(json_get(d, "sampler_cls"));
	const struct json *kwargs = json_get(d, "domain_kwargs");
	const struct json *values = json_get(kwargs, "categories");
	double low, high;

	if (values != NULL) {
		json_writer_object(w, "distribution");
		json_writer_text(w, "name", "CategoricalDistribution");
		json_writer_object(w, "attributes");
		json_write(json_writer_value(w, "choices"), values);
	} else if (class != NULL && sampler != NULL &&
		   (strcmp(class, "Integer") == 0 ||
		       strcmp(class, "Float") == 0) &&
		   strstr(sampler, "Uniform") != NULL &&
		   json_number(json_get(kwargs, "lower"), &low) &&
		   json_number(json_get(kwargs, "upper"), &high)) {
		json_writer_object(w, "distribution");
		json_writer_text(w, "name",
		    strcmp(class, "Integer") == 0 ? "IntDistribution"
						  : "FloatDistribution");
		json_writer_object(w, "attributes");
		json_writer_bool(w, "log", strcmp(sampler, "LogUniform") == 0);
		json_writer_number(w, "low", low);
		json_writer_number(w, "high", high);
	} else
		return false;
	json_writer_end(w);
	json_writer_end(w);
	return true;
}

void
import_synetune_domains(struct buf *out, const struct json *space)
{
	struct json_writer w = { .out = out };
	const struct json *j;

	json_writer_array(&w, NULL);
	for (j = json_first(space); j != NULL; j = json_next(j)) {
		json_writer_object(&w, NULL);
		json_writer_text(&w, "name", json_key(j));
		(void)synetune_domain_put(&w, j);
		json_writer_end(&w);
	}
	json_writer_end(&w);
}
