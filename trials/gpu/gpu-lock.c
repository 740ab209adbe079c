/*
 * Locks on bytes of one file per GPU.  Byte 0 is held while a lock is taken;
 * each study holds one byte as a read lock, so that its server and all its
 * supervisors, by inherited or own descriptors, hold it together and other
 * studies see it.  The kernel drops a lock with its last holder.  The text in
 * the file is informative only.  The folder is world-writable, so its contents
 * are not trusted: links are not followed, files of other users are not
 * overwritten, and no call blocks.
 */

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "src/base/err.h"
#include "trials/gpu/gpu-lock.h"
#include "trials/process/lock-folder.h"

enum {
	LOCK_WORDS = 256, /* bytes of the file that are shown */
	LOCK_TRIES = 16 /* retries when others remove the file meanwhile */
};

/* Bits of a key: byte 1 + key must be a place in a file. */
#define LOCK_KEY_MASK ((UINT64_C(1) << 62) - 1)

/* SplitMix64's finisher, over two words. */
static uint64_t
mix(uint64_t h, uint64_t v)
{
	h += v + UINT64_C(0x9e3779b97f4a7c15);
	h = (h ^ h >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	h = (h ^ h >> 27) * UINT64_C(0x94d049bb133111eb);
	return h ^ h >> 31;
}

uint64_t
gpu_lock_key(const char *state_dir)
{
	struct stat st;
	uint64_t h = 0;

	if (stat(state_dir, &st) == 0)
		return mix(mix(0, (uint64_t)st.st_dev), (uint64_t)st.st_ino) &
		       LOCK_KEY_MASK;
	while (*state_dir != '\0')
		h = mix(h, (unsigned char)*state_dir++);
	return h & LOCK_KEY_MASK;
}

/* UUIDs of MIG slices may contain slashes. */
static void
lock_name(const char *uuid, char *name, size_t n)
{
	size_t i;

	snprintf(name, n, "%s", uuid);
	for (i = 0; name[i] != '\0'; i++)
		if (!isalnum((unsigned char)name[i]) && name[i] != '-')
			name[i] = '_';
}

/* Open the file of a GPU; create it if missing. */
static int
lock_open(const char *uuid, int *dir, char *name, size_t n, struct err *e)
{
	lock_name(uuid, name, n);
	return lock_folder_open(name, dir, e);
}

static int
lock_set(int fd, short type, uint64_t start)
{
	struct flock l = { .l_type = type,
		.l_whence = SEEK_SET,
		.l_start = (off_t)start,
		.l_len = 1 };

	return fcntl(fd, F_OFD_SETLK, &l);
}

/* Whether others hold a lock within len bytes (0 = to the end): 1, 0, -1. */
static int
lock_held(int fd, uint64_t start, uint64_t len)
{
	struct flock l = { .l_type = F_WRLCK,
		.l_whence = SEEK_SET,
		.l_start = (off_t)start,
		.l_len = (off_t)len };

	if (fcntl(fd, F_OFD_GETLK, &l) == -1)
		return -1;
	return l.l_type != F_UNLCK;
}

/* Any user may have written the file: keep one line of printable characters. */
static void
words_read(int fd, char *who, size_t n)
{
	char text[LOCK_WORDS];
	ssize_t got = pread(fd, text, sizeof text, 0);
	size_t i;

	for (i = 0; i + 1 < n && (ssize_t)i < got && text[i] != '\n'; i++)
		who[i] = isprint((unsigned char)text[i]) ? text[i] : '?';
	if (n > 0)
		who[i] = '\0';
}

/* ", until about 14:05", with the day where it is another one. */
static void
words_end_put(char *text, size_t n, int64_t ends_us)
{
	time_t ends = (time_t)(ends_us / 1000000), now = time(NULL);
	struct tm then, today;

	*text = '\0';
	if (ends_us <= 0 || localtime_r(&ends, &then) == NULL ||
	    localtime_r(&now, &today) == NULL)
		return;
	(void)strftime(text, n,
	    then.tm_year == today.tm_year && then.tm_yday == today.tm_yday
		? ", until about %H:%M"
		: ", until about %Y-%m-%d %H:%M",
	    &then);
}

static void
words_write(int fd, const struct gpu_lock_words *words)
{
	struct passwd pw, *found = NULL;
	char room[1024], text[LOCK_WORDS], user[64], end[64];
	int len;

	if (getpwuid_r(geteuid(), &pw, room, sizeof room, &found) != 0)
		found = NULL;
	if (found != NULL)
		(void)snprintf(user, sizeof user, "%.60s", pw.pw_name);
	else
		(void)snprintf(user, sizeof user, "user %ld", (long)geteuid());
	words_end_put(end, sizeof end, words->ends_us);
	/* A reader keeps GPU_OWNER bytes of the first line. */
	len = snprintf(text, sizeof text, "%.64s of %s%s\npid %ld\n",
	    words->study, user, end, (long)getpid());
	/* Informative only: ignore a full disk. */
	if (pwrite(fd, text, (size_t)len, 0) == len && ftruncate(fd, len) != 0)
		return;
}

void
gpu_lock_say(int fd, const struct gpu_lock_words *words)
{
	words_write(fd, words);
}

/* 1: locked; 0: another study holds it; -1: cannot lock. */
static int
lock_book(int fd, uint64_t key)
{
	uint64_t own = 1 + (key & LOCK_KEY_MASK);
	int below, above;

	if (lock_set(fd, F_WRLCK, 0) == -1)
		return errno == EAGAIN || errno == EACCES ? 0 : -1;
	below = own > 1 ? lock_held(fd, 1, own - 1) : 0;
	above = lock_held(fd, own + 1, 0);
	if (below == -1 || above == -1)
		return -1;
	if (below || above)
		return 0;
	if (lock_set(fd, F_RDLCK, own) == -1)
		return errno == EAGAIN || errno == EACCES ? 0 : -1;
	return 1;
}

/* Whether the name still leads to the open file. */
static bool
gpu_lock_same_file(int fd, int dir, const char *name)
{
	struct stat a, b;

	return fstat(fd, &a) == 0 &&
	       fstatat(dir, name, &b, AT_SYMLINK_NOFOLLOW) == 0 &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

int
gpu_lock_take(const char *uuid, uint64_t key,
    const struct gpu_lock_words *words, char *who, size_t n, struct err *e)
{
	char name[NAME_MAX];
	int fd, dir, got, tries;
	bool same;

	if (n > 0)
		*who = '\0';
	for (tries = 0; tries < LOCK_TRIES; tries++) {
		fd = lock_open(uuid, &dir, name, sizeof name, e);
		if (fd == -1)
			return -1;
		got = lock_book(fd, key);
		same = gpu_lock_same_file(fd, dir, name);
		close(dir);
		if (got == 1 && same) {
			words_write(fd, words);
			lock_set(fd, F_UNLCK, 0);
			return fd;
		}
		if (got == -1)
			err_set(e, ERR_FILE, "cannot lock %s/%s: %s",
			    lock_folder_path(), name, strerror(errno));
		else if (got == 0) {
			/*
			 * A holder that is just locking has not written its
			 * name yet.
			 */
			if (lock_held(fd, 1, 0) == 1)
				words_read(fd, who, n);
			err_set(e, ERR_BUSY, "another study has reserved it");
		}
		close(fd);
		if (got != 1)
			return -1;
	}
	return err_set(e, ERR_FILE, "%s/%s is removed repeatedly",
	    lock_folder_path(), name);
}

bool
gpu_lock_valid(int fd, const char *uuid)
{
	char name[NAME_MAX];
	int dir = lock_folder_enter();
	bool same;

	if (dir == -1)
		return false;
	lock_name(uuid, name, sizeof name);
	same = gpu_lock_same_file(fd, dir, name);
	close(dir);
	return same;
}

bool
gpu_lock_owner(const char *uuid, char *who, size_t n)
{
	char name[NAME_MAX];
	int dir = lock_folder_enter(), fd;
	bool held;

	if (n > 0)
		*who = '\0';
	if (dir == -1)
		return false;
	lock_name(uuid, name, sizeof name);
	fd = lock_folder_file(dir, name, O_RDONLY);
	close(dir);
	if (fd == -1)
		return false;
	held = lock_held(fd, 1, 0) == 1;
	if (held)
		words_read(fd, who, n);
	close(fd);
	return held;
}
