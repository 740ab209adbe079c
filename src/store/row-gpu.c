/*
 * Rows of t_gpu (the latest state of each GPU) and of t_left (artifacts of
 * attempts).
 */

#include <math.h>

#include "src/base/err.h"
#include "src/store/store-internal.h"

static void
bind_text(sqlite3_stmt *st, int i, const char *s)
{
	stmt_line(st, i, s != NULL && *s != '\0' ? s : NULL);
}

int
store_gpu_put(
    struct store *s, const struct gpu_status *g, int64_t time_us, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_GPU_PUT, e);

	if (st == NULL)
		return -1;
	stmt_text(st, 1, g->uuid);
	stmt_int_or(st, 2, g->index, -1);
	bind_text(st, 3, g->name);
	stmt_int_or(st, 4, g->memory, -1);
	stmt_int_or(st, 5, g->used, -1);
	stmt_int_or(st, 6, g->temperature, -1);
	stmt_int_or(st, 7, g->utilization, -1);
	stmt_real(st, 8, g->power >= 0 ? g->power : NAN);
	stmt_text(st, 9, g->state);
	bind_text(st, 10, g->why);
	bind_text(st, 11, g->owner);
	stmt_int(st, 12, g->trials > 0 ? g->trials : 0);
	stmt_int(st, 13, time_us);
	return stmt_write(s, st, e);
}

int
store_gpu_clear(struct store *s, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_GPU_CLEAR, e);

	return st == NULL ? -1 : stmt_write(s, st, e);
}

int
store_artifacts_put(struct store *s, int64_t trial, int attempt,
    const char *model, const char *output, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_ARTIFACTS_PUT, e);

	if (st == NULL)
		return -1;
	stmt_int(st, 1, trial);
	stmt_int(st, 2, attempt);
	bind_text(st, 3, model);
	bind_text(st, 4, output);
	return stmt_write(s, st, e);
}
