/*
 * Locks of GPUs: two studies never hold one at a time, a duplicate descriptor
 * keeps it, and other files in the folder do no harm.
 */

#include <fcntl.h>
#include <grp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/base/err.h"
#include "tests/support/tap.h"
#include "trials/gpu/gpu-lock.h"
#include "trials/process/lock-folder.h"

enum { RACES = 1000 };

static const char gpu[] = "GPU-11111111-2222-3333-4444-555555555555";
static char dir[] = "/tmp/t_gpu_lock.XXXXXX";
static char locks[sizeof dir + 8];

static int
take(const char *uuid, uint64_t key, const char *study, char *who, size_t n,
    struct err *e)
{
	*e = (struct err)ERR_INIT;
	return gpu_lock_take(
	    uuid, key, &(struct gpu_lock_words){ .study = study }, who, n, e);
}

static void
test_book(void)
{
	struct err e;
	struct stat st;
	char who[64], path[128];
	int a, b, c;

	ok(!gpu_lock_owner(gpu, who, sizeof who), "no study holds it");
	a = take(gpu, 7, "mnist", who, sizeof who, &e);
	ok(a >= 0, "a study books it: %s", e.text);
	ok(fcntl(a, F_GETFD) & FD_CLOEXEC, "closed on exec");
	ok(stat(locks, &st) == 0 && (st.st_mode & 07777) == 01777,
	    "the folder is everybody's");
	snprintf(path, sizeof path, "%s/%s", locks, gpu);
	ok(stat(path, &st) == 0 && (st.st_mode & 07777) == 0666,
	    "the file is everybody's");
	b = take(gpu, 8, "other", who, sizeof who, &e);
	ok(b == -1 && e.kind == ERR_BUSY, "another study does not get it");
	ok(strncmp(who, "mnist of ", 9) == 0, "and names the holder: %s", who);
	ok(gpu_lock_owner(gpu, who, sizeof who) && who[0] == 'm',
	    "anybody may ask");
	c = take(gpu, 7, "mnist", who, sizeof who, &e);
	ok(c >= 0, "the same study books it again");
	close(a);
	ok(take(gpu, 8, "other", who, sizeof who, &e) == -1,
	    "the other description holds it");
	ok(gpu_lock_valid(c, gpu), "it stands");
	close(c);
	b = take(gpu, UINT64_MAX, "other", who, sizeof who, &e);
	ok(b >= 0, "then it is free");
	ok(take(gpu, 0, "third", who, sizeof who, &e) == -1 &&
		strncmp(who, "other of ", 9) == 0,
	    "the greatest and the least key");
	close(b);
	a = take("MIG-GPU-1/2/0", 7, "mnist", who, sizeof who, &e);
	ok(a >= 0, "a name with slashes is no path");
	close(a);
}

/* Who waits reads when the holder is likely to end. */
static void
test_words(void)
{
	/* 2001-09-09, whatever the time zone within a day. */
	struct gpu_lock_words words = { .study = "mnist",
		.ends_us = INT64_C(1000000000) * 1000000 };
	struct err e = ERR_INIT;
	char who[160], end[32];
	time_t soon = time(NULL);
	struct tm tm;
	int fd;

	fd = gpu_lock_take(gpu, 7, &words, who, sizeof who, &e);
	ok(gpu_lock_owner(gpu, who, sizeof who) &&
		strstr(who, ", until about 2001-09-") != NULL,
	    "the day when it is likely to end: %s", who);
	words.ends_us = (int64_t)soon * 1000000;
	gpu_lock_say(fd, &words);
	(void)localtime_r(&soon, &tm);
	(void)strftime(end, sizeof end, "%H:%M", &tm);
	ok(gpu_lock_owner(gpu, who, sizeof who) &&
		strstr(who, ", until about ") != NULL &&
		strcmp(who + strlen(who) - 5, end) == 0,
	    "another time: %s", who);
	words.ends_us = 0;
	gpu_lock_say(fd, &words);
	ok(gpu_lock_owner(gpu, who, sizeof who) && strchr(who, ',') == NULL,
	    "not known: %s", who);
	close(fd);
}

/* Another study is booking at this moment. */
static void
test_moment(void)
{
	struct flock l = { .l_type = F_WRLCK,
		.l_whence = SEEK_SET,
		.l_start = 0,
		.l_len = 1 };
	struct err e;
	char who[64], path[128];
	int fd, booking;

	fd = take(gpu, 7, "mnist", who, sizeof who, &e);
	close(fd);
	snprintf(path, sizeof path, "%s/%s", locks, gpu);
	booking = open(path, O_RDWR | O_CLOEXEC);
	ok(booking >= 0 && fcntl(booking, F_OFD_SETLK, &l) == 0,
	    "another study reserves");
	fd = take(gpu, 7, "mnist", who, sizeof who, &e);
	ok(fd == -1 && e.kind == ERR_BUSY, "no other study reserves or waits");
	ok(!gpu_lock_owner(gpu, who, sizeof who),
	    "a failed reservation leaves no owner");
	close(booking);
	fd = take(gpu, 7, "mnist", who, sizeof who, &e);
	ok(fd >= 0, "then it is");
	close(fd);
}

/* Until it holds the copy, and until it is told to go. */
static void
test_inherit(void)
{
	struct err e;
	char who[64], byte;
	int up[2], down[2], fd = take(gpu, 7, "mnist", who, sizeof who, &e);
	pid_t pid;

	if (!ok(pipe(up) == 0 && pipe(down) == 0, "pipes"))
		return;
	pid = fork();
	if (pid == 0) {
		close(down[1]);
		_exit(write(up[1], "", 1) != 1 || read(down[0], &byte, 1) != 0);
	}
	close(down[0]);
	ok(read(up[0], &byte, 1) == 1, "a supervisor has a copy");
	close(fd);
	ok(take(gpu, 8, "other", who, sizeof who, &e) == -1 &&
		e.kind == ERR_BUSY,
	    "the server is dead, the booking is not");
	fd = take(gpu, 7, "mnist", who, sizeof who, &e);
	ok(fd >= 0, "a new server of the study books it as well");
	close(fd);
	close(down[1]);
	waitpid(pid, NULL, 0);
	fd = take(gpu, 8, "other", who, sizeof who, &e);
	ok(fd >= 0, "it ends with the last one");
	close(fd);
	close(up[0]);
	close(up[1]);
}

/* A racer of one study: how often it had it; a broken rule is told in bad. */
static void
race(uint64_t key, atomic_int *holders, atomic_int *bad)
{
	struct err e;
	char who[64];
	int fd, n = 0;
	long tries;

	for (tries = 0; n < RACES && tries < 100L * RACES * RACES; tries++) {
		fd = take(gpu, key, "race", who, sizeof who, &e);
		if (fd == -1) {
			if (e.kind != ERR_BUSY)
				atomic_fetch_add(bad, 1);
			continue;
		}
		if (atomic_fetch_add(holders, 1) != 0)
			atomic_fetch_add(bad, 1);
		atomic_fetch_sub(holders, 1);
		close(fd);
		n++;
	}
	_exit(n != RACES);
}

static void
test_race(void)
{
	atomic_int *shared = mmap(NULL, 2 * sizeof *shared,
	    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid[2];
	int i, status, failed = 0;

	if (!ok(shared != MAP_FAILED, "shared memory"))
		return;
	for (i = 0; i < 2; i++) {
		pid[i] = fork();
		if (pid[i] == 0)
			race((uint64_t)(100 + i), &shared[0], &shared[1]);
	}
	for (i = 0; i < 2; i++) {
		waitpid(pid[i], &status, 0);
		failed += status != 0;
	}
	is_int(failed, 0, "two studies had it a thousand times each");
	is_int(atomic_load(&shared[1]), 0, "never both");
	munmap(shared, 2 * sizeof *shared);
}

static void
put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	if (f == NULL)
		return;
	fputs(text, f);
	fclose(f);
}

static void
test_hostile(void)
{
	struct err e;
	struct stat st;
	char who[64], path[128], victim[128];
	int fd;

	snprintf(victim, sizeof victim, "%s/victim", dir);
	put(victim, "precious");
	snprintf(path, sizeof path, "%s/GPU-link", locks);
	ok(symlink(victim, path) == 0, "a link");
	fd = take("GPU-link", 7, "mnist", who, sizeof who, &e);
	ok(fd == -1 && e.kind == ERR_FILE, "is not followed: %s", e.text);
	ok(stat(victim, &st) == 0 && st.st_size == 8, "nothing is written");
	snprintf(path, sizeof path, "%s/GPU-fifo", locks);
	ok(mkfifo(path, 0666) == 0, "a pipe");
	fd = take("GPU-fifo", 7, "mnist", who, sizeof who, &e);
	ok(fd == -1 && e.kind == ERR_FILE, "is not waited for: %s", e.text);
	ok(!gpu_lock_owner("GPU-fifo", who, sizeof who),
	    "a query of the owner does not wait for a pipe");

	fd = take(gpu, 7, "bell\a\033[31m\nx", who, sizeof who, &e);
	ok(take(gpu, 8, "other", who, sizeof who, &e) == -1 &&
		strcmp(who, "bell??[31m") == 0,
	    "words are made harmless: %s", who);
	snprintf(path, sizeof path, "%s/%s", locks, gpu);
	ok(unlink(path) == 0 && !gpu_lock_valid(fd, gpu),
	    "it is known when the file was removed");
	close(fd);
	ok(setenv("HPOTUNE_GPU_LOCKS", victim, 1) == 0 &&
		take(gpu, 7, "mnist", who, sizeof who, &e) == -1 &&
		e.kind == ERR_FILE,
	    "a folder that is none: %s", e.text);
	setenv("HPOTUNE_GPU_LOCKS", locks, 1);
}

/* Becomes nobody: may it book beside root's files, and see root's booking? */
static int
as_other_user(void)
{
	struct err e;
	char who[64];
	int fd;

	if (setgroups(0, NULL) != 0 || setgid(65534) != 0 || setuid(65534) != 0)
		return 10;
	fd = take(gpu, 8, "other", who, sizeof who, &e);
	if (fd != -1 || e.kind != ERR_BUSY || strncmp(who, "mnist of ", 9) != 0)
		return 1;
	fd = take("GPU-free", 8, "other", who, sizeof who, &e);
	if (fd == -1)
		return 2;
	close(fd);
	fd = take("GPU-new", 8, "other", who, sizeof who, &e);
	return fd == -1 ? 3 : 0;
}

static void
test_users(void)
{
	struct err e;
	char who[64];
	int fd, old, status = 0;
	pid_t pid;

	if (geteuid() != 0) {
		skip("other users", "only root can become one");
		return;
	}
	fd = take(gpu, 7, "mnist", who, sizeof who, &e);
	old = take("GPU-free", 7, "mnist", who, sizeof who, &e);
	close(old);
	if (chmod(dir, 0755) != 0)
		return;
	pid = fork();
	if (pid == 0)
		_exit(as_other_user());
	waitpid(pid, &status, 0);
	is_int(WEXITSTATUS(status), 0, "another user books beside us");
	close(fd);
	fd = take("GPU-new", 7, "mnist", who, sizeof who, &e);
	ok(fd >= 0, "and we in a file of that user: %s", e.text);
	close(fd);
}

static void
test_key(void)
{
	char a[128], b[128];
	uint64_t key;

	snprintf(a, sizeof a, "%s/a.d", dir);
	snprintf(b, sizeof b, "%s/b.d", dir);
	ok(mkdir(a, 0700) == 0 && mkdir(b, 0700) == 0, "two studies");
	key = gpu_lock_key(a);
	ok(key != gpu_lock_key(b), "have two keys");
	ok(key < UINT64_C(1) << 62, "which are places in a file");
	rmdir(b);
	ok(rename(a, b) == 0 && gpu_lock_key(b) == key,
	    "a folder that is moved keeps its key");
	ok(gpu_lock_key(a) != key, "and one that is not there has another");
	rmdir(b);
}

int
main(void)
{
	char command[128];

	if (mkdtemp(dir) == NULL)
		return 1;
	snprintf(locks, sizeof locks, "%s/locks", dir);
	setenv("HPOTUNE_GPU_LOCKS", locks, 1);
	is_str(lock_folder_path(), locks,
	    "the folder is named by the environment");
	test_book();
	test_words();
	test_moment();
	test_inherit();
	test_race();
	test_hostile();
	test_users();
	test_key();
	snprintf(command, sizeof command, "rm -rf '%s'", dir);
	if (system(command) != 0)
		return 1;
	return done_testing();
}
