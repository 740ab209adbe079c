/* Reads the study that a command line refers to. */

#include <string.h>
#include <stdlib.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/cli/common/cli.h"
#include "src/cli/common/load-study.h"
#include "src/model/study/study.h"
#include "src/store/store.h"
#include "src/study-files/study-files.h"

enum { WAIT_SECONDS = 20, PAUSE_MS = 5 };

/* The study.json of the last run, as recorded in the database. */
static int
study_from_store(struct study_files *found, struct err *e)
{
	struct store_study row = { 0 };
	struct store *store;
	int rc;

	if (store_open(&store, found->db, STORE_READ, e) != 0)
		return -1;
	rc = store_study_get(store, &row, e);
	if (rc == 0) {
		rc = study_parse_recorded(&found->study, row.json, row.dir, e);
		if (rc == 0)
			study_set_former(found->study, row.strategy, row.rule);
	}
	store_study_fini(&row);
	store_close(store);
	return rc;
}

/* The name of the study in a database, a new text, or NULL. */
static char *
name_held(const char *db)
{
	struct store_study row = { 0 };
	struct store *store;
	char *name = NULL;

	if (store_open(&store, db, STORE_READ, NULL) != 0)
		return NULL;
	if (store_study_get(store, &row, NULL) == 0)
		name = xstrdup(row.name);
	store_study_fini(&row);
	store_close(store);
	return name;
}

/*
 * NAME.d belongs to NAME.db.  A copy under another name would use the trials'
 * folders of the original.
 */
static int
load_study_name_check(const struct study_files *found, struct err *e)
{
	const char *file = strrchr(found->db, '/') + 1;
	const char *name = found->study->name;
	char *held;

	if (strlen(file) == strlen(name) + 3 &&
	    strncmp(file, name, strlen(name)) == 0)
		return 0;
	/* Through a link, the database may be that of another study. */
	held = name_held(found->db);
	if (held != NULL && strcmp(held, name) != 0)
		(void)err_set(e, ERR_USAGE,
		    "%s: holds the study %s and not %s, whose %s.db is a "
		    "link to it: remove the link",
		    found->db, held, name, name);
	else
		(void)err_set(e, ERR_USAGE,
		    "%s: holds the study %s, which runs only under the "
		    "name %s.db",
		    found->db, name, name);
	free(held);
	return -1;
}

int
load_study_find(struct cli *cli, struct study_files *found, const char *db_dir,
    struct err *e)
{
	if (cli_find_study(cli, found, db_dir, e) != 0)
		return -1;
	return load_study_read(found, e);
}

int
load_study_read(struct study_files *found, struct err *e)
{
	if ((found->study != NULL || study_from_store(found, e) == 0) &&
	    load_study_name_check(found, e) == 0)
		return 0;
	study_files_fini(found);
	return -1;
}

char *
load_study_dir(const struct study_files *found)
{
	return study_files_state_dir(found->db);
}

bool
load_study_retry(struct load_study_retry *p, struct err *e)
{
	const struct timespec pause = { .tv_nsec = PAUSE_MS * 1000000L };

	if (p->until == 0)
		p->until = time(NULL) + WAIT_SECONDS;
	if (e->kind != ERR_BUSY || time(NULL) >= p->until)
		return false;
	*e = (struct err)ERR_INIT;
	(void)nanosleep(&pause, NULL);
	return true;
}
