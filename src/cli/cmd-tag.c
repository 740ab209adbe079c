/* hpotune tag: words by which a trial is found. */

#include "src/base/json/json-writer.h"
#include "src/base/mem.h"
#include "src/cli/common/cli.h"
#include "src/cli/common/server-request.h"

static void
cmd_tag_tags_put(struct buf *params, const struct cli *cli)
{
	struct json_writer w = { .out = params };
	const char *tag;
	size_t k;
	int i;

	json_writer_object(&w, NULL);
	json_writer_array(&w, "tags");
	for (i = 1; i < cli->n_operands; i++)
		json_writer_text(&w, NULL, cli->operands[i]);
	json_writer_end(&w);
	json_writer_array(&w, "remove");
	for (k = 0; (tag = cli_value_nth(cli, "remove", k)) != NULL; k++)
		json_writer_text(&w, NULL, tag);
	json_writer_end(&w);
	json_writer_end(&w);
}

static int
tag_run(struct cli *cli)
{
	struct server_asked asked = { .name = "tag", .kind = TUNER_TAG };

	return server_request_about(
	    cli, &asked, cmd_tag_tags_put, cli_has(cli, "remove"), "a tag");
}

static const struct cli_option tag_options[] = {
	{ "remove", 'r', "TAG", "take this tag away; may be repeated" },
	{ .name = NULL },
};

const struct cli_command cmd_tag = {
	.name = "tag",
	.args = "[STUDY] TRIAL TAG...",
	.about = "tags of a trial: words by which it is found",
	.options = tag_options,
	.min_operands = 1,
	.max_operands = -1,
	.json = true,
	.run = tag_run,
};
