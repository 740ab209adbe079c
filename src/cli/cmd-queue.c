/*
 * hpotune queue: runs studies one after the other, each by a start of its own.
 * What is to run are the operands and then the lines of a file, which is read
 * again after each study, so that lines may be added, moved and removed meanwhile.
 */

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/cli/common/cli.h"
#include "src/cli/common/load-study.h"
#include "src/model/plugin-options.h"
#include "src/plugins/plugins.h"
#include "src/study-files/study-files.h"

extern char **environ;

enum { LINE_BYTES = 8192 };

struct queue {
	struct cli *cli;
	const char *list; /* the file, or NULL */
	struct strv done; /* databases of the studies that had their turn */
	int finished, failed;
	int stopped; /* by a command that ended its server */
	bool interrupted;
};

static volatile sig_atomic_t ended_by; /* a signal, 0 = none */
static volatile sig_atomic_t running; /* the pid of the start, 0 = none */

/* A terminal sends SIGINT to the study, too; SIGTERM is passed on. */
static void
cmd_queue_on_signal(int signo)
{
	ended_by = signo;
	if (signo == SIGTERM && running != 0)
		(void)kill((pid_t)running, SIGTERM);
}

static void
signals_set(void)
{
	struct sigaction a = { .sa_handler = cmd_queue_on_signal };

	(void)sigemptyset(&a.sa_mask);
	(void)sigaction(SIGINT, &a, NULL);
	(void)sigaction(SIGTERM, &a, NULL);
	/* As for start: a terminal that is closed ends no study. */
	a.sa_handler = SIG_IGN;
	(void)sigaction(SIGHUP, &a, NULL);
}

/* A path in the file is relative to the folder of the file. */
static char *
line_path(const char *list, const char *line)
{
	const char *slash = strrchr(list, '/');

	if (*line == '/' || slash == NULL)
		return xstrdup(line);
	return xasprintf("%.*s/%s", (int)(slash - list), list, line);
}

/* The lines of the file without comments: 0 or -1 with the error set. */
static int
cmd_queue_list_read(const char *list, struct strv *paths, struct err *e)
{
	char line[LINE_BYTES], *text, *end;
	FILE *f = fopen(list, "re");
	int rc = 0;

	if (f == NULL)
		return err_set(e, ERR_FILE, "%s: %s", list, strerror(errno));
	while (rc == 0 && fgets(line, sizeof line, f) != NULL) {
		if (strchr(line, '\n') == NULL && !feof(f)) {
			rc = err_set(e, ERR_FILE,
			    "%s: a line has more than %d bytes", list,
			    LINE_BYTES - 2);
			break;
		}
		text = line + strspn(line, " \t");
		end = text + strcspn(text, "\r\n");
		while (end > text && (end[-1] == ' ' || end[-1] == '\t'))
			end--;
		*end = '\0';
		if (*text != '\0' && *text != '#')
			strv_add(paths, line_path(list, text));
	}
	if (rc == 0 && ferror(f))
		rc = err_set(e, ERR_FILE, "%s: %s", list, strerror(errno));
	(void)fclose(f);
	return rc;
}

/* All that is to run as it is written now. */
static int
paths_read(const struct queue *q, struct strv *paths, struct err *e)
{
	int i;

	for (i = 0; i < q->cli->n_operands; i++)
		strv_add(paths, xstrdup(q->cli->operands[i]));
	return q->list != NULL ? cmd_queue_list_read(q->list, paths, e) : 0;
}

/* Read a study as start would, before anything runs. */
static int
study_check(const char *path, struct err *e)
{
	struct study_files found;
	struct plugins plugins;
	int rc;

	if (study_files_find(&found, path, NULL, e) != 0 ||
	    load_study_read(&found, e) != 0)
		return -1;
	rc = plugins_read(&plugins, found.study, e);
	if (rc == 0) {
		rc = plugins_check_programs(&plugins, found.study, e);
		plugins_free(&plugins);
	}
	study_files_fini(&found);
	return rc;
}

/* The error begins with the path. */
static void
err_name(struct err *e, const char *path)
{
	struct err of = *e;

	if (strncmp(of.text, path, strlen(path)) != 0)
		(void)err_set(e, of.kind, "%s: %s", path, of.text);
}

/* Each that is wrong is named; false: at least one. */
static bool
all_checked(const struct queue *q, struct err *e)
{
	struct strv paths = { 0 };
	bool good = paths_read(q, &paths, e) == 0;
	size_t i;

	if (!good)
		(void)cli_fail(e);
	else if (paths.n == 0) {
		good = false;
		(void)err_set(e, ERR_USAGE,
		    "queue: expected studies, or --list with a file that names "
		    "some");
		(void)cli_fail(e);
	}
	for (i = 0; i < paths.n; i++)
		if (study_check(paths.v[i], e) != 0) {
			good = false;
			err_name(e, paths.v[i]);
			(void)cli_fail(e);
			*e = (struct err)ERR_INIT;
		}
	strv_free(paths.v);
	return good;
}

static bool
had_turn(const struct queue *q, const char *db)
{
	size_t i;

	for (i = 0; i < q->done.n; i++)
		if (strcmp(q->done.v[i], db) == 0)
			return true;
	return false;
}

/*
 * The first study that was not run yet: its path, to be freed, and found; NULL:
 * none.  One that can no longer be read is reported once and skipped.
 */
static char *
next_find(struct queue *q, struct study_files *found)
{
	struct strv paths = { 0 };
	struct err e = ERR_INIT;
	char *path = NULL;
	size_t i;

	if (paths_read(q, &paths, &e) != 0) {
		(void)cli_fail(&e);
		q->failed++;
	}
	for (i = 0; i < paths.n && path == NULL; i++) {
		e = (struct err)ERR_INIT;
		if (study_files_find(found, paths.v[i], NULL, &e) == 0) {
			if (!had_turn(q, found->db))
				path = xstrdup(paths.v[i]);
			else
				study_files_fini(found);
		} else if (!had_turn(q, paths.v[i])) {
			(void)cli_fail(&e);
			q->failed++;
			strv_add(&q->done, xstrdup(paths.v[i]));
		}
	}
	strv_free(paths.v);
	return path;
}

/* The server of an earlier queue that was killed, or of another user. */
static void
others_wait(
    const struct queue *q, const struct study_files *found, const char *path)
{
	bool told = cli_has(q->cli, "quiet");

	while (ended_by == 0 && study_files_served(found->db)) {
		if (!told)
			cli_print_line(
			    "queue: %s is run by another server: waiting for "
			    "its end\n",
			    path);
		told = true;
		(void)fflush(stdout);
		(void)sleep(1);
	}
}

/* Run hpotune start: its exit status, or 128 and a signal; -1: not started. */
static int
queue_start_run(const struct queue *q, const char *path)
{
	struct strv w = { 0 };
	int status = 0, rc;
	pid_t pid;

	strv_add(&w, xstrdup("hpotune"));
	strv_add(&w, xstrdup("start"));
	if (cli_has(q->cli, "quiet"))
		strv_add(&w, xstrdup("--quiet"));
	strv_add(&w, xstrdup("--"));
	strv_add(&w, xstrdup(path));
	rc = posix_spawn(&pid, "/proc/self/exe", NULL, NULL, w.v, environ);
	strv_free(w.v);
	if (rc != 0) {
		errno = rc;
		return -1;
	}
	running = pid;
	/* A signal that came before this line. */
	if (ended_by == SIGTERM)
		(void)kill(pid, SIGTERM);
	while (waitpid(pid, &status, 0) == -1 && errno == EINTR)
		;
	running = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void
turn_tell(struct queue *q, const char *path, int status, int64_t ms)
{
	struct buf b = { 0 };

	buf_printf(&b, "queue: %s: ", path);
	if (status == CLI_DONE)
		buf_puts(&b, "finished after ");
	else if (status == CLI_INTERRUPTED)
		buf_puts(&b, "was stopped after ");
	else if (status > 128)
		buf_printf(&b, "its server was killed (%s) after ",
		    strsignal(status - 128));
	else
		buf_printf(&b, "failed, exit status %d, after ", status);
	duration_put_rough(&b, (double)ms / 1000);
	buf_putc(&b, '\n');
	if (!cli_has(q->cli, "quiet") || status != CLI_DONE)
		(void)cli_print(&b);
	buf_free(&b);
	(void)fflush(stdout);
}

/* Run the next study; false: the queue is over. */
static bool
turn(struct queue *q)
{
	int64_t began = clock_boot_ms();
	struct study_files found;
	char *path = next_find(q, &found);
	int status;

	if (path == NULL)
		return false;
	others_wait(q, &found, path);
	strv_add(&q->done, xstrdup(found.db));
	study_files_fini(&found);
	if (ended_by == 0) {
		status = queue_start_run(q, path);
		if (status == -1)
			status = 127;
		turn_tell(q, path, status, clock_boot_ms() - began);
		q->finished += status == CLI_DONE;
		q->failed += status != CLI_DONE && status != CLI_INTERRUPTED;
		q->stopped += status == CLI_INTERRUPTED;
	}
	free(path);
	q->interrupted |= ended_by != 0;
	return !q->interrupted &&
	       (q->failed == 0 || !cli_has(q->cli, "stop-on-failure"));
}

static int
queue_run(struct cli *cli)
{
	struct queue q = { .cli = cli, .list = cli_value(cli, "list") };
	struct err e = ERR_INIT;

	if (!all_checked(&q, &e))
		return CLI_USAGE;
	signals_set();
	while (turn(&q))
		;
	if (!cli_has(cli, "quiet"))
		cli_print_line("queue: %d finished, %d stopped, %d failed%s\n",
		    q.finished, q.stopped, q.failed,
		    q.interrupted ? "; the same command continues" : "");
	strv_free(q.done.v);
	if (q.failed > 0 && !q.interrupted)
		return CLI_FAILED;
	return q.interrupted || q.stopped > 0 ? CLI_INTERRUPTED : CLI_DONE;
}

static const struct cli_option queue_options[] = {
	{ "list", 'l', "FILE",
	    "also run the studies that this file names, one per line" },
	{ "quiet", 'q', NULL, "print nothing but warnings and errors" },
	{ "stop-on-failure", 0, NULL,
	    "start no further study after one that failed" },
	{ .name = NULL },
};

const struct cli_command cmd_queue = {
	.name = "queue",
	.args = "[STUDY...]",
	.about = "run studies one after the other",
	.options = queue_options,
	.max_operands = -1,
	.run = queue_run,
};
