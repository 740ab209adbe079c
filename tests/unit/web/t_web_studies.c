/* Studies: found, named by a reader, summed up though a view never ends. */

#include <stdlib.h>
#include <string.h>

#include "src/web/studies/web-studies.h"
#include "src/web/studies/web-summary.h"
#include "tests/support/store-fixture.h"

/* A study whose view never ends. */
static char *
endless(void)
{
	struct store *store = fixture_create("endless.db", false);
	char *db = fixture_path("endless.db"), *command;

	store_close(store);
	command = xasprintf(
	    "sqlite3 '%s' \"DROP VIEW study; CREATE VIEW study AS WITH "
	    "RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "
	    "SELECT 'a' AS name, 'running' AS state, '' AS created, NULL AS "
	    "ended, x AS trials, 0 AS running, 0 AS completed, 0 AS stopped, "
	    "0 AS failed, 0 AS best_trial, 0 AS best, 0 AS cost, 0 AS elapsed "
	    "FROM c WHERE x < 0\"",
	    db);
	if (system(command) != 0) {
		printf("Bail out! the database cannot be made\n");
		exit(1);
	}
	free(command);
	return db;
}

static void
test_endless(void)
{
	char *db = endless();
	struct web_summary m;
	struct err e = ERR_INIT;

	is_int(web_summary_read(&m, db, &e), -1,
	    "a database that does not answer has no summary");
	ok(strstr(e.text, "does not end") != NULL, "and why");
	web_summary_fini(&m);
	free(db);
}

/* Names as a reader sends them. */
static void
test_set(void)
{
	static const char two[] = "a\0/x/a.db\0/x\0b\0/x/b.db\0/x";
	static const char later[] = "a\0/y/a.db\0/y\0b\0/x/b.db\0/x";
	struct web_studies all = { 0 };

	web_studies_set(&all, two, sizeof two);
	is_int((long long)all.n, 2, "two studies");
	is_str(web_studies_known(&all, "b")->db, "/x/b.db", "with databases");
	ok(web_studies_known(&all, "c") == NULL, "and no third one");
	web_studies_known(&all, "a")->row = xstrdup("row of a");
	web_studies_known(&all, "b")->row = xstrdup("row of b");
	web_studies_set(&all, later, sizeof later);
	is_str(web_studies_known(&all, "b")->row, "row of b",
	    "what is known of a study stays");
	is_str(web_studies_known(&all, "a")->row, NULL,
	    "but not of another one of the same name");
	web_studies_set(&all, "", 0);
	is_int((long long)all.n, 0, "all are gone");
	web_studies_fini(&all);
}

static void
test_search(void)
{
	char *db = fixture_path("endless.db");
	char *places[] = { db, NULL };
	struct web_studies all = { .places = places };

	ok(web_studies_search(&all), "a study is new");
	is_int((long long)all.n, 1, "it is found");
	ok(!web_studies_search(&all), "then nothing is new");
	ok(web_studies_find(&all, "endless") == all.studies[0], "by its id");
	(void)unlink(db);
	ok(web_studies_search(&all) && all.n == 0, "until it is removed");
	web_studies_fini(&all);
	free(db);
}

int
main(void)
{
	fixture_begin();
	test_endless();
	test_set();
	test_search();
	return fixture_end();
}
