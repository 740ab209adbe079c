/* hpotune version. */

#include <stdio.h>

#include "src/cli/common/cli.h"

static int
version_run(struct cli *cli)
{
	(void)cli;
	puts(PACKAGE_STRING);
	return CLI_DONE;
}

const struct cli_command cmd_version = {
	.name = "version",
	.about = "print the version",
	.run = version_run,
};
