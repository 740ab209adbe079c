/* hpotune status and watch: one screen, once or until the study ends. */

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/cli/cli.h"
#include "src/server/progress.h"
#include "src/store/store.h"

enum { WATCH_MS = 1000 };

static int
screen_put(
    struct buf *out, const struct cli *cli, struct store *store, struct err *e)
{
	if (cli->json)
		return progress_json(out, store, e);
	return progress_render(out, store, cli->width, cli->colour, e);
}

int
cmd_status(struct cli *cli)
{
	struct cli_study found;
	struct store *store;
	struct buf out = { 0 };
	struct err e = ERR_INIT;
	int rc;

	if (cli_open_store(cli, &found, &store, &e) == -1)
		return cli_fail(&e);
	rc = screen_put(&out, cli, store, &e);
	if (rc == 0)
		(void)cli_print(&out);
	buf_free(&out);
	store_close(store);
	cli_study_fini(&found);
	return rc == -1 ? cli_fail(&e) : CLI_DONE;
}

/* Whether a server may still be at work: 1, 0, or -1 with e filled. */
static int
study_goes_on(struct store *store, struct err *e)
{
	struct store_study study = { 0 };
	bool on;

	if (store_study_get(store, &study, e) == -1)
		return -1;
	on = study.state == STUDY_RUNNING || study.state == STUDY_PAUSED;
	store_study_fini(&study);
	return on;
}

/*
 * Show the new screen: over the old one on a terminal; elsewhere (and as JSON,
 * one document a time) only when it differs.
 */
static void
screen_show(const struct cli *cli, const struct buf *new, struct buf *old)
{
	if (cli->terminal && !cli->json)
		fputs("\033[H\033[J", stdout);
	else if (strcmp(buf_str(new), buf_str(old)) == 0)
		return;
	(void)fwrite(buf_str(new), 1, new->len, stdout);
	if (!cli->terminal && !cli->json)
		putchar('\n');
	(void)fflush(stdout);
	buf_clear(old);
	buf_add(old, buf_str(new), new->len);
}

int
cmd_watch(struct cli *cli)
{
	struct cli_study found;
	struct store *store;
	struct buf old = { 0 }, new = { 0 };
	struct err e = ERR_INIT;
	int rc;

	if (cli_open_store(cli, &found, &store, &e) == -1)
		return cli_fail(&e);
	for (;;) {
		if ((rc = study_goes_on(store, &e)) == -1 ||
		    screen_put(&new, cli, store, &e) == -1) {
			rc = -1;
			break;
		}
		screen_show(cli, &new, &old);
		buf_clear(&new);
		if (rc == 0 || ferror(stdout))
			break;
		(void)poll(NULL, 0, WATCH_MS);
	}
	buf_free(&old);
	buf_free(&new);
	store_close(store);
	cli_study_fini(&found);
	return rc == -1 ? cli_fail(&e) : CLI_DONE;
}
