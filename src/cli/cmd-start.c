/*
 * hpotune start: create or resume a study and run it, on the terminal or in
 * the background.
 */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/file.h"
#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/base/process-mark.h"
#include "src/base/text.h"
#include "src/cli/check/plan.h"
#include "src/cli/common/caller-env.h"
#include "src/cli/common/cli.h"
#include "src/cli/common/load-study.h"
#include "src/cli/common/web-child.h"
#include "src/cli/screen/summary.h"
#include "src/cli/source/source.h"
#include "src/engine/callers/caller.h"
#include "src/engine/study-row.h"
#include "src/engine/suggest/suggest.h"
#include "src/engine/warmstart/warmstart.h"
#include "src/model/study/study.h"
#include "src/plugins/plugins.h"
#include "src/server/server.h"
#include "src/store/store.h"
#include "src/study-files/state-dir.h"
#include "src/study-files/study-files.h"
#include "src/view/redraw.h"
#include "src/view/status.h"
#include "trials/backend.h"

extern char **environ;

enum {
	COMMAND_BYTES = 16384,
	PAGES_MS = 5000 /* that hpotune web may take for each line */
};

/*
 * Environment variable with the descriptor on which a background server reports
 * that it is ready.
 */
#define READY_FD "HPOTUNE_READY_FD"

/* The screen of a running study, redrawn in place. */
struct screen {
	struct cli *cli;
	struct redraw redraw;
	int ready_fd; /* descriptor of the waiting command, or -1 */
	const char *db;
	struct web_child web;
};

/* Print lines to the terminal, and free them. */
static void
screen_tell(struct buf *out)
{
	(void)fwrite(buf_str(out), 1, out->len, stdout);
	(void)fflush(stdout);
	buf_free(out);
}

static void
cmd_start_on_display(void *arg, struct store *store, const char *trouble)
{
	struct screen *scr = arg;
	struct err e = ERR_INIT;
	struct buf b = { 0 }, out = { 0 };
	int columns, rows;

	redraw_size(&columns, &rows);
	if (store != NULL &&
	    status_render(&b, store, columns, scr->cli->colour, &e) != 0)
		buf_clear(&b);
	if (*trouble != '\0') {
		buf_add(&b, trouble, text_fit(trouble, (size_t)columns));
		buf_putc(&b, '\n');
	}
	redraw_text(&scr->redraw, &out, buf_str(&b), columns, rows);
	screen_tell(&out);
	buf_free(&b);
}

static bool
has_web(const struct cli *cli)
{
	return cli_has(cli, "web") || cli_has(cli, "web-port");
}

/* The command that waits reads "+", and then what the pages say. */
static void
cmd_start_on_ready(void *arg)
{
	struct screen *scr = arg;

	if (scr->ready_fd >= 0 && write(scr->ready_fd, "+", 1) != 1)
		log_warn("start", "%s", strerror(errno));
	if (has_web(scr->cli))
		web_child_start(&scr->web, scr->db,
		    cli_value(scr->cli, "web-port"), scr->ready_fd);
	if (scr->ready_fd >= 0)
		(void)close(scr->ready_fd);
	scr->ready_fd = -1;
}

/* With a screen, only warnings and errors, printed above it. */
static void
on_log(void *arg, enum log_level level, const char *area, const char *text)
{
	struct screen *scr = arg;
	struct buf out = { 0 };
	int columns, rows;

	if (level > LOG_LEVEL_WARN)
		return;
	redraw_size(&columns, &rows);
	redraw_clear(&scr->redraw, &out, columns);
	screen_tell(&out);
	cli_print_line("%s: %s: %s\n", log_level_name(level), area, text);
}

static int
start_status(enum server_end end)
{
	switch (end) {
	case SERVER_FINISHED:
		return CLI_DONE;
	case SERVER_FAILED:
		return CLI_FAILED;
	case SERVER_INTERRUPTED:
		return CLI_INTERRUPTED;
	}
	return CLI_FAILED;
}

/* Run the server in this process. */
static int
start_here(struct cli *cli, struct study_files *found, struct server_env *env,
    int ready_fd, struct err *e)
{
	struct screen scr = { .cli = cli, .ready_fd = ready_fd, .db = env->db };
	bool quiet = cli_has(cli, "quiet") || cli->json;
	enum server_end end;
	int rc;

	env->arg = &scr;
	env->ready = cmd_start_on_ready;
	if (cli->terminal && !quiet) {
		env->display = cmd_start_on_display;
		log_set_sink(on_log, &scr);
	} else if (quiet)
		log_set_level(LOG_LEVEL_WARN);
	rc = server_run(env, &end, e);
	web_child_end(&scr.web);
	log_set_sink(NULL, NULL);
	redraw_fini(&scr.redraw);
	if (rc != 0) {
		if (scr.ready_fd >= 0 &&
		    write(scr.ready_fd, e->text, strlen(e->text)) < 0)
			log_warn("start", "%s", e->text);
		return cli_fail(e);
	}
	/* A server may have shut down because its folder was renamed. */
	if (!cli_has(cli, "quiet") &&
	    (end != SERVER_INTERRUPTED || access(found->db, F_OK) == 0) &&
	    summary_print(cli, found->db, e) != 0)
		return cli_fail(e);
	return start_status(end);
}

/* The argv of the background server: ours without --detach. */
static char **
detached_argv(struct cli *cli, const struct study_files *found)
{
	static const char *const kept[] = { "trials", "parallel", "state",
		"web-port", "until-exit", NULL };
	struct strv w = { 0 };
	size_t i;

	strv_add(&w, xstrdup("hpotune"));
	strv_add(&w, xstrdup("start"));
	strv_add(&w, xstrdup(found->json != NULL ? found->json : found->db));
	for (i = 0; kept[i] != NULL; i++)
		if (cli_value(cli, kept[i]) != NULL)
			strv_add(&w, xasprintf("--%s=%s", kept[i],
					 cli_value(cli, kept[i])));
	if (cli_has(cli, "network-fs"))
		strv_add(&w, xstrdup("--network-fs"));
	if (cli_has(cli, "take-over"))
		strv_add(&w, xstrdup("--take-over"));
	if (cli_has(cli, "asked"))
		strv_add(&w, xstrdup("--asked"));
	/* A log would only repeat what the programs say. */
	if (cli_has(cli, "asked") && cli_has(cli, "quiet"))
		strv_add(&w, xstrdup("--quiet"));
	if (cli_has(cli, "web"))
		strv_add(&w, xstrdup("--web"));
	return w.v;
}

static int
detached_spawn(char **argv, int log, int ready_fd, pid_t *pid)
{
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t attr;
	int rc;

	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&fa, log, 1);
	posix_spawn_file_actions_adddup2(&fa, log, 2);
	posix_spawn_file_actions_adddup2(&fa, ready_fd, ready_fd);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSID);
	rc = posix_spawn(pid, "/proc/self/exe", &fa, &attr, argv, environ);
	posix_spawn_file_actions_destroy(&fa);
	posix_spawnattr_destroy(&attr);
	return rc;
}

/* The lines of hpotune web, until it has closed the pipe. */
static void
pages_read(struct buf *out, int fd)
{
	struct pollfd in = { .fd = fd, .events = POLLIN };
	char text[512];
	ssize_t n;

	while (poll(&in, 1, PAGES_MS) == 1 &&
	       (n = read(fd, text, sizeof text)) > 0)
		buf_add(out, text, (size_t)n);
}

/* web: the lines of hpotune web. */
static void
detached_print(const struct cli *cli, const char *study, long pid,
    const char *log, const char *web)
{
	const char *address = strncmp(web, "web: ", 5) == 0 ? web + 5 : web;
	struct buf b = { 0 }, line = { 0 };
	struct json_writer w = { .out = &b, .spacing = JSON_SPACED };

	if (!cli->json) {
		cli_print_line(
		    "%s runs in the background, pid %ld; its log is %s\n",
		    study, pid, log);
		(void)fputs(web, stdout);
		return;
	}
	json_writer_object(&w, NULL);
	json_writer_text(&w, "study", study);
	json_writer_integer(&w, "pid", pid);
	json_writer_text(&w, "log", log);
	if (*address != '\0') {
		buf_printf(&line, "%.*s", (int)strcspn(address, "\n"), address);
		json_writer_text(&w, "web", buf_str(&line));
		buf_free(&line);
	}
	json_writer_end(&w);
	buf_putc(&b, '\n');
	(void)cli_print(&b);
}

/* Start a server in a session of its own and wait until it holds the study. */
static int
start_detached(struct cli *cli, struct study_files *found,
    const struct server_env *env, struct err *e)
{
	struct state_dir state;
	struct buf web = { 0 };
	char **argv, *log, text[512];
	int p[2], rc, fd;
	ssize_t n;
	pid_t pid;

	if (store_path_check(env->db, e) != 0 ||
	    state_dir_open(&state, env->state_dir, true, e) != 0)
		return cli_fail(e);
	state_dir_close(&state);
	log = xasprintf("%s/server.log", env->state_dir);
	fd = file_open_for(AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND, 0600);
	if (fd == -1 || pipe2(p, O_CLOEXEC) != 0) {
		err_set(e, ERR_FILE, "%s: %s", fd == -1 ? log : "pipe",
		    file_why(errno));
		if (fd != -1)
			(void)close(fd);
		free(log);
		return cli_fail(e);
	}
	argv = detached_argv(cli, found);
	(void)snprintf(text, sizeof text, "%d", p[1]);
	(void)setenv(READY_FD, text, 1);
	rc = detached_spawn(argv, fd, p[1], &pid);
	(void)close(fd);
	(void)unsetenv(READY_FD);
	(void)close(p[1]);
	n = rc == 0 ? read(p[0], text, sizeof text - 1) : 0;
	text[n > 0 ? n : 0] = '\0';
	if (text[0] == '+' && has_web(cli)) {
		buf_puts(&web, text + 1);
		pages_read(&web, p[0]);
	}
	(void)close(p[0]);
	strv_free(argv);
	if (rc != 0)
		err_set(e, ERR_FILE, "the server was not started: %s",
		    strerror(rc));
	else if (n <= 0)
		err_set(
		    e, ERR_FILE, "the server exited immediately: see %s", log);
	else if (text[0] != '+')
		err_set(e, ERR_FILE, "%s", text);
	else if (!cli_has(cli, "quiet"))
		detached_print(
		    cli, found->study->name, (long)pid, log, buf_str(&web));
	buf_free(&web);
	free(log);
	return rc == 0 && n > 0 && text[0] == '+' ? CLI_DONE : cli_fail(e);
}

static int
env_options(struct cli *cli, struct server_env *env, struct err *e)
{
	int64_t port;

	if (cli_integer(cli, "web-port", 0, 65535, 0, &port, e) != 0)
		return -1;
	if (cli_integer(cli, "trials", 1, INT32_MAX, 0, &env->trials, e) != 0)
		return -1;
	return cli_integer(cli, "parallel", 1, 65536, 0, &env->parallel, e);
}

/* The descriptor of the waiting command, or -1. */
static int
ready_fd_take(void)
{
	const char *text = getenv(READY_FD);
	int64_t fd = -1;

	if (text != NULL &&
	    cli_read_integer(text, READY_FD, 3, INT32_MAX, &fd, NULL) != 0)
		fd = -1;
	(void)unsetenv(READY_FD);
	if (fd == -1 || fcntl((int)fd, F_SETFD, FD_CLOEXEC) != 0)
		return -1;
	return (int)fd;
}

/* Print the maximum and the likely cost before the study starts. */
static int
cost_print(const struct study_files *found, const struct plugins *plugins,
    int64_t trials, struct err *e)
{
	struct plan plan = {
		.study = found->study, .plugins = plugins, .max_trials = trials
	};
	struct buf text = { 0 };
	int rc = plan_make(&plan, e);

	if (rc == 0)
		rc = plan_pace(&plan, found->db, e);
	if (rc == 0 && plan.attempt_cost != 0) {
		plan_put_cost(&text, &plan);
		if (!isnan(plan.likely.dollars)) {
			buf_puts(&text, "; ");
			likely_cost_put(&text, &plan.likely);
		}
		cli_print_line("cost: %s\n", buf_str(&text));
		(void)fflush(stdout);
	}
	buf_free(&text);
	plan_fini(&plan);
	return rc;
}

/*
 * Read the sources of warm_start before anything is created; an error stops the
 * start.
 */
static int
warm_check(const struct study_files *found, struct err *e)
{
	struct warmstart warm;
	bool there;

	if (found->study->n_warm_start == 0)
		return 0;
	if (store_exists(&there, found->db, e) != 0)
		return -1;
	if (there)
		return 0;
	if (warmstart_read(&warm, found->study, found->db, e) != 0)
		return -1;
	warmstart_free(&warm);
	return 0;
}

/*
 * A trial whose program is missing would fail, and each after it; without
 * credentials none would begin.  A finished study starts nothing.
 */
static int
needs_check(const struct study_files *found, const struct plugins *plugins,
    int64_t trials, struct err *e)
{
	if (plugins_check_programs(plugins, found->study, e) == 0 &&
	    plugins_check_access(plugins, found->study, e) == 0)
		return 0;
	/*
	 * Checked last: opening the database changes files, also on a full
	 * disk.
	 */
	if (trials == 0 && study_row_finished(found->db, found->study))
		return 0;
	return -1;
}

/* Trials are started by this server, or by the programs that ask. */
static int
command_check(const struct study *study, bool asked, struct err *e)
{
	if (study->trial.command[0] == NULL && !asked)
		return err_set(e, ERR_USAGE,
		    "%s: trial.command is missing: hpotune start "
		    "requires it, hpotune ask and tell do not",
		    study->path);
	if (study->trial.command[0] != NULL && asked)
		return err_set(e, ERR_USAGE,
		    "%s: start: --asked is for studies without trial.command",
		    study->path);
	return 0;
}

static int
start_check(struct cli *cli, const struct study_files *found, int64_t trials,
    struct err *e)
{
	const struct study *study = found->study;
	bool asked = cli_has(cli, "asked");
	bool said = cli->json || cli_has(cli, "quiet") || asked;
	struct plugins plugins;
	int rc = 0;
	size_t i;

	if (command_check(study, asked, e) != 0)
		return -1;
	if (warm_check(found, e) != 0 || plugins_read(&plugins, study, e) != 0)
		return -1;
	rc = suggest_check(&plugins, study, e);
	if (rc == 0 && !asked)
		rc = needs_check(found, &plugins, trials, e);
	if (rc == 0)
		rc = source_begin(found->study, found->db, e);
	for (i = 0; i < plugins.n_backends && !said && rc == 0; i++) {
		said = plugins.backends[i].type->worst_cost != NULL;
		if (said)
			rc = cost_print(found, &plugins, trials, e);
	}
	plugins_free(&plugins);
	return rc;
}

/* --until-exit: the process with which the server ends, into env. */
static int
until_read(struct cli *cli, struct server_env *env, struct process_mark *mark,
    struct err *e)
{
	int64_t pid;

	if (cli_integer(cli, "until-exit", 1, INT32_MAX, 0, &pid, e) != 0)
		return -1;
	if (pid == 0)
		return 0;
	if (!process_mark_take(mark, pid, process_mark_namespace()))
		return err_set(e, ERR_USAGE,
		    "start: --until-exit: there is no process %" PRId64, pid);
	env->until = mark;
	return 0;
}

/* The command of this process as a JSON list; the caller frees it. */
static char *
own_command(void)
{
	char text[COMMAND_BYTES];
	ssize_t n =
	    file_read(AT_FDCWD, "/proc/self/cmdline", text, sizeof text);
	struct buf b = { 0 };
	ssize_t i;

	buf_putc(&b, '[');
	for (i = 0; i < n; i += (ssize_t)strlen(text + i) + 1) {
		if (i > 0)
			buf_puts(&b, ", ");
		json_put_string(&b, text + i);
	}
	buf_putc(&b, ']');
	return buf_take(&b);
}

/* limit, of which 0 is none, is at most cap, of which 0 is none. */
static int64_t
capped(int64_t limit, int64_t cap)
{
	return cap > 0 && (limit == 0 || limit > cap) ? cap : limit;
}

/*
 * Of the plan: the trials that run at a time where the study does not say it, and
 * whether an attempt costs dollars.
 */
static int
plan_look(const struct study *study, int64_t *slots, bool *costs, struct err *e)
{
	struct plugins plugins;
	struct plan plan = { .study = study, .plugins = &plugins };
	size_t i;
	int rc;

	if (plugins_read(&plugins, study, e) != 0)
		return -1;
	*costs = false;
	for (i = 0; i < plugins.n_backends; i++)
		*costs = *costs || plugins.backends[i].type->worst_cost != NULL;
	rc = plan_make(&plan, e);
	*slots = plan.slots;
	plan_fini(&plan);
	plugins_free(&plugins);
	return rc;
}

/* What a caller asks for may not exceed its caps. */
static int
caps_check(
    const struct caller_caps *caps, const struct server_env *env, struct err *e)
{
	if (caps->trials > 0 && env->trials > caps->trials)
		return err_set(e, ERR_USAGE,
		    "start: %" PRId64 " trials: the cap of this caller is "
		    "%" PRId64,
		    env->trials, caps->trials);
	if (caps->parallel > 0 && env->parallel > caps->parallel)
		return err_set(e, ERR_USAGE,
		    "start: %" PRId64 " trials at a time: the cap of this "
		    "caller is %" PRId64,
		    env->parallel, caps->parallel);
	return 0;
}

/*
 * Lower the limits of the study to the caps of the caller on whose behalf the
 * server starts: neither its study.json nor its arguments can raise them.
 */
static int
caps_apply(struct study *study, struct server_env *env, struct err *e)
{
	struct study_limits *lim = &study->limits;
	char *by = caller_env_by();
	struct caller *caller;
	const struct caller_caps *caps;
	int64_t slots = 0;
	bool costs = false;
	int rc;

	if (by == NULL)
		return 0;
	caller = caller_read(by);
	caps = &caller->caps;
	rc = caps_check(caps, env, e);
	if (rc == 0)
		rc = plan_look(study, &slots, &costs, e);
	lim->trials = capped(lim->trials, caps->trials);
	lim->wall_time_ms =
	    capped(lim->wall_time_ms, (int64_t)(caps->hours * 3.6e6));
	/* An argument is instead of a limit of the study, not below it. */
	env->trials = env->trials > 0 ? capped(env->trials, lim->trials) : 0;
	if (lim->parallel > 0 || slots == 0 || slots > caps->parallel)
		lim->parallel = capped(lim->parallel, caps->parallel);
	if (caps->dollars > 0 && costs &&
	    (lim->cost == 0 || lim->cost > caps->dollars))
		lim->cost = caps->dollars;
	caller_free(caller);
	free(by);
	return rc;
}

static int
cmd_start_run(struct cli *cli)
{
	struct server_env env = { 0 };
	struct process_mark until;
	struct study_files found;
	struct err e = ERR_INIT;
	int ready_fd = ready_fd_take(), status;
	char *dir, *command;

	if (env_options(cli, &env, &e) != 0 ||
	    until_read(cli, &env, &until, &e) != 0 ||
	    load_study_find(cli, &found, cli_value(cli, "state"), &e) != 0)
		return cli_fail(&e);
	if (caps_apply(found.study, &env, &e) != 0 ||
	    start_check(cli, &found, env.trials, &e) != 0) {
		if (cli_has(cli, "detach"))
			caller_env_note(&found);
		study_files_fini(&found);
		return cli_fail(&e);
	}
	dir = load_study_dir(&found);
	command = own_command();
	env.command = command;
	env.study = found.study;
	env.db = found.db;
	env.state_dir = dir;
	env.network_fs = cli_has(cli, "network-fs");
	env.take_over = cli_has(cli, "take-over");
	env.asked = cli_has(cli, "asked");
	if (cli_has(cli, "detach")) {
		status = start_detached(cli, &found, &env, &e);
		caller_env_note(&found);
	} else {
		/* Trials and hooks act on behalf of nobody. */
		(void)unsetenv(CALLER_ENV);
		status = start_here(cli, &found, &env, ready_fd, &e);
	}
	free(command);
	free(dir);
	study_files_fini(&found);
	return status;
}

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
	{ "asked", 0, NULL,
	    "start no trial: answer the programs that ask for them" },
	{ "until-exit", 0, "PID", "shut down when this process has ended" },
	{ .name = NULL },
};

const struct cli_command cmd_start = {
	.name = "start",
	.args = "[STUDY]",
	.about = "create or resume a study and run it to its limits",
	.options = start_options,
	.max_operands = 1,
	.json = true,
	.run = cmd_start_run,
};
