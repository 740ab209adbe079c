/*
 * Requests through the user's commands.  Promises are lines of a file: "stop
 * TRIAL", "tag NUMBER", a setting that contains the number, "prop NUMBER", a
 * proposal that does, and "told NUMBER", the value of a trial of "hpotune ask".
 */

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/store/store.h"
#include "tests/torture/asks.h"
#include "tests/torture/harness.h"

bool
asks_server_listens(const struct harness *r)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool listens;

	(void)snprintf(
	    un.sun_path, sizeof un.sun_path, "%.90s/rig.d/control", r->dir);
	listens =
	    fd != -1 && connect(fd, (struct sockaddr *)&un, sizeof un) == 0;
	if (fd != -1)
		(void)close(fd);
	return listens;
}

/*
 * A program with a trial of its own: what is not answered it asks again.  Nobody
 * else ends its trial, unless it leaves without a word.
 */
static void __attribute__((noreturn))
ask_tell(const struct ask *a, const struct harness *r, char *exe)
{
	static char script[] =
	    "again() { i=0; until \"$@\"; do i=$((i + 1))\n"
	    "[ $i -lt 100 ] || exit 1; sleep 0.05; done; }\n"
	    "exe=$1 study=$2 db=$3 value=$4 out=$5 leaves=$6\n"
	    "ask() { \"$exe\" ask --pid $$ --json \"$study\" >\"$out\"; }\n"
	    "tell() { \"$exe\" tell --done \"$db\" \"$trial\" step=1 "
	    "score=\"$value\"; }\n"
	    "i=0; until ask; do [ $? = 1 ] || exit 1; i=$((i + 1))\n"
	    "[ $i -lt 100 ] || exit 1; sleep 0.05; done\n"
	    "trial=$(sed -n 's/.*\"trial\": *\\([0-9]*\\).*/\\1/p' \"$out\" |"
	    " head -n 1)\n"
	    "[ -n \"$trial\" ] && [ \"$leaves\" = 0 ] || exit 1\n"
	    "again tell\n";
	char value[32], out[128];

	(void)snprintf(value, sizeof value, "%ld", a->tag);
	(void)snprintf(out, sizeof out, "%s/asked.%ld", r->dir, a->tag);
	(void)execl("/bin/sh", "sh", "-c", script, "tell", exe, r->study, r->db,
	    value, out, a->leaves ? "1" : "0", (char *)NULL);
	_exit(125);
}

static void __attribute__((noreturn))
ask_run(const struct ask *a, const struct harness *r)
{
	struct itimerval end = { .it_value.tv_usec = a->dies_us };
	char exe[600], word[64];
	int null = open("/dev/null", O_RDWR);

	(void)snprintf(
	    exe, sizeof exe, "%s/tests/torture/hpotune-fail", harness_top());
	if (dup2(null, 1) == -1 || dup2(null, 2) == -1)
		_exit(125);
	if (a->tells)
		ask_tell(a, r, exe);
	(void)snprintf(word, sizeof word, a->stop > 0 ? "%ld" : "tag=%ld",
	    a->stop > 0 ? a->stop : a->tag);
	/* The signal, which the program does not expect, comes after its exec. */
	(void)setitimer(ITIMER_REAL, &end, NULL);
	(void)execl(exe, exe,
	    a->stop > 0	  ? "stop"
	    : a->proposes ? "propose"
			  : "enqueue",
	    r->db, word, (char *)NULL);
	_exit(125);
}

/* The trial that started last. */
static long
last_trial(const struct harness *r)
{
	FILE *f = fopen(r->ledger, "r");
	char line[160];
	long trial, last = 1;

	if (f == NULL)
		return 1;
	if (fseek(f, -4096, SEEK_END) != 0)
		rewind(f);
	while (fgets(line, sizeof line, f) != NULL)
		if (sscanf(line, "start %ld", &trial) == 1)
			last = trial;
	(void)fclose(f);
	return last;
}

void
asks_begin(struct ask *a, struct harness *r, bool tells, bool proposes,
    uint64_t dies_us)
{
	*a = (struct ask){ 0 };
	a->tells = tells && harness_random(r, 2) == 0;
	a->leaves = a->tells && harness_random(r, 4) == 0;
	a->proposes = proposes;
	if (!a->tells && harness_random(r, proposes ? 8 : 2) == 0)
		a->stop = last_trial(r) + (long)harness_random(r, 8) - 3;
	if (a->stop < 1) {
		a->stop = 0;
		a->tag = 1 + (long)harness_random(r, 1000000000);
	}
	if (proposes && a->stop == 0 && harness_random(r, 4) != 0)
		a->dies_us = 1 + (long)harness_random(r, dies_us);
	a->pid = fork();
	if (a->pid == 0)
		ask_run(a, r);
}

bool
asks_end(struct ask *a, struct harness *r)
{
	int status = -1;
	FILE *f;

	if (a->pid <= 0)
		return false;
	(void)harness_wait(a->pid, -1, &status);
	a->pid = 0;
	if (status != 0)
		return WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
	f = fopen(r->promises, "a");
	if (f == NULL ||
	    fprintf(f, "%s %ld\n",
		a->tells      ? "told"
		: a->stop > 0 ? "stop"
		: a->proposes ? "prop"
			      : "tag",
		a->stop > 0 ? a->stop : a->tag) < 0 ||
	    fclose(f) != 0)
		abort();
	return false;
}

long
asks_number(struct store *s, const char *sql, long arg)
{
	char text[32];
	const char *args[] = { text, NULL };
	struct store_rows *rows = NULL;
	struct err e = ERR_INIT;
	long n = -1;

	(void)snprintf(text, sizeof text, "%ld", arg);
	if (store_rows_open(&rows, s, sql, args, &e) != 0)
		return -1;
	if (store_rows_next(rows, &e) == 1)
		n = (long)store_rows_int(rows, 0);
	store_rows_close(rows);
	return n;
}

int
asks_broken(const struct harness *r, struct store *s, int *promises)
{
	FILE *f = fopen(r->promises, "r");
	char what[8];
	int broken = 0;
	long n, kept;

	*promises = 0;
	while (f != NULL && fscanf(f, "%7s %ld", what, &n) == 2) {
		(*promises)++;
		if (strcmp(what, "told") == 0)
			kept = asks_number(s,
			    "SELECT count(*) FROM metrics JOIN trials USING "
			    "(trial) WHERE name = 'score' AND value = "
			    "CAST(?1 AS INTEGER) AND state = 'completed'",
			    n);
		else if (strcmp(what, "prop") == 0)
			kept = asks_number(s,
			    "SELECT count(*) FROM t_contest AS c WHERE "
			    "json_extract(params, '$.tag') = "
			    "CAST(?1 AS INTEGER) AND NOT EXISTS (SELECT 1 "
			    "FROM t_contest AS o WHERE o.why = 'another one "
			    "was kept: proposal ' || c.contest || ' goes on "
			    "beside that')",
			    n);
		else
			kept =
			    strcmp(what, "stop") == 0
				? asks_number(s,
				      "SELECT state = 'cancelled' FROM trials "
				      "WHERE trial = CAST(?1 AS INTEGER)",
				      n)
				: asks_number(s,
				      "SELECT count(*) FROM t_queue WHERE "
				      "json_extract(params, '$.tag') = "
				      "CAST(?1 AS INTEGER)",
				      n);
		if (kept == 1)
			continue;
		broken++;
		printf("# FAULT: promised, not kept: %s %ld\n", what, n);
	}
	if (f != NULL)
		(void)fclose(f);
	/* Nobody proposes a number twice, whether its answer was seen or not. */
	n = asks_number(s,
	    "SELECT count(*) FROM (SELECT 1 FROM t_contest AS c WHERE kind = "
	    "'propose' AND CAST(?1 AS INTEGER) = 0 AND NOT EXISTS (SELECT 1 "
	    "FROM t_contest AS "
	    "o WHERE o.why = 'another one was kept: proposal ' || c.contest "
	    "|| ' goes on beside that') GROUP BY json_extract(params, "
	    "'$.tag') HAVING count(*) > 1)",
	    0);
	if (n != 0)
		printf("# FAULT: proposed twice: %ld\n", n);
	return broken + (n != 0);
}
