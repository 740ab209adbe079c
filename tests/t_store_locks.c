/*
 * Others at the same file, and disks that say no: a shell with the write lock,
 * a long reader, readers while the server writes, no space, no name for it.
 */

#include <errno.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "src/store/stmt.h"
#include "tests/store-help.h"

static struct err e;

static int64_t
now_ms(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Another process that does sql on path and sits on it until told to go. */
struct other {
	pid_t pid;
	int go, ready;
};

static struct other
other_start(const char *path, const char *sql)
{
	int go[2], ready[2];
	sqlite3 *db;
	char c = 0;
	pid_t pid;

	if (pipe(go) < 0 || pipe(ready) < 0 || (pid = fork()) < 0)
		exit(1);
	if (pid == 0) {
		(void)close(go[1]);
		c = sqlite3_open(path, &db) == SQLITE_OK &&
			    sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK
			? 'y'
			: 'n';
		if (write(ready[1], &c, 1) != 1 || read(go[0], &c, 1) < 0)
			_exit(1);
		_exit(0);
	}
	(void)close(go[0]);
	(void)close(ready[1]);
	if (read(ready[0], &c, 1) != 1 || c != 'y') {
		printf("Bail out! the other process failed\n");
		exit(1);
	}
	return (struct other){ .pid = pid, .go = go[1], .ready = ready[0] };
}

static void
other_end(struct other *o)
{
	(void)close(o->go);
	(void)close(o->ready);
	(void)waitpid(o->pid, NULL, 0);
}

static void
add_trials(struct store *s, int64_t from, int64_t to)
{
	struct store_trial t;

	for (; from <= to; from++) {
		t = help_trial(from, TRIAL_WAITING);
		must(store_trial_add(s, &t, &e), &e);
	}
}

static void
test_writer_beside(void)
{
	struct store *s = help_create("busy.db", true);
	char *path = help_path("busy.db"), who[128], pid[32];
	struct other shell;
	int64_t began;

	store_close(s);
	shell = other_start(path, "BEGIN IMMEDIATE");
	ok(store_open(&s, path, STORE_WRITE, &e) < 0 && e.kind == ERR_BUSY,
	    "a start says who is in the way: %s", e.text);
	other_end(&shell);
	must(store_open(&s, path, STORE_WRITE, &e), &e);
	shell = other_start(path, "BEGIN IMMEDIATE");
	began = now_ms();
	ok(store_begin(s, &e) < 0 && e.kind == ERR_BUSY, "begin is busy");
	ok(now_ms() - began < 10000, "and did not wait long");
	ok(!store_in_transaction(s), "no transaction is open");
	store_blocker(s, who, sizeof who);
	(void)snprintf(pid, sizeof pid, "(pid %d)", (int)shell.pid);
	ok(strstr(who, pid) != NULL && strstr(who, "t_store_locks") != NULL,
	    "the one who holds the lock is named: %s", who);
	is_query(s, "SELECT count(*) FROM trials", "0", "reading goes on");
	other_end(&shell);
	must(store_begin(s, &e), &e);
	add_trials(s, 1, 1);
	must(store_commit(s, true, &e), &e);
	ok(true, "later it works");
	store_blocker(s, who, sizeof who);
	is_str(who, "another process", "nobody is in the way");
	store_close(s);
	free(path);
}

static void
test_reader_beside(void)
{
	struct store *s = help_create("read.db", true), *r;
	char *path = help_path("read.db"), *log = help_path("read.db-wal"),
	     *want;
	struct other shell;
	struct stat st;
	int64_t i, grown, began;

	must(store_open(&r, path, STORE_READ, &e), &e);
	must(store_begin(s, &e), &e);
	add_trials(s, 1, 1);
	is_query(r, "SELECT trials FROM study", "0",
	    "a reader sees nothing before the commit");
	must(store_commit(s, false, &e), &e);
	is_query(r, "SELECT trials FROM study", "1", "and all after it");
	must(store_begin(r, &e), &e);
	is_query(r, "SELECT trials FROM study", "1", "a reader's view");
	must(store_begin(s, &e), &e);
	add_trials(s, 2, 2);
	must(store_commit(s, false, &e), &e);
	is_query(r, "SELECT trials FROM study", "1",
	    "stands still between begin and commit");
	must(store_commit(r, false, &e), &e);
	is_query(r, "SELECT trials FROM study", "2", "and moves on after it");
	want = xasprintf("error: %s: a query may only read", path);
	is_query(r, "DELETE FROM t_event", want, "a query may not write");
	free(want);
	ok(store_enqueue(r, "{}", "enqueue", &e) < 0, "a reader writes not");
	store_close(r);
	ok(stat(log, &st) == 0 && st.st_size > 0,
	    "a reader that leaves does not touch the log");

	shell = other_start(path, "BEGIN; SELECT * FROM t_trial");
	for (i = 0; i < 40; i++) {
		must(store_begin(s, &e), &e);
		add_trials(s, 3 + i * 2000, 2 + (i + 1) * 2000);
		must(store_commit(s, false, &e), &e);
	}
	grown = store_wal_bytes(s);
	began = now_ms();
	store_checkpoint(s);
	ok(now_ms() - began < 30000 && store_wal_bytes(s) == grown,
	    "a long reader keeps the log as it is (%lld bytes)",
	    (long long)grown);
	other_end(&shell);
	store_checkpoint(s);
	is_int(store_wal_bytes(s), 0, "without it the log is cut");
	store_close(s);
	ok(stat(log, &st) < 0, "the last to close takes the log away");
	free(path);
	free(log);
}

static void
test_read_only_place(void)
{
	struct store *s = help_create("place.db", true);
	char *path = help_path("place.db");

	must(store_begin(s, &e), &e);
	add_trials(s, 1, 3);
	must(store_commit(s, false, &e), &e);
	store_close(s);
	if (geteuid() == 0) {
		skip("reading where nothing can be written", "root may");
		skip("writing there", "root may");
	} else {
		(void)chmod(help_dir, 0500);
		(void)chmod(path, 0400);
		must(store_open(&s, path, STORE_READ, &e), &e);
		is_query(s, "SELECT trials FROM study", "3",
		    "reading where nothing can be written");
		store_close(s);
		ok(store_open(&s, path, STORE_WRITE, &e) < 0,
		    "writing there is refused: %s", e.text);
		(void)chmod(help_dir, 0700);
	}
	free(path);
}

/* Fill until it fails: what was committed is there, and room lets it go on. */
static void
fill_up(struct store *s, const char *where)
{
	char want[32], *what = NULL;
	int64_t done = 0;
	int rc = 0;

	while (rc == 0 && done < 100000) {
		struct store_trial t;
		int64_t i;

		must(store_begin(s, &e), &e);
		for (i = 1; rc == 0 && i <= 100; i++) {
			t = help_trial(done + i, TRIAL_WAITING);
			rc = store_trial_add(s, &t, &e);
		}
		/* A caller that overlooks an error must not commit half. */
		if (store_commit(s, true, &e) < 0)
			rc = -1;
		else if (rc == 0)
			done += 100;
		store_rollback(s);
	}
	ok(rc < 0 && e.kind == ERR_FULL, "%s: %s", where, e.text);
	ok(done > 0, "%lld trials fitted", (long long)done);
	ok(!store_in_transaction(s), "no transaction is open");
	(void)snprintf(want, sizeof want, "%lld", (long long)done);
	what = xasprintf("%s: what was committed is there, no more", where);
	is_query(s, "SELECT trials FROM study", want, what);
	is_query(s, "SELECT * FROM pragma_integrity_check", "ok", "intact");
	free(what);
}

static void
go_on(struct store *s, const char *where)
{
	char *next;

	must(store_begin(s, &e), &e);
	next = help_query(s, "SELECT trials + 1 FROM study");
	add_trials(s, atoll(next), atoll(next) + 99);
	free(next);
	ok(store_commit(s, true, &e) == 0, "%s: with room it goes on", where);
	store_close(s);
}

static void
test_page_limit(void)
{
	struct store *s = help_create("pages.db", true);

	must(store_exec(s, "PRAGMA max_page_count = 200", &e), &e);
	fill_up(s, "page limit");
	must(store_exec(s, "PRAGMA max_page_count = 100000", &e), &e);
	go_on(s, "page limit");
}

static void
test_full_disk(void)
{
	char *mnt = help_path("mnt"), *ballast = help_path("mnt/ballast");
	struct store *s;
	FILE *f;
	int i;

	(void)mkdir(mnt, 0700);
	if (mount("tmpfs", mnt, "tmpfs", 0, "size=2m") < 0) {
		for (i = 0; i < 6; i++)
			skip("full disk", "no right to mount a small tmpfs");
	} else {
		if ((f = fopen(ballast, "w")) == NULL ||
		    ftruncate(fileno(f), 0) < 0)
			exit(1);
		for (i = 0; i < 300 * 1024; i++)
			(void)fputc('x', f);
		(void)fclose(f);
		s = help_create("mnt/full.db", true);
		fill_up(s, "full disk");
		(void)unlink(ballast);
		go_on(s, "full disk");
		(void)umount(mnt);
	}
	free(mnt);
	free(ballast);
}

/* A write that fails for another reason: nothing more is believed. */
static void
test_io_error(void)
{
	struct store *s = help_create("io.db", true);
	char *path = help_path("io.db");
	struct rlimit old, small;
	int64_t i;
	int rc = 0;

	must(store_begin(s, &e), &e);
	add_trials(s, 1, 10);
	must(store_commit(s, true, &e), &e);
	(void)signal(SIGXFSZ, SIG_IGN);
	(void)getrlimit(RLIMIT_FSIZE, &old);
	small = old;
	small.rlim_cur = (rlim_t)store_wal_bytes(s) + 4096;
	(void)setrlimit(RLIMIT_FSIZE, &small);
	must(store_begin(s, &e), &e);
	for (i = 11; rc == 0 && i < 1000; i++) {
		struct store_trial t = help_trial(i, TRIAL_WAITING);

		rc = store_trial_add(s, &t, &e);
	}
	rc = store_commit(s, true, &e);
	(void)setrlimit(RLIMIT_FSIZE, &old);
	ok(rc < 0 && e.kind == ERR_STORE, "a write error: %s", e.text);
	ok(store_begin(s, &e) < 0 && e.kind == ERR_STORE,
	    "the connection is of no more use: %s", e.text);
	store_close(s);
	must(store_open(&s, path, STORE_WRITE, &e), &e);
	is_query(s, "SELECT trials FROM study", "10",
	    "a new one finds what was committed");
	store_close(s);
	free(path);
}

static void
test_network_fs(void)
{
	struct param param = { .name = (char *)(uintptr_t) "lr" };
	struct space space = { .params = &param, .n = 1 };
	struct store_study study = help_study(true);
	char *path = help_path("net.db"), *log = help_path("net.db-wal");
	struct store *s, *r;
	struct stat st;
	int i;

	must(store_create(&s, path, &study, &space, true, &e), &e);
	for (i = 0; i < 2; i++) {
		must(store_begin(s, &e), &e);
		add_trials(s, i + 1, i + 1);
		must(store_commit(s, true, &e), &e);
		ok(stat(log, &st) < 0, "no log with shared memory");
		ok(store_open(&r, path, STORE_READ, &e) < 0 &&
			e.kind == ERR_BUSY,
		    "nobody reads meanwhile: %s", e.text);
		store_close(s);
		must(store_open(&s, path, STORE_WRITE, &e), &e);
	}
	store_close(s);
	must(store_open(&r, path, STORE_READ, &e), &e);
	is_query(r, "SELECT trials FROM study", "2", "afterwards they do");
	store_close(r);
	free(path);
	free(log);
}

int
main(void)
{
	help_begin();
	test_writer_beside();
	test_reader_beside();
	test_read_only_place();
	test_page_limit();
	test_full_disk();
	test_io_error();
	test_network_fs();
	return help_end();
}
