/* The best settings of a study with replicates, compared. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/model/replicate-stats.h"
#include "src/store/queries.h"
#include "src/store/store.h"
#include "src/view/best-settings.h"
#include "src/view/rows.h"

/* As the race's: one-sided. */
#define LEVEL 0.05

/* Losses of the first two settings, by replicate; NaN = none. */
struct losses {
	double first[REPLICATES_MAX], second[REPLICATES_MAX];
};

static int
losses_read(struct losses *l, struct store *store, struct err *e)
{
	static const char *const sql =
	    "SELECT t.replicate, s.rank, iif((SELECT goal FROM study) = "
	    "'maximize', -t.objective, t.objective) FROM settings AS s "
	    "JOIN trials AS t ON t.setting = s.setting WHERE s.rank <= 2 "
	    "AND t.state = 'completed' AND t.forgotten = 0";
	struct store_rows *rows;
	int64_t k;
	int rc, i;

	for (i = 0; i < REPLICATES_MAX; i++)
		l->first[i] = l->second[i] = NAN;
	if (store_rows_open(&rows, store, sql, NULL, e) != 0)
		return -1;
	while ((rc = store_rows_next(rows, e)) == 1) {
		k = store_rows_int(rows, 0) - 1;
		if (k < 0 || k >= REPLICATES_MAX)
			continue;
		(store_rows_int(rows, 1) == 1 ? l->first : l->second)[k] =
		    rows_real(rows, 2);
	}
	store_rows_close(rows);
	return rc;
}

int
best_settings_compare(
    struct best_settings *out, struct store *store, struct err *e)
{
	struct losses *l;
	double n;
	int rc =
	    rows_numbers(&n, 1, store, "SELECT max(rank) FROM settings", e);

	if (rc == -1)
		return -1;
	if (!(n >= 2))
		return 0;
	l = xcalloc(1, sizeof *l);
	rc = losses_read(l, store, e);
	out->p = replicate_stats_better(
	    l->first, l->second, REPLICATES_MAX, &out->pairs);
	free(l);
	return rc == 0 ? 1 : -1;
}

/* "setting 8: median 0.2, mean 0.21 +- 0.02 over 5 replicates" */
static void
best_settings_one_put(struct buf *b, const struct store_rows *rows, int digits)
{
	const char *aggregate = store_rows_text(rows, 5);

	buf_printf(b, "setting %s: ", store_rows_text(rows, 0));
	if (strcmp(aggregate, "mean") != 0) {
		buf_printf(b, "%s%s ",
		    *aggregate >= '0' && *aggregate <= '9' ? "quantile " : "",
		    aggregate);
		rows_put_number(b, rows_real(rows, 1), digits);
		buf_puts(b, ", ");
	}
	buf_puts(b, "mean ");
	rows_put_number(b, rows_real(rows, 2), digits);
	if (!store_rows_null(rows, 3)) {
		buf_puts(b, " +- ");
		rows_put_number(b, rows_real(rows, 3), 2);
	}
	buf_printf(b, " over %s replicate%s", store_rows_text(rows, 4),
	    store_rows_int(rows, 4) == 1 ? "" : "s");
}

static void
second_put(struct buf *b, const struct store_rows *rows,
    const struct best_settings *c, int digits)
{
	if (isnan(c->p)) {
		buf_printf(b,
		    "it has not two replicates in common with setting %s, the "
		    "second",
		    store_rows_text(rows, 0));
		return;
	}
	buf_printf(b, "%s than setting %s, mean ",
	    c->p < LEVEL ? "better" : "not better beyond chance",
	    store_rows_text(rows, 0));
	rows_put_number(b, rows_real(rows, 2), digits);
	buf_printf(b, "%s: p = ", c->p < LEVEL ? ", beyond chance" : "");
	rows_put_number(b, c->p, 2);
	buf_printf(b, ", paired over %zu replicates", c->pairs);
}

int
best_settings_put(struct buf *b, struct store *store, int digits,
    const char *between, struct err *e)
{
	/* Without the key replicates each setting has one. */
	static const char *const sql =
	    "SELECT setting, value, mean, standard_error, replicates, "
	    "coalesce(json_extract(" STORE_SQL_JSON
	    ", '$.replicates.aggregate'), 'mean') FROM settings WHERE "
	    "rank <= 2 AND EXISTS (SELECT 1 FROM json_each(" STORE_SQL_JSON
	    ") WHERE key = 'replicates') ORDER BY rank";
	struct best_settings c = { .p = NAN };
	struct store_rows *rows;
	int rc, two = best_settings_compare(&c, store, e);

	if (two == -1 || store_rows_open(&rows, store, sql, NULL, e) != 0)
		return -1;
	rc = store_rows_next(rows, e);
	if (rc == 1) {
		best_settings_one_put(b, rows, digits);
		rc = two == 1 ? store_rows_next(rows, e) : 0;
	}
	if (rc == 1) {
		buf_puts(b, between);
		second_put(b, rows, &c, digits);
	}
	store_rows_close(rows);
	return rc == -1 ? -1 : 0;
}
