/* Reads the summary of a study. */

#include <stdlib.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/store/queries.h"
#include "src/store/store.h"
#include "src/view/rows.h"
#include "src/web/studies/web-summary.h"

enum { STEPS = 10 * 1000 * 1000 /* of SQLite, a tenth of a second */ };

void
web_summary_fini(struct web_summary *s)
{
	free(s->name);
	free(s->state);
	free(s->goal);
	free(s->created);
	free(s->ended);
	*s = (struct web_summary){ 0 };
}

static char *
web_summary_text(const struct store_rows *rows, int col)
{
	return store_rows_null(rows, col) ? NULL
					  : xstrdup(store_rows_text(rows, col));
}

static int
web_summary_query(struct web_summary *s, struct store *store, struct err *e)
{
	static const char sql[] =
	    "SELECT name, state, (SELECT group_concat(goal || ' ' || metric, "
	    "', ') FROM " STORE_SQL_AIMS
	    " WHERE goal IS NOT NULL), created, ended, "
	    "trials, running, completed, stopped, failed, best_trial, best, "
	    "cost, json_extract(" STORE_SQL_JSON ", '$.limits.trials'), "
	    "elapsed, " STORE_SQL_FRONT_COUNT " FROM study";
	struct store_rows *rows;

	if (rows_first(&rows, store, sql, NULL, e) != 1)
		return err_add(e, "the study");
	s->name = web_summary_text(rows, 0);
	s->state = web_summary_text(rows, 1);
	s->goal = web_summary_text(rows, 2);
	s->created = web_summary_text(rows, 3);
	s->ended = web_summary_text(rows, 4);
	s->trials = store_rows_int(rows, 5);
	s->running = store_rows_int(rows, 6);
	s->completed = store_rows_int(rows, 7);
	s->stopped = store_rows_int(rows, 8);
	s->failed = store_rows_int(rows, 9);
	s->best_trial = store_rows_int(rows, 10);
	s->best = rows_real(rows, 11);
	s->cost = rows_real(rows, 12);
	s->limit = store_rows_int(rows, 13);
	s->elapsed = rows_real(rows, 14);
	s->front = store_rows_int(rows, 15);
	store_rows_close(rows);
	return 0;
}

int
web_summary_read(struct web_summary *s, const char *db, struct err *e)
{
	struct store *store;
	int rc;

	*s = (struct web_summary){ 0 };
	if (store_open(&store, db, STORE_READ, e) != 0)
		return -1;
	store_limit_steps(store, STEPS);
	rc = web_summary_query(s, store, e);
	store_close(store);
	return rc;
}
