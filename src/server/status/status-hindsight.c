/*
 * Whether stopping by the running median suits the curves of a study: how many
 * of its best completed trials the rule would have stopped, and what second
 * looks brought, as text.  Reads the views hindsight and stops.
 */

#include <inttypes.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/server/status/rows.h"
#include "src/server/status/status.h"
#include "src/store/store.h"

/*
 * Studies of simulated and of real curves have a mean share of 0.04 to 0.09
 * where few best trials are lost, and of 0.48 to 0.64 where many are.  With
 * five trials the limit lies between one and two of them.
 */
#define HINDSIGHT_CROSSING 0.3

enum { HINDSIGHT_TRIALS = 5 }; /* fewer give no advice when none is lost */

/* What follows for the rule of the study; careful: it is this one already. */
static void
advice_put(
    struct buf *out, double lost, double trials, bool stops, bool careful)
{
	if (lost > HINDSIGHT_CROSSING * trials)
		buf_printf(out, "; curves cross late: %s; %s",
		    stops ? "a stopped trial may have been the best"
			  : "stopping may lose the best trial",
		    careful ? "a longer warmup_steps loses fewer"
			    : "the rule careful loses fewer");
	else if (lost == 0 && trials == HINDSIGHT_TRIALS && !stops)
		buf_puts(out, "; stopping would save steps");
}

int
status_put_hindsight(struct buf *out, struct store *store, struct err *e)
{
	/*
	 * The last columns: whether the rule of the study stops trials at all,
	 * and whether it is the one that loses the fewest.
	 */
	static const char *const sql =
	    "SELECT count(step), count(*), total(judged), "
	    "(SELECT rule <> 'none' FROM study), "
	    "(SELECT rule = 'careful' FROM study) FROM hindsight";
	double x[5];

	if (rows_numbers(x, 5, store, sql, e) != 1)
		return -1;
	/* Without judged reports, nothing is known about the curves. */
	if (!(x[2] > 0))
		return 0;
	buf_printf(out,
	    "median would have stopped %.0f of the %.0f best completed trials",
	    x[0], x[1]);
	advice_put(out, x[0], x[1], x[3] > 0, x[4] > 0);
	return 0;
}

int
status_put_looks(struct buf *out, struct store *store, struct err *e)
{
	/* The row with the most spent is the latest decision. */
	static const char *const sql =
	    "SELECT count(*), max(spent + price), "
	    "(SELECT budget FROM stops WHERE rank IS NOT NULL "
	    "ORDER BY spent DESC LIMIT 1), "
	    "max(iif(trial = (SELECT best_trial FROM study), trial, NULL)) "
	    "FROM stops WHERE rank IS NOT NULL";
	struct store_rows *rows;
	int64_t n;

	if (rows_first(&rows, store, sql, NULL, e) != 1)
		return -1;
	n = store_rows_int(rows, 0);
	if (n > 0)
		buf_printf(out,
		    "%" PRId64 " stopped trial%s resumed, for %" PRId64
		    " of %" PRId64 " steps",
		    n, n == 1 ? " was" : "s were", store_rows_int(rows, 1),
		    store_rows_int(rows, 2));
	if (n > 0 && !store_rows_null(rows, 3))
		buf_printf(out, "; trial %" PRId64 " is the best now",
		    store_rows_int(rows, 3));
	store_rows_close(rows);
	return 0;
}
