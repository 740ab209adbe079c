/* hpotune status and watch: one screen, once or until the study ends. */

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/mem.h"
#include "src/cli/common/cli.h"
#include "src/cli/common/redraw.h"
#include "src/cli/watch-board.h"
#include "src/server/status/status.h"
#include "src/store/store.h"

enum { WATCH_MS = 1000 };

enum study_life {
	LIFE_OVER, /* ended, or shut down in good order */
	LIFE_SERVED,
	LIFE_ALONE /* the server was killed */
};

static int
study_life(const struct cli_study *found, struct store *store,
    enum study_life *life, struct err *e)
{
	struct store_study study = { 0 };

	if (store_study_get(store, &study, e) != 0)
		return -1;
	*life = LIFE_OVER;
	if (study.state == STUDY_RUNNING || study.state == STUDY_PAUSED)
		*life = cli_server_alive(found) ? LIFE_SERVED : LIFE_ALONE;
	store_study_fini(&study);
	return 0;
}

/* Print one screen, as text or as one JSON document. */
static int
screen_put(struct buf *out, const struct cli *cli, struct store *store,
    enum study_life life, int width, struct err *e)
{
	struct json_writer w = { .out = out };
	size_t len;

	if (!cli->json) {
		if (status_render(out, store, width, cli->colour, e) != 0)
			return -1;
		len = out->len;
		if (life == LIFE_SERVED &&
		    status_put_blocked(out, store, e) != 0)
			return -1;
		if (out->len > len)
			buf_putc(out, '\n');
		if (life == LIFE_ALONE)
			buf_puts(out, "no server runs this study: hpotune "
				      "start resumes it\n");
		return 0;
	}
	json_writer_object(&w, NULL);
	if (status_json(&w, store, e) != 0)
		return -1;
	json_writer_line(&w);
	json_writer_bool(&w, "server", life == LIFE_SERVED);
	json_writer_end(&w);
	buf_putc(out, '\n');
	return 0;
}

static int
status_run(struct cli *cli)
{
	struct cli_study found;
	struct store *store;
	enum study_life life;
	struct buf out = { 0 };
	struct err e = ERR_INIT;
	int rc;

	if (cli_open_store(cli, &found, &store, &e) != 0)
		return cli_fail(&e);
	rc = study_life(&found, store, &life, &e);
	if (rc == 0)
		rc = screen_put(&out, cli, store, life, cli->width, &e);
	if (rc == 0)
		(void)cli_print(&out);
	buf_free(&out);
	store_close(store);
	cli_study_fini(&found);
	return rc == -1 ? cli_fail(&e) : CLI_DONE;
}

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
	struct cli_study found;
	struct store *store;
	struct buf old = { 0 }, new = { 0 };
	enum study_life life;
	struct err e = ERR_INIT;
	int columns, rows, rc;
	bool over = true;

	if (cli_open_store(cli, &found, &store, &e) != 0)
		return cli_fail(&e);
	rc = 0;
	if (watch_board_can(cli) && cli_server_alive(&found))
		rc = watch_board_run(cli, &found, store, &over, &e);
	/* What remains on the screen: the status at the end. */
	while (rc == 0 && over) {
		redraw_size(&columns, &rows);
		rc = study_life(&found, store, &life, &e);
		if (rc == 0)
			rc = screen_put(&new, cli, store, life,
			    cli->terminal ? columns : 0, &e);
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
	cli_study_fini(&found);
	return rc == -1 ? cli_fail(&e) : CLI_DONE;
}

const struct cli_command cmd_status = {
	.name = "status",
	.args = "[STUDY]",
	.about = "one screen: counts, best, running trials, savings",
	.max_operands = 1,
	.json = true,
	.run = status_run,
};

const struct cli_command cmd_watch = {
	.name = "watch",
	.args = "[STUDY]",
	.about = "the status, updated until the study ends",
	.max_operands = 1,
	.json = true,
	.run = watch_run,
};
