/*
 * The reasons of an attempt that ended without a result.  What stands in its
 * output is looked up by its backend, only now that a reason is needed.
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/engine/attempts/no-report.h"
#include "src/model/history/history.h"
#include "src/model/study/study.h"
#include "trials/backend.h"

/*
 * What its output shows of the metric, and whether a file was read; NULL: nothing
 * is known.
 */
static char *
no_report_unread(const struct no_report *r, const char *metric, bool *file)
{
	struct buf out = { 0 };

	*file = false;
	if (r->type == NULL || r->type->unread == NULL)
		return NULL;
	if (!r->type->unread(r->ctx, r->folder, metric, file, &out))
		buf_free(&out);
	return out.len > 0 ? buf_take(&out) : NULL;
}

/* Whether a pattern of trial.metrics reads this metric. */
static bool
no_report_has_pattern(const struct study_trial *s, const char *metric)
{
	size_t i;

	for (i = 0; i < s->n_metrics; i++)
		if (strcmp(s->metrics[i].name, metric) == 0)
			return true;
	return false;
}

/*
 * Where the metric was looked for in vain, when the output shows nothing of it.
 */
static void
no_report_put_places(
    const struct no_report *r, const char *metric, struct buf *out)
{
	const struct study_trial *s = &r->study->trial;

	if (no_report_has_pattern(s, metric))
		buf_printf(out,
		    ": the pattern of %.64s in trial.metrics has read nothing "
		    "(hpotune try suggests one)",
		    metric);
	else if (s->n_files > 0 || s->lines != 0)
		buf_printf(out,
		    ": nothing that trial.reads and trial.metrics name was "
		    "found%s",
		    study_files_elsewhere(s) ? STUDY_FILES_ELSEWHERE : "");
	else
		buf_printf(out,
		    ": it printed no line such as \"hpotune: step=1 "
		    "%.64s=0.5\" (hpotune try suggests a pattern for what it "
		    "prints)",
		    metric);
}

/* The names of what it has reported. */
static void
no_report_put_names(const struct no_report *r, struct buf *out)
{
	size_t i;

	for (i = 0; i < r->n_names; i++)
		buf_printf(out, "%s %.64s", i > 0 ? "," : "; it reported",
		    r->names[i]);
}

void
no_report_put(
    const struct no_report *r, const char *metric, char *why, size_t n)
{
	bool file;
	char *found = no_report_unread(r, metric, &file);
	struct buf out = { 0 };

	buf_puts(&out, "it ended without a report");
	if (found != NULL || r->n_names > 0 || r->type == NULL)
		buf_printf(&out, " of %.64s", metric);
	no_report_put_names(r, &out);
	if (r->n_names == 0 && r->type != NULL &&
	    (found == NULL || (r->study->trial.n_files > 0 && !file)))
		no_report_put_places(r, metric, &out);
	if (found != NULL)
		buf_printf(&out, "; %s", found);
	if (r->said[0] != '\0' &&
	    (found == NULL || strstr(found, r->said) == NULL))
		buf_printf(&out, "; its last line: %s", r->said);
	text_cut(why, n, buf_str(&out));
	buf_free(&out);
	free(found);
}

void
no_report_put_infinite(
    const struct study *study, const struct curve *c, char *why, size_t n)
{
	size_t i, finite = 0;

	for (i = 0; i < c->n; i++)
		finite += isfinite(curve_value(c, i)) ? 1 : 0;
	if (finite > 0)
		(void)snprintf(why, n,
		    "its last report of %.64s was not a finite number, and "
		    "objective.value is last (%zu of %zu steps have one)",
		    study->metric, finite, c->n);
	else
		(void)snprintf(why, n,
		    "%.64s was a finite number at no step of %zu",
		    study->metric, c->n);
}

void
no_report_put_pattern(
    const struct no_report *r, const char *metric, char *why, size_t n)
{
	bool file;
	char *found = no_report_unread(r, metric, &file);
	struct buf out = { 0 };

	if (found != NULL)
		buf_puts(&out, found);
	else
		buf_printf(&out,
		    "the pattern of %.64s in trial.metrics has read "
		    "nothing%s%s",
		    metric, r->said[0] != '\0' ? "; its last line: " : "",
		    r->said);
	text_cut(why, n, buf_str(&out));
	buf_free(&out);
	free(found);
}
