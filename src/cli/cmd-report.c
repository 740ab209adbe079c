/* hpotune report: a study as one page of HTML. */

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/cli/common/cli.h"
#include "src/html/page.h"
#include "src/study-files/study-files.h"

/* --output, or NAME.html beside NAME.db; the caller frees it. */
static char *
output_path(const struct cli *cli, const struct study_files *found)
{
	const char *given = cli_value(cli, "output");

	if (given != NULL)
		return xstrdup(given);
	return xasprintf(
	    "%.*s.html", (int)(strlen(found->db) - strlen(".db")), found->db);
}

static int
cmd_report_page_put(const char *path, struct html *h, struct err *e)
{
	if (strcmp(path, "-") == 0)
		return cli_print(&h->out) == CLI_DONE ? 0 : -1;
	if (page_file_write(path, &h->out, e) == -1)
		return -1;
	cli_print_line("%s\n", path);
	return 0;
}

/* Read everything in one transaction, at one moment of the study. */
static int
page_make(struct page *r, struct store *store, bool script, struct err *e)
{
	int rc;

	if (store_begin(store, e) != 0)
		return -1;
	rc = page_data_read(r, store, e);
	if (rc == 0)
		rc = page_build(r, script, e);
	store_rollback(store);
	return rc;
}

static int
report_run(struct cli *cli)
{
	struct page r = { 0 };
	struct study_files found;
	struct store *store;
	struct err e = ERR_INIT;
	char *path;
	int rc;

	if (cli_open_store(cli, &found, &store, &e) != 0)
		return cli_fail(&e);
	path = output_path(cli, &found);
	if (study_files_served(found.db))
		r.now = (double)time(NULL);
	rc = page_make(&r, store, !cli_has(cli, "no-script"), &e);
	if (rc == 0)
		rc = cmd_report_page_put(path, &r.h, &e);
	page_data_fini(&r);
	free(path);
	store_close(store);
	study_files_fini(&found);
	return rc == -1 ? cli_fail(&e) : CLI_DONE;
}

static const struct cli_option report_options[] = {
	{ "output", 'o', "FILE",
	    "the file to write, - is standard output (NAME.html beside "
	    "NAME.db)" },
	{ "no-script", 0, NULL,
	    "without the script for pointing and brushing" },
	{ .name = NULL },
};

const struct cli_command cmd_report = {
	.name = "report",
	.args = "[STUDY]",
	.about = "the study as one page of HTML",
	.options = report_options,
	.max_operands = 1,
	.run = report_run,
};
