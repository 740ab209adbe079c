/*
 * Other users of the file, and disk errors: a shell with the write lock, a long
 * reader, readers while the server writes, a full disk, no free inode.
 */

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <time.h>

#include "src/store/store-internal.h"
#include "tests/support/store-fixture.h"

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
		t = fixture_trial(from, TRIAL_WAITING);
		must(store_trial_add(s, &t, &e), &e);
	}
}

static void
test_writer_beside(void)
{
	struct store *s = fixture_create("busy.db", true);
	char *path = fixture_path("busy.db"), who[128], pid[32];
	struct other shell;
	int64_t began;

	store_close(s);
	shell = other_start(path, "BEGIN IMMEDIATE");
	ok(store_open(&s, path, STORE_WRITE, &e) < 0 && e.kind == ERR_BUSY,
	    "a start names the process that holds the lock: %s", e.text);
	other_end(&shell);
	must(store_open(&s, path, STORE_WRITE, &e), &e);
	shell = other_start(path, "BEGIN IMMEDIATE");
	began = now_ms();
	ok(store_begin(s, &e) < 0 && e.kind == ERR_BUSY, "begin is busy");
	ok(now_ms() - began < 10000, "and did not wait long");
	ok(!store_in_transaction(s), "no transaction is open");
	store_lock_holder(s, who, sizeof who);
	(void)snprintf(pid, sizeof pid, "(pid %d)", (int)shell.pid);
	ok(strstr(who, pid) != NULL && strstr(who, "t_store_locks") != NULL,
	    "the one who holds the lock is named: %s", who);
	is_query(s, "SELECT count(*) FROM trials", "0", "reading continues");
	other_end(&shell);
	must(store_begin(s, &e), &e);
	add_trials(s, 1, 1);
	must(store_commit(s, true, &e), &e);
	ok(true, "later it works");
	store_lock_holder(s, who, sizeof who);
	is_str(who, "another process", "no process holds the lock");
	store_close(s);
	free(path);
}

static void
test_reader_beside(void)
{
	struct store *s = fixture_create("read.db", true), *r;
	char *path = fixture_path("read.db"),
	     *log = fixture_path("read.db-wal"), *want;
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
	ok(store_queue_add(r, "{}", SOURCE_ENQUEUE, &e) < 0,
	    "a reader writes not");
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
	struct store *s = fixture_create("place.db", true);
	char *path = fixture_path("place.db");

	must(store_begin(s, &e), &e);
	add_trials(s, 1, 3);
	must(store_commit(s, false, &e), &e);
	store_close(s);
	if (geteuid() == 0) {
		skip("reading where nothing can be written", "root may");
		skip("writing there", "root may");
	} else {
		(void)chmod(fixture_dir, 0500);
		(void)chmod(path, 0400);
		must(store_open(&s, path, STORE_READ, &e), &e);
		is_query(s, "SELECT trials FROM study", "3",
		    "reading where nothing can be written");
		store_close(s);
		ok(store_open(&s, path, STORE_WRITE, &e) < 0,
		    "writing there is refused: %s", e.text);
		(void)chmod(fixture_dir, 0700);
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
			t = fixture_trial(done + i, TRIAL_WAITING);
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
	next = fixture_query(s, "SELECT trials + 1 FROM study");
	add_trials(s, atoll(next), atoll(next) + 99);
	free(next);
	ok(store_commit(s, true, &e) == 0, "%s: with free space it continues",
	    where);
	store_close(s);
}

static void
test_page_limit(void)
{
	struct store *s = fixture_create("pages.db", true);

	must(store_exec(s, "PRAGMA max_page_count = 200", &e), &e);
	fill_up(s, "page limit");
	must(store_exec(s, "PRAGMA max_page_count = 100000", &e), &e);
	go_on(s, "page limit");
}

static void
test_full_disk(void)
{
	char *mnt = fixture_path("mnt"), *ballast = fixture_path("mnt/ballast");
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
		s = fixture_create("mnt/full.db", true);
		fill_up(s, "full disk");
		(void)unlink(ballast);
		go_on(s, "full disk");
		(void)umount(mnt);
	}
	free(mnt);
	free(ballast);
}

/* Put a descriptor that cannot write in the place of that of the log. */
static bool
log_spoil(const char *path)
{
	char *log = xasprintf("%s-wal", path), name[32], to[4096];
	int fd, only = open(log, O_RDONLY | O_CLOEXEC);
	bool done = false;
	ssize_t n;

	for (fd = 3; fd < 256 && only >= 0 && !done; fd++) {
		(void)snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
		n = readlink(name, to, sizeof to - 1);
		if (n <= 0 || fd == only)
			continue;
		to[n] = '\0';
		done = strcmp(to, log) == 0 && dup2(only, fd) == fd;
	}
	if (only >= 0)
		(void)close(only);
	free(log);
	return done;
}

/* A write that fails for another reason: nothing more is believed. */
static void
test_io_error(void)
{
	struct store *s = fixture_create("io.db", true);
	char *path = fixture_path("io.db");
	int rc;

	must(store_begin(s, &e), &e);
	add_trials(s, 1, 10);
	must(store_commit(s, true, &e), &e);
	ok(log_spoil(path), "its log can be read alone");
	rc = store_begin(s, &e);
	if (rc == 0) {
		struct store_trial t = fixture_trial(11, TRIAL_WAITING);

		rc = store_trial_add(s, &t, &e);
	}
	if (rc == 0)
		rc = store_commit(s, true, &e);
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
	struct store_study study = fixture_study(true);
	char *path = fixture_path("net.db"), *log = fixture_path("net.db-wal");
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
		    "no reader meanwhile: %s", e.text);
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

/* ---- Readers while the log goes into the file -------------------------------------- */

/*
 * The file of a VFS that, whenever the database is synced, has another process
 * read it, which does not wait for locks.
 */
static struct {
	sqlite3_io_methods methods;
	int (*open)(
	    sqlite3_vfs *, const char *, sqlite3_file *, int flags, int *out);
	int (*sync)(sqlite3_file *, int flags);
	char *path;
	int syncs, refused;
} looked;

static int
read_once(const char *path)
{
	sqlite3 *db;
	int rc;

	rc = sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(
		    db, "SELECT count(*) FROM trials", NULL, NULL, NULL);
	(void)sqlite3_close(db);
	return rc != SQLITE_OK;
}

static int
looked_sync(sqlite3_file *f, int flags)
{
	int status = 0;
	pid_t pid;

	if ((pid = fork()) == 0) {
		(void)execl("/proc/self/exe", "t_store_locks", looked.path,
		    (char *)NULL);
		_exit(2);
	}
	(void)waitpid(pid, &status, 0);
	looked.syncs++;
	looked.refused += status != 0;
	return looked.sync(f, flags);
}

static int
looked_open(
    sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags, int *out)
{
	int rc = looked.open(vfs, name, f, flags, out);

	if (rc == SQLITE_OK && (flags & SQLITE_OPEN_MAIN_DB) != 0) {
		looked.methods = *f->pMethods;
		looked.sync = looked.methods.xSync;
		looked.methods.xSync = looked_sync;
		f->pMethods = &looked.methods;
	}
	return rc;
}

static void
test_reader_at_the_end(void)
{
	sqlite3_vfs vfs = *sqlite3_vfs_find(NULL);
	char *log = fixture_path("end.db-wal");
	struct store *s;
	struct stat st;
	int i;

	store_close(fixture_create("end.db", true));
	looked.path = fixture_path("end.db");
	looked.open = vfs.xOpen;
	vfs.zName = "looked";
	vfs.xOpen = looked_open;
	(void)sqlite3_vfs_register(&vfs, 1);
	for (i = 1; i <= 2; i++) {
		must(store_open(&s, looked.path, STORE_WRITE, &e), &e);
		must(store_begin(s, &e), &e);
		add_trials(s, i, i);
		must(store_commit(s, true, &e), &e);
		store_close(s);
		ok(stat(log, &st) < 0, "the log is gone after the end");
	}
	(void)sqlite3_vfs_unregister(&vfs);
	ok(looked.syncs >= 2, "the contents of the log are in the file");
	is_int(looked.refused, 0, "and readers were not refused meanwhile");
	free(looked.path);
	free(log);
}

int
main(int argc, char **argv)
{
	if (argc > 1)
		return read_once(argv[1]);
	fixture_begin();
	test_writer_beside();
	test_reader_beside();
	test_read_only_place();
	test_page_limit();
	test_full_disk();
	test_io_error();
	test_network_fs();
	test_reader_at_the_end();
	return fixture_end();
}
