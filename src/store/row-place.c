/* What trials did at the places of a backend (src/model/places.h); doubts. */

#include "src/base/mem.h"
#include "src/model/places.h"
#include "src/store/row-columns.h"

int
store_place_put(struct store *s, const struct place *p, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_PLACE_PUT, e);
	struct buf trials = { 0 };
	int rc;

	if (st == NULL)
		return -1;
	places_put_trials(&trials, p);
	stmt_text(st, 1, p->name);
	stmt_text(st, 2, buf_str(&trials));
	stmt_int(st, 3, p->worked);
	stmt_int(st, 4, p->failed);
	stmt_int(st, 5, p->works);
	stmt_int(st, 6, p->drained);
	rc = stmt_write(s, st, e);
	buf_free(&trials);
	return rc;
}

int
store_places_forgive(struct store *s, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_PLACE_FORGIVE, e);

	return st != NULL ? stmt_write(s, st, e) : -1;
}

bool
store_any_reports(struct store *s, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_ANY_REPORT, e);
	int rc = st != NULL ? stmt_step(s, st, e) : -1;

	if (rc > 0)
		stmt_done(st);
	return rc > 0;
}

bool
store_any_doubt(struct store *s, const char *text, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_ANY_DOUBT, e);
	int rc = -1;

	if (st != NULL) {
		stmt_text(st, 1, text);
		rc = stmt_step(s, st, e);
	}
	if (rc > 0)
		stmt_done(st);
	return rc > 0;
}

int
store_walk_places(struct store *s,
    int (*f)(void *, const struct place *, const char *trials), void *arg,
    struct err *e)
{
	struct row r = row_begin(s, STMT_PLACE_EACH, "t_place", 1, e);
	struct place p = { 0 };
	const char *trials;
	int end = 0;

	while (row_walk(&r, &end)) {
		p.name = row_text(&r, 0);
		trials = row_text(&r, 1);
		p.worked = row_int(&r, 2, 0, ROW_INT_MAX);
		p.failed = row_int(&r, 3, 0, ROW_INT_MAX);
		p.works = row_bool(&r, 4);
		p.drained = row_bool(&r, 5);
		end = r.bad ? -1 : f(arg, &p, trials);
	}
	return end;
}
