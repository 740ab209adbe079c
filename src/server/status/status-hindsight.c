/*
 * Whether stopping by the running median suits the curves of a study: how many
 * of its best completed trials the rule would have stopped, as text.  Reads
 * the view hindsight.
 */

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

static void
advice_put(struct buf *out, double lost, double trials, bool stops)
{
	if (lost > HINDSIGHT_CROSSING * trials)
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
	/* The last column: whether the rule of the study stops trials at all. */
	static const char *const sql =
	    "SELECT count(step), count(*), total(judged), "
	    "(SELECT rule <> 'none' FROM study) FROM hindsight";
	double x[4];

	if (rows_numbers(x, 4, store, sql, e) != 1)
		return -1;
	/* Without judged reports, nothing is known about the curves. */
	if (!(x[2] > 0))
		return 0;
	buf_printf(out,
	    "median would have stopped %.0f of the %.0f best completed trials",
	    x[0], x[1]);
	advice_put(out, x[0], x[1], x[3] > 0);
	return 0;
}
