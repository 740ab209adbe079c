/*
 * A hash table with open addressing, and an enumeration of the settings of a
 * finite space.
 */

#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/model/space-index.h"
#include "src/model/space.h"
#include "src/model/tried-settings.h"
#include "src/model/where.h"

enum {
	COUNTED_MAX =
	    1 << 14, /* settings whose conditions are tested at once */
	REFUSED_MAX = 1 << 16 /* settings passed over in one call */
};

struct tried_settings {
	const struct space *space;
	struct space_index *lattice;
	uint64_t settings; /* of the space; 0 = too many */
	uint64_t allowed; /* that satisfy its conditions; 0 = not counted */
	uint64_t start,
	    walked; /* position of tried_settings_other: start, and steps so far */
	uint64_t *hashes; /* 0 = free */
	uint32_t *trials;
	size_t n, cap;
	size_t n_allowed; /* of the n: that satisfy the conditions */
};

/* FNV-1a with mixed bits; never 0. */
static uint64_t
hash_of(const char *text)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (; *text != '\0'; text++)
		h = (h ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	h = (h ^ h >> 33) * UINT64_C(0xff51afd7ed558ccd);
	h = (h ^ h >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
	h ^= h >> 33;
	return h != 0 ? h : 1;
}

/* The settings of a small space are looked through. */
static uint64_t
settings_allowed(const struct tried_settings *t)
{
	double *x;
	uint64_t i, n = 0;

	if (where_count(t->space) == 0)
		return t->settings;
	if (t->settings > COUNTED_MAX)
		return 0;
	x = xcalloc(t->space->n, sizeof *x);
	for (i = 0; i < t->settings; i++) {
		space_index_point(t->lattice, i, x);
		n += where_holds(t->space, x);
	}
	free(x);
	return n;
}

struct tried_settings *
tried_settings_new(const struct space *space, uint64_t seed)
{
	struct tried_settings *t = xcalloc(1, sizeof *t);
	struct rng rng;

	t->space = space;
	t->lattice = space_index_new(space, 0);
	t->settings = space_index_count(t->lattice);
	t->allowed = settings_allowed(t);
	rng_init(&rng, seed, UINT64_C(0x7472696564));
	t->start = t->settings > 0 ? rng_below(&rng, t->settings) : 0;
	return t;
}

void
tried_settings_free(struct tried_settings *t)
{
	if (t == NULL)
		return;
	space_index_free(t->lattice);
	free(t->hashes);
	free(t->trials);
	free(t);
}

/* The slot of a hash, or the free slot for it. */
static size_t
tried_settings_place_of(const struct tried_settings *t, uint64_t hash)
{
	size_t i = (size_t)((hash >> 32) * t->cap >> 32);

	while (t->hashes[i] != 0 && t->hashes[i] != hash)
		i = i + 1 < t->cap ? i + 1 : 0;
	return i;
}

static void
tried_settings_grow(struct tried_settings *t, size_t cap)
{
	struct tried_settings old = *t;
	size_t i, at;

	t->cap = cap;
	t->hashes = xcalloc(t->cap, sizeof *t->hashes);
	t->trials = xcalloc(t->cap, sizeof *t->trials);
	for (i = 0; i < old.cap; i++) {
		if (old.hashes[i] == 0)
			continue;
		at = tried_settings_place_of(t, old.hashes[i]);
		t->hashes[at] = old.hashes[i];
		t->trials[at] = old.trials[i];
	}
	free(old.hashes);
	free(old.trials);
}

/* At most nine of ten places are used; here four of five. */
void
tried_settings_reserve(struct tried_settings *t, size_t n)
{
	size_t cap = n + n / 4 + 16;

	if (cap > t->cap)
		tried_settings_grow(t, cap);
}

/* A trial may be older than the conditions. */
static bool
is_allowed(const struct tried_settings *t, const char *params)
{
	struct value *values;
	bool allowed;

	if (where_count(t->space) == 0)
		return true;
	values = xcalloc(t->space->n, sizeof *values);
	allowed = space_parse_values(t->space, params, values, NULL) == 0 &&
		  where_broken(t->space, values) == NULL;
	free(values);
	return allowed;
}

void
tried_settings_add(struct tried_settings *t, const char *params, int64_t trial)
{
	uint64_t hash = hash_of(params);
	size_t at;

	if ((t->n + 1) * 10 > t->cap * 9)
		tried_settings_grow(t, t->cap + t->cap / 2 + 16);
	at = tried_settings_place_of(t, hash);
	if (t->hashes[at] != 0)
		return;
	t->hashes[at] = hash;
	t->trials[at] = (uint32_t)trial;
	t->n++;
	t->n_allowed += is_allowed(t, params);
}

int64_t
tried_settings_find(const struct tried_settings *t, const char *params)
{
	size_t at;

	if (t->n == 0)
		return 0;
	at = tried_settings_place_of(t, hash_of(params));
	return t->hashes[at] != 0 ? t->trials[at] : 0;
}

uint64_t
tried_settings_count(const struct tried_settings *t)
{
	return t->allowed;
}

uint64_t
tried_settings_all(const struct tried_settings *t)
{
	return t->allowed > 0 && t->n_allowed >= t->allowed ? t->allowed : 0;
}

/* Tried settings stay tried: the enumeration never goes back. */
bool
tried_settings_other(struct tried_settings *t, struct value *values)
{
	double *x = xcalloc(t->space->n, sizeof *x);
	struct buf params = { 0 };
	bool found = false;
	int refused = 0;

	while (!found && t->walked < t->settings && refused < REFUSED_MAX) {
		space_index_point(
		    t->lattice, (t->start + t->walked) % t->settings, x);
		space_decode(t->space, x, values);
		if (where_broken(t->space, values) != NULL)
			refused++;
		else {
			buf_clear(&params);
			space_put_json(&params, t->space, values);
			found = tried_settings_find(t, buf_str(&params)) == 0;
		}
		t->walked += !found;
	}
	buf_free(&params);
	free(x);
	return found;
}
