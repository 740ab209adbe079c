/* What is asked about reports: curves, metrics and their names, medians. */

#include <inttypes.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/store/queries.h"
#include "src/store/store-internal.h"

/*
 * In a query with the columns of a row of t_trial and of t_study: where a step of
 * the trial is on the axis of the medians, as study_axis_step has it.
 */
#define AXIS_STEP(step)                                                       \
	"iif(own_steps IS NULL OR own_steps = max_steps, " step ", iif(" step \
	" >= own_steps, max_steps + " step " - own_steps, " step              \
	" * max_steps / own_steps))"

int
store_list_curve_parts(struct store_rows **rows, struct store *s, int64_t trial,
    int parts, struct err *e)
{
#define BLOCKS_OF_IT \
	"FROM t_block WHERE name_id = 1 AND trial = %1$" PRId64 " AND old = 0"
	return query_openf(rows, s, e,
	    "WITH RECURSIVE ends AS (SELECT least, most, (most - least) / "
	    "%2$d AS stride FROM (SELECT "
	    "(SELECT min(step) " BLOCKS_OF_IT ") AS least, "
	    "(SELECT max(step) " BLOCKS_OF_IT ") AS most)), "
	    "part(step) AS (SELECT least FROM ends UNION ALL SELECT "
	    "(SELECT min(step) " BLOCKS_OF_IT " AND step > part.step + stride) "
	    "FROM part CROSS JOIN ends WHERE part.step < most) "
	    "SELECT " AXIS_STEP(
		"m.step") ", m.value FROM "
			  "(SELECT own_steps, max_steps FROM t_trial CROSS "
			  "JOIN t_study "
			  "WHERE trial = %1$" PRId64 ") "
			  "CROSS JOIN (SELECT step FROM part UNION "
			  "SELECT most FROM ends) AS p CROSS JOIN t_metric AS "
			  "m "
			  "WHERE m.name_id = 1 AND m.trial = %1$" PRId64 " AND "
			  "m.old = 0 AND m.first_step = p.step ORDER BY m.step",
	    trial, parts);
#undef BLOCKS_OF_IT
}

int
store_list_median_parts(
    struct store_rows **rows, struct store *s, int points, struct err *e)
{
	return query_openf(rows, s, e,
	    "WITH RECURSIVE ends AS (SELECT least, most, (most - least) / "
	    "%d AS stride FROM (SELECT "
	    "(SELECT min(step) FROM t_median) AS least, "
	    "(SELECT max(step) FROM t_median) AS most)), "
	    "point(step) AS (SELECT least FROM ends UNION ALL SELECT "
	    "(SELECT min(step) FROM t_median WHERE step > point.step + stride) "
	    "FROM point CROSS JOIN ends WHERE point.step < most) "
	    "SELECT m.step, m.median FROM (SELECT step FROM point UNION "
	    "SELECT most FROM ends) AS p CROSS JOIN t_median AS m "
	    "ON m.step = p.step ORDER BY m.step",
	    points);
}

#define STEPS_OF_TRIAL                                                         \
	"(SELECT trial, own_steps, max_steps FROM t_trial CROSS JOIN t_study " \
	"WHERE trial = %" PRId64 ") AS t CROSS JOIN curves AS c "              \
	"ON c.trial = t.trial"

int
store_list_curve(
    struct store_rows **rows, struct store *s, int64_t trial, struct err *e)
{
	return query_openf(rows, s, e,
	    "SELECT " AXIS_STEP("c.step") ", c.value FROM " STEPS_OF_TRIAL
					  " ORDER BY c.step",
	    trial);
}

int
store_list_curve_beside_medians(
    struct store_rows **rows, struct store *s, int64_t trial, struct err *e)
{
	return query_openf(rows, s, e,
	    "SELECT c.step AS step, c.value AS value, m.median AS median, "
	    "m.trials AS trials FROM " STEPS_OF_TRIAL " LEFT JOIN medians "
	    "AS m ON m.step = " AXIS_STEP("c.step") " ORDER BY c.step",
	    trial);
}

int
store_list_metric(struct store_rows **rows, struct store *s, int64_t trial,
    const char *name, bool by_time, int most, struct err *e)
{
	const char *params[] = { name, NULL };
	struct buf sql = { 0 };
	int rc;

	buf_printf(&sql,
	    "SELECT %s, value FROM t_name AS n CROSS JOIN t_metric AS m ON "
	    "m.name_id = n.id WHERE n.name = ? AND m.trial = %" PRId64
	    " AND m.old = 0 ORDER BY %s LIMIT %d",
	    by_time ? "max(0, (m.time_us - coalesce((SELECT started_us FROM "
		      "t_trial AS t WHERE t.trial = m.trial), m.time_us)) / "
		      "1000)"
		    : "m.step",
	    trial, by_time ? "m.time_us" : "m.step", most);
	rc = store_rows_open(rows, s, buf_str(&sql), params, e);
	buf_free(&sql);
	return rc;
}

int
store_list_metric_names(
    struct store_rows **rows, struct store *s, int most, struct err *e)
{
	return query_openf(rows, s, e,
	    "SELECT name FROM t_name WHERE id <> 1 ORDER BY id LIMIT %d", most);
}

int
store_list_metric_names_of(struct store_rows **rows, struct store *s,
    const int64_t *trials, size_t n, int most, struct err *e)
{
	struct buf list = { 0 };
	size_t i;
	int rc;

	for (i = 0; i < n; i++)
		buf_printf(&list, "%s%" PRId64, i > 0 ? "," : "", trials[i]);
	rc = query_openf(rows, s, e,
	    "SELECT name FROM t_name AS n WHERE id <> 1 AND EXISTS "
	    "(SELECT 1 FROM t_block AS b WHERE b.name_id = n.id "
	    "AND b.trial IN (%s)) ORDER BY id LIMIT %d",
	    buf_str(&list), most);
	buf_free(&list);
	return rc;
}

int
store_list_reports_after(struct store_rows **rows, struct store *s,
    int64_t trial, int64_t seq, int most, struct err *e)
{
	return query_openf(rows, s, e,
	    "SELECT n.name, m.value, m.time_us, m.step, m.seq "
	    "FROM t_metric AS m JOIN t_name AS n ON m.name_id = n.id "
	    "WHERE m.trial = %" PRId64 " AND m.seq > %" PRId64
	    " ORDER BY m.seq, m.step, n.name LIMIT %d",
	    trial, seq, most);
}

int
store_list_other_reports(
    struct store_rows **rows, struct store *s, struct err *e)
{
	/* In this order of the tables nothing is sorted. */
	return store_rows_open(rows, s,
	    "SELECT t.trial, n.name, m.step, m.value FROM t_trial "
	    "AS t CROSS JOIN t_name AS n CROSS JOIN t_metric AS m ON "
	    "m.name_id = n.id AND m.trial = t.trial WHERE n.id <> 1 "
	    "AND m.old = 0 ORDER BY t.trial, n.id",
	    NULL, e);
}

int
store_list_reports_by_time(
    struct store_rows **rows, struct store *s, struct err *e)
{
	return store_rows_open(rows, s,
	    "SELECT m.trial, m.step, n.name, m.value, m.time_us "
	    "FROM t_metric AS m JOIN t_name AS n ON m.name_id = n.id "
	    "ORDER BY m.trial, m.time_us, m.step",
	    NULL, e);
}

int
store_hindsight_get(struct store *s, struct store_hindsight *h, struct err *e)
{
	/* An AND would look through all trials also where step is NULL. */
	static const char *const sql =
	    "SELECT count(step), count(*), total(judged), "
	    "total(iif(step IS NULL, 0, EXISTS (SELECT 1 FROM t_study "
	    "CROSS JOIN t_trial AS o CROSS JOIN t_metric AS c "
	    "ON c.name_id = 1 AND c.trial = o.trial AND c.old = 0 AND "
	    /* Of those that are not old, only this block can have the step. */
	    "c.first_step = (SELECT max(b.step) FROM t_block AS b WHERE "
	    "b.name_id = 1 AND b.trial = o.trial AND b.old = 0 AND "
	    "b.step <= h.step) AND c.step = h.step "
	    "WHERE o.state = 'completed' AND iif(goal = 'minimize', "
	    "o.objective > h.objective AND c.value < h.value, "
	    "o.objective < h.objective AND c.value > h.value)))), "
	    "(SELECT rule <> 'none' FROM study), "
	    "(SELECT rule = 'careful' FROM study) FROM hindsight AS h "
	    "WHERE (SELECT completed FROM study) >= 20";
	double x[6];

	if (query_numbers(x, 6, s, sql, e) != 1)
		return -1;
	*h = (struct store_hindsight){ .stopped = x[0],
		.trials = x[1],
		.judged = x[2],
		.crossed = x[3],
		.stops = x[4] > 0,
		.careful = x[5] > 0 };
	return 0;
}
