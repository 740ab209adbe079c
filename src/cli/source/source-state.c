/* What the database says of the commits of a study. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "src/base/err.h"
#include "src/cli/source/source.h"
#include "src/model/study/study.h"
#include "src/store/store.h"
#include "src/view/rows.h"

/*
 * The trial of the baseline, as src/engine/replicates/proposals.c finds it: the one
 * that was kept more often than replaced, or that of study.json.
 */
#define SOURCE_BASELINE                                                   \
	"coalesce((SELECT trial FROM p AS k WHERE (SELECT sum((o.trial "  \
	"= k.trial) - (o.baseline = k.trial)) FROM p AS o) > 0 ORDER BY " \
	"proposal LIMIT 1), nullif(CAST(?1 AS INTEGER), 0), (SELECT "     \
	"min(trial) FROM suggestions WHERE source = 'default'))"

int
source_state_read(struct source_state *s, const struct study *study,
    struct store *store, struct err *e)
{
	static const char *const sql =
	    "WITH p AS (SELECT * FROM proposals WHERE verdict = 'kept') "
	    "SELECT (SELECT git_commit FROM trials WHERE git_commit IS NOT "
	    "NULL ORDER BY trial LIMIT 1), (SELECT git_commit FROM trials "
	    "WHERE trial = " SOURCE_BASELINE "), EXISTS (SELECT 1 FROM trials "
	    "WHERE state NOT IN ('completed', 'stopped', 'failed', "
	    "'cancelled')) OR EXISTS (SELECT 1 FROM contests WHERE "
	    "verdict = 'open')";
	char number[24];
	const char *const params[] = { number, NULL };
	struct store_study row = { 0 };
	char id[STUDY_ID];
	struct store_rows *rows;
	int rc;

	*s = (struct source_state){ .busy = false };
	if (store_study_get(store, &row, e) != 0)
		return -1;
	store_study_id(id, &row);
	store_study_fini(&row);
	(void)snprintf(s->refs, sizeof s->refs, SOURCE_REFS, id);
	(void)snprintf(
	    number, sizeof number, "%" PRId64, study->confirm.baseline);
	rc = rows_first(&rows, store, sql, params, e);
	if (rc != 1)
		return rc;
	(void)snprintf(
	    s->commit, sizeof s->commit, "%s", store_rows_text(rows, 0));
	(void)snprintf(
	    s->baseline, sizeof s->baseline, "%s", store_rows_text(rows, 1));
	s->busy = store_rows_int(rows, 2) != 0;
	store_rows_close(rows);
	return 0;
}
