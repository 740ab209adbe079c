/*
 * A writer killed at random moments, repeatedly, from the creation of the file
 * on.  After each kill: everything acknowledged is present, nothing is partial,
 * the file is intact, and a concurrent reader saw consistent data.
 *
 * HPOTUNE_TORTURE_KILLS sets the number (300).  In the last part the writer has
 * a bug, acknowledging before the commit, which must be detected.
 */

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "tests/support/store-fixture.h"

#define REPORTS 10

/* What the writer has said, outside the file. */
struct ledger {
	volatile int64_t acknowledged; /* trials that are surely there */
	volatile bool failed;
	char text[512];
};

static struct ledger *ledger;
static unsigned long long seed = 88172645463325252ULL;

static unsigned
random_below(unsigned n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)(seed >> 33) % n;
}

static void
writer_check(int rc, const struct err *e)
{
	if (rc == 0)
		return;
	(void)snprintf(ledger->text, sizeof ledger->text, "%s", e->text);
	ledger->failed = true;
	_exit(1);
}

/* One trial's whole life in a transaction. */
static void
write_trial(struct store *s, int64_t number)
{
	struct store_trial t = fixture_trial(number, TRIAL_STARTING);
	struct store_attempt a = fixture_attempt(number, 1);
	struct err e = ERR_INIT;
	int i;

	writer_check(store_trial_add(s, &t, &e), &e);
	writer_check(store_attempt_add(s, &a, &e), &e);
	for (i = 1; i <= REPORTS; i++)
		writer_check(store_metric_add(s, number, 1, "acc", i,
				 (double)number, T0, &e),
		    &e);
	a.state = TRIAL_COMPLETED;
	a.end_class = END_OK;
	writer_check(store_attempt_put(s, &a, &e), &e);
	t.state = TRIAL_COMPLETED;
	t.last_step = t.reports = REPORTS;
	writer_check(store_trial_put(s, &t, &e), &e);
	writer_check(
	    store_event_add(s, T0, LOG_LEVEL_INFO, "trial", number, 1, "x", &e),
	    &e);
}

static struct store *
writer_open(const char *path)
{
	struct param param = { .name = (char *)(uintptr_t) "lr" };
	struct space space = { .params = &param, .n = 1 };
	struct store_study study = fixture_study(true);
	struct err e = ERR_INIT;
	struct store *s;
	bool there;

	writer_check(store_exists(&there, path, &e), &e);
	if (there)
		writer_check(store_open(&s, path, STORE_WRITE, &e), &e);
	else
		writer_check(
		    store_create(&s, path, &study, &space, false, &e), &e);
	return s;
}

/* Write trials until the alarm comes, which is set before or after opening. */
static void
writer(const char *path, unsigned after_us, bool opened, bool bug)
{
	struct itimerval alarm = { .it_value = { 0, (long)after_us } };
	struct err e = ERR_INIT;
	struct store_rows *r;
	struct store *s;
	int64_t n;

	if (!opened)
		(void)setitimer(ITIMER_REAL, &alarm, NULL);
	s = writer_open(path);
	if (opened)
		(void)setitimer(ITIMER_REAL, &alarm, NULL);
	writer_check(
	    store_rows_open(&r, s, "SELECT trials FROM study", NULL, &e), &e);
	writer_check(store_rows_next(r, &e) < 0, &e);
	n = store_rows_int(r, 0);
	store_rows_close(r);
	for (n++;; n++) {
		writer_check(store_begin(s, &e), &e);
		if (bug)
			ledger->acknowledged = n;
		write_trial(s, n);
		writer_check(store_commit(s, n % 4 == 0, &e), &e);
		ledger->acknowledged = n;
		if (n % 16 == 0)
			store_checkpoint(s);
	}
}

static pid_t
writer_start(const char *path, unsigned after_us, bool opened, bool bug)
{
	pid_t pid = fork();

	if (pid == 0)
		writer(path, after_us, opened, bug);
	return pid;
}

static bool
is_same(struct store *s, const char *sql, const char *want)
{
	char *got = fixture_query(s, sql);
	bool same = strcmp(got, want) == 0;

	if (!same)
		printf("# %s\n#   is %s\n#   not %s\n", sql, got, want);
	free(got);
	return same;
}

static const char half[] =
    "SELECT (SELECT count(*) FROM t_trial WHERE state <> 'completed'), "
    "(SELECT count(*) - 10 * (SELECT trials FROM study) FROM metrics), "
    "(SELECT count(*) - (SELECT trials FROM study) FROM events), "
    "(SELECT count(*) - (SELECT trials FROM study) FROM attempts)";

/* What a reader may see at any moment. */
static bool
look_beside(const char *path)
{
	struct err e = ERR_INIT;
	struct store *s;
	bool good;

	if (store_open(&s, path, STORE_READ, &e) < 0)
		return true; /* not yet made, or just being made */
	if (store_begin(s, &e) < 0) {
		store_close(s);
		return true;
	}
	good = is_same(s, half, "0|0|0|0");
	store_rollback(s);
	store_close(s);
	return good;
}

/* What must be there when the writer is dead. */
static bool
look_after(const char *path, int64_t *trials)
{
	struct err e = ERR_INIT;
	struct store *s;
	bool there, good;
	char *n;

	*trials = 0;
	if (store_exists(&there, path, &e) < 0) {
		printf("# %s\n", e.text);
		return false;
	}
	if (!there)
		return true;
	if (store_open(&s, path, STORE_WRITE, &e) < 0) {
		printf("# %s\n", e.text);
		return false;
	}
	n = fixture_query(s, "SELECT trials FROM study");
	*trials = atoll(n);
	free(n);
	good =
	    is_same(s, half, "0|0|0|0") && is_same(s, fixture_totals, "0") &&
	    is_same(s, "SELECT * FROM pragma_integrity_check", "ok") &&
	    is_same(s,
		"SELECT (SELECT seq FROM t_counter) >= coalesce(max(seq), 0), "
		"count(DISTINCT seq) = count(*) FROM (SELECT seq FROM t_metric "
		"UNION ALL SELECT seq FROM t_event UNION ALL "
		"SELECT begin_seq FROM t_trial UNION ALL "
		"SELECT end_seq FROM t_trial)",
		"1|1");
	store_close(s);
	return good;
}

/* Kill a writer; whether all that was promised holds. */
static bool
round_once(const char *path, bool bug)
{
	unsigned after_us = 1 + random_below(random_below(2) ? 2000 : 12000);
	int64_t trials;
	int status;
	pid_t pid;
	bool good;

	pid = writer_start(path, after_us, random_below(3) > 0, bug);
	good = look_beside(path);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (ledger->failed) {
		printf("# the writer: %s\n", ledger->text);
		return false;
	}
	good = look_after(path, &trials) && good;
	if (trials < ledger->acknowledged ||
	    trials > ledger->acknowledged + 1) {
		printf("# %lld acknowledged, %lld there\n",
		    (long long)ledger->acknowledged, (long long)trials);
		good = false;
	}
	ledger->acknowledged = trials;
	return good;
}

static void
start_over(const char *path)
{
	static const char *const suffixes[] = { "", "-wal", "-shm",
		"-journal" };
	size_t i;
	char *name;

	for (i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
		name = xasprintf("%s%s", path, suffixes[i]);
		(void)unlink(name);
		free(name);
	}
	ledger->acknowledged = 0;
}

/* Kills until something is wrong; how many were survived. */
static int
torture(const char *path, int kills, bool bug)
{
	int i;

	for (i = 0; i < kills; i++) {
		if (i % 20 == 0)
			start_over(path);
		if (!round_once(path, bug))
			break;
	}
	return i;
}

int
main(void)
{
	const char *text = getenv("HPOTUNE_TORTURE_KILLS");
	int kills = text != NULL ? atoi(text) : 300;
	char *path;

	fixture_begin();
	path = fixture_path("torture.db");
	ledger = mmap(NULL, sizeof *ledger, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (ledger == MAP_FAILED)
		return 1;
	is_int(torture(path, kills, false), kills, "kills survived");
	printf("# the next findings are wanted\n");
	ok(torture(path, 200, true) < 200,
	    "a writer that acknowledges too early is found out");
	free(path);
	return fixture_end();
}
