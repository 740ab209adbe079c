/*
 * The state directory.  One server per study: an open-file-description lock,
 * which the kernel releases when the process ends for any reason.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/file.h"
#include "src/base/folder.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/study-files/state-dir.h"

#define BALLAST_MAX (64L << 20) /* bytes */
#define BALLAST_SHARE 64 /* of the free space */
#define LOCK_PAUSE_MS 10L
#define LOCK_TRIES_LIVE 25
#define LOCK_TRIES 500
#define LOCK_TRIES_COMMAND 3500 /* a command holds it for 30 seconds at most */
#define LOCK_TRIES_SILENT 100 /* then it is said that a command is waited for */
/*
 * A byte of the database that is never read or written: it is in the page that
 * SQLite reserves for its own locks, after the 514 bytes of these.
 */
#define DB_LOCK_BYTE 0x40000400L

int
state_dir_open(struct state_dir *s, const char *dir, bool create, struct err *e)
{
	*s = (struct state_dir)STATE_DIR_INIT;
	if (create && mkdir(dir, 0700) != 0 && errno != EEXIST)
		return err_set(e, ERR_FILE,
		    errno == EACCES || errno == EROFS
			? "%s: %s: choose a folder with --state DIR"
			: "%s: %s",
		    dir, strerror(errno));
	s->dir_fd = folder_open(AT_FDCWD, dir, 077, e);
	if (s->dir_fd < 0)
		return -1;
	s->dir = xstrdup(dir);
	return 0;
}

void
state_dir_close(struct state_dir *s)
{
	state_dir_unlock(s);
	if (s->dir_fd >= 0)
		close(s->dir_fd);
	free(s->dir);
	*s = (struct state_dir)STATE_DIR_INIT;
}

/* In the line of a holder that is one command and no server. */
static const char for_command[] = ", for one command";

/*
 * The first line of the lock file: used in messages, and for how long to wait.
 */
static void
lock_read(int fd, char *who, size_t n)
{
	ssize_t got = pread(fd, who, n - 1, 0);

	who[got > 0 ? got : 0] = '\0';
	who[strcspn(who, "\n")] = '\0';
	if (*who == '\0')
		(void)snprintf(who, n, "another process");
}

static void
lock_write(int fd, enum state_dir_use use)
{
	char host[128] = "?", text[192];
	struct stat st;
	int n;

	(void)gethostname(host, sizeof host - 1);
	n = snprintf(text, sizeof text, "pid %ld on %s%s\n", (long)getpid(),
	    host, use == STATE_DIR_COMMAND ? for_command : "");
	/* To cut the file costs ask and tell 0.2 ms: only what is longer. */
	if (pwrite(fd, text, (size_t)n, 0) != n || fstat(fd, &st) != 0 ||
	    (st.st_size > n && ftruncate(fd, n) != 0))
		return; /* messages lack the pid then */
}

/*
 * Whether the process that wrote this line of the lock file still exists, as far
 * as can be checked.
 */
static bool
lock_holder_lives(const char *who)
{
	long pid;

	if (sscanf(who, "pid %ld", &pid) != 1 || pid <= 0)
		return false;
	return kill((pid_t)pid, 0) == 0 || errno == EPERM;
}

/* How often to try for a lock that is held. */
static int
tries_lock(int fd)
{
	char who[192];

	lock_read(fd, who, sizeof who);
	if (!lock_holder_lives(who))
		return LOCK_TRIES;
	/* A process that still exists may have been killed a moment ago. */
	return strstr(who, for_command) != NULL ? LOCK_TRIES_COMMAND
						: LOCK_TRIES_LIVE;
}

/* The other lock was free: its former holder releases this one in a moment. */
static int
tries_db(int fd)
{
	(void)fd;
	return LOCK_TRIES_LIVE;
}

static void
wait_report(int fd)
{
	char who[192];

	lock_read(fd, who, sizeof who);
	log_warn("lock", "waiting for %s, which uses this study", who);
}

/*
 * A server that is killed while it starts a supervisor leaves its lock to the
 * child until its exec, a moment later: so wait for the lock.
 */
static int
lock_take(int fd, struct flock lock, int (*most)(int fd))
{
	const struct timespec pause = { .tv_nsec = LOCK_PAUSE_MS * 1000000 };
	int tries = 0;

	while (fcntl(fd, F_OFD_SETLK, &lock) != 0) {
		if (errno == EACCES)
			errno = EAGAIN;
		if (errno != EAGAIN)
			return -1;
		if (tries++ >= most(fd)) {
			errno = EAGAIN;
			return -1;
		}
		if (tries == LOCK_TRIES_SILENT)
			wait_report(fd);
		(void)nanosleep(&pause, NULL);
	}
	return 0;
}

/*
 * Without locks two servers would run one study.  What was made for this one is
 * removed.
 */
static void
lock_err(struct err *e, const struct state_dir *s)
{
	int error = errno;
	bool none = error == ENOLCK || error == ENOSYS || error == EOPNOTSUPP ||
		    error == EINVAL;
	struct stat st;

	err_set(e, none ? ERR_USAGE : ERR_FILE,
	    none ? "%s/lock: %s: the file system has no locks: choose a local "
		   "folder with --state DIR"
		 : "%s/lock: %s",
	    s->dir, strerror(error));
	if (none && fstatat(s->dir_fd, "lock", &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    st.st_size == 0 && unlinkat(s->dir_fd, "lock", 0) == 0)
		(void)rmdir(s->dir);
}

int
state_dir_lock(struct state_dir *s, enum state_dir_use use, struct err *e)
{
	const struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	char who[192];
	int fd;

	fd = file_open_for(s->dir_fd, "lock", O_RDWR | O_CREAT, 0600);
	if (fd < 0)
		return err_set(
		    e, ERR_FILE, "%s/lock: %s", s->dir, file_why(errno));
	if (lock_take(fd, whole, tries_lock) != 0) {
		if (errno == EAGAIN) {
			lock_read(fd, who, sizeof who);
			err_set(e, ERR_BUSY,
			    strstr(who, for_command) != NULL
				? "this study is in use by %s: run this again "
				  "when that has ended"
				: "this study is already served by %s: hpotune "
				  "stop ends it, and the next start reads "
				  "study.json again",
			    who);
		} else
			lock_err(e, s);
		close(fd);
		return -1;
	}
	lock_write(fd, use);
	s->lock_fd = fd;
	return 0;
}

int
state_dir_lock_db(struct state_dir *s, const char *db, struct err *e)
{
	const struct flock byte = { .l_type = F_WRLCK,
		.l_whence = SEEK_SET,
		.l_start = DB_LOCK_BYTE,
		.l_len = 1 };
	struct stat st;
	int fd;

	if (s->db_fd >= 0)
		return 0;
	/*
	 * Missing, or not a database: opening it next reports why.  An empty file,
	 * as sqlite3 leaves one, is no study: a new one takes its place.
	 */
	fd = file_open_for(AT_FDCWD, db, O_RDWR, 0);
	if (fd < 0)
		return 0;
	if (fstat(fd, &st) != 0 || st.st_size == 0) {
		close(fd);
		return 0;
	}
	if (lock_take(fd, byte, tries_db) == 0) {
		s->db_fd = fd;
		return 0;
	}
	if (errno == EAGAIN)
		err_set(e, ERR_BUSY,
		    "%s: already served by another process: by another name, "
		    "or beside a state directory that was removed since",
		    db);
	else
		err_set(e, ERR_FILE, "%s: %s", db, strerror(errno));
	close(fd);
	return -1;
}

enum inode_state
state_dir_check(const struct state_dir *s)
{
	struct stat st;

	if (s->lock_fd >= 0 && fstat(s->lock_fd, &st) == 0 && st.st_nlink == 0)
		return INODE_REMOVED;
	return file_inode_check(s->dir_fd, s->dir);
}

void
state_dir_unlock(struct state_dir *s)
{
	if (s->db_fd >= 0)
		close(s->db_fd);
	if (s->lock_fd >= 0)
		close(s->lock_fd);
	s->db_fd = s->lock_fd = -1;
}

bool
state_dir_is_locked(struct state_dir *s, char *who, size_t n)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	bool held;
	int fd;

	fd = file_open_for(s->dir_fd, "lock", O_RDWR, 0);
	if (fd < 0)
		return false;
	held = fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
	if (held && who != NULL)
		lock_read(fd, who, n);
	close(fd);
	return held;
}

static bool
state_dir_is_full(int error)
{
	return error == ENOSPC || error == EDQUOT;
}

bool
state_dir_ballast_fill(struct state_dir *s)
{
	struct statvfs v;
	off_t want;
	int fd, error = 0;

	if (fstatvfs(s->dir_fd, &v) != 0)
		return true;
	want = (off_t)(v.f_bavail * v.f_frsize / BALLAST_SHARE);
	if (want > BALLAST_MAX)
		want = BALLAST_MAX;
	fd = file_open_for(s->dir_fd, "ballast", O_RDWR | O_CREAT, 0600);
	if (fd < 0)
		return !state_dir_is_full(errno);
	if (fallocate(fd, 0, 0, want > 4096 ? want : 4096) != 0) {
		error = errno;
		(void)unlinkat(s->dir_fd, "ballast", 0);
	}
	close(fd);
	return !state_dir_is_full(error);
}

bool
state_dir_ballast_free(struct state_dir *s)
{
	return unlinkat(s->dir_fd, "ballast", 0) == 0;
}

static char *
renaming_path(const char *db)
{
	size_t n = strlen(db);

	if (n > 3 && strcmp(db + n - 3, ".db") == 0)
		n -= 3;
	return xasprintf("%.*s.rename", (int)n, db);
}

int
state_dir_renaming_begin(const char *db, const char *now, struct err *e)
{
	char *path = renaming_path(db), *part = xasprintf("%s.part", path);
	int fd =
	    file_open_for(AT_FDCWD, part, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	size_t n = strlen(now);
	int rc = 0;

	errno = fd < 0 ? errno : ENOSPC;
	if (fd < 0 || write(fd, now, n) != (ssize_t)n || fsync(fd) != 0 ||
	    rename(part, path) != 0) {
		rc = err_set(e, ERR_FILE, "%s: %s", path, strerror(errno));
		(void)unlink(part);
	}
	if (fd >= 0)
		close(fd);
	free(part);
	free(path);
	return rc;
}

int
state_dir_renaming_end(const char *db, struct err *e)
{
	char *path = renaming_path(db);
	int rc = unlink(path) == 0 || errno == ENOENT
		     ? 0
		     : err_set(e, ERR_FILE, "%s: %s", path, strerror(errno));

	free(path);
	return rc;
}

/* OLD.rename, of which nothing else is to be done. */
static bool
renaming_is_over(int dir_fd, const char *file, const char *now)
{
	size_t n = strlen(file), end = strlen(".rename");
	char name[64], *db;
	bool over;

	if (n <= end || strcmp(file + n - end, ".rename") != 0 ||
	    file_read(dir_fd, file, name, sizeof name) <= 0 ||
	    strcmp(name, now) != 0)
		return false;
	db = xasprintf("%.*s.db", (int)(n - end), file);
	over = faccessat(dir_fd, db, F_OK, AT_SYMLINK_NOFOLLOW) == -1;
	free(db);
	return over;
}

bool
state_dir_renaming_ended(const char *db, const char *now)
{
	char *path = xstrdup(db);
	DIR *d = opendir(dirname(path));
	struct dirent *entry;
	bool any = false;

	while (d != NULL && (entry = readdir(d)) != NULL)
		if (renaming_is_over(dirfd(d), entry->d_name, now) &&
		    unlinkat(dirfd(d), entry->d_name, 0) == 0)
			any = true;
	if (d != NULL)
		(void)closedir(d);
	free(path);
	return any;
}

int
state_dir_check_renaming(const char *db, const char *now, struct err *e)
{
	char *path = renaming_path(db), name[64];
	int rc = 0;

	if (file_read(AT_FDCWD, path, name, sizeof name) > 0 &&
	    (now == NULL || strcmp(name, now) != 0))
		rc = err_set(e, ERR_BUSY,
		    "%s: this study was getting the name %.40s: complete it "
		    "with hpotune rename, the study and that name; or, for "
		    "another study of this name, remove that file",
		    path, name);
	free(path);
	return rc;
}
