/* The rows of t_contest: settings that are compared on further replicates. */

#include <stdio.h>

#include "src/base/err.h"
#include "src/model/goal.h"
#include "src/model/replicate-stats.h"
#include "src/store/queries.h"
#include "src/store/row-columns.h"

int
store_contest_put(
    struct store *s, const struct store_contest *row, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_CONTEST_PUT, e);

	if (st == NULL)
		return -1;
	stmt_int(st, 1, row->number);
	stmt_text(st, 2, row->kind);
	stmt_text(st, 3, row->verdict);
	stmt_int_or(st, 4, row->challenger, 0);
	stmt_int_or(st, 5, row->baseline, 0);
	stmt_text(st, 6, row->metric);
	stmt_text(st, 7, goal_name(row->maximize));
	stmt_real(st, 8, row->alpha);
	stmt_int(st, 9, row->searched);
	stmt_int(st, 10, row->pairs);
	stmt_int(st, 11, row->looks);
	stmt_real(st, 12, row->better);
	stmt_real(st, 13, row->worse);
	stmt_real(st, 14, row->difference);
	stmt_real(st, 15, row->least);
	stmt_int(st, 16, row->opened_us);
	stmt_int_or(st, 17, row->ended_us, 0);
	stmt_text(st, 18, row->params);
	stmt_text(st, 19, row->caller);
	stmt_text(st, 20, row->why);
	stmt_text(st, 21, row->commit);
	stmt_text(st, 22, row->base);
	stmt_text(st, 23, row->diff);
	return stmt_write(s, st, e);
}

int
store_walk_contests(struct store *s,
    int (*f)(void *, const struct store_contest *), void *arg, struct err *e)
{
	struct row r = row_begin(s, STMT_CONTEST_EACH, "t_contest", 1, e);
	struct store_contest c;
	int end = 0;

	while (row_walk(&r, &end)) {
		c = (struct store_contest){
			.number = row_int(&r, 0, 1, ROW_INT_MAX),
			.kind = row_text(&r, 1),
			.verdict = row_text(&r, 2),
			.challenger = row_int_or(&r, 3, 0, 1, ROW_INT_MAX),
			.baseline = row_int_or(&r, 4, 0, 1, ROW_INT_MAX),
			.metric = row_text(&r, 5),
			.alpha = row_real(&r, 7),
			.searched = row_int(&r, 8, 1, REPLICATES_MAX),
			.pairs = row_int(&r, 9, 1, REPLICATES_MAX),
			.looks = row_int(&r, 10, 0, REPLICATES_MAX),
			.better = row_real(&r, 11),
			.worse = row_real(&r, 12),
			.difference = row_real(&r, 13),
			.least = row_real(&r, 14),
			.opened_us = row_int(&r, 15, 0, ROW_INT_MAX),
			.ended_us = row_int_or(&r, 16, 0, 0, ROW_INT_MAX),
			.params = row_text_or(&r, 17),
			.caller = row_text_or(&r, 18),
			.why = row_text_or(&r, 19),
			.commit = row_text_or(&r, 20),
		};
		if (!goal_parse(row_text(&r, 6), &c.maximize))
			(void)row_damaged(&r, 6, "not a goal");
		if (!(c.alpha > 0 && c.alpha < 1))
			(void)row_damaged(&r, 7, "not a probability");
		end = r.bad ? -1 : f(arg, &c);
	}
	return end;
}

int
store_proposals_get(struct store *s, struct store_proposals *p, struct err *e)
{
	/* The one that was kept more often than replaced, as proposals.c. */
	static const char *const sql =
	    "WITH p AS (SELECT * FROM t_contest WHERE kind = 'propose') "
	    "SELECT count(*), coalesce(sum(verdict = 'kept'), 0), "
	    "coalesce(sum(verdict = 'open'), 0), (SELECT max(contest) FROM p "
	    "AS k WHERE verdict = 'kept' AND (SELECT sum((o.challenger = "
	    "k.challenger) - (o.baseline = k.challenger)) FROM p AS o WHERE "
	    "o.verdict = 'kept') > 0) FROM p";
	double n[4], trial = 0;
	char text[160];

	*p = (struct store_proposals){ 0 };
	if (query_numbers(n, 4, s, sql, e) == -1)
		return -1;
	(void)snprintf(text, sizeof text,
	    "SELECT min(trial) FROM t_trial WHERE setting = (SELECT challenger "
	    "FROM t_contest WHERE contest = %.0f)",
	    n[3]);
	if (n[3] > 0 && query_numbers(&trial, 1, s, text, e) == -1)
		return -1;
	*p = (struct store_proposals){ .all = (int64_t)n[0],
		.kept = (int64_t)n[1],
		.open = (int64_t)n[2],
		.standing = trial > 0 ? (int64_t)n[3] : 0,
		.trial = trial > 0 ? (int64_t)trial : 0 };
	return 0;
}

int
store_contest_trials(struct store *s, double n[2], struct err *e)
{
	static const char *const sql =
	    "WITH c AS (SELECT challenger AS setting, kind FROM t_contest "
	    "UNION SELECT baseline, kind FROM t_contest) SELECT "
	    "coalesce(sum(kind IS NOT 'propose'), 0), "
	    "coalesce(sum(kind = 'propose'), 0) FROM t_trial AS t JOIN "
	    /* One that was also confirmed is not counted twice. */
	    "(SELECT setting, min(kind) AS kind FROM c GROUP BY setting) "
	    "AS c ON c.setting = t.setting WHERE "
	    "replicate > (SELECT searched FROM t_contest LIMIT 1)";

	return query_numbers(n, 2, s, sql, e) == -1 ? -1 : 0;
}
