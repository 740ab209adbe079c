/*
 * Finds the study that a command refers to: study.json, NAME.db, or the only
 * one in the folder.
 */

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/cli/common/caller-env.h"
#include "src/cli/common/cli.h"
#include "src/store/store.h"
#include "src/study-files/study-files.h"

static bool
ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n > m && strcmp(s + n - m, end) == 0;
}

/* The first operand when it names a study; it is removed.  Otherwise NULL. */
static const char *
operand_take(struct cli *cli)
{
	const char *name;
	int i;

	if (cli->n_operands == 0)
		return NULL;
	name = cli->operands[0];
	if (!ends_with(name, ".json") && !ends_with(name, ".db"))
		return NULL;
	if (strchr(name, '=') != NULL && access(name, F_OK) == -1)
		return NULL;
	for (i = 0; i < cli->n_operands; i++)
		cli->operands[i] = cli->operands[i + 1];
	cli->n_operands--;
	return name;
}

/* The only NAME.db in dir; the error says why there is none or several. */
static int
folder_search(const char *dir, char **path, struct err *e)
{
	struct dirent *entry;
	char *found = NULL, *second = NULL;
	DIR *d;

	if ((d = opendir(dir)) == NULL)
		return err_set(e, ERR_USAGE, "no study given: %s: %s",
		    strcmp(dir, ".") == 0 ? "this folder" : dir,
		    strerror(errno));
	while ((entry = readdir(d)) != NULL && second == NULL) {
		if (entry->d_name[0] == '.' || !ends_with(entry->d_name, ".db"))
			continue;
		if (found == NULL)
			found = xstrdup(entry->d_name);
		else
			second = xstrdup(entry->d_name);
	}
	(void)closedir(d);
	if (found == NULL)
		(void)err_set(e, ERR_USAGE,
		    "no study given: %s has neither study.json nor "
		    "NAME.db",
		    strcmp(dir, ".") == 0 ? "this folder" : dir);
	else if (second != NULL)
		(void)err_set(e, ERR_USAGE,
		    "no study given: there are several, such as %s and %s",
		    found, second);
	else
		*path = xasprintf("%s/%s", dir, found);
	free(second);
	free(found);
	return *path != NULL ? 0 : -1;
}

int
cli_find_study(struct cli *cli, struct study_files *found, const char *state,
    struct err *e)
{
	const char *name = operand_take(cli);
	char *only = NULL;
	int rc;

	memset(found, 0, sizeof *found);
	if (cli->n_operands > 0 && strcmp(cli->command->args, "[STUDY]") == 0)
		return err_set(e, ERR_USAGE,
		    "%s: %s: not a study: expected study.json or NAME.db",
		    cli->command->name, cli->operands[0]);
	if (name == NULL && access("study.json", F_OK) == 0)
		name = "study.json";
	if (name == NULL) {
		if (folder_search(state != NULL ? state : ".", &only, e) != 0)
			return -1;
		name = only;
	}
	rc = study_files_find(found, name, state, e);
	free(only);
	return rc;
}

int
cli_open_store(struct cli *cli, struct study_files *found, struct store **store,
    struct err *e)
{
	if (cli_find_study(cli, found, NULL, e) != 0)
		return -1;
	caller_env_note(found);
	if (study_files_exist(found, e) != 0 ||
	    store_open(store, found->db, STORE_READ, e) != 0) {
		study_files_fini(found);
		return -1;
	}
	return 0;
}
