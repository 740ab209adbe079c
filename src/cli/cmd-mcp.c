/* hpotune mcp: a study for programs that speak the Model Context Protocol. */

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/cli/common/cli.h"
#include "src/cli/common/command-serve.h"
#include "src/cli/mcp/mcp-door.h"

/* A positive number, or 0 when it is not given. */
static int
mcp_number(
    const struct cli *cli, const char *option, double *out, struct err *e)
{
	const char *text = cli_value(cli, option);
	char *end;

	*out = 0;
	if (text == NULL)
		return 0;
	*out = strtod(text, &end);
	if (*end != '\0' || end == text || !isfinite(*out) || *out <= 0)
		return err_set(e, ERR_USAGE,
		    "mcp: --%s: %s: expected a number above 0", option, text);
	return 0;
}

/* The study may be made later; its folder is that of now. */
static int
mcp_study(char **path, const struct cli *cli, struct err *e)
{
	const char *name = cli->n_operands > 0 ? cli->operands[0] : NULL;
	const char *dot = name != NULL ? strrchr(name, '.') : NULL;
	char *here;

	*path = NULL;
	if (name == NULL)
		return 0;
	if (dot == NULL ||
	    (strcmp(dot, ".json") != 0 && strcmp(dot, ".db") != 0))
		return err_set(e, ERR_USAGE,
		    "mcp: %s: not a study: expected study.json or NAME.db",
		    name);
	if (*name == '/') {
		*path = xstrdup(name);
		return 0;
	}
	here = getcwd(NULL, 0);
	if (here == NULL)
		return err_set(e, ERR_FILE, "this folder has been removed");
	*path = xasprintf("%s/%s", here, name);
	free(here);
	return 0;
}

static int
mcp_run(struct cli *cli)
{
	struct mcp_door_spec spec = { .read_only = cli_has(cli, "read-only") };
	struct err e = ERR_INIT;
	char *study;
	int rc;

	if (cli_has(cli, "runner"))
		return command_serve_run(&e) == 0 ? CLI_DONE : cli_fail(&e);
	if (cli_integer(cli, "trials", 1, INT32_MAX, 0, &spec.trials, &e) !=
		0 ||
	    cli_integer(cli, "parallel", 1, 65536, 0, &spec.parallel, &e) !=
		0 ||
	    mcp_number(cli, "hours", &spec.hours, &e) != 0 ||
	    mcp_number(cli, "dollars", &spec.dollars, &e) != 0 ||
	    mcp_study(&study, cli, &e) != 0)
		return cli_fail(&e);
	spec.study = study;
	rc = mcp_door_run(&spec, &e);
	free(study);
	return rc == 0 ? CLI_DONE : cli_fail(&e);
}

static const struct cli_option mcp_options[] = {
	{ "trials", 'n', "N", "no further trial when the study has N" },
	{ "parallel", 'p', "N", "no further trial while N run" },
	{ "hours", 0, "H", "no further trial when the study has run so long" },
	{ "dollars", 0, "D", "no further trial when D are spent" },
	{ "runner", 0, NULL, NULL },
	{ "read-only", 0, NULL, "offer only tools that change nothing" },
	{ .name = NULL },
};

const struct cli_command cmd_mcp = {
	.name = "mcp",
	.args = "[STUDY]",
	.about = "a study for agents: the Model Context Protocol",
	.options = mcp_options,
	.max_operands = 1,
	.run = mcp_run,
};
