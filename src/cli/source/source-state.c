/* What the database says of the commits of a study. */

#include <stdio.h>
#include <string.h>

#include "src/base/err.h"
#include "src/cli/source/source.h"
#include "src/store/store.h"
#include "src/view/rows.h"

/* The baseline as src/engine/replicates/proposals.c finds it. */
#define SOURCE_BASELINE                                                    \
	"coalesce((SELECT challenger FROM p AS k WHERE (SELECT "           \
	"sum((o.challenger = k.challenger) - (o.baseline = k.challenger))" \
	" FROM p AS o) > 0 ORDER BY contest LIMIT 1), (SELECT setting "    \
	"FROM t_trial WHERE trial = coalesce((SELECT json_extract(json, "  \
	"'$.confirm.baseline') FROM t_study WHERE json_type(json, "        \
	"'$.confirm.baseline') = 'integer'), (SELECT min(trial) FROM "     \
	"t_trial WHERE source = 'default'))))"

int
source_state_read(struct source_state *s, struct store *store, struct err *e)
{
	static const char *const sql =
	    "WITH p AS (SELECT * FROM t_contest WHERE kind = 'propose' AND "
	    "verdict = 'kept') SELECT (SELECT git_commit FROM t_trial WHERE "
	    "git_commit IS NOT NULL ORDER BY trial LIMIT 1), (SELECT "
	    "git_commit FROM t_trial WHERE setting = " SOURCE_BASELINE
	    " ORDER BY trial LIMIT 1), EXISTS (SELECT 1 FROM t_trial WHERE "
	    "end_seq IS NULL) OR EXISTS (SELECT 1 FROM t_contest WHERE "
	    "verdict = 'open')";
	struct store_study row = { 0 };
	char id[STUDY_ID];
	struct store_rows *rows;
	const char *text;
	int rc;

	*s = (struct source_state){ .busy = false };
	if (store_study_get(store, &row, e) != 0)
		return -1;
	store_study_id(id, &row);
	store_study_fini(&row);
	(void)snprintf(s->refs, sizeof s->refs, "refs/hpotune/%s", id);
	rc = rows_first(&rows, store, sql, NULL, e);
	if (rc != 1)
		return rc;
	text = store_rows_text(rows, 0);
	if (text != NULL)
		(void)snprintf(s->commit, sizeof s->commit, "%s", text);
	text = store_rows_text(rows, 1);
	if (text != NULL)
		(void)snprintf(s->baseline, sizeof s->baseline, "%s", text);
	s->busy = store_rows_int(rows, 2) != 0;
	store_rows_close(rows);
	return 0;
}
