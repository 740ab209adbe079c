/* Finds and describes the trial that a model of the results holds best. */

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/store/store.h"
#include "src/view/model-best.h"
#include "src/view/objectives.h"
#include "src/view/rows.h"
#include "src/view/trial-points.h"
#include "strategies/incumbent/incumbent.h"

/* Completed trials. */
struct results {
	size_t n, cap;
	double *points, *losses;
	int64_t *trials;
};

static int
result_add(struct results *r, const struct space *space,
    const struct store_rows *row, bool maximize, struct err *e)
{
	double value = rows_real(row, 1);

	if (!isfinite(value))
		return 0;
	if (r->n == r->cap) {
		r->cap = 2 * r->cap + 64;
		r->losses = xreallocarray(r->losses, r->cap, sizeof *r->losses);
		r->trials = xreallocarray(r->trials, r->cap, sizeof *r->trials);
		r->points = xreallocarray(
		    r->points, r->cap, (space->n + 1) * sizeof *r->points);
	}
	if (trial_points_read(r->points + r->n * space->n, space,
		store_rows_text(row, 2), e) != 0)
		return -1;
	r->trials[r->n] = store_rows_int(row, 0);
	r->losses[r->n++] = maximize ? -value : value;
	return 0;
}

static int
results_read(struct results *r, const struct space *space, struct store *store,
    bool maximize, struct err *e)
{
	struct store_rows *rows;
	char *sql;
	int rc;

	/* Each part is read from an index, whatever the number of trials. */
#define COMPLETED                                                  \
	"SELECT trial FROM trials WHERE +state = 'completed' AND " \
	"forgotten = 0 AND outside IS NULL "
	sql = xasprintf(
	    "SELECT trial, objective, params FROM trials WHERE trial IN "
	    "(SELECT * FROM (" COMPLETED
	    "AND objective BETWEEN -1.7976931348623157e308 AND "
	    "1.7976931348623157e308 ORDER BY objective %s, trial LIMIT 1) "
	    "UNION ALL SELECT * FROM (" COMPLETED
	    "AND trial > (SELECT trial FROM (" COMPLETED
	    "ORDER BY trial DESC LIMIT 1)) - 200)) ORDER BY trial",
	    maximize ? "DESC" : "ASC");
#undef COMPLETED
	rc = store_rows_open(&rows, store, sql, NULL, e);
	free(sql);
	if (rc != 0)
		return -1;
	while ((rc = store_rows_next(rows, e)) == 1)
		if ((rc = result_add(r, space, rows, maximize, e)) != 0)
			break;
	store_rows_close(rows);
	return rc;
}

static int
model_best_ask(
    struct model_best *m, struct store *store, bool maximize, struct err *e)
{
	struct results r = { 0 };
	struct study *study = NULL;
	struct incumbent found;
	double sign = maximize ? -1 : 1;
	int rc = trial_points_study(&study, store, e);

	if (rc == 0)
		rc = results_read(&r, study->space, store, maximize, e);
	if (rc == 0 &&
	    incumbent_find(&found, study->space, r.n, r.points, r.losses) &&
	    found.at != found.looks) {
		*m = (struct model_best){ .trial = r.trials[found.at],
			.looks = r.trials[found.looks],
			.result = sign * r.losses[found.at],
			.result_looks = sign * r.losses[found.looks],
			.expected = sign * found.expected,
			.expected_looks = sign * found.expected_looks,
			.noise = found.noise };
		rc = 1;
	}
	study_free(study);
	free(r.points);
	free(r.losses);
	free(r.trials);
	return rc;
}

int
model_best_find(struct model_best *m, struct store *store,
    const struct objectives *aims, struct err *e)
{
	double any = 0;

	if (aims->several || aims->constraints)
		return 0;
	if (rows_numbers(&any, 1, store, "SELECT count(*) FROM settings", e) ==
	    -1)
		return -1;
	return any > 0
		   ? 0
		   : model_best_ask(m, store, aims->objectives[0].maximize, e);
}

/* "expected 0.35, result 0.41". */
static void
two_put(struct buf *out, double expected, double result, int digits)
{
	buf_puts(out, "expected ");
	rows_put_number(out, expected, 4);
	buf_puts(out, ", result ");
	rows_put_number(out, result, digits);
}

int
model_best_put(struct buf *out, struct store *store,
    const struct objectives *aims, int digits, struct err *e)
{
	struct model_best m;
	int rc = model_best_find(&m, store, aims, e);

	if (rc != 1)
		return rc;
	buf_puts(out, "results of a setting differ by about ");
	rows_put_number(out, m.noise, 2);
	buf_printf(
	    out, ": a model of them holds trial %" PRId64 " best, ", m.trial);
	two_put(out, m.expected, m.result, digits);
	buf_printf(out, "; trial %" PRId64 ": ", m.looks);
	two_put(out, m.expected_looks, m.result_looks, digits);
	return 0;
}
