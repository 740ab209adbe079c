/* hpotune import: a study.json from what somebody else's tuner was told. */

#include <stdio.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json.h"
#include "src/base/mem.h"
#include "src/cli/cli.h"
#include "src/cli/import-sagemaker.h"
#include "src/cli/newfile.h"

int
cmd_import(struct cli *cli)
{
	const char *path = cli->operands[1], *to = cli_value(cli, "output");
	struct buf out = { 0 }, notes = { 0 };
	struct json_doc *doc = NULL;
	struct err e = ERR_INIT;
	int rc;

	if (strcmp(cli->operands[0], "sagemaker") != 0) {
		err_set(&e, ERR_USAGE,
		    "import: %s: what can be read is sagemaker",
		    cli->operands[0]);
		return cli_fail(&e);
	}
	rc = json_load(&doc, path, &e);
	if (rc == 0)
		rc = import_sagemaker(&out, &notes, json_root(doc),
		    cli_value(cli, "definition"), &e);
	if (rc == 0 && to != NULL)
		rc = newfile_write(to, false, &out, &e);
	else if (rc == 0)
		rc = cli_print(&out) == CLI_DONE ? 0 : -1;
	if (rc == 0)
		cli_print_notes(&notes);
	json_free(doc);
	buf_free(&out);
	buf_free(&notes);
	return rc == -1 ? cli_fail(&e) : CLI_DONE;
}
