/* The copy of the database beside study.json, once a minute. */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/log.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/server/snapshot.h"
#include "src/store/store.h"

enum {
	FIRST_MS = 2000,
	EVERY_MS = 50000, /* copies are slow, and a minute is promised */
	STEP_MS = 5,
	STEP_PAGES = 64
};

struct snapshot {
	struct loop *loop;
	struct loop_timer *timer;
	struct store *store; /* borrowed; NULL = none */
	struct store_snapshot *copy; /* in progress, or NULL */
	char *path;
	char host[128];
	bool warned;
};

/* More is to be copied: true. */
static bool
snapshot_step(struct snapshot *s, int pages)
{
	struct err e = ERR_INIT;
	int rc = 0;

	if (s->copy == NULL)
		rc = store_snapshot_begin(&s->copy, s->store, s->path, &e);
	if (rc == 0)
		rc = store_snapshot_step(
		    s->copy, pages, loop_wall_us(s->loop), s->host, &e);
	if (rc == 1)
		return true;
	store_snapshot_free(s->copy);
	s->copy = NULL;
	if (rc == -1 && !s->warned)
		log_warn("store", "no copy of the database: %s", e.text);
	s->warned = rc == -1;
	return false;
}

static void
snapshot_on_timer(void *arg)
{
	struct snapshot *s = arg;

	if (s->store != NULL)
		loop_timer_set(s->timer,
		    snapshot_step(s, STEP_PAGES) ? STEP_MS : EVERY_MS);
}

struct snapshot *
snapshot_new(struct loop *loop, const char *dir, const char *name)
{
	struct snapshot *s = xcalloc(1, sizeof *s);

	s->loop = loop;
	s->timer = loop_timer_new(loop, snapshot_on_timer, s);
	s->path = xasprintf("%s/%s.snapshot.db", dir, name);
	(void)strcpy(s->host, "?");
	(void)gethostname(s->host, sizeof s->host - 1);
	return s;
}

void
snapshot_use(struct snapshot *s, struct store *store)
{
	if (s == NULL)
		return;
	store_snapshot_free(s->copy);
	s->copy = NULL;
	s->store = store;
	if (store == NULL)
		return;
	/* The database is a copy itself, if its owner has renamed one. */
	store_snapshot_forget(store);
	loop_timer_set(s->timer, FIRST_MS);
}

void
snapshot_last(struct snapshot *s)
{
	if (s == NULL || s->store == NULL)
		return;
	store_snapshot_free(s->copy);
	s->copy = NULL;
	/* That none could be made before was said of another moment. */
	s->warned = false;
	if (snapshot_step(s, -1))
		log_warn("store",
		    "no copy of the database: %s: the database is in use",
		    s->path);
}

void
snapshot_free(struct snapshot *s)
{
	if (s == NULL)
		return;
	store_snapshot_free(s->copy);
	loop_timer_free(s->timer);
	free(s->path);
	free(s);
}
