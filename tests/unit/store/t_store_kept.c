/*
 * A reader that is kept between two uses: it reads what a new one would read, and
 * holds nobody up.
 */

#include "src/store/store-internal.h"
#include "tests/support/store-fixture.h"

static struct err e;

static struct store *
reader(const char *path)
{
	struct store *s;

	must(store_open(&s, path, STORE_READ, &e), &e);
	return s;
}

/* What a reader of this path gets, which is kept after it. */
static void
reads(const char *path, const char *sql, const char *want, const char *what)
{
	struct store *s = reader(path);

	is_query(s, sql, want, what);
	store_close(s);
}

/* The columns of view results, before the first row is read. */
static void
columns(const char *path, const char *want, const char *what)
{
	struct store *s = reader(path);
	struct store_rows *r;
	struct buf b = { 0 };
	int c;

	must(store_rows_open(&r, s, "SELECT * FROM results", NULL, &e), &e);
	for (c = 0; c < store_rows_columns(r); c++)
		buf_printf(
		    &b, "%s%s", c > 0 ? ", " : "", store_rows_name(r, c));
	is_str(buf_str(&b), want, what);
	buf_free(&b);
	store_rows_close(r);
	store_close(s);
}

static void
add_trial(struct store *s, int64_t number)
{
	struct store_trial t = fixture_trial(number, TRIAL_WAITING);

	must(store_begin(s, &e), &e);
	must(store_trial_add(s, &t, &e), &e);
	must(store_commit(s, true, &e), &e);
}

static void
add_metric(struct store *s, int64_t trial, const char *name)
{
	struct store_trial t = fixture_trial(trial, TRIAL_STARTING);
	struct store_attempt a = fixture_attempt(trial, 1);

	must(store_begin(s, &e), &e);
	t.attempts = 1;
	must(store_trial_put(s, &t, &e), &e);
	must(store_attempt_add(s, &a, &e), &e);
	must(store_metric_add(s, trial, 1, name, 1, 0.5, T0, &e), &e);
	must(store_commit(s, true, &e), &e);
}

/* Writes are read, and are not held up. */
static void
test_writes(void)
{
	static const char count[] = "SELECT count(*) FROM trials";
	struct store *w = fixture_create("kept.db", true), *s, *second;
	char *path = fixture_path("kept.db");
	struct store_rows *r;

	store_keep();
	s = reader(path);
	is_query(s, count, "0", "a reader");
	store_close(s);
	is_str(store_kept_path(), path, "is kept");
	second = reader(path);
	ok(second == s, "and used again");
	ok(store_kept_path() == NULL, "by one alone");
	ok(sqlite3_next_stmt(s->db, NULL) != NULL, "with what it compiled");
	store_close(second);
	add_trial(w, 1);
	reads(path, count, "1", "what was written since is read");
	store_checkpoint(w);
	ok(sqlite3_wal_checkpoint_v2(w->db, "main", SQLITE_CHECKPOINT_TRUNCATE,
	       NULL, NULL) == SQLITE_OK &&
		store_wal_bytes(w) == 0,
	    "the log can be emptied");

	/* A query that was left in its middle. */
	s = reader(path);
	must(store_rows_open(&r, s, "SELECT * FROM trials", NULL, &e), &e);
	(void)store_rows_next(r, &e);
	store_rows_close(r);
	store_close(s);
	add_trial(w, 2);
	ok(sqlite3_wal_checkpoint_v2(w->db, "main", SQLITE_CHECKPOINT_TRUNCATE,
	       NULL, NULL) == SQLITE_OK,
	    "also after a query that was not read to its end");
	reads(path, count, "2", "and the next reads on");

	columns(path, "trial, state, objective, lr, optimizer, acc",
	    "the columns of results");
	add_metric(w, 1, "extra");
	columns(path, "trial, state, objective, lr, optimizer, extra, acc",
	    "a new metric is a new column at once");
	store_close(w);
	store_keep_drop();
	ok(store_kept_path() == NULL, "it is let go");
	free(path);
}

/* Limits and failures of a query of the user. */
static void
test_queries(void)
{
	static const char wide[] =
	    "SELECT length(hex(zeroblob(1000000))) FROM study";
	char *path = fixture_path("kept.db");
	struct store *s = reader(path);
	struct store_rows *r;

	must(store_rows_open_views(&r, s, "SELECT 1 FROM study", &e), &e);
	store_rows_close(r);
	is_query(
	    s, wide, "2000000", "limits of a query of the user end with it");
	ok(store_rows_open_views(&r, s, "SELECT 1 FROM t_study", &e) == -1,
	    "a table is refused");
	e = (struct err)ERR_INIT;
	is_query(s, wide, "2000000", "and the limits end");
	is_query(s, "SELECT count(*) FROM t_study", "1", "tables are ours");
	store_close(s);
	ok(store_kept_path() != NULL, "it is kept");
	s = reader(path);
	ok(store_rows_open_views(
	       &r, s, "SELECT abs(-9223372036854775807 - 1)", &e) == 0 &&
		store_rows_next(r, &e) == -1,
	    "a query that fails");
	e = (struct err)ERR_INIT;
	store_rows_close(r);
	store_close(s);
	ok(store_kept_path() == NULL, "what has failed is not kept");
	free(path);
}

/* The path is a link, to one study and then to another; a log that is deleted. */
static void
test_linked(void)
{
	static const char count[] = "SELECT count(*) FROM trials";
	char *path = fixture_path("link.db"), *log = fixture_path("b.db-wal");
	char *index = fixture_path("b.db-shm");
	struct store *a = fixture_create("a.db", true);
	struct store *b = fixture_create("b.db", true);

	add_trial(b, 1);
	must(symlink("a.db", path), &e);
	reads(path, count, "0", "by a link");
	must(unlink(path), &e);
	must(symlink("b.db", path), &e);
	reads(path, count, "1", "the link leads to another");
	ok(store_kept_path() != NULL, "a reader by a link is kept");
	add_trial(b, 2);
	must(unlink(log), &e);
	must(unlink(index), &e);
	must(store_wal_recover(b, &e), &e);
	store_close(b);
	must(store_open(&b, path, STORE_WRITE, &e), &e);
	add_trial(b, 3);
	reads(path, count, "3", "the log was deleted and made anew");
	store_close(a);
	store_close(b);
	store_keep_drop();
	free(path);
	free(log);
	free(index);
}

/* Another file at the path, and none. */
static void
test_replaced(void)
{
	static const char name[] = "SELECT name, seed FROM study";
	static const char trials[] = "SELECT count(*) FROM trials";
	char *path = fixture_path("kept.db"), *other = fixture_path("other.db");
	char *log = fixture_path("kept.db-wal");
	struct store *s;

	s = fixture_create("other.db", false);
	add_trial(s, 1);
	store_close(s);
	reads(path, trials, "2", "a reader that is kept");
	(void)rename(path, log);
	ok(store_open(&s, path, STORE_READ, &e) == -1 && e.kind == ERR_FILE,
	    "the file is gone");
	e = (struct err)ERR_INIT;
	(void)rename(other, path);
	(void)unlink(log);
	reads(path, trials, "1", "another is there");
	reads(path, name, "small|7", "and is kept");
	(void)unlink(path);
	store_close(fixture_create("kept.db", true));
	reads(path, trials, "0", "a study made anew");
	store_keep_end();
	reads(path, trials, "0", "at the end");
	ok(store_kept_path() == NULL, "none is kept");
	free(path);
	free(other);
	free(log);
}

int
main(void)
{
	fixture_begin();
	test_writes();
	test_queries();
	test_linked();
	test_replaced();
	return fixture_end();
}
