/* What the study is: its parameters with their ranges, and its study.json. */

#include <stdlib.h>
#include <string.h>

#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/html/section.h"
#include "src/model/prior.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/model/when.h"
#include "src/view/rows.h"

static void
section_study_value_put(struct buf *out, const struct value *v)
{
	if (v->kind == VALUE_TEXT)
		buf_puts(out, v->text);
	else
		param_value_put_json(out, v);
}

static void
section_study_values_put(struct buf *out, const struct value *v, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		buf_puts(out, i > 0 ? ", " : "");
		section_study_value_put(out, &v[i]);
	}
}

/* "0.0001 to 0.3, logarithmic", or the choices. */
static void
section_study_range_put(struct buf *out, const struct param *p)
{
	if (p->type == PARAM_CHOICE || p->type == PARAM_FIXED) {
		section_study_values_put(out, p->values, p->n_values);
		if (p->ordered)
			buf_puts(out, ", in this order");
		if (p->weights != NULL)
			buf_puts(out, "; ");
		prior_put(out, p);
		return;
	}
	rows_put_number(out, p->min, 0);
	buf_puts(out, " to ");
	rows_put_number(out, p->max, 0);
	if (p->step > 0 && !(p->type == PARAM_INT && p->step == 1)) {
		buf_puts(out, " by ");
		rows_put_number(out, p->step, 0);
	}
	if (p->scale == SCALE_LOG)
		buf_puts(out, ", logarithmic");
	else if (p->scale == SCALE_REVERSE_LOG)
		buf_puts(out, ", logarithmic near 1");
	if (p->sd > 0)
		buf_puts(out, "; ");
	prior_put(out, p);
}

static void
section_study_param_put(
    struct html *h, const struct space *space, const struct param *p)
{
	static const char *const types[] = { [PARAM_FLOAT] = "float",
		[PARAM_INT] = "int",
		[PARAM_CHOICE] = "choice",
		[PARAM_FIXED] = "fixed" };
	struct buf b = { 0 };

	html_open(h, "tr");
	html_leaf(h, "td", NULL, p->name);
	html_leaf(h, "td", NULL, types[p->type]);
	section_study_range_put(&b, p);
	html_leaf(h, "td", NULL, buf_str(&b));
	buf_clear(&b);
	if (p->has_default)
		section_study_value_put(&b, &p->def);
	html_leaf(h, "td", NULL, buf_str(&b));
	buf_clear(&b);
	if (p->when != NULL)
		when_put(&b, p->when, space);
	html_leaf(h, "td", NULL, buf_str(&b));
	html_close(h, "tr");
	buf_free(&b);
}

static void
section_study_params_put(struct page *r)
{
	static const char *const heads[] = { "parameter", "type", "range",
		"default", "only when" };
	const struct space *space = r->study->space;
	struct html *h = &r->h;
	size_t i;

	html_open(h, "div");
	html_attr(h, "class", "wide");
	html_open(h, "table");
	html_open(h, "thead");
	html_open(h, "tr");
	for (i = 0; i < sizeof heads / sizeof *heads; i++) {
		html_open(h, "th");
		html_attr(h, "scope", "col");
		html_text(h, heads[i]);
		html_close(h, "th");
	}
	html_close(h, "tr");
	html_close(h, "thead");
	html_open(h, "tbody");
	for (i = 0; i < space->n; i++)
		section_study_param_put(h, space, &space->params[i]);
	html_close(h, "tbody");
	html_close(h, "table");
	html_close(h, "div");
}

/* The other members of study.json, one line each. */
static int
section_study_members_put(struct page *r, struct err *e)
{
	const struct json *m;
	struct json_doc *doc;
	struct buf b = { 0 };

	if (json_parse(
		&doc, r->row.json, strlen(r->row.json), NULL, false, e) != 0)
		return -1;
	html_open(&r->h, "dl");
	for (m = json_first(json_root(doc)); m != NULL; m = json_next(m)) {
		if (strcmp(json_key(m), "parameters") == 0)
			continue;
		json_write(&b, m);
		html_leaf(&r->h, "dt", NULL, json_key(m));
		html_leaf(&r->h, "dd", NULL, buf_str(&b));
		buf_clear(&b);
	}
	html_close(&r->h, "dl");
	buf_free(&b);
	json_free(doc);
	return 0;
}

/* Where its trials were started, the last first. */
static int
provenance_put(struct page *r, struct err *e)
{
	static const struct section_column columns[] = {
		{ "since", COLUMN_WORD }, { "host", COLUMN_WORD },
		{ "user", COLUMN_WORD }, { "command", COLUMN_TEXT },
		{ "hpotune", COLUMN_WORD }, { "system", COLUMN_TEXT },
		{ "commit", COLUMN_WORD }, { "branch", COLUMN_WORD },
		{ "files", COLUMN_TEXT }, { "packages", COLUMN_TEXT }
	};
	static const char *const sql =
	    "SELECT replace(substr(since, 1, 19), 'T', ' '), host, user, "
	    "(SELECT group_concat(value, ' ') FROM json_each(command)), "
	    "version, system, substr(git_commit, 1, 12), git_branch, "
	    "CASE git_dirty WHEN 1 THEN 'changed' WHEN 0 THEN 'unchanged' "
	    "ELSE git_why END, CASE WHEN packages IS NULL THEN packages_why "
	    "ELSE (length(packages) - length(replace(packages, char(10), '')))"
	    " || ' lines' END "
	    "FROM provenance ORDER BY provenance DESC LIMIT 20";
	int64_t some;
	size_t n;

	if (page_data_count(r, "SELECT count(*) FROM provenance", &some, e) !=
	    0)
		return -1;
	if (some == 0)
		return 0;
	html_leaf(&r->h, "h3", NULL, "Where its trials were started");
	if (section_table(
		r, sql, columns, sizeof columns / sizeof *columns, &n, e) != 0)
		return -1;
	if (some > (int64_t)n)
		section_note(
		    &r->h, "The last %zu of %lld.", n, (long long)some);
	return 0;
}

static int
section_study_put(struct page *r, struct err *e)
{
	int rc;

	section_begin(&r->h, "The study");
	section_study_params_put(r);
	rc = section_study_members_put(r, e);
	if (rc == 0)
		rc = provenance_put(r, e);
	section_end(&r->h);
	return rc;
}

const struct page_section section_study = { "study", section_study_put };
