/* Who asks for trials, and whether these processes are still there. */

#include <inttypes.h>
#include <stdio.h>

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
	struct store_asker asker = {
		.host = mark->host, .pid = mark->pid, .mark = mark->text
	};

	return store_asker_watched(store, &asker);
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

struct asker_walk {
	asker_fn *fn;
	void *arg;
};

static void
asker_on_row(void *arg, int64_t trial, const struct store_asker *row)
{
	struct asker a = { .mark.pid = row->pid, .watched = row->watched };
	struct asker_walk *walk = arg;

	(void)snprintf(a.mark.host, sizeof a.mark.host, "%s", row->host);
	(void)snprintf(a.mark.text, sizeof a.mark.text, "%s", row->mark);
	walk->fn(walk->arg, trial, &a);
}

int
asker_walk(struct store *store, asker_fn *fn, void *arg, struct err *e)
{
	struct asker_walk walk = { fn, arg };

	return store_walk_askers(store, asker_on_row, &walk, e);
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
