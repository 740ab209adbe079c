/* The status as one JSON document. */

#include <inttypes.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/mem.h"
#include "src/server/status/status.h"
#include "src/server/status/rows.h"
#include "src/store/store.h"

/* Trials whose attempts had no machine yet. */
static const char waits_sql[] =
    "SELECT count(*) FROM t_trial AS t JOIN t_attempt AS a "
    "ON a.trial = t.trial AND a.attempt = t.attempts "
    "WHERE t.state = 'waiting' AND a.end_class IN ('capacity', 'quota')";
static const char paused_sql[] = "SELECT count(*) FROM t_trial "
				 "WHERE state = 'waiting' AND "
				 "paused_step IS NOT NULL";

int
status_waits(
    struct store *store, int64_t *machine, int64_t *paused, struct err *e)
{
	double waits, pauses;

	if (rows_numbers(&waits, 1, store, waits_sql, e) != 1 ||
	    rows_numbers(&pauses, 1, store, paused_sql, e) != 1)
		return -1;
	*machine = (int64_t)waits;
	*paused = (int64_t)pauses;
	return 0;
}

/*
 * src/server/tuner/start-failures.c writes both; older ones are over, or were
 * repeated.
 */
static const char blocked_sql[] =
    "SELECT text FROM (SELECT * FROM t_event ORDER BY seq DESC LIMIT 1000) "
    "WHERE area = 'launch' AND trial IS NULL AND "
    "(text LIKE '%: no trial can be started: %' OR "
    "text LIKE '%: trials can be started again') ORDER BY seq DESC LIMIT 1";

int
status_put_blocked(struct buf *out, struct store *store, struct err *e)
{
	struct store_rows *rows;
	const char *text;
	int rc = rows_first(&rows, store, blocked_sql, NULL, e);

	if (rc != 1)
		return rc;
	text = store_rows_text(rows, 0);
	if (text != NULL && strstr(text, "no trial can be started") != NULL)
		buf_puts(out, text);
	store_rows_close(rows);
	return 0;
}

/* The key and the rows of each part. */
static int
parts_put(struct json_writer *w, struct store *store, struct err *e)
{
	static const struct {
		const char *key, *sql;
		bool one;
	} parts[] = {
		{ "study", "SELECT * FROM study", true },
		{ "best", "SELECT * FROM best", true },
		/* With one objective the best trial is sufficient. */
		{ "front",
		    "SELECT * FROM front WHERE "
		    "(SELECT best_trial FROM study) IS NULL",
		    false },
		{ "settings",
		    "SELECT * FROM settings WHERE rank <= 2 ORDER BY rank",
		    false },
		{ "savings", "SELECT * FROM savings", true },
		{ "hindsight", "SELECT * FROM hindsight", false },
		{ "second_looks",
		    "SELECT trial, step, rank, hindsight, budget, price, spent "
		    "FROM stops WHERE rank IS NOT NULL ORDER BY spent, trial",
		    false },
		{ "costs", "SELECT * FROM costs", true },
		{ "usage",
		    "SELECT sum(gpu_seconds) AS gpu_seconds, "
		    "sum(energy) AS energy_joules, (SELECT sum(cpu_seconds) "
		    "FROM attempts WHERE cpus IS NOT NULL) AS cpu_seconds "
		    "FROM t_total",
		    true },
		{ "gpus", "SELECT * FROM gpus", false },
		{ "placed",
		    "SELECT * FROM trials WHERE state IN "
		    "('starting', 'running', 'stopping') "
		    "ORDER BY trial",
		    false },
		{ "medians", "SELECT * FROM medians ORDER BY step", false },
		/* All but the packages, which may be long. */
		{ "provenance",
		    "SELECT provenance, since, host, user, system, version, "
		    "command, folder, workdir, git_commit, git_branch, "
		    "git_dirty, git_why FROM provenance",
		    false },
	};
	size_t i;

	for (i = 0; i < sizeof parts / sizeof parts[0]; i++) {
		json_writer_line(w);
		if (rows_put_json(json_writer_value(w, parts[i].key), store,
			parts[i].sql, NULL, parts[i].one, e) != 0)
			return -1;
	}
	return 0;
}

int
status_json(struct json_writer *w, struct store *store, struct err *e)
{
	struct buf blocked = { 0 };
	int64_t waits, paused;
	int rc;

	if (parts_put(w, store, e) != 0 ||
	    status_waits(store, &waits, &paused, e) != 0)
		return -1;
	json_writer_line(w);
	json_writer_integer(w, "waiting_for_capacity", waits);
	json_writer_line(w);
	json_writer_integer(w, "paused", paused);
	rc = status_put_blocked(&blocked, store, e);
	json_writer_line(w);
	json_writer_text(
	    w, "blocked", blocked.len > 0 ? buf_str(&blocked) : NULL);
	buf_free(&blocked);
	return rc;
}
