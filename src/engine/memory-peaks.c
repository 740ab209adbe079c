/*
 * Peaks of memory from the store.  A trial ran out of memory when its last attempt
 * ended so by its class, or failed and its last words say so.
 */

#include <stddef.h>

#include "src/engine/memory-peaks.h"
#include "src/model/history/history.h"
#include "src/store/store.h"
#include "src/view/rows.h"

/* How the exceptions of frameworks and of allocators are told. */
#define OF_GPU                                                            \
	"(a.why LIKE '%CUDA%out of memory%' OR "                          \
	"a.why LIKE '%HIP out of memory%' OR "                            \
	"a.why LIKE '%OutOfMemoryError%' OR "                             \
	"a.why LIKE '%CUDA\\_ERROR\\_OUT\\_OF\\_MEMORY%' ESCAPE '\\' OR " \
	"a.why LIKE '%RESOURCE\\_EXHAUSTED%' ESCAPE '\\')"
#define OF_MACHINE                                               \
	"(a.end_class = 'oom' OR a.why LIKE '%MemoryError%' OR " \
	"a.why LIKE '%bad\\_alloc%' ESCAPE '\\' OR "             \
	"a.why LIKE '%annot allocate memory%' OR "               \
	"a.why LIKE '%can''t allocate memory%')"

/* The last attempts of the newest trials, as many as a model reads. */
#define LAST_ATTEMPTS                                                       \
	"FROM t_trial AS t JOIN t_attempt AS a ON a.trial = t.trial AND "   \
	"a.attempt = (SELECT max(attempt) FROM t_attempt AS b "             \
	"WHERE b.trial = t.trial) WHERE t.end_seq IS NOT NULL AND "         \
	"t.forgotten = 0 AND t.trial > (SELECT max(trial) FROM t_trial) - " \
	"1024"

int
memory_peaks_load(
    struct history *h, struct store *store, bool settings, struct err *e)
{
	static const char *const counts =
	    "SELECT total(" OF_GPU "), total(" OF_MACHINE " AND NOT " OF_GPU
	    ") " LAST_ATTEMPTS " AND t.state = 'failed'";
	static const char *const peaks =
	    "WITH p AS (SELECT iif(?2 = '1', t.setting, t.trial) AS number, "
	    "iif(?1 = '1', a.gpu_memory, a.max_rss) AS peak, "
	    "t.state = 'failed' AS failed, t.state = 'failed' AND "
	    "iif(?1 = '1', " OF_GPU ", " OF_MACHINE " AND NOT " OF_GPU
	    ") AS over " LAST_ATTEMPTS " AND t.state <> 'cancelled') "
	    "SELECT number, coalesce(max(peak), 0), max(over) FROM p "
	    "WHERE number IS NOT NULL AND (over OR NOT failed) "
	    "GROUP BY number";
	const char *params[] = { "0", settings ? "1" : "0", NULL };
	struct store_rows *rows;
	double over[2];
	int64_t number;
	int rc;

	/* As a restart: those that are no longer the newest are not known. */
	for (number = 1; history_has_memory(h) && number <= history_count(h);
	     number++)
		history_set_memory(h, number, 0, false);
	if (rows_numbers(over, 2, store, counts, e) < 0)
		return -1;
	if (!(over[0] + over[1] > 0))
		return 0;
	if (over[0] >= over[1])
		params[0] = "1";
	if (store_rows_open(&rows, store, peaks, params, e) != 0)
		return -1;
	while ((rc = store_rows_next(rows, e)) == 1) {
		number = store_rows_int(rows, 0);
		if (number >= 1 && number <= history_count(h))
			history_set_memory(h, number, rows_real(rows, 1),
			    store_rows_int(rows, 2) != 0);
	}
	store_rows_close(rows);
	return rc;
}
