/* The command table: finds the command and runs it. */

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/cli/common/cli.h"
#include "src/store/store.h"

/* ---- the usage, from the command table ----------------------------------- */

/* Columns of "-f, --name VALUE". */
static int
option_head(char *buf, size_t n, const struct cli_option *row)
{
	char letter[8] = "    ";

	if (row->letter != 0)
		(void)snprintf(letter, sizeof letter, "-%c, ", row->letter);
	return snprintf(buf, n, "  %s--%s%s%s", letter, row->name,
	    row->value != NULL ? " " : "",
	    row->value != NULL ? row->value : "");
}

static void
cli_usage(FILE *out)
{
	const struct cli_command *command;
	int width = 0, n;

	fputs("usage: hpotune COMMAND [STUDY] ...\n\n", out);
	for (command = cli_commands; command->name != NULL; command++)
		if ((n = (int)strlen(command->name)) > width)
			width = n;
	for (command = cli_commands; command->name != NULL; command++)
		fprintf(
		    out, "  %-*s  %s\n", width, command->name, command->about);
	fputs("\nSTUDY is study.json or NAME.db; it may be omitted when the "
	      "folder has only one.\n"
	      "hpotune COMMAND --help prints the arguments and options of a "
	      "command.\n"
	      "Exit status: 0 done; 1 failed; 2 usage or study.json wrong; 3 "
	      "interrupted.\n",
	    out);
}

/* Print the usage of a command. */
static void
cli_usage_command(FILE *out, const struct cli_command *command)
{
	const struct cli_option *row;
	char head[128];
	int width = 0, n;
	size_t i;

	fprintf(out, "usage: hpotune %s [OPTION]...%s%s\n\n%s\n\n",
	    command->name, command->args != NULL ? " " : "",
	    command->args != NULL ? command->args : "", command->about);
	for (i = 0; (row = cli_option_row(command, i)) != NULL; i++)
		if ((n = option_head(head, sizeof head, row)) > width)
			width = n;
	for (i = 0; (row = cli_option_row(command, i)) != NULL; i++) {
		if (row->about == NULL)
			continue;
		(void)option_head(head, sizeof head, row);
		fprintf(out, "%-*s  %s\n", width, head, row->about);
	}
}

/* ---- the commands -------------------------------------------------------- */

static int cmd_help(struct cli *);

static int cmd_version(struct cli *);

static const struct cli_option start_options[] = {
	{ "detach", 'd', NULL, "run in the background" },
	{ "trials", 'n', "N", "instead of limits.trials" },
	{ "parallel", 'p', "N", "instead of limits.parallel" },
	{ "state", 0, "DIR",
	    "keep NAME.db and NAME.d in DIR, not beside study.json" },
	{ "quiet", 'q', NULL, "print nothing but warnings and errors" },
	{ "web", 0, NULL,
	    "serve web pages of the study, too, as hpotune web does" },
	{ "web-port", 0, "N",
	    "as --web, on a port of the loopback interface; 0: any free one" },
	{ "network-fs", 0, NULL,
	    "allow a state folder on a shared file system" },
	{ "take-over", 0, NULL,
	    "take the study over from the server of another machine" },
	{ .name = NULL },
};

static const struct cli_option queue_options[] = {
	{ "list", 'l', "FILE",
	    "also run the studies that this file names, one per line" },
	{ "quiet", 'q', NULL, "print nothing but warnings and errors" },
	{ "stop-on-failure", 0, NULL,
	    "start no further study after one that failed" },
	{ .name = NULL },
};

static const struct cli_option check_options[] = {
	{ "schema", 0, NULL,
	    "print the JSON Schema of study.json, for editors" },
	{ "log", 0, "FILE",
	    "show what is read of this output of a trial, - is standard "
	    "input" },
	{ "checkpoint", 0, NULL,
	    "run a trial with and without a stop, and compare the curves" },
	{ .name = NULL },
};

static const struct cli_option trials_options[] = {
	{ "state", 0, "STATE,...", "only trials in these states" },
	{ "tag", 't', "TAG", "only trials with this tag" },
	{ "sort", 's', "COLUMN",
	    "trial, objective (best first), state, step, seconds, started, "
	    "ended, cost, gpu_seconds or energy_joules" },
	{ "reverse", 'r', NULL, "in reverse order" },
	{ "limit", 'n', "N", "at most N rows" },
	{ .name = NULL },
};

static const struct cli_option show_options[] = {
	{ "all", 'a', NULL, "every step of the curve" },
	{ .name = NULL },
};

static const struct cli_option logs_options[] = {
	{ "follow", 'f', NULL, "follow until the trial ends" },
	{ "attempt", 0, "K", "attempt K instead of the newest" },
	{ "rank", 0, "K", "of rank K instead of rank 0" },
	{ .name = NULL },
};

static const struct cli_option doctor_options[] = {
	{ "probe", 0, NULL, "also test with CUDA on each GPU" },
	{ "timeout", 0, "SECONDS",
	    "longest wait for a service of the backend, in seconds (15)" },
	{ .name = NULL },
};

static const struct cli_option stop_options[] = {
	{ "now", 0, NULL, "without grace time for the trials" },
	{ .name = NULL },
};

static const struct cli_option enqueue_options[] = {
	{ "list", 'l', NULL,
	    "list the settings that wait, with their numbers" },
	{ "clear", 0, NULL,
	    "drop all settings that wait, or those with these numbers" },
	{ .name = NULL },
};

static const struct cli_option tag_options[] = {
	{ "remove", 'r', "TAG", "take this tag away; may be repeated" },
	{ .name = NULL },
};

static const struct cli_option retry_options[] = {
	{ "failed", 0, NULL, "all trials that have failed" },
	{ .name = NULL },
};

static const struct cli_option forget_options[] = {
	{ "undo", 'u', NULL, "count these trials again" },
	{ .name = NULL },
};

static const struct cli_option sagemaker_options[] = {
	{ "stop", 0, NULL, "stop those that no attempt owns" },
	{ "lost", 0, "NAME-ID",
	    "with --stop, also those of the lost study NAME; may be repeated" },
	{ "fetch", 0, "DIR", "download the model into a new folder" },
	{ .name = NULL },
};

static const struct cli_option slurm_options[] = {
	{ "stop", 0, NULL, "cancel those that no attempt owns" },
	{ "lost", 0, "NAME-ID",
	    "with --stop, also those of the lost study NAME; may be repeated" },
	{ .name = NULL },
};

static const struct cli_option ask_options[] = {
	{ "count", 'n', "K", "number of trials (1)" },
	{ "state", 0, "DIR",
	    "keep NAME.db and NAME.d in DIR, not beside study.json" },
	{ "network-fs", 0, NULL,
	    "allow a state folder on a shared file system" },
	{ .name = NULL },
};

static const struct cli_option tell_options[] = {
	{ "done", 0, NULL, "it has completed: its reports are its result" },
	{ "stopped", 0, NULL, "it was stopped before its end" },
	{ "failed", 0, NULL, "it has failed" },
	{ "why", 0, "TEXT", "reason for --stopped or --failed" },
	{ .name = NULL },
};

static const struct cli_option replay_options[] = {
	{ "rule", 0, "RULE",
	    "a rule's name or its JSON block; may be repeated (all rules)" },
	{ "tune", 0, NULL,
	    "try hundreds of settings of median and print the best ones" },
	{ "workers", 'w', "N", "trials at a time, drawn from CSV curves (8)" },
	{ "trials", 'n', "N", "trials of a study drawn from CSV curves (100)" },
	{ "seeds", 0, "N",
	    "studies drawn from each CSV file (20; --tune: 100)" },
	{ "seed", 0, "N", "seed of the random draws (1)" },
	{ "goal", 0, "GOAL", "of CSV curves: minimize or maximize (minimize)" },
	{ "chart", 0, NULL,
	    "draw all studies, and which trials of the first are stopped" },
	{ "output", 'o', "FILE", "write a page with the curves of that study" },
	{ "metric", 0, "NAME",
	    "of CSV and event files: the column or the tag of the curves" },
	{ "last", 0, NULL,
	    "of CSV curves: the last report is the result, not the best" },
	{ NULL },
};

static const struct cli_option export_options[] = {
	{ "format", 'f', "FORMAT",
	    "csv, json, mlflow, optuna, sagemaker or tensorboard (csv)" },
	{ "output", 'o', "FILE", "write to this new file" },
	{ "force", 0, NULL, "replace an existing file" },
	{ "url", 0, "URL", "mlflow: the server (MLFLOW_TRACKING_URI)" },
	{ "follow", 0, NULL, "mlflow: go on until the study has no server" },
	{ "table", 't', "VIEW",
	    "one view of the database (csv: results; json: the whole study)" },
	{ "spreadsheet", 0, NULL,
	    "csv: an apostrophe before text that a spreadsheet would compute" },
	{ .name = NULL },
};

static const struct cli_option import_options[] = {
	{ "output", 'o', "FILE", "write to this new file" },
	{ "definition", 0, "NAME",
	    "the training definition to convert, of several" },
	{ "tuning-job", 0, "NAME",
	    "request this tuning job, a name or an ARN, from AWS" },
	{ "region", 0, "REGION", "its region" },
	{ "profile", 0, "PROFILE", "profile whose keys are used" },
	{ "separate", 0, NULL,
	    "one study per definition instead of one for all" },
	{ "metric", 0, "NAME", "csv, ray, optuna: the objective" },
	{ "goal", 0, "GOAL", "csv, ray: minimize or maximize" },
	{ "params", 0, "A,B,...", "csv: the columns that are parameters" },
	{ "study", 0, "NAME", "optuna: the study, when there are several" },
	{ .name = NULL },
};

static const struct cli_option report_options[] = {
	{ "output", 'o', "FILE",
	    "the file to write, - is standard output (NAME.html beside "
	    "NAME.db)" },
	{ "no-script", 0, NULL,
	    "without the script for pointing and brushing" },
	{ .name = NULL },
};

static const struct cli_option clean_options[] = {
	{ "dry-run", 'n', NULL, "only say what would be deleted" },
	{ .name = NULL },
};

static const struct cli_option web_options[] = {
	{ "port", 'p', "N",
	    "listen on the loopback interface instead of a socket; 0: any "
	    "free port" },
	{ "socket", 0, "PATH", "the socket (NAME.d/web of the study)" },
	{ "bind", 0, "ADDRESS", "with --port, another address (127.0.0.1)" },
	{ "allow-host", 0, "NAME", "a host name that browsers may use, too" },
	{ "read-only", 0, NULL, "no buttons: the pages only show" },
	{ "until-eof", 0, NULL, NULL },
	{ .name = NULL },
};

static const struct cli_option importance_options[] = {
	{ "method", 'm', "METHOD", "ped-anova or fanova (ped-anova)" },
	{ "quantile", 0, "Q", "of ped-anova: the share of good trials (0.1)" },
	{ "stopped", 0, NULL,
	    "count trials that a rule stopped, by their last or best report" },
	{ .name = NULL },
};

const struct cli_command cli_commands[] = {
	{ "start", "[STUDY]",
	    "create or resume a study and run it to its limits", start_options,
	    0, 1, true, cmd_start },
	{ "queue", "[STUDY...]", "run studies one after the other",
	    queue_options, 0, -1, false, cmd_queue },
	{ "check", "[STUDY]", "validate study.json and print the plan",
	    check_options, 0, 1, true, cmd_check },
	{ "try", "[STUDY] [NAME=VALUE...]",
	    "run one trial here, show what is read of it, record nothing", NULL,
	    0, -1, true, cmd_try },
	{ "status", "[STUDY]",
	    "one screen: counts, best, running trials, savings", NULL, 0, 1,
	    true, cmd_status },
	{ "watch", "[STUDY]", "the status, updated until the study ends", NULL,
	    0, 1, true, cmd_watch },
	{ "trials", "[STUDY]", "the table of trials", trials_options, 0, 1,
	    true, cmd_trials },
	{ "best", "[STUDY]", "the best trial, and the command to run it again",
	    NULL, 0, 1, true, cmd_best },
	{ "show", "[STUDY] TRIAL",
	    "details of a trial: curve, attempts, decisions", show_options, 1,
	    2, true, cmd_show },
	{ "logs", "[STUDY] TRIAL", "print the output of a trial", logs_options,
	    1, 2, false, cmd_logs },
	{ "stop", "[STUDY] [TRIAL...]", "stop single trials, or the server",
	    stop_options, 0, -1, true, cmd_stop },
	{ "pause", "[STUDY]", "start no further trials until resume", NULL, 0,
	    1, true, cmd_pause },
	{ "resume", "[STUDY]", "start trials again, in drained slots too", NULL,
	    0, 1, true, cmd_resume },
	{ "retry", "[STUDY] TRIAL...",
	    "give trials that failed or were stopped another attempt",
	    retry_options, 0, -1, true, cmd_retry },
	{ "forget", "[STUDY] TRIAL...",
	    "keep trials in the record, and count them nowhere", forget_options,
	    1, -1, true, cmd_forget },
	{ "clean", "[STUDY]",
	    "delete checkpoints that \"keep\" in study.json does not keep",
	    clean_options, 0, 1, true, cmd_clean },
	{ "note", "[STUDY] TRIAL TEXT...",
	    "a note about a trial, \"\" for none", NULL, 2, -1, true,
	    cmd_note },
	{ "tag", "[STUDY] TRIAL TAG...",
	    "tags of a trial: words by which it is found", tag_options, 1, -1,
	    true, cmd_tag },
	{ "rename", "[STUDY] NAME",
	    "give a study that no server runs another name", NULL, 1, 2, true,
	    cmd_rename },
	{ "enqueue", "[STUDY] NAME=VALUE...",
	    "try this setting next; the strategy suggests the "
	    "rest",
	    enqueue_options, 0, -1, true, cmd_enqueue },
	{ "ask", "[STUDY]", "a new trial, for a program that runs it itself",
	    ask_options, 0, 1, true, cmd_ask },
	{ "tell", "[STUDY] TRIAL [NAME=VALUE...|-]",
	    "report metrics, or the end, of a trial of ask", tell_options, 1,
	    -1, true, cmd_tell },
	{ "judge", "[STUDY] TRIAL", "what the rules decide about a trial now",
	    NULL, 1, 2, true, cmd_judge },
	{ "replay", "FILE...", "apply stopping rules to recorded curves",
	    replay_options, 1, -1, true, cmd_replay },
	{ "strategies", "[NAME]", "search strategies and their options", NULL,
	    0, 1, true, cmd_strategies },
	{ "rules", "[NAME]", "stopping rules and their options", NULL, 0, 1,
	    true, cmd_rules },
	{ "importance", "[STUDY]",
	    "how much each parameter influences the objective",
	    importance_options, 0, 1, true, cmd_importance },
	{ "export", "[STUDY]",
	    "the study as CSV, JSON, Optuna storage or tuning job",
	    export_options, 0, 1, true, cmd_export },
	{ "report", "[STUDY]", "the study as one page of HTML", report_options,
	    0, 1, false, cmd_report },
	{ "web", "[STUDY|DIR...]", "pages that follow studies, for a browser",
	    web_options, 0, -1, false, cmd_web },
	{ "import",
	    "sagemaker FILE [DEFINITION] | sagemaker --tuning-job NAME | "
	    "wandb FILE | optuna FILE | csv FILE | ray FOLDER",
	    "make a study.json from a study of another tool", import_options, 1,
	    3, false, cmd_import },
	{ "sagemaker", "gc [STUDY...] | model [STUDY] [TRIAL]",
	    "training jobs that no study owns; the model of a trial",
	    sagemaker_options, 1, -1, true, cmd_sagemaker },
	{ "slurm", "gc [STUDY...]", "jobs of Slurm that no study owns",
	    slurm_options, 1, -1, true, cmd_slurm },
	{ "doctor", "[STUDY]",
	    "check this machine for conditions that could disturb a study",
	    doctor_options, 0, 1, true, cmd_doctor },
	{ "completion", "SHELL",
	    "a script that completes commands in bash, fish or zsh", NULL, 1, 1,
	    false, cmd_completion },
	{ "help", "[COMMAND]", "this list, or the options of one command", NULL,
	    0, 1, false, cmd_help },
	{ "version", NULL, "print the version", NULL, 0, 0, false,
	    cmd_version },
	{ .name = NULL },
};

static int
cmd_version(struct cli *cli)
{
	(void)cli;
	puts(PACKAGE_STRING);
	return CLI_DONE;
}

/* Names of commands in other programs, and the equivalent here. */
static const struct {
	const char *theirs, *ours;
} synonyms[] = {
	{ "abort", "stop" },
	{ "add", "enqueue" },
	{ "cancel", "stop" },
	{ "comment", "note" },
	{ "continue", "start" },
	{ "create", "start" },
	{ "csv", "export" },
	{ "dashboard", "web" },
	{ "exclude", "forget" },
	{ "history", "trials" },
	{ "html", "report" },
	{ "info", "show" },
	{ "jobs", "trials" },
	{ "label", "tag" },
	{ "kill", "stop" },
	{ "lint", "check" },
	{ "list", "trials" },
	{ "ls", "trials" },
	{ "monitor", "watch" },
	{ "optimize", "start" },
	{ "output", "logs" },
	{ "plot", "report" },
	{ "ps", "trials" },
	{ "queue", "trials" },
	{ "quit", "stop" },
	{ "rerun", "retry" },
	{ "restart", "start" },
	{ "run", "start" },
	{ "samplers", "strategies" },
	{ "simulate", "replay" },
	{ "suggest", "ask" },
	{ "tail", "logs" },
	{ "terminate", "stop" },
	{ "top", "watch" },
	{ "test", "try" },
	{ "tune", "start" },
	{ "validate", "check" },
};

static const char *
command_near(const char *name)
{
	const char *names[64];
	size_t i;

	for (i = 0; i < sizeof synonyms / sizeof synonyms[0]; i++)
		if (strcmp(name, synonyms[i].theirs) == 0)
			return synonyms[i].ours;
	for (i = 0; cli_commands[i].name != NULL; i++)
		names[i] = cli_commands[i].name;
	names[i] = NULL;
	return text_nearest(name, names);
}

/* Report an unknown command, with the probable one. */
static int
command_unknown(const char *name, struct err *e)
{
	const char *near = command_near(name);

	if (near != NULL)
		return err_set(e, ERR_USAGE,
		    "%s: no such command: did you mean %s?", name, near);
	return err_set(
	    e, ERR_USAGE, "%s: no such command: hpotune help lists them", name);
}

static int
cmd_help(struct cli *cli)
{
	const struct cli_command *command;
	struct err e = ERR_INIT;

	if (cli->n_operands == 0) {
		cli_usage(stdout);
		return CLI_DONE;
	}
	command = cli_command_find(cli->operands[0]);
	if (command == NULL) {
		(void)command_unknown(cli->operands[0], &e);
		return cli_fail(&e);
	}
	cli_usage_command(stdout, command);
	return CLI_DONE;
}

/* Determine what stdout can show. */
static void
terminal_look(struct cli *cli)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	struct winsize size;

	cli->terminal = isatty(STDOUT_FILENO);
	if (!cli->terminal)
		return;
	cli->colour = (no_color == NULL || *no_color == '\0') && term != NULL &&
		      strcmp(term, "dumb") != 0;
	cli->width = 80;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20)
		cli->width = size.ws_col;
}

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

/* Failing to write the output is an error. */
static int
output_flush(int status)
{
	struct err e = ERR_INIT;

	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	(void)err_set(&e, ERR_FILE, "standard output: %s", strerror(errno));
	return cli_fail(&e);
}

static int
command_run(const struct cli_command *command, int argc, char **argv)
{
	struct cli cli = { .command = command };
	struct err e = ERR_INIT;
	int status;

	terminal_look(&cli);
	if (cli_parse(&cli, argc, argv, &e) != 0)
		status = cli_fail(&e);
	else if (cli_has(&cli, "help")) {
		cli_usage_command(stdout, command);
		status = CLI_DONE;
	} else
		status = command->run(&cli);
	cli_fini(&cli);
	return output_flush(status);
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
		cli_usage(stderr);
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
	if ((command = cli_command_find(name)) == NULL) {
		(void)command_unknown(name, &e);
		return cli_fail(&e);
	}
	return command_run(command, argc - 2, argv + 2);
}
