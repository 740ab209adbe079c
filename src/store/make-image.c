/*
 * Prints, at build time, the database that each new study begins with, for
 * create.c: the tables that the migrations of schema/ leave, the views of
 * schema/views.sql and the transitions of src/model/trial.c in t_move.  A copy of
 * its pages takes less than a tenth of what executing these statements does.
 *
 * The output are the members of a C array: { OFFSET, LENGTH, "BYTES" } for each
 * part of the file that is not zero, and { SIZE, 0, "" } at the end.
 */

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/model/trial.h"

/* As in store-internal.h, which has the interface of the whole store. */
#define STORE_APPLICATION_ID 0x68706f74

enum {
	ZEROS_LEFT_OUT = 16, /* so many zeros in a row are not printed */
	PER_LINE = 24 /* bytes */
};

static const char *const migrations[] = {
#include "schema/migrations.inc"
};

static const char views[] =
#include "schema/views.inc"
    ;

static void
run(sqlite3 *db, const char *sql)
{
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK)
		return;
	(void)fprintf(stderr, "make-image: %s\n", sqlite3_errmsg(db));
	exit(1);
}

static void
make_image_put_moves(sqlite3 *db)
{
	enum trial_state from, to;
	enum trial_event ev;
	char sql[128];

	for (from = 0; from < TRIAL_STATES; from++)
		for (ev = 0; ev < TRIAL_EVENTS; ev++) {
			if (!trial_move(from, ev, &to))
				continue;
			(void)snprintf(sql, sizeof sql,
			    "INSERT OR IGNORE INTO t_move VALUES ('%s', '%s')",
			    trial_state_name(from), trial_state_name(to));
			run(db, sql);
		}
}

/* The end of the part that begins at a byte that is not zero. */
static size_t
end_of_part(const unsigned char *image, size_t from, size_t size)
{
	size_t i, end = from;

	for (i = from; i < size && i < end + ZEROS_LEFT_OUT; i++)
		if (image[i] != 0)
			end = i + 1;
	return end;
}

static void
print_part(const unsigned char *image, size_t from, size_t end)
{
	size_t i;

	printf("{ %zu, %zu, \"", from, end - from);
	for (i = from; i < end; i++)
		printf("%s\\%03o",
		    i > from && i % PER_LINE == 0 ? "\"\n\"" : "", image[i]);
	printf("\" },\n");
}

int
main(void)
{
	unsigned char *image;
	sqlite3_int64 size = 0;
	char pragma[64];
	sqlite3 *db;
	size_t i, end, n = sizeof migrations / sizeof migrations[0];

	if (sqlite3_open(":memory:", &db) != SQLITE_OK)
		return 1;
	(void)snprintf(pragma, sizeof pragma, "PRAGMA application_id = %d",
	    STORE_APPLICATION_ID);
	for (i = 0; i < n; i++)
		run(db, migrations[i]);
	run(db, "VACUUM"); /* what they dropped leaves no pages */
	run(db, "BEGIN");
	run(db, pragma);
	run(db, views);
	make_image_put_moves(db);
	run(db, "COMMIT");
	if ((image = sqlite3_serialize(db, "main", &size, 0)) == NULL)
		return 1;
	for (i = 0; i < (size_t)size; i = end) {
		end = i + 1;
		if (image[i] == 0)
			continue;
		end = end_of_part(image, i, (size_t)size);
		print_part(image, i, end);
	}
	printf("{ %lld, 0, \"\" }\n", (long long)size);
	sqlite3_free(image);
	return sqlite3_close(db) == SQLITE_OK && fflush(stdout) == 0 ? 0 : 1;
}
