/* Places that fail trials: evidence in, slots and backends noted. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/engine/attempts/place-blame.h"
#include "src/engine/attempts/slots.h"
#include "src/store/store.h"
#include "trials/backend.h"

void
place_blame_add(struct place_blame *pb, const struct place_backend *b)
{
	pb->backends = xreallocarray(
	    pb->backends, (size_t)pb->n + 1, sizeof *pb->backends);
	pb->backends[pb->n++] = *b;
}

/* Whether the places of a backend are its slots. */
static bool
place_blame_by_slot(const struct place_backend *b)
{
	return b->type->places == NULL || !b->type->places(b->ctx, 0, 0, NULL);
}

/* The names of the places of an attempt: "BACKEND PLACE" each. */
static struct strv
place_blame_names(const struct place_blame *pb, const struct place_guest *g)
{
	const struct place_backend *b = &pb->backends[g->backend];
	struct strv names = { 0 };
	struct buf list = { 0 };
	char *all, *at, *name;

	if (place_blame_by_slot(b))
		buf_printf(&list, "%d", g->slot);
	else
		(void)b->type->places(b->ctx, g->trial, g->attempt, &list);
	all = at = buf_take(&list);
	/*
	 * Without a place the backend has one name, so that what works and
	 * fails counts.
	 */
	while ((name = strsep(&at, " ")) != NULL || names.n == 0)
		strv_add(&names, xasprintf("%s %s", b->type->name,
				     name != NULL ? name : ""));
	free(all);
	return names;
}

/* The backend of a place, or NULL; *name: which one of it. */
static const struct place_backend *
place_blame_backend(
    const struct place_blame *pb, const struct place *p, const char **name)
{
	size_t n = strcspn(p->name, " ");
	const char *is;
	int i;

	*name = p->name + n + (p->name[n] != '\0');
	for (i = 0; i < pb->n; i++) {
		is = pb->backends[i].type->name;
		if (strlen(is) == n && strncmp(p->name, is, n) == 0)
			return &pb->backends[i];
	}
	return NULL;
}

/* The verdict on a place, to its slot or backend. */
static void
place_blame_tell(struct place_blame *pb, struct place *p)
{
	enum place_verdict verdict = places_verdict(p);
	bool avoid = verdict != PLACE_USED;
	const char *name;
	const struct place_backend *b = place_blame_backend(pb, p, &name);

	if (b == NULL || *name == '\0')
		return;
	if (place_blame_by_slot(b)) {
		slots_hold(b->slots, atoi(name), verdict == PLACE_HELD,
		    verdict == PLACE_DRAINED);
		return;
	}
	if (b->type->avoid == NULL || avoid == p->noted)
		return;
	p->noted = avoid;
	b->type->avoid(b->ctx, name, avoid);
	/*
	 * The backend examines the place, and uses it again when it is in
	 * order.
	 */
	if (avoid && b->type->tests_places) {
		places_settle(&pb->places, p->name);
		p->noted = false;
	}
}

static void
place_blame_tell_all(struct place_blame *pb)
{
	size_t i;

	for (i = 0; i < pb->places.n; i++)
		place_blame_tell(pb, &pb->places.list[i]);
}

static void
place_blame_note(
    const struct place_blame *pb, const struct place *p, struct buf *news)
{
	const char *name;
	const struct place_backend *b = place_blame_backend(pb, p, &name);

	if (b == NULL || b->type->tests_places)
		return;
	buf_printf(news,
	    "%s%s%s %s is drained: its last %d trials failed at once, while "
	    "%" PRId64 " of %" PRId64 " worked elsewhere%s; hpotune resume "
	    "uses it again\n",
	    pb->n > 1 ? b->type->name : "", pb->n > 1 ? " " : "",
	    place_blame_by_slot(b) ? "slot" : "node", name, places_row(p),
	    p->worked, p->worked + p->failed, pb->last);
}

/* What follows from new evidence. */
static void
place_blame_settle(struct place_blame *pb, struct buf *news)
{
	const struct place *p;

	while ((p = places_next_drained(&pb->places)) != NULL)
		place_blame_note(pb, p, news);
	place_blame_tell_all(pb);
}

void
place_blame_worked(
    struct place_blame *pb, const struct place_guest *g, struct buf *news)
{
	struct strv names;
	size_t i;

	if (pb->off)
		return;
	names = place_blame_names(pb, g);
	for (i = 0; i < names.n; i++)
		places_worked(&pb->places, names.v[i]);
	place_blame_settle(pb, news);
	strv_free(names.v);
}

void
place_blame_failed(struct place_blame *pb, const struct place_guest *g,
    const char *why, struct buf *news)
{
	struct strv names;
	size_t i;

	if (pb->off)
		return;
	(void)snprintf(pb->last, sizeof pb->last,
	    "; the last, trial %" PRId64 ", with: %s", g->trial,
	    why != NULL ? why : "no reason given");
	names = place_blame_names(pb, g);
	/* Replicates of one setting are one piece of evidence. */
	for (i = 0; i < names.n; i++)
		places_failed(&pb->places, names.v[i],
		    g->setting > 0 ? g->setting : g->trial);
	place_blame_settle(pb, news);
	strv_free(names.v);
}

void
place_blame_forgive(struct place_blame *pb, struct store *store)
{
	(void)store_places_forgive(store, NULL);
	places_forgive(&pb->places);
	place_blame_tell_all(pb);
}

void
place_blame_new_slots(struct place_blame *pb, int backend)
{
	const struct place_backend *b = &pb->backends[backend];
	const char *name;
	size_t i;

	for (i = 0; i < pb->places.n; i++)
		if (place_blame_backend(pb, &pb->places.list[i], &name) == b &&
		    place_blame_by_slot(b))
			places_settle(&pb->places, pb->places.list[i].name);
	place_blame_tell_all(pb);
}

bool
place_blame_hopeless(const struct place_blame *pb, struct store *store,
    const char *trials, char *why, size_t n)
{
	int failed;

	if (places_any_works(&pb->places))
		return false;
	failed = places_count_failed(&pb->places);
	if (failed < PLACES_HOPELESS || store_any_reports(store, NULL))
		return false;
	(void)snprintf(why, n,
	    "nothing works: %d different %s failed at once, and none has "
	    "reported%.160s",
	    failed, trials, pb->last);
	return true;
}

void
place_blame_write(struct place_blame *pb, struct store *store)
{
	struct place *p;
	size_t i;

	for (i = 0; i < pb->places.n; i++) {
		p = &pb->places.list[i];
		if (p->dirty)
			(void)store_place_put(store, p, NULL);
		p->dirty = false;
	}
}

static int
on_place(void *arg, const struct place *recorded, const char *trials)
{
	struct place_blame *pb = arg;

	places_restore(&pb->places, recorded, trials);
	return 0;
}

int
place_blame_restore(
    struct place_blame *pb, struct store *store, bool anew, struct err *e)
{
	if (pb->off || pb->n == 0)
		return 0;
	if (store_walk_places(store, on_place, pb, e) != 0)
		return -1;
	if (anew)
		places_forgive(&pb->places);
	place_blame_tell_all(pb);
	return 0;
}

void
place_blame_close(struct place_blame *pb)
{
	places_free(&pb->places);
	free(pb->backends);
	*pb = (struct place_blame){ 0 };
}
