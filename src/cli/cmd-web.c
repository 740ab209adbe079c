/* hpotune web: pages about studies, on a socket or a port. */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/cli/common/cli.h"
#include "src/study-files/study-files.h"
#include "src/web/web-server.h"

struct web_start {
	struct web_server_options options;
	char *socket;
};

static bool
is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool
is_loopback(const char *address)
{
	return strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0;
}

/* Each operand must be a folder or a study. */
static int
places_check(struct cli *cli, struct err *e)
{
	struct study_files found;
	int i;

	for (i = 0; i < cli->n_operands; i++) {
		if (is_folder(cli->operands[i]))
			continue;
		if (study_files_find(&found, cli->operands[i], NULL, e) != 0)
			return -1;
		if (study_files_exist(&found, e) != 0) {
			study_files_fini(&found);
			return -1;
		}
		study_files_fini(&found);
	}
	return 0;
}

/*
 * NAME.d/web for a single study: only its owner can enter that folder.
 * Otherwise .hpotune-web in the first folder, or in this one.
 */
static int
socket_choose(char **path, struct cli *cli, struct err *e)
{
	const char *given = cli_value(cli, "socket");
	const char *place = cli->n_operands > 0 ? cli->operands[0] : ".";
	struct study_files found;
	char *dir, *real;

	if (given != NULL) {
		*path = xstrdup(given);
		return 0;
	}
	if (cli->n_operands == 1 && !is_folder(place)) {
		if (study_files_find(&found, place, NULL, e) != 0)
			return -1;
		dir = study_files_state_dir(found.db);
		study_files_fini(&found);
		if (is_folder(dir)) {
			*path = xasprintf("%s/web", dir);
			free(dir);
			return 0;
		}
		free(dir);
	}
	real = realpath(is_folder(place) ? place : ".", NULL);
	*path = xasprintf("%s/.hpotune-web", real == NULL ? "." : real);
	free(real);
	return 0;
}

/* Print the address, and how to reach it from another machine. */
static void
address_print(const struct web_start *start, int port, const char *token)
{
	const struct web_server_options *o = &start->options;
	const char *shown = is_loopback(o->bind) ? o->bind : o->host;
	char host[256] = "HOST", *path;

	if (gethostname(host, sizeof host) != 0 || host[0] == '\0')
		(void)snprintf(host, sizeof host, "HOST");
	host[sizeof host - 1] = '\0';
	if (o->socket == NULL)
		cli_print_line("web: http://%s%s%s:%d/%s/\n",
		    strcmp(shown, "::1") == 0 ? "[" : "", shown,
		    strcmp(shown, "::1") == 0 ? "]" : "", port, token);
	else {
		path = realpath(o->socket, NULL);
		cli_print_line("web: %s\n", path != NULL ? path : o->socket);
		cli_print_line(
		    "     from your machine: ssh -L 8080:%s %s, then "
		    "http://localhost:8080/\n",
		    path != NULL ? path : o->socket, host);
		free(path);
		cli_print_line(
		    "     with a browser here: hpotune web --port 8080\n");
	}
	(void)fflush(stdout);
}

static bool
is_same_file(int a, int b)
{
	struct stat x, y;

	return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

/*
 * A program that started us for its own time may wait for the address at our
 * stdout, which is closed then; its log, our stderr, gets it as well.
 */
static void
cmd_web_on_ready(void *arg, int port, const char *token)
{
	const struct web_start *start = arg;
	int waits;

	address_print(start, port, token);
	if (start->options.until_fd == -1 ||
	    is_same_file(STDOUT_FILENO, STDERR_FILENO))
		return;
	/*
	 * Who reads our standard output reads to its end, which must not come
	 * before the log has the address.
	 */
	waits = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
	if (dup2(STDERR_FILENO, STDOUT_FILENO) != -1)
		address_print(start, port, token);
	if (waits != -1)
		(void)close(waits);
}

static int
options_read(struct web_start *start, struct cli *cli, struct err *e)
{
	struct web_server_options *o = &start->options;
	int64_t port;

	if (cli_integer(cli, "port", 0, 65535, -1, &port, e) != 0 ||
	    places_check(cli, e) != 0)
		return -1;
	if (port != -1 && cli_has(cli, "socket"))
		return err_set(e, ERR_USAGE,
		    "web: --port and --socket exclude each other");
	if (port == -1 && cli_has(cli, "bind"))
		return err_set(e, ERR_USAGE, "web: --bind needs --port");
	o->port = (int)(port == -1 ? 0 : port);
	o->bind = cli_has(cli, "bind") ? cli_value(cli, "bind") : "127.0.0.1";
	if (!is_loopback(o->bind) && !cli_has(cli, "allow-host"))
		return err_set(e, ERR_USAGE,
		    "web: --bind %s accepts requests from other machines: "
		    "add --allow-host NAME, the host name in their "
		    "browsers",
		    o->bind);
	o->host =
	    cli_has(cli, "allow-host") ? cli_value(cli, "allow-host") : o->bind;
	o->read_only = cli_has(cli, "read-only");
	o->until_fd = cli_has(cli, "until-eof") ? STDIN_FILENO : -1;
	if (port == -1 && socket_choose(&start->socket, cli, e) != 0)
		return -1;
	o->socket = start->socket;
	return 0;
}

static int
web_run(struct cli *cli)
{
	static char here[] = ".";
	char *no_places[] = { here, NULL };
	struct web_start start = { .options = { .ready = cmd_web_on_ready } };
	struct err e = ERR_INIT;
	int rc;

	start.options.arg = &start;
	start.options.places = cli->n_operands > 0 ? cli->operands : no_places;
	rc = options_read(&start, cli, &e);
	if (rc == 0)
		rc = web_server_run(&start.options, &e);
	free(start.socket);
	return rc == -1 ? cli_fail(&e) : CLI_DONE;
}

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

const struct cli_command cmd_web = {
	.name = "web",
	.args = "[STUDY|DIR...]",
	.about = "pages that follow studies, for a browser",
	.options = web_options,
	.max_operands = -1,
	.run = web_run,
};
