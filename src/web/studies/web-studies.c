/* Finds studies. */

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/base/mem.h"
#include "src/study-files/study-files.h"
#include "src/web/studies/web-studies.h"

enum {
	DEPTH = 3, /* of the folders below a given one */
	BELOW = 1000 /* of them, at most */
};

static void
web_studies_free_one(struct web_study *s)
{
	free(s->id);
	free(s->db);
	free(s->db_dir);
	free(s->note);
	free(s->row);
	free(s->words);
	free(s);
}

static bool
web_studies_id_taken(const struct web_studies *all, const char *id)
{
	size_t i;

	for (i = 0; i < all->n; i++)
		if (strcmp(all->studies[i]->id, id) == 0)
			return true;
	return false;
}

static int
web_studies_db_compare(const void *a, const void *b)
{
	const struct web_study *const *x = a, *const *y = b;

	return strcmp((*x)->db, (*y)->db);
}

/* Whether it is among the first sorted ones, or those behind; it is seen then. */
static bool
web_studies_is_known(struct web_studies *all, size_t sorted, const char *db)
{
	struct web_study key = { .db = (char *)db }, *of = &key, **at = NULL;
	size_t i;

	if (sorted > 0)
		at = bsearch(&of, all->studies, sorted, sizeof of,
		    web_studies_db_compare);
	for (i = sorted; at == NULL && i < all->n; i++)
		if (strcmp(all->studies[i]->db, db) == 0)
			at = &all->studies[i];
	if (at != NULL)
		(*at)->seen = true;
	return at != NULL;
}

static void
web_studies_append(struct web_studies *all, struct web_study *s)
{
	if (all->n == all->cap) {
		all->cap = 2 * all->cap + 16;
		all->studies =
		    xreallocarray(all->studies, all->cap, sizeof *all->studies);
	}
	all->studies[all->n++] = s;
}

/* The first sorted ones are in the order of their databases. */
static void
web_studies_add(
    struct web_studies *all, size_t sorted, const struct study_files *found)
{
	struct web_study *s;
	const char *base = strrchr(found->db, '/');
	int k;

	base = base == NULL ? found->db : base + 1;
	if (web_studies_is_known(all, sorted, found->db))
		return;
	s = xcalloc(1, sizeof *s);
	s->db = xstrdup(found->db);
	s->db_dir = xstrdup(found->db_dir);
	s->seen = true;
	s->id = xasprintf("%.*s", (int)(strlen(base) - strlen(".db")), base);
	for (k = 2; web_studies_id_taken(all, s->id); k++) {
		free(s->id);
		s->id = xasprintf(
		    "%.*s~%d", (int)(strlen(base) - strlen(".db")), base, k);
	}
	web_studies_append(all, s);
}

static void
web_studies_folder_search(
    struct web_studies *all, size_t sorted, const char *folder)
{
	char **names = study_files_in(folder);
	struct study_files found;
	size_t i;

	for (i = 0; names != NULL && names[i] != NULL; i++)
		if (study_files_find(&found, names[i], NULL, NULL) == 0) {
			web_studies_add(all, sorted, &found);
			study_files_fini(&found);
		}
	strv_free(names);
}

/*
 * Folders below one, down to a depth, but for hidden ones, links, and NAME.d,
 * which have no studies; *left: how many more are looked into.
 */
static void
web_studies_below_search(struct web_studies *all, size_t sorted,
    const char *place, int depth, int *left)
{
	struct dirent *entry;
	struct stat st;
	size_t len;
	char *path;
	DIR *d = depth > 0 && *left > 0 ? opendir(place) : NULL;

	while (d != NULL && *left > 0 && (entry = readdir(d)) != NULL) {
		len = strlen(entry->d_name);
		if (entry->d_name[0] == '.' ||
		    (len > 2 && strcmp(entry->d_name + len - 2, ".d") == 0) ||
		    (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN))
			continue;
		path = xasprintf("%s/%s", place, entry->d_name);
		if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
			(*left)--;
			web_studies_folder_search(all, sorted, path);
			web_studies_below_search(
			    all, sorted, path, depth - 1, left);
		}
		free(path);
	}
	if (d != NULL)
		(void)closedir(d);
}

static void
web_studies_place_search(
    struct web_studies *all, size_t sorted, const char *place)
{
	struct study_files found;
	struct stat st;
	int left = BELOW;

	if (stat(place, &st) != 0 || !S_ISDIR(st.st_mode)) {
		if (study_files_find(&found, place, NULL, NULL) == 0) {
			if (stat(found.db, &st) == 0)
				web_studies_add(all, sorted, &found);
			study_files_fini(&found);
		}
		return;
	}
	web_studies_folder_search(all, sorted, place);
	web_studies_below_search(all, sorted, place, DEPTH, &left);
}

static int
web_studies_id_compare(const void *a, const void *b)
{
	const struct web_study *const *x = a, *const *y = b;

	return strcmp((*x)->id, (*y)->id);
}

bool
web_studies_search(struct web_studies *all)
{
	size_t i, n = 0, sorted = all->n;
	bool changed;

	for (i = 0; i < all->n; i++)
		all->studies[i]->seen = false;
	if (sorted > 0)
		qsort(all->studies, sorted, sizeof *all->studies,
		    web_studies_db_compare);
	for (i = 0; all->places[i] != NULL; i++)
		web_studies_place_search(all, sorted, all->places[i]);
	for (i = 0; i < all->n; i++)
		if (all->studies[i]->seen)
			all->studies[n++] = all->studies[i];
		else
			web_studies_free_one(all->studies[i]);
	/* Known ones are in front of new ones. */
	changed = all->n != sorted || n != sorted;
	all->n = n;
	if (n > 0)
		qsort(all->studies, n, sizeof *all->studies,
		    web_studies_id_compare);
	return changed;
}

void
web_studies_fini(struct web_studies *all)
{
	size_t i;

	for (i = 0; i < all->n; i++)
		web_studies_free_one(all->studies[i]);
	free(all->studies);
	*all = (struct web_studies){ 0 };
}

struct web_study *
web_studies_known(const struct web_studies *all, const char *id)
{
	struct web_study key = { .id = (char *)id }, *of = &key, **at;

	if (all->n == 0)
		return NULL;
	at = bsearch(
	    &of, all->studies, all->n, sizeof of, web_studies_id_compare);
	return at == NULL ? NULL : *at;
}

struct web_study *
web_studies_find(struct web_studies *all, const char *id)
{
	struct web_study *s = web_studies_known(all, id);

	if (s != NULL)
		return s;
	(void)web_studies_search(all);
	return web_studies_known(all, id);
}

/* The study of old that has this id and this database is taken out of it. */
static struct web_study *
web_studies_take(struct web_studies *old, const char *id, const char *db)
{
	struct web_study *s = web_studies_known(old, id);

	if (s == NULL || s->seen || strcmp(s->db, db) != 0)
		return NULL;
	s->seen = true;
	return s;
}

void
web_studies_set(struct web_studies *all, const char *names, size_t len)
{
	struct web_studies old = *all;
	const char *end = names + len, *id, *db, *db_dir;
	struct web_study *s;
	size_t i;

	for (i = 0; i < old.n; i++)
		old.studies[i]->seen = false;
	*all = (struct web_studies){ .places = old.places };
	while (names < end) {
		id = names;
		db = id + strlen(id) + 1;
		db_dir = db + strlen(db) + 1;
		names = db_dir + strlen(db_dir) + 1;
		s = web_studies_take(&old, id, db);
		if (s == NULL) {
			s = xcalloc(1, sizeof *s);
			s->id = xstrdup(id);
			s->db = xstrdup(db);
			s->db_dir = xstrdup(db_dir);
		}
		web_studies_append(all, s);
	}
	for (i = 0; i < old.n; i++)
		if (!old.studies[i]->seen)
			web_studies_free_one(old.studies[i]);
	free(old.studies);
}
