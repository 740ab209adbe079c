/* Finds studies and reads their summaries. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/err.h"
#include "src/base/file.h"
#include "src/base/mem.h"
#include "src/cli/common/atomic-file.h"
#include "src/cli/common/cli.h"
#include "src/model/study/study.h"
#include "src/server/status/rows.h"
#include "src/store/store.h"
#include "src/web/web-studies.h"

enum { NOTE = 500 }; /* bytes */

static void
summary_fini(struct web_summary *s)
{
	free(s->name);
	free(s->state);
	free(s->goal);
	free(s->created);
	free(s->ended);
	free(s->trouble);
	*s = (struct web_summary){ 0 };
}

static void
study_free_one(struct web_study *s)
{
	summary_fini(&s->summary);
	free(s->id);
	free(s->db);
	free(s->state_dir);
	free(s->note);
	free(s);
}

static bool
id_taken(const struct web_studies *all, const char *id)
{
	size_t i;

	for (i = 0; i < all->n; i++)
		if (strcmp(all->studies[i]->id, id) == 0)
			return true;
	return false;
}

static int
db_compare(const void *a, const void *b)
{
	const struct web_study *const *x = a, *const *y = b;

	return strcmp((*x)->db, (*y)->db);
}

/* Whether it is among the first sorted ones, or those behind; it is seen then. */
static bool
is_known(struct web_studies *all, size_t sorted, const char *db)
{
	struct web_study key = { .db = (char *)db }, *of = &key, **at = NULL;
	size_t i;

	if (sorted > 0)
		at = bsearch(&of, all->studies, sorted, sizeof of, db_compare);
	for (i = sorted; at == NULL && i < all->n; i++)
		if (strcmp(all->studies[i]->db, db) == 0)
			at = &all->studies[i];
	if (at != NULL)
		(*at)->seen = true;
	return at != NULL;
}

/* The first sorted ones are in the order of their databases. */
static void
study_add(struct web_studies *all, size_t sorted, const struct cli_study *found)
{
	struct web_study *s;
	const char *base = strrchr(found->db, '/');
	int k;

	base = base == NULL ? found->db : base + 1;
	if (is_known(all, sorted, found->db))
		return;
	s = xcalloc(1, sizeof *s);
	s->db = xstrdup(found->db);
	s->state_dir = xstrdup(found->state_dir);
	s->seen = true;
	s->id = xasprintf("%.*s", (int)(strlen(base) - strlen(".db")), base);
	for (k = 2; id_taken(all, s->id); k++) {
		free(s->id);
		s->id = xasprintf(
		    "%.*s~%d", (int)(strlen(base) - strlen(".db")), base, k);
	}
	if (all->n == all->cap) {
		all->cap = 2 * all->cap + 16;
		all->studies =
		    xreallocarray(all->studies, all->cap, sizeof *all->studies);
	}
	all->studies[all->n++] = s;
}

static void
place_search(struct web_studies *all, size_t sorted, const char *place)
{
	struct cli_study found;
	struct stat st;
	char **names;
	size_t i;

	if (stat(place, &st) != 0 || !S_ISDIR(st.st_mode)) {
		if (cli_find_named(&found, place, NULL) == 0) {
			if (stat(found.db, &st) == 0)
				study_add(all, sorted, &found);
			cli_study_fini(&found);
		}
		return;
	}
	names = cli_find_names(place);
	for (i = 0; names != NULL && names[i] != NULL; i++)
		if (cli_find_named(&found, names[i], NULL) == 0) {
			study_add(all, sorted, &found);
			cli_study_fini(&found);
		}
	strv_free(names);
}

static int
id_compare(const void *a, const void *b)
{
	const struct web_study *const *x = a, *const *y = b;

	return strcmp((*x)->id, (*y)->id);
}

void
web_studies_search(struct web_studies *all)
{
	size_t i, n = 0, sorted = all->n;

	for (i = 0; i < all->n; i++)
		all->studies[i]->seen = false;
	if (sorted > 0)
		qsort(all->studies, sorted, sizeof *all->studies, db_compare);
	for (i = 0; all->places[i] != NULL; i++)
		place_search(all, sorted, all->places[i]);
	for (i = 0; i < all->n; i++)
		if (all->studies[i]->seen)
			all->studies[n++] = all->studies[i];
		else
			study_free_one(all->studies[i]);
	all->n = n;
	if (n > 0)
		qsort(all->studies, n, sizeof *all->studies, id_compare);
}

void
web_studies_fini(struct web_studies *all)
{
	size_t i;

	for (i = 0; i < all->n; i++)
		study_free_one(all->studies[i]);
	free(all->studies);
	*all = (struct web_studies){ 0 };
}

static struct web_study *
find(struct web_studies *all, const char *id)
{
	size_t i;

	for (i = 0; i < all->n; i++)
		if (strcmp(all->studies[i]->id, id) == 0)
			return all->studies[i];
	return NULL;
}

struct web_study *
web_studies_find(struct web_studies *all, const char *id)
{
	struct web_study *s = find(all, id);

	if (s != NULL)
		return s;
	web_studies_search(all);
	return find(all, id);
}

void
web_study_stamp(const struct web_study *s, struct web_stamp *stamp)
{
	char *log = xasprintf("%s-wal", s->db);
	struct stat st;

	*stamp = (struct web_stamp){ 0 };
	if (stat(s->db, &st) == 0) {
		stamp->dev = st.st_dev;
		stamp->ino = st.st_ino;
		stamp->changed = st.st_mtim;
		stamp->size = st.st_size;
	}
	if (stat(log, &st) == 0) {
		stamp->log_changed = st.st_mtim;
		stamp->log_size = st.st_size;
	}
	free(log);
}

static bool
same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

bool
web_stamp_same(const struct web_stamp *a, const struct web_stamp *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
	       a->log_size == b->log_size &&
	       same_time(&a->changed, &b->changed) &&
	       same_time(&a->log_changed, &b->log_changed);
}

static char *
text_take(const struct store_rows *rows, int col)
{
	return store_rows_null(rows, col) ? NULL
					  : xstrdup(store_rows_text(rows, col));
}

static int
summary_read(struct web_summary *s, struct store *store, struct err *e)
{
	static const char sql[] =
	    "SELECT name, state, (SELECT group_concat(goal || ' ' || metric, "
	    "', ') FROM (SELECT goal, metric FROM t_aim WHERE goal IS NOT "
	    "NULL ORDER BY position)), created, ended, "
	    "trials, running, completed, stopped, failed, best_trial, best, "
	    "cost, (SELECT json_extract(json, '$.limits.trials') FROM "
	    "t_study), elapsed, (SELECT count(*) FROM t_front WHERE "
	    "inside = 1) FROM study";
	struct store_rows *rows;

	if (rows_first(&rows, store, sql, NULL, e) != 1)
		return err_add(e, "the study");
	s->name = text_take(rows, 0);
	s->state = text_take(rows, 1);
	s->goal = text_take(rows, 2);
	s->created = text_take(rows, 3);
	s->ended = text_take(rows, 4);
	s->trials = store_rows_int(rows, 5);
	s->running = store_rows_int(rows, 6);
	s->completed = store_rows_int(rows, 7);
	s->stopped = store_rows_int(rows, 8);
	s->failed = store_rows_int(rows, 9);
	s->best_trial = store_rows_int(rows, 10);
	s->best = rows_real(rows, 11);
	s->cost = rows_real(rows, 12);
	s->limit = store_rows_int(rows, 13);
	s->elapsed = rows_real(rows, 14);
	s->front = store_rows_int(rows, 15);
	store_rows_close(rows);
	return 0;
}

void
web_study_sum(struct web_study *s, int64_t until_ms)
{
	struct web_stamp stamp;
	struct store *store;
	struct err e = ERR_INIT;
	int rc;

	free(s->note);
	s->note = web_study_note_read(s);
	web_study_stamp(s, &stamp);
	s->late = !s->summed || !web_stamp_same(&stamp, &s->stamp);
	if (!s->late || clock_boot_ms() > until_ms)
		return;
	s->late = false;
	summary_fini(&s->summary);
	rc = store_open(&store, s->db, STORE_READ, &e);
	if (rc == 0) {
		rc = summary_read(&s->summary, store, &e);
		store_close(store);
	}
	if (rc != 0)
		s->summary.trouble = xstrdup(e.text);
	s->stamp = stamp;
	s->summed = rc == 0;
}

bool
web_studies_catch_up(struct web_studies *all, int64_t until_ms)
{
	size_t i, left = 0;

	for (i = 0; i < all->n; i++)
		left += all->studies[i]->late;
	for (i = 0; i < all->n && left > 0; i++) {
		if (!all->studies[i]->late)
			continue;
		web_study_sum(all->studies[i], INT64_MAX);
		left--;
		if (clock_boot_ms() > until_ms)
			break;
	}
	return left == 0;
}

/* NAME.db -> NAME.d/file */
static char *
own_path(const struct web_study *s, const char *file)
{
	size_t n = strlen(s->db);

	if (n > 3 && strcmp(s->db + n - 3, ".db") == 0)
		n -= 3;
	return xasprintf("%.*s.d/%s", (int)n, s->db, file);
}

char *
web_study_note_read(const struct web_study *s)
{
	char *path = own_path(s, "note"), text[NOTE + 1];
	ssize_t n = file_read(AT_FDCWD, path, text, sizeof text);

	free(path);
	if (n <= 0)
		return NULL;
	text[strcspn(text, "\r\n")] = '\0';
	return *text == '\0' ? NULL : xstrdup(text);
}

int
web_study_note(const struct web_study *s, const char *text, struct err *e)
{
	char *path = own_path(s, "note");
	struct buf b = { 0 };
	int rc = 0;

	if (strlen(text) > NOTE || strpbrk(text, "\r\n") != NULL)
		rc = err_set(e, ERR_USAGE,
		    "a note is one line of %d bytes at most", NOTE);
	else if (*text == '\0') {
		if (unlink(path) != 0 && errno != ENOENT)
			rc = err_set(
			    e, ERR_FILE, "%s: %s", path, strerror(errno));
	} else {
		buf_printf(&b, "%s\n", text);
		rc = atomic_file_write(path, true, &b, e);
		buf_free(&b);
	}
	free(path);
	return rc;
}

bool
web_study_archived(const struct web_study *s)
{
	char *path = own_path(s, "archived");
	struct stat st;
	bool there = lstat(path, &st) == 0;

	free(path);
	return there;
}

int
web_study_archive(const struct web_study *s, bool archived, struct err *e)
{
	char *path = own_path(s, "archived");
	int fd, rc = 0;

	if (archived) {
		fd = open(
		    path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd != -1)
			(void)close(fd);
		else
			rc = -1;
	} else if (unlink(path) != 0 && errno != ENOENT)
		rc = -1;
	if (rc != 0)
		rc = err_set(e, ERR_FILE, "%s: %s", path, strerror(errno));
	free(path);
	return rc;
}

bool
web_study_alive(const struct web_study *s)
{
	struct cli_study found = { .db = s->db };

	return cli_server_alive(&found);
}
