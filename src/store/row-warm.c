/* Trials of other studies that this one learns from: rows of t_warm. */

#include "src/base/err.h"
#include "src/store/stmt.h"

int
store_warm_add(struct store *s, const struct store_warm *w, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_WARM_ADD, e);

	if (st == NULL)
		return -1;
	stmt_text(st, 1, w->source);
	stmt_int(st, 2, w->trial);
	stmt_text(st, 3, trial_state_name(w->state));
	stmt_real(st, 4, w->objective);
	stmt_int_or(st, 5, w->last_step, -1);
	stmt_real(st, 6, w->last_value);
	stmt_text(st, 7, w->params);
	stmt_text(st, 8, w->metrics);
	return stmt_write(s, st, e);
}

int
store_warm_count(struct store *s, int64_t *n, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_WARM_COUNT, e);

	if (st == NULL || stmt_step(s, st, e) < 0)
		return -1;
	*n = sqlite3_column_int64(st, 0);
	stmt_done(st);
	return 0;
}

int
store_each_warm(struct store *s, int (*f)(void *, const struct store_warm *),
    void *arg, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_WARM_EACH, e);
	struct store_warm w;
	int rc, end = 0;

	if (st == NULL)
		return -1;
	while (end == 0 && (rc = stmt_step(s, st, e)) != 0) {
		if (rc < 0)
			return -1;
		w = (struct store_warm){
			.source = stmt_col_text(st, 0),
			.trial = stmt_col_int(st, 1, 0),
			.state = TRIAL_FAILED,
			.objective = stmt_col_real(st, 3),
			.last_step = stmt_col_int(st, 4, -1),
			.last_value = stmt_col_real(st, 5),
			.params = stmt_col_text(st, 6),
			.metrics = stmt_col_text(st, 7),
		};
		(void)trial_state_parse(stmt_col_text(st, 2), &w.state);
		end = f(arg, &w);
	}
	stmt_done(st);
	return end;
}
