/*
 * Whether stopping by the running median suits the curves of a study: how many
 * of its best completed trials the rule would have stopped, as text.  Reads
 * the view hindsight.
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

/* The rule of the study stops trials at all. */
static int
stops_read(struct store *store, bool *stops, struct err *e)
{
	static const char *const sql = "SELECT rule <> 'none' FROM study";
	struct store_rows *rows;

	if (rows_first(&rows, store, sql, NULL, e) != 1)
		return -1;
	*stops = store_rows_int(rows, 0) != 0;
	store_rows_close(rows);
	return 0;
}

static void
advice_put(struct buf *out, int64_t lost, int64_t trials, bool stops)
{
	if ((double)lost > HINDSIGHT_CROSSING * (double)trials)
		buf_puts(out,
		    stops
			? "; curves cross late: a stopped trial may have been "
			  "the best"
			: "; curves cross late: stopping may lose the best "
			  "trial");
	else if (lost == 0 && trials == HINDSIGHT_TRIALS && !stops)
		buf_puts(out, "; stopping would save steps");
}

int
status_put_hindsight(struct buf *out, struct store *store, struct err *e)
{
	/* Without judged reports, nothing is known about the curves. */
	static const char *const sql =
	    "SELECT count(step), count(*), total(judged) FROM hindsight";
	struct store_rows *rows;
	int64_t lost, trials;
	double judged;
	bool stops;

	if (rows_first(&rows, store, sql, NULL, e) != 1)
		return -1;
	lost = store_rows_int(rows, 0);
	trials = store_rows_int(rows, 1);
	judged = rows_real(rows, 2);
	store_rows_close(rows);
	if (judged <= 0)
		return 0;
	if (stops_read(store, &stops, e) != 0)
		return -1;
	buf_printf(out,
	    "median would have stopped %" PRId64 " of the %" PRId64
	    " best completed trials",
	    lost, trials);
	advice_put(out, lost, trials, stops);
	return 0;
}
