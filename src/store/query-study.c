/* What is asked about the study as a whole, and about its events. */

#include <string.h>

#include "src/base/err.h"
#include "src/store/queries.h"
#include "src/store/store-internal.h"

int
store_list_doubts(struct store_rows **rows, struct store *s, struct err *e)
{
	return store_rows_open(rows, s,
	    "SELECT trial, text FROM t_event WHERE area = 'doubt' ORDER BY seq",
	    NULL, e);
}

bool
store_event_is_last(struct store *s, const char *area, const char *text)
{
	const char *params[] = { area, NULL };
	struct store_rows *rows;
	bool is;

	if (store_rows_open(&rows, s,
		"SELECT text FROM t_event WHERE area = ?1 "
		"ORDER BY seq DESC LIMIT 1",
		params, NULL) != 0)
		return false;
	is = store_rows_next(rows, NULL) == 1 &&
	     strcmp(store_rows_text(rows, 0), text) == 0;
	store_rows_close(rows);
	return is;
}

int64_t
store_trials_before_change(struct store *s)
{
	static const char *const sql =
	    "SELECT coalesce(max(trials), 0) FROM t_change "
	    "WHERE outside IS NOT NULL OR key IN ('strategy', 'strategy.name')";
	double n;

	return query_numbers(&n, 1, s, sql, NULL) == 1 ? (int64_t)n : 0;
}

int
store_list_early_event(
    struct store_rows **rows, struct store *s, const char *like, struct err *e)
{
	const char *params[] = { like, NULL };

	return store_rows_open(rows, s,
	    "SELECT text FROM (SELECT * FROM t_event ORDER BY seq LIMIT 1000) "
	    "WHERE text LIKE ?1 ORDER BY seq DESC LIMIT 1",
	    params, e);
}

int
store_list_late_event(struct store_rows **rows, struct store *s,
    const char *area, const char *like, const char *or_like, struct err *e)
{
	const char *params[] = { area, like, or_like, NULL };

	return store_rows_open(rows, s,
	    "SELECT text FROM (SELECT * FROM t_event ORDER BY seq DESC "
	    "LIMIT 1000) WHERE area = ?1 AND trial IS NULL AND "
	    "(text LIKE ?2 OR text LIKE ?3) ORDER BY seq DESC LIMIT 1",
	    params, e);
}
