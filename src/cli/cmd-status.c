/* hpotune status: one screen of a study. */

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/cli/common/cli.h"
#include "src/cli/screen/status-screen.h"
#include "src/store/store.h"
#include "src/study-files/study-files.h"

static int
status_run(struct cli *cli)
{
	struct study_files found;
	struct store *store;
	enum study_life life;
	struct buf out = { 0 };
	struct err e = ERR_INIT;
	int rc;

	if (cli_open_store(cli, &found, &store, &e) != 0)
		return cli_fail(&e);
	rc = status_screen_life(&found, store, &life, &e);
	if (rc == 0)
		rc = status_screen_put(&out, cli, store, life, cli->width,
		    cli_has(cli, "brief"), &e);
	if (rc == 0)
		(void)cli_print(&out);
	buf_free(&out);
	store_close(store);
	study_files_fini(&found);
	return rc == -1 ? cli_fail(&e) : CLI_DONE;
}

static const struct cli_option status_options[] = {
	{ "brief", 0, NULL, NULL },
	{ .name = NULL },
};

const struct cli_command cmd_status = {
	.name = "status",
	.args = "[STUDY]",
	.about = "one screen: counts, best, running trials, savings",
	.options = status_options,
	.max_operands = 1,
	.json = true,
	.run = status_run,
};
