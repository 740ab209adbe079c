/* Who asks for trials, and whether these processes are still there. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/base/json/json.h"
#include "src/engine/attempts/asker.h"
#include "src/store/store.h"

static bool
asker_take(struct process_mark *mark, const struct json *words)
{
	int64_t pid = 0, ns = 0;

	*mark = (struct process_mark){ 0 };
	(void)json_integer(json_get(words, "pid"), &pid);
	(void)json_integer(json_get(words, "ns"), &ns);
	return pid > 0 && ns > 0 && process_mark_take(mark, pid, (uint64_t)ns);
}

/* Whether this process is watched for another trial of the study. */
static bool
asker_known(const struct process_mark *mark, struct store *store)
{
	static const char sql[] =
	    "SELECT 1 FROM t_asker WHERE watched = 1 AND "
	    "pid = CAST(?1 AS INTEGER) AND mark = ?2 AND host = ?3 LIMIT 1";
	const char *params[4] = { NULL, mark->text, mark->host, NULL };
	struct store_rows *rows;
	char pid[24];
	bool known;

	(void)snprintf(pid, sizeof pid, "%" PRId64, mark->pid);
	params[0] = pid;
	if (store_rows_open(&rows, store, sql, params, NULL) != 0)
		return false;
	known = store_rows_next(rows, NULL) == 1;
	store_rows_close(rows);
	return known;
}

void
asker_read(struct asker *a, const struct json *words, struct store *store)
{
	*a = (struct asker){ 0 };
	if (!asker_take(&a->mark, words))
		return;
	(void)json_bool(json_get(words, "sure"), &a->watched);
	a->watched = a->watched || asker_known(&a->mark, store);
}

/* Whether these words name the process of the asker by its pid. */
static bool
asker_named(const struct asker *a, const struct json *words)
{
	int64_t pid = 0, ns = 0;

	(void)json_integer(json_get(words, "pid"), &pid);
	(void)json_integer(json_get(words, "ns"), &ns);
	return pid == a->mark.pid && ns == (int64_t)process_mark_namespace();
}

bool
asker_ended(const struct asker *a, const struct json *words)
{
	int64_t pid = 0, ns = 0;
	bool sure = false;

	(void)json_integer(json_get(words, "pid"), &pid);
	(void)json_integer(json_get(words, "ns"), &ns);
	(void)json_bool(json_get(words, "sure"), &sure);
	return sure && pid > 0 && ns == (int64_t)process_mark_namespace() &&
	       a->mark.pid == 0;
}

bool
asker_told(struct asker *a, const struct json *words)
{
	struct process_mark teller;
	bool lives = asker_take(&teller, words);

	if (a->mark.pid == 0)
		return false;
	if (asker_gone(a)) {
		/* The asker may have sent this, and have ended since. */
		if (!lives && asker_named(a, words))
			return false;
		/* Somebody else goes on with the trial. */
		a->watched = false;
		return true;
	}
	if (a->watched || !lives || !process_mark_same(&teller, &a->mark))
		return false;
	a->watched = true;
	return true;
}

int
asker_put(const struct asker *a, struct store *store, int64_t trial,
    int attempt, struct err *e)
{
	struct store_asker row = { .host = a->mark.host,
		.pid = a->mark.pid,
		.mark = a->mark.text,
		.watched = a->watched };

	return a->mark.pid == 0
		   ? 0
		   : store_asker_put(store, trial, attempt, &row, e);
}

int
asker_walk(struct store *store, asker_fn *fn, void *arg, struct err *e)
{
	static const char sql[] =
	    "SELECT trial, host, pid, mark, watched FROM t_asker "
	    "JOIN t_attempt USING (trial, attempt) "
	    "WHERE state IN ('starting', 'running', 'stopping')";
	struct store_rows *rows;
	struct asker a;
	int rc;

	if (store_rows_open(&rows, store, sql, NULL, e) != 0)
		return -1;
	while ((rc = store_rows_next(rows, e)) == 1) {
		a = (struct asker){ .mark.pid = store_rows_int(rows, 2),
			.watched = store_rows_int(rows, 4) != 0 };
		(void)snprintf(a.mark.host, sizeof a.mark.host, "%s",
		    store_rows_text(rows, 1));
		(void)snprintf(a.mark.text, sizeof a.mark.text, "%s",
		    store_rows_text(rows, 3));
		fn(arg, store_rows_int(rows, 0), &a);
	}
	store_rows_close(rows);
	return rc;
}

bool
asker_gone(const struct asker *a)
{
	return a->watched && process_mark_look(&a->mark) == PROCESS_SEEN_GONE;
}

void
asker_put_why(const struct asker *a, char *why, size_t n)
{
	(void)snprintf(why, n,
	    "process %" PRId64 " of %s, which had asked for it, has ended",
	    a->mark.pid, a->mark.host);
}
