/* hpotune import wandb, nni, katib: a study from the definition of another. */

#include <stdlib.h>
#include <string.h>

#include "src/base/atomic-file.h"
#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/json/yml.h"
#include "src/base/mem.h"
#include "src/cli/common/cli.h"
#include "src/cli/import/import-definitions.h"
#include "src/cli/import/imported-study.h"
#include "src/import/import-katib.h"
#include "src/import/import-nni.h"
#include "src/import/import-wandb.h"

typedef int definition_reader(
    struct buf *out, struct buf *notes, const struct json *, struct err *);

int
import_definitions_write(struct buf *out, const char *to, struct err *e)
{
	if (to != NULL)
		return atomic_file_write(to, false, out, e);
	return cli_print(out) == CLI_DONE ? 0 : -1;
}

/* The only operand behind the name of the tool, or NULL. */
static const char *
definition_operand(const struct cli *cli, const char *example, struct err *e)
{
	if (cli->n_operands == 2)
		return cli->operands[1];
	err_set(e, ERR_USAGE, "import: give one file: hpotune import %s %s",
	    cli->operands[0], example);
	return NULL;
}

/* Check and write what a reader has made. */
static int
definition_finish(struct cli *cli, struct buf *out, int rc, struct err *e)
{
	const char *to = cli_value(cli, "output");

	if (rc == 0)
		rc = imported_study_valid(out, to, e);
	if (rc == 0)
		rc = import_definitions_write(out, to, e);
	buf_free(out);
	return rc;
}

static int
definition_import(struct cli *cli, const char *example,
    definition_reader *reader, struct buf *notes, struct err *e)
{
	const char *path = definition_operand(cli, example, e);
	struct json_doc *doc = NULL;
	struct buf out = { 0 };
	int rc;

	if (path == NULL)
		return -1;
	rc = yml_load(&doc, path, e);
	if (rc == 0)
		rc = reader(&out, notes, json_root(doc), e);
	rc = definition_finish(cli, &out, rc, e);
	json_free(doc);
	return rc;
}

int
import_definitions_wandb(struct cli *cli, struct buf *notes, struct err *e)
{
	return definition_import(cli, "sweep.yaml", import_wandb, notes, e);
}

int
import_definitions_katib(struct cli *cli, struct buf *notes, struct err *e)
{
	return definition_import(
	    cli, "experiment.yaml", import_katib, notes, e);
}

/* The file of the search space stands beside the configuration. */
static int
space_load(struct json_doc **space, const char *config, const char *file,
    struct err *e)
{
	const char *slash = strrchr(config, '/');
	char *path;
	int rc;

	path = xasprintf("%.*s%s",
	    *file != '/' && slash != NULL ? (int)(slash + 1 - config) : 0,
	    config, file);
	rc = yml_load(space, path, e);
	free(path);
	return rc;
}

int
import_definitions_nni(struct cli *cli, struct buf *notes, struct err *e)
{
	const char *path = definition_operand(cli, "config.yml", e), *file;
	struct json_doc *doc = NULL, *space = NULL;
	struct buf out = { 0 };
	int rc;

	if (path == NULL)
		return -1;
	rc = yml_load(&doc, path, e);
	file = rc == 0 ? import_nni_space_file(json_root(doc)) : NULL;
	if (file != NULL)
		rc = space_load(&space, path, file, e);
	if (rc == 0)
		rc = import_nni(&out, notes, json_root(doc),
		    space != NULL ? json_root(space) : NULL, e);
	rc = definition_finish(cli, &out, rc, e);
	json_free(doc);
	json_free(space);
	return rc;
}
