/* The program: finds the command in the table and runs it. */

#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/cli/common/command-name.h"
#include "src/cli/common/cli.h"
#include "src/cli/common/command-run.h"
#include "src/cli/common/usage.h"
#include "src/store/store.h"

const struct cli_command *const cli_commands[] = {
	&cmd_start,
	&cmd_queue,
	&cmd_check,
	&cmd_try,
	&cmd_status,
	&cmd_watch,
	&cmd_trials,
	&cmd_best,
	&cmd_show,
	&cmd_logs,
	&cmd_stop,
	&cmd_pause,
	&cmd_resume,
	&cmd_retry,
	&cmd_forget,
	&cmd_clean,
	&cmd_note,
	&cmd_tag,
	&cmd_rename,
	&cmd_enqueue,
	&cmd_confirm,
	&cmd_propose,
	&cmd_verdict,
	&cmd_ask,
	&cmd_tell,
	&cmd_judge,
	&cmd_replay,
	&cmd_strategies,
	&cmd_rules,
	&cmd_importance,
	&cmd_sql,
	&cmd_export,
	&cmd_report,
	&cmd_plot,
	&cmd_web,
	&cmd_mcp,
	&cmd_import,
	&cmd_sagemaker,
	&cmd_slurm,
	&cmd_doctor,
	&cmd_completion,
	&cmd_help,
	&cmd_version,
	NULL,
};

/*
 * Open /dev/null for standard streams that the caller has closed: otherwise a
 * file opened later could take the number, and messages would be written into
 * it.  Writing to them still fails.
 */
static void
streams_reserve(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		(void)close(fd);
}

int
main(int argc, char **argv)
{
	const struct cli_command *command;
	struct err e = ERR_INIT;
	const char *name;

	streams_reserve();
	mem_settle();
	store_settle();
	/*
	 * With SIGCHLD ignored, as some parents leave it, exit statuses are
	 * lost.
	 */
	(void)signal(SIGCHLD, SIG_DFL);
	/*
	 * Exceeding a file size limit (ulimit -f) must be a write error, not a
	 * signal.
	 */
	(void)signal(SIGXFSZ, SIG_IGN);
	(void)setlocale(LC_CTYPE, "");
	if (argc < 2) {
		usage_put(stderr);
		return CLI_USAGE;
	}
	name = argv[1];
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
		name = "help";
	else if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
		name = "version";
	if (name[0] == '-') {
		(void)err_set(&e, ERR_USAGE,
		    "%s: options come after the command: hpotune help lists "
		    "commands",
		    name);
		return cli_fail(&e);
	}
	if ((command = command_name_find(name)) == NULL) {
		(void)command_name_unknown(name, &e);
		return cli_fail(&e);
	}
	return command_run(command, argc - 2, argv + 2);
}
