/* The study behind a command line, whole. */

#include <string.h>
#include <stdlib.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/cli/cli.h"
#include "src/cli/running.h"
#include "src/model/study.h"
#include "src/store/store.h"

/* The study.json of the last run, as the database kept it. */
static int
study_from_store(struct cli_study *found, struct err *e)
{
	struct store_study row = { 0 };
	struct store *store;
	char *path;
	int rc;

	if (store_open(&store, found->db, STORE_READ, e) != 0)
		return -1;
	rc = store_study_get(store, &row, e);
	if (rc == 0) {
		path = xasprintf("%s/study.json", row.dir);
		rc = study_parse(
		    &found->study, row.json, strlen(row.json), path, e);
		free(path);
	}
	store_study_fini(&row);
	store_close(store);
	return rc;
}

/*
 * NAME.d belongs to NAME.db.  A copy under another name would take its trials'
 * folders from the study it was copied from.
 */
static int
name_check(const struct cli_study *found, struct err *e)
{
	const char *file = strrchr(found->db, '/') + 1;
	const char *name = found->study->name;

	if (strlen(file) == strlen(name) + 3 &&
	    strncmp(file, name, strlen(name)) == 0)
		return 0;
	return err_set(e, ERR_USAGE,
	    "%s: it holds the study %s, and runs under the name %s.db only",
	    found->db, name, name);
}

int
running_find(struct cli *cli, struct cli_study *found, const char *state_dir,
    struct err *e)
{
	if (cli_find_study(cli, found, state_dir, e) != 0)
		return -1;
	return running_load(found, e);
}

int
running_load(struct cli_study *found, struct err *e)
{
	if ((found->study != NULL || study_from_store(found, e) == 0) &&
	    name_check(found, e) == 0)
		return 0;
	cli_study_fini(found);
	return -1;
}

char *
running_dir(const struct cli_study *found)
{
	return xasprintf("%s/%s.d", found->state_dir, found->study->name);
}
