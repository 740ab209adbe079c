/* hpotune note: a text that is kept with a trial. */

#include "src/base/json/json-writer.h"
#include "src/base/mem.h"
#include "src/cli/common/cli.h"
#include "src/cli/common/server-request.h"

/* The words behind the trial, as one text. */
static void
note_put(struct buf *params, const struct cli *cli)
{
	struct json_writer w = { .out = params };
	struct buf text = { 0 };
	int i;

	for (i = 1; i < cli->n_operands; i++)
		buf_printf(&text, "%s%s", i > 1 ? " " : "", cli->operands[i]);
	json_writer_object(&w, NULL);
	json_writer_text(&w, "text", buf_str(&text));
	json_writer_end(&w);
	buf_free(&text);
}

static int
note_run(struct cli *cli)
{
	struct server_asked asked = { .name = "note", .kind = TUNER_NOTE };

	return server_request_about(
	    cli, &asked, note_put, false, "a text, \"\" for none,");
}

const struct cli_command cmd_note = {
	.name = "note",
	.args = "[STUDY] TRIAL TEXT...",
	.about = "a note about a trial, \"\" for none",
	.min_operands = 2,
	.max_operands = -1,
	.json = true,
	.run = note_run,
};
