/*
 * Reads the sources listed in study.json and records their trials in our own
 * database. warmstart-source.c reads one of them.
 */

#include <inttypes.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/model/study/study.h"
#include "src/server/warmstart/warmstart-internal.h"
#include "src/store/store.h"

void
warmstart_free(struct warmstart *w)
{
	size_t i;

	for (i = 0; i < w->n_sources; i++)
		free(w->sources[i].name);
	for (i = 0; i < w->n; i++) {
		free(w->trials[i].params);
		free(w->trials[i].metrics);
	}
	free(w->sources);
	free(w->trials);
	*w = (struct warmstart){ 0 };
}

void
warmstart_put_source(struct buf *b, const struct warmstart_source *s)
{
	const char *before = "; left out: ";

	buf_printf(b, "%" PRId64 " of %" PRId64 " trials of %s", s->taken,
	    s->trials, s->name);
	if (s->unfit > 0) {
		buf_printf(b, "%s%" PRId64 " that %s not fit (%s)", before,
		    s->unfit, s->unfit == 1 ? "does" : "do", s->why);
		before = ", ";
	}
	if (s->running > 0) {
		buf_printf(b, "%s%" PRId64 " cancelled or still running",
		    before, s->running);
		before = ", ";
	}
	if (s->blameless > 0) {
		buf_printf(b, "%s%" PRId64 " failed by no fault of %s own",
		    before, s->blameless, s->blameless == 1 ? "its" : "their");
		before = ", ";
	}
	if (s->empty > 0)
		buf_printf(
		    b, "%s%" PRId64 " without a result", before, s->empty);
	if (s->strange[0] != '\0')
		buf_printf(b, "; their %s is ignored", s->strange);
	if (s->note[0] != '\0')
		buf_printf(b, "; %s", s->note);
}

/* Whether two paths lead to one file, which need not exist. */
static bool
same_file(const char *a, const char *b)
{
	char *x = xstrdup(a), *y = xstrdup(b), *p, *q;
	bool same;

	p = realpath(dirname(x), NULL);
	q = realpath(dirname(y), NULL);
	same = p != NULL && q != NULL && strcmp(p, q) == 0 &&
	       strcmp(strrchr(a, '/') + 1, strrchr(b, '/') + 1) == 0;
	free(p);
	free(q);
	free(x);
	free(y);
	return same;
}

int
warmstart_read(struct warmstart *w, const struct study *study, const char *own,
    struct err *e)
{
	const struct study_warm *from;
	int rc = 0;
	size_t i;

	*w = (struct warmstart){ 0 };
	w->sources = xcalloc(study->n_warm_start + 1, sizeof *w->sources);
	for (i = 0; i < study->n_warm_start && rc == 0; i++) {
		from = &study->warm_start[i];
		w->sources[w->n_sources++].name =
		    from->path != NULL
			? xstrdup(json_string(from->where))
			: xasprintf("tuning job %s", from->tuning_job);
		rc = from->path != NULL && same_file(from->path, own)
			 ? json_err(from->where, e,
			       "this is the study's own database")
			 : warmstart_source_read(w, study, from, e);
	}
	if (rc != 0)
		warmstart_free(w);
	return rc;
}

void
warmstart_put(struct store *store, const struct warmstart *w, int64_t now_us)
{
	const struct warmstart_trial *t;
	struct store_warm row;
	struct buf b = { 0 };
	size_t i;

	for (i = 0; i < w->n; i++) {
		t = &w->trials[i];
		row = (struct store_warm){
			.source = w->sources[t->source].name,
			.trial = t->trial,
			.state = t->state,
			.objective = t->objective,
			.last_step = t->step,
			.last_value = t->value,
			.params = t->params,
			.metrics = t->metrics,
		};
		(void)store_warm_add(store, &row, NULL);
	}
	for (i = 0; i < w->n_sources; i++) {
		buf_clear(&b);
		buf_puts(&b, "warm_start: ");
		warmstart_put_source(&b, &w->sources[i]);
		log_info("study", "%s", buf_str(&b));
		(void)store_event_add(store, now_us, LOG_LEVEL_INFO, "study", 0,
		    0, buf_str(&b), NULL);
	}
	buf_free(&b);
}
