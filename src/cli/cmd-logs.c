/*
 * hpotune logs N: the output of an attempt, escaped for a terminal.  Logs may
 * be large, may grow while they are read, and may have holes where old output
 * was dropped.
 */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/file.h"
#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/cli/common/cli.h"
#include "src/model/trial.h"
#include "src/store/store.h"
#include "src/study-files/attempt-log.h"
#include "src/study-files/study-files.h"

enum { LOGS_CHUNK = 65536, LOGS_POLL_MS = 200 };

struct log_reader {
	struct store *store;
	const char *db; /* path of NAME.db */
	const char *db_dir; /* where it is; relative paths start here */
	int64_t trial;
	int64_t rank; /* rank of the process */
	int64_t tail; /* lines at the end; 0 = all */
	int fd;
	off_t at;
	char bytes[LOGS_CHUNK];
	size_t kept; /* bytes at the front: the beginning of a character */
};

/* Skip a hole, and report it. */
static void
logs_hole_skip(struct log_reader *r)
{
	off_t data = lseek(r->fd, r->at, SEEK_DATA);

	if (data <= r->at)
		return;
	printf("[%lld bytes of output were dropped here]\n",
	    (long long)(data - r->at));
	r->at = data;
}

/* Print what is available; whole also prints an incomplete character. */
static int
log_drain(struct log_reader *r, bool whole, struct err *e)
{
	struct buf out = { 0 };
	size_t len, open;
	ssize_t n;

	for (;;) {
		if (r->kept == 0)
			logs_hole_skip(r);
		n = pread(
		    r->fd, r->bytes + r->kept, LOGS_CHUNK - r->kept, r->at);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return err_set(
			    e, ERR_FILE, "logs: %s", strerror(errno));
		if (n == 0 && (!whole || r->kept == 0))
			break;
		r->at += n;
		len = r->kept + (size_t)n;
		open = n == 0 ? 0 : text_unfinished(r->bytes, len);
		text_put_harmless(&out, r->bytes, len - open, TEXT_LINES);
		(void)cli_print(&out);
		memmove(r->bytes, r->bytes + len - open, open);
		r->kept = open;
		if (ferror(stdout))
			break;
	}
	(void)fflush(stdout);
	return 0;
}

/* absent: there is no file, possibly not yet. */
static int
logs_log_open(struct log_reader *r, const struct store_attempt *attempt,
    bool *absent, struct err *e)
{
	char *path;
	int rc = 0;

	*absent = false;
	if (attempt->log == NULL)
		return err_set(e, ERR_FILE,
		    "logs: attempt %d of trial %" PRId64 " has no log",
		    attempt->attempt, attempt->trial);
	r->at = 0;
	r->kept = 0;
	path = attempt_log_path(r->db, r->db_dir, attempt->trial,
	    attempt->attempt, attempt->log, r->rank);
	r->fd = file_open(AT_FDCWD, path);
	*absent = r->fd == -1 && errno == ENOENT;
	if (r->fd == -1)
		rc = err_set(e, ERR_FILE, "logs: %s: %s", path,
		    errno == EINVAL ? "not a regular file" : strerror(errno));
	free(path);
	return rc;
}

/* What its job wrote before the log: printed, 1; there is nothing, 0; or -1. */
static int
before_print(
    struct log_reader *r, const struct store_attempt *attempt, struct err *e)
{
	char *log = NULL, *path = NULL;
	int fd = -1, rc = 0, log_fd = r->fd;
	struct stat st;

	if (attempt->log != NULL && r->rank == 0) {
		log = attempt_log_path(r->db, r->db_dir, attempt->trial,
		    attempt->attempt, attempt->log, 0);
		path = attempt_log_before(attempt->backend, log);
	}
	if (path != NULL)
		fd = file_open(AT_FDCWD, path);
	if (fd != -1 && fstat(fd, &st) == 0 && st.st_size > 0) {
		printf("[%s of the job:]\n", strrchr(path, '/') + 1);
		r->fd = fd;
		rc = log_drain(r, true, e) == -1 ? -1 : 1;
		printf("[log of the trial:]\n");
		r->fd = log_fd;
		r->at = 0;
	}
	if (fd != -1)
		(void)close(fd);
	free(path);
	free(log);
	return rc;
}

/* Whether the attempt has ended (1), not (0), or -1. */
static int
logs_attempt_over(const struct log_reader *r, int attempt, struct err *e)
{
	struct store_attempt row = { 0 };
	int over;

	if (store_attempt_get(r->store, r->trial, attempt, &row, e) != 0)
		return -1;
	over = row.ended_us != 0;
	store_attempt_fini(&row);
	return over;
}

/*
 * An attempt is recorded before its log exists: with follow, wait for it.  What
 * its job wrote before comes first, and is all that there is where its trial
 * never began (fd -1).
 */
static int
logs_attempt_open(struct log_reader *r, int attempt, bool follow, struct err *e)
{
	struct store_attempt row = { 0 };
	struct err why = ERR_INIT;
	bool absent, over;
	int rc, before;

	for (;;) {
		if (store_attempt_get(r->store, r->trial, attempt, &row, e) ==
		    -1)
			return -1;
		over = row.ended_us != 0;
		rc = logs_log_open(r, &row, &absent, &why);
		if (!absent || !follow || over)
			break;
		store_attempt_fini(&row);
		(void)poll(NULL, 0, LOGS_POLL_MS);
	}
	before = rc == 0 || absent ? before_print(r, &row, e) : 0;
	store_attempt_fini(&row);
	if (before == -1)
		return -1;
	if (rc == -1 && before == 0)
		*e = why;
	return before == 1 ? 0 : rc;
}

/* Begin at the last lines, of those in the last bytes that are read at once. */
static void
logs_tail_seek(struct log_reader *r)
{
	struct stat st;
	int64_t lines = 0;
	ssize_t n, i;
	off_t from;

	if (r->tail == 0 || fstat(r->fd, &st) != 0)
		return;
	from = st.st_size > LOGS_CHUNK ? st.st_size - LOGS_CHUNK : 0;
	n = pread(r->fd, r->bytes, LOGS_CHUNK, from);
	for (i = n - 1; i >= 0; i--)
		if (r->bytes[i] == '\n' && i < n - 1 && ++lines == r->tail)
			break;
	r->at = from + i + 1;
}

/* Print the log of one attempt; with follow, until the attempt ends. */
static int
attempt_print(struct log_reader *r, int attempt, bool follow, struct err *e)
{
	int over = 1, rc;

	if (logs_attempt_open(r, attempt, follow, e) == -1)
		return -1;
	if (r->fd == -1)
		return 0;
	logs_tail_seek(r);
	do {
		if (follow && (over = logs_attempt_over(r, attempt, e)) == -1)
			break;
		rc = log_drain(r, over, e);
		if (rc == 0 && over == 0)
			(void)poll(NULL, 0, LOGS_POLL_MS);
	} while (rc == 0 && over == 0 && !ferror(stdout));
	(void)close(r->fd);
	return over == -1 ? -1 : rc;
}

/* The latest attempt, and whether the trial has ended. */
static int
trial_look(const struct log_reader *r, int *attempts, bool *over, struct err *e)
{
	struct store_trial row = { 0 };

	if (store_trial_get(r->store, r->trial, &row, e) != 0)
		return -1;
	*attempts = row.attempts;
	*over = trial_state_final(row.state);
	store_trial_fini(&row);
	return 0;
}

/* From the latest attempt on, until the trial ends. */
static int
trial_follow(struct log_reader *r, int attempt, struct err *e)
{
	int attempts;
	bool over;

	for (;;) {
		if (trial_look(r, &attempts, &over, e) != 0)
			return -1;
		if (attempt <= attempts) {
			if (attempt_print(r, attempt++, true, e) == -1)
				return -1;
		} else if (over || ferror(stdout))
			return 0;
		else
			(void)poll(NULL, 0, LOGS_POLL_MS);
	}
}

/* only = 0: the latest attempt. */
static int
trial_logs(struct log_reader *r, int only, bool follow, struct err *e)
{
	int attempts;
	bool over;

	if (trial_look(r, &attempts, &over, e) != 0)
		return -1;
	if (only > attempts || (attempts == 0 && (!follow || over)))
		return err_set(e, ERR_USAGE,
		    "logs: trial %" PRId64 " has %d attempt%s", r->trial,
		    attempts, attempts == 1 ? "" : "s");
	if (only != 0)
		return attempt_print(r, only, follow, e);
	if (follow)
		return trial_follow(r, attempts > 0 ? attempts : 1, e);
	return attempt_print(r, attempts, false, e);
}

static int
logs_run(struct cli *cli)
{
	struct log_reader *r = xcalloc(1, sizeof *r);
	struct study_files found;
	struct err e = ERR_INIT;
	int64_t attempt;
	int rc;

	if (cli_open_store(cli, &found, &r->store, &e) != 0) {
		free(r);
		return cli_fail(&e);
	}
	r->db_dir = found.db_dir;
	r->db = found.db;
	rc = cli_trial_operand(cli, &r->trial, &e);
	if (rc == 0)
		rc = cli_integer(cli, "attempt", 1, INT32_MAX, 0, &attempt, &e);
	if (rc == 0)
		rc = cli_integer(cli, "rank", 0, INT32_MAX, 0, &r->rank, &e);
	if (rc == 0)
		rc = cli_integer(cli, "tail", 1, 10000, 0, &r->tail, &e);
	if (rc == 0)
		rc = trial_logs(r, (int)attempt, cli_has(cli, "follow"), &e);
	store_close(r->store);
	study_files_fini(&found);
	free(r);
	return rc == -1 ? cli_fail(&e) : CLI_DONE;
}

static const struct cli_option logs_options[] = {
	{ "follow", 'f', NULL, "follow until the trial ends" },
	{ "attempt", 0, "K", "attempt K instead of the newest" },
	{ "rank", 0, "K", "of rank K instead of rank 0" },
	{ "tail", 0, "N", "the last N lines only, at most 64 KiB" },
	{ .name = NULL },
};

const struct cli_command cmd_logs = {
	.name = "logs",
	.args = "[STUDY] TRIAL",
	.about = "print the output of a trial",
	.options = logs_options,
	.min_operands = 1,
	.max_operands = 2,
	.run = logs_run,
};
