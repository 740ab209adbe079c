/* Whether the best setting is confirmed. */

#include <inttypes.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/store/queries.h"
#include "src/store/store.h"
#include "src/view/contest-text.h"
#include "src/view/rows.h"

/* Columns of the query below. */
enum {
	VERDICT,
	BASELINE,
	METRIC,
	ALPHA,
	PAIRS,
	LOOKS,
	BETTER,
	WORSE,
	MEAN,
	LEAST
};

static void
contest_text_by(struct buf *b, const struct store_rows *c, int digits)
{
	buf_puts(b, ", mean difference of ");
	buf_puts(b, store_rows_text(c, METRIC));
	buf_putc(b, ' ');
	rows_put_number(b, rows_real(c, MEAN), digits);
}

/* "; 6 looks, e-value 43" */
static void
contest_text_looks(struct buf *b, const struct store_rows *c, int evidence)
{
	buf_printf(b, "; %s look%s, e-value ", store_rows_text(c, LOOKS),
	    store_rows_int(c, LOOKS) == 1 ? "" : "s");
	rows_put_number(b, rows_real(c, evidence), 3);
}

static void
contest_text_one(struct buf *b, const struct store_rows *c, int digits)
{
	const char *verdict = store_rows_text(c, VERDICT);

	if (strcmp(verdict, "open") == 0) {
		buf_printf(b,
		    "not confirmed yet: %s of %s pairs with the baseline, "
		    "trial %s",
		    store_rows_text(c, LOOKS), store_rows_text(c, PAIRS),
		    store_rows_text(c, BASELINE));
		contest_text_looks(b, c, BETTER);
		return;
	}
	if (strcmp(verdict, "better") == 0) {
		buf_printf(b,
		    "confirmed: better than the baseline, trial %s, by at "
		    "least ",
		    store_rows_text(c, BASELINE));
		rows_put_number(b, rows_real(c, LEAST), digits);
		buf_puts(b, " at ");
		rows_put_number(b, 100 * (1 - rows_real(c, ALPHA)), 4);
		buf_puts(b, " %");
	} else
		buf_printf(b, "not confirmed: %s the baseline, trial %s",
		    strcmp(verdict, "worse") == 0
			? "worse than"
			: "not shown to be better than",
		    store_rows_text(c, BASELINE));
	contest_text_by(b, c, digits);
	contest_text_looks(
	    b, c, strcmp(verdict, "worse") == 0 ? WORSE : BETTER);
}

/* Whether the recorded study.json has the key confirm. */
static int
contest_text_wanted(bool *wanted, struct store *store, struct err *e)
{
	double any = 0;

	*wanted = false;
	if (rows_numbers(&any, 1, store,
		"SELECT count(*) FROM json_each(" STORE_SQL_JSON
		") WHERE key = 'confirm'",
		e) == -1)
		return -1;
	*wanted = any > 0;
	return 0;
}

/* Why there is no contest. */
static int
contest_text_none(struct buf *b, struct store *store, struct err *e)
{
	static const char *const sql =
	    "SELECT (SELECT setting FROM settings WHERE rank = 1) = (SELECT "
	    "setting FROM trials WHERE trial = coalesce((SELECT "
	    "json_extract(json, '$.confirm.baseline') FROM "
	    "(SELECT " STORE_SQL_JSON " AS json) WHERE "
	    "json_type(json, '$.confirm.baseline') = 'integer'), (SELECT "
	    "min(trial) FROM suggestions WHERE source = 'default')))";
	double same = 0;

	if (rows_numbers(&same, 1, store, sql, e) == -1)
		return -1;
	buf_puts(b,
	    same > 0 ? "not confirmed: the best setting is the baseline itself"
		     : "not confirmed: the best setting has not run beside the "
		       "baseline");
	return 0;
}

/*
 * "baseline: trial 30 since proposal 2; of 3 proposals 1 was kept, 1 is open":
 * whether anything was proposed.
 */
static int
contest_text_proposals(
    bool *any, struct buf *b, struct store *store, struct err *e)
{
	struct store_proposals p;

	if (store_proposals_get(store, &p, e) != 0)
		return -1;
	*any = p.all > 0;
	if (!*any)
		return 0;
	if (b->len > 0 && b->data[b->len - 1] != ' ' &&
	    b->data[b->len - 1] != '\n')
		buf_puts(b, "; ");
	if (p.trial > 0)
		buf_printf(b,
		    "baseline: trial %" PRId64 " since proposal %" PRId64 "; ",
		    p.trial, p.standing);
	buf_printf(b, "of %" PRId64 " proposal%s %" PRId64 " %s kept", p.all,
	    p.all > 1 ? "s" : "", p.kept, p.kept > 1 ? "were" : "was");
	if (p.open > 0)
		buf_printf(b, ", %" PRId64 " %s open", p.open,
		    p.open > 1 ? "are" : "is");
	return 0;
}

int
contest_text_put(struct buf *b, struct store *store, int digits, struct err *e)
{
	static const char *const sql =
	    "SELECT verdict, baseline, metric, alpha, replicates, looks, "
	    "better, worse, difference, least FROM (" CONTEST_TEXT_SQL ")";
	struct store_rows *rows;
	bool wanted, proposals = false;
	int rc;

	if (contest_text_wanted(&wanted, store, e) != 0)
		return -1;
	if (!wanted)
		return 0;
	rc = rows_first(&rows, store, sql, NULL, e);
	if (rc == 1) {
		contest_text_one(b, rows, digits);
		store_rows_close(rows);
	}
	if (rc == -1 || contest_text_proposals(&proposals, b, store, e) != 0)
		return -1;
	return rc == 0 && !proposals ? contest_text_none(b, store, e) : 0;
}
