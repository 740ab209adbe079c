/*
 * hpotune watch: the status until the study ends; on a terminal a board of trials
 * with keys.
 */

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/cli/common/cli.h"
#include "src/cli/screen/status-screen.h"
#include "src/cli/screen/watch-board.h"
#include "src/store/store.h"
#include "src/study-files/study-files.h"
#include "src/view/redraw.h"

enum { WATCH_MS = 1000 };

/*
 * Show a new screen: in place of the old one on a terminal; elsewhere (and as
 * JSON, one document each time) only when it differs.
 */
static void
screen_show(
    const struct cli *cli, const struct buf *new, struct buf *old, int rows)
{
	size_t len = new->len;

	if (cli->terminal && !cli->json) {
		fputs("\033[H\033[J", stdout);
		len = redraw_length(buf_str(new), rows);
	} else if (strcmp(buf_str(new), buf_str(old)) == 0)
		return;
	(void)fwrite(buf_str(new), 1, len, stdout);
	if (!cli->terminal && !cli->json)
		putchar('\n');
	(void)fflush(stdout);
	buf_clear(old);
	buf_add(old, buf_str(new), new->len);
}

static int
watch_run(struct cli *cli)
{
	struct study_files found;
	struct store *store;
	struct buf old = { 0 }, new = { 0 };
	enum study_life life;
	struct err e = ERR_INIT;
	int columns, rows, rc;
	bool over = true;

	if (cli_open_store(cli, &found, &store, &e) != 0)
		return cli_fail(&e);
	rc = 0;
	if (watch_board_can(cli) && study_files_served(found.db))
		rc = watch_board_run(cli, &found, store, &over, &e);
	/* What remains on the screen: the status at the end. */
	while (rc == 0 && over) {
		redraw_size(&columns, &rows);
		rc = status_screen_life(&found, store, &life, &e);
		if (rc == 0)
			rc = status_screen_put(&new, cli, store, life,
			    cli->terminal ? columns : 0, false, &e);
		if (rc == -1)
			break;
		screen_show(cli, &new, &old, rows);
		buf_clear(&new);
		if (life != LIFE_SERVED || ferror(stdout))
			break;
		(void)poll(NULL, 0, WATCH_MS);
	}
	buf_free(&old);
	buf_free(&new);
	store_close(store);
	study_files_fini(&found);
	return rc == -1 ? cli_fail(&e) : CLI_DONE;
}

const struct cli_command cmd_watch = {
	.name = "watch",
	.args = "[STUDY]",
	.about = "the status, updated until the study ends",
	.max_operands = 1,
	.json = true,
	.run = watch_run,
};
