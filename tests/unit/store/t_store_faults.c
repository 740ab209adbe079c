/*
 * A disk that fails at its Nth write, sync or truncation, for every N in a
 * short study, in each of three ways.  After any failure: what was acknowledged
 * is present, nothing is partial, and a restart continues.
 */

#include <sqlite3.h>

#include "tests/support/store-fixture.h"

/*
 * After which failures the file is judged: it is the same with sanitizers, which
 * see the failures themselves.
 */
#ifdef __SANITIZE_ADDRESS__
enum { JUDGED = 10 };
#else
enum { JUDGED = 1 };
#endif

/* A file that asks before it changes anything, and passes on all the rest. */
struct fault_file {
	sqlite3_file base;
	sqlite3_file *real;
};

static struct {
	int code; /* what the failing call answers; 0 = none fails */
	int countdown; /* calls until one fails */
	bool hit;
	bool forever; /* a full disk stays full */
} fault;

static sqlite3_vfs *real_vfs;

static int
fault_now(bool is_sync)
{
	if (fault.code == 0 || is_sync != (fault.code == SQLITE_IOERR_FSYNC))
		return SQLITE_OK;
	if (fault.hit)
		return fault.forever ? fault.code : SQLITE_OK;
	if (--fault.countdown > 0)
		return SQLITE_OK;
	fault.hit = true;
	return fault.code;
}

#define REAL(f) (((struct fault_file *)(f))->real)

static int
f_close(sqlite3_file *f)
{
	int rc = REAL(f)->pMethods->xClose(REAL(f));

	sqlite3_free(REAL(f));
	return rc;
}

static int
f_read(sqlite3_file *f, void *p, int n, sqlite3_int64 at)
{
	return REAL(f)->pMethods->xRead(REAL(f), p, n, at);
}

static int
f_write(sqlite3_file *f, const void *p, int n, sqlite3_int64 at)
{
	int rc = fault_now(false);

	return rc != SQLITE_OK ? rc
			       : REAL(f)->pMethods->xWrite(REAL(f), p, n, at);
}

static int
f_truncate(sqlite3_file *f, sqlite3_int64 n)
{
	return REAL(f)->pMethods->xTruncate(REAL(f), n);
}

static int
f_sync(sqlite3_file *f, int flags)
{
	int rc = fault_now(true);

	return rc != SQLITE_OK ? rc : REAL(f)->pMethods->xSync(REAL(f), flags);
}

static int
f_size(sqlite3_file *f, sqlite3_int64 *n)
{
	return REAL(f)->pMethods->xFileSize(REAL(f), n);
}

static int
f_lock(sqlite3_file *f, int lock)
{
	return REAL(f)->pMethods->xLock(REAL(f), lock);
}

static int
f_unlock(sqlite3_file *f, int lock)
{
	return REAL(f)->pMethods->xUnlock(REAL(f), lock);
}

static int
f_reserved(sqlite3_file *f, int *out)
{
	return REAL(f)->pMethods->xCheckReservedLock(REAL(f), out);
}

static int
f_control(sqlite3_file *f, int op, void *arg)
{
	return REAL(f)->pMethods->xFileControl(REAL(f), op, arg);
}

static int
f_sector(sqlite3_file *f)
{
	return REAL(f)->pMethods->xSectorSize(REAL(f));
}

static int
f_character(sqlite3_file *f)
{
	return REAL(f)->pMethods->xDeviceCharacteristics(REAL(f));
}

static int
f_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **out)
{
	return REAL(f)->pMethods->xShmMap(REAL(f), page, size, extend, out);
}

static int
f_shm_lock(sqlite3_file *f, int offset, int n, int flags)
{
	return REAL(f)->pMethods->xShmLock(REAL(f), offset, n, flags);
}

static void
f_shm_barrier(sqlite3_file *f)
{
	REAL(f)->pMethods->xShmBarrier(REAL(f));
}

static int
f_shm_unmap(sqlite3_file *f, int remove)
{
	return REAL(f)->pMethods->xShmUnmap(REAL(f), remove);
}

static const sqlite3_io_methods fault_methods = {
	.iVersion = 2,
	.xClose = f_close,
	.xRead = f_read,
	.xWrite = f_write,
	.xTruncate = f_truncate,
	.xSync = f_sync,
	.xFileSize = f_size,
	.xLock = f_lock,
	.xUnlock = f_unlock,
	.xCheckReservedLock = f_reserved,
	.xFileControl = f_control,
	.xSectorSize = f_sector,
	.xDeviceCharacteristics = f_character,
	.xShmMap = f_shm_map,
	.xShmLock = f_shm_lock,
	.xShmBarrier = f_shm_barrier,
	.xShmUnmap = f_shm_unmap,
};

static int
fault_open(
    sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags, int *out)
{
	struct fault_file *file = (struct fault_file *)f;
	int rc;

	(void)vfs;
	file->real = sqlite3_malloc(real_vfs->szOsFile);
	if (file->real == NULL)
		return SQLITE_NOMEM;
	rc = real_vfs->xOpen(real_vfs, name, file->real, flags, out);
	f->pMethods = rc == SQLITE_OK ? &fault_methods : NULL;
	if (rc != SQLITE_OK)
		sqlite3_free(file->real);
	return rc;
}

/* Every connection of this process, the store's too, goes through it. */
static void
fault_install(void)
{
	static sqlite3_vfs vfs;

	real_vfs = sqlite3_vfs_find(NULL);
	vfs = *real_vfs;
	vfs.zName = "fault";
	vfs.szOsFile = sizeof(struct fault_file);
	vfs.xOpen = fault_open;
	if (sqlite3_vfs_register(&vfs, 1) != SQLITE_OK)
		exit(1);
}

static void
remove_all(const char *path)
{
	static const char *const suffixes[] = { "", "-wal", "-shm", "-journal",
		"-new" };
	char *name;
	size_t i;

	for (i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
		name = xasprintf("%s%s", path, suffixes[i]);
		(void)unlink(name);
		free(name);
	}
}

static int
write_trial(struct store *s, int64_t number, struct err *e)
{
	struct store_trial t = fixture_trial(number, TRIAL_STARTING);
	struct store_attempt a = fixture_attempt(number, 1);
	int i;

	if (store_begin(s, e) < 0)
		return -1;
	if (store_trial_add(s, &t, e) < 0 || store_attempt_add(s, &a, e) < 0) {
		store_rollback(s);
		return -1;
	}
	for (i = 1; i <= 60; i++)
		if (store_metric_add(s, number, 1, "acc", i, i, T0, e) < 0) {
			store_rollback(s);
			return -1;
		}
	t.state = TRIAL_FAILED;
	if (store_trial_put(s, &t, e) < 0) {
		store_rollback(s);
		return -1;
	}
	return store_commit(s, number % 2 == 0, e);
}

/*
 * A short life: made or opened, twelve trials, the log moved four times, closed.
 * Counts the acknowledged trials; -1 at the first failure.
 */
static int
life(const char *path, int64_t *trials, struct err *e)
{
	struct param param = { .name = (char *)(uintptr_t) "lr" };
	struct space space = { .params = &param, .n = 1 };
	struct store_study study = fixture_study(true);
	struct store *s = NULL;
	bool there;
	int i, rc;

	if (store_exists(&there, path, e) < 0)
		return -1;
	rc = there ? store_open(&s, path, STORE_WRITE, e)
		   : store_create(&s, path, &study, &space, false, e);
	if (rc < 0)
		return -1;
	for (i = 0; rc == 0 && i < 12; i++) {
		rc = write_trial(s, *trials + 1, e);
		*trials += rc == 0;
		if (rc == 0 && i % 3 == 2)
			store_checkpoint(s);
	}
	store_close(s);
	return rc;
}

/* With the disk well again: is everything right, and does it go on? */
static bool
is_right(const char *path, int64_t trials, int64_t perhaps)
{
	struct err e = ERR_INIT;
	struct store *s;
	bool there, good;
	int64_t n;
	char *got;

	if (store_exists(&there, path, &e) < 0) {
		printf("# %s\n", e.text);
		return false;
	}
	if (there) {
		if (store_open(&s, path, STORE_READ, &e) < 0) {
			printf("# %s\n", e.text);
			return false;
		}
		got = fixture_query(s, "SELECT trials FROM study");
		n = atoll(got);
		free(got);
		got = fixture_query(s,
		    "SELECT (SELECT count(*) FROM metrics) = 60 * trials, "
		    "(SELECT count(*) FROM attempts) = trials, failed = "
		    "trials, "
		    "(SELECT * FROM pragma_integrity_check) FROM study");
		good = n >= trials && n <= trials + perhaps &&
		       strcmp(got, "1|1|1|ok") == 0;
		if (!good)
			printf("# %lld trials, %lld acknowledged: %s\n",
			    (long long)n, (long long)trials, got);
		free(got);
		store_close(s);
		if (!good)
			return false;
		trials = n;
	} else if (trials > 0) {
		printf("# %lld acknowledged, no study\n", (long long)trials);
		return false;
	}
	if (life(path, &trials, &e) == 0)
		return true;
	printf("# going on: %s\n", e.text);
	return false;
}

/* Every call in turn fails; how many did. */
static void
test_fault(
    const char *name, int code, bool forever, enum err_kind kind, int least)
{
	char *path = fixture_path("fault.db");
	struct err e = ERR_INIT;
	int64_t trials;
	int n, rc, wrong = 0, kinds = 0;

	for (n = 1;; n++) {
		remove_all(path);
		fault.code = code;
		fault.countdown = n;
		fault.forever = forever;
		fault.hit = false;
		trials = 0;
		e = (struct err)ERR_INIT;
		rc = life(path, &trials, &e);
		fault.code = 0;
		if (!fault.hit)
			break;
		/* Checkpoints may fail without a word; else it is said. */
		if (rc < 0 && e.kind != kind) {
			printf("# call %d: kind %d: %s\n", n, e.kind, e.text);
			kinds++;
		}
		/* A commit whose sync failed is there, but not sure. */
		if (n % JUDGED == 0 && !is_right(path, trials, rc < 0)) {
			printf("# after call %d: %s\n", n, e.text);
			wrong++;
		}
	}
	ok(n > least, "%s: %d calls failed in turn", name, n - 1);
	is_int(wrong, 0, "nothing was lost or there by half");
	is_int(kinds, 0, "and the error is of the right kind");
	free(path);
}

int
main(void)
{
	fixture_begin();
	fault_install();
	test_fault("full disk", SQLITE_FULL, true, ERR_FULL, 100);
	test_fault("write error", SQLITE_IOERR_WRITE, false, ERR_STORE, 100);
	test_fault("sync error", SQLITE_IOERR_FSYNC, false, ERR_STORE, 10);
	return fixture_end();
}
