/* What starting costs trials of Python here, as their attempts have shown. */

#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/store/queries.h"
#include "src/store/store.h"
#include "src/view/rows.h"
#include "src/view/status.h"

enum { START_ATTEMPTS = 20 };

/* Of a shorter wait, or a smaller share of the trial, little can be saved. */
static const double start_least = 0.3, start_share = 0.1;
/* Seconds; in a longer trial imports are hardly so great a share. */
static const double start_short = 60;

static int
start_order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void
start_put_cold(struct buf *out, double *waits, double *all, size_t n)
{
	double wait, whole;

	if (n == 0)
		return;
	qsort(waits, n, sizeof *waits, start_order);
	qsort(all, n, sizeof *all, start_order);
	wait = waits[n / 2] / 1e6;
	whole = all[n / 2] / 1e6;
	if (wait >= start_least && wait >= start_share * whole)
		buf_printf(out,
		    "cold starts: a trial takes %.2f s to its first report, "
		    "of %.2f s; hpotune try measures what of it imports are, "
		    "which trial.warm saves",
		    wait, whole);
}

/* On Slurm a report has the time when it was read, seconds after it was written. */
static void
start_put_unmeasured(struct buf *out, double *all, size_t n)
{
	if (n == 0)
		return;
	qsort(all, n, sizeof *all, start_order);
	if (all[n / 2] / 1e6 <= start_short)
		buf_printf(out,
		    "cold starts: not measured on Slurm, where reports are "
		    "read seconds after they are written, and a trial takes "
		    "%.2f s; hpotune try measures what of it imports are, "
		    "which trial.warm saves with trials_per_job",
		    all[n / 2] / 1e6);
}

int
status_put_start(struct buf *out, struct store *store, struct err *e)
{
	double waits[START_ATTEMPTS], all[START_ATTEMPTS], far[START_ATTEMPTS];
	struct store_rows *rows;
	size_t n = 0, n_far = 0;
	int rc;

	/* What trials/local/local-warm.c has noted of its imports. */
	if (store_list_early_event(&rows, store, "warm starts: %", e) != 0)
		return -1;
	if ((rc = store_rows_next(rows, e)) == 1)
		buf_puts(out, store_rows_text(rows, 0));
	store_rows_close(rows);
	if (rc != 0)
		return rc == 1 ? 0 : -1;
	if (store_list_python_starts(&rows, store, e) != 0)
		return -1;
	while (
	    n + n_far < START_ATTEMPTS && (rc = store_rows_next(rows, e)) == 1)
		if (store_rows_null(rows, 0) || store_rows_null(rows, 1))
			continue;
		else if (store_rows_int(rows, 2) == 0)
			far[n_far++] = rows_real(rows, 1);
		else {
			waits[n] = rows_real(rows, 0);
			all[n++] = rows_real(rows, 1);
		}
	store_rows_close(rows);
	start_put_cold(out, waits, all, n);
	if (n == 0)
		start_put_unmeasured(out, far, n_far);
	return rc == -1 ? -1 : 0;
}
