/* Which preset of stopping rules the curves of a study would have been best with. */

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/replay/replay-presets.h"
#include "src/store/store.h"
#include "src/view/rows.h"
#include "src/view/status.h"

int
status_put_presets(struct buf *out, struct store *store, struct err *e)
{
	/*
	 * As in view hindsight: where a rule has stopped more than a quarter of
	 * the trials, the completed ones are no picture of all.  Of more reports
	 * it takes longer than the rest of a status.
	 */
	static const char *const sql =
	    "SELECT count(*) FROM (SELECT count(*) AS trials, "
	    "sum(state = 'completed') AS completed, "
	    "sum(iif(state = 'completed', reports, 0)) AS reports FROM t_trial "
	    "WHERE reports > 0 AND forgotten = 0 AND "
	    "coalesce(replicate, 1) = 1) WHERE completed >= 20 AND "
	    "4 * completed >= 3 * trials AND reports >= 2 * completed AND "
	    "reports <= 2000 AND (SELECT state FROM t_study) = 'finished' AND "
	    "(SELECT count(*) FROM t_aim WHERE goal IS NOT NULL) = 1";
	struct store_rows *rows;
	int64_t fits;

	if (store_rows_open(&rows, store, sql, NULL, e) != 0)
		return -1;
	fits = store_rows_next(rows, e) == 1 ? store_rows_int(rows, 0) : 0;
	store_rows_close(rows);
	return fits > 0 ? replay_presets_of_study(out, store, e) : 0;
}
