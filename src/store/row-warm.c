/* The rows of t_warm: trials of other studies, for warm_start. */

#include "src/base/err.h"
#include "src/store/row-columns.h"

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
store_walk_warm(struct store *s, int (*f)(void *, const struct store_warm *),
    void *arg, struct err *e)
{
	struct row r = row_begin(s, STMT_WARM_EACH, "t_warm", 2, e);
	struct store_warm w;
	int end = 0;

	while (row_walk(&r, &end)) {
		w = (struct store_warm){
			.source = row_text(&r, 0),
			.trial = row_int(&r, 1, 1, ROW_INT_MAX),
			.state = row_state(&r, 2),
			.objective = row_real(&r, 3),
			.last_step = row_int_or(&r, 4, -1, 0, TRIAL_STEP_MAX),
			.last_value = row_real(&r, 5),
			.params = row_text(&r, 6),
			.metrics = row_text_or(&r, 7),
		};
		if (!trial_state_final(w.state))
			(void)row_damaged(&r, 2, "the trial has ended");
		end = r.bad ? -1 : f(arg, &w);
	}
	return end;
}
