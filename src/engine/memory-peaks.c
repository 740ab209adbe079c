/*
 * Peaks of memory from the store.  A trial ran out of memory when its last attempt
 * ended so by its class, or failed and its last words say so.
 */

#include "src/engine/memory-peaks.h"
#include "src/model/history/history.h"
#include "src/store/queries.h"
#include "src/store/store.h"
#include "src/view/rows.h"

int
memory_peaks_load(
    struct history *h, struct store *store, bool settings, struct err *e)
{
	struct store_rows *rows;
	double of_gpu, of_machine;
	int64_t number;
	int rc;

	/* As a restart: those that are no longer the newest are not known. */
	for (number = 1; history_has_memory(h) && number <= history_count(h);
	     number++)
		history_set_memory(h, number, 0, false);
	if (store_memory_overruns(store, &of_gpu, &of_machine, e) != 0)
		return -1;
	if (!(of_gpu + of_machine > 0))
		return 0;
	if (store_list_memory_peaks(
		&rows, store, of_gpu >= of_machine, settings, e) != 0)
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
