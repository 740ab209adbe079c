/*
 * Folders of trials that were made ahead, in NAME.d/ahead: a first attempt gets
 * one by a rename, which is also what makes it an attempt's.  The supervisor's
 * program makes them while trials run (trials/shim/shim-ahead.c), because that
 * waits for the disk.  Without one, local-start makes the folders itself.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/fail.h"
#include "src/base/file.h"
#include "src/base/loop.h"
#include "src/base/rng.h"
#include "src/base/spawn.h"
#include "trials/local/local-internal.h"

enum {
	WAIT_MS = 20, /* after a start, which is to be disturbed by nothing */
	FOLDERS = 16 /* descriptors of nftw */
};

static int
local_ahead_on_entry(
    const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	(void)remove(path);
	return 0;
}

/*
 * The trial whose claim is in this folder, or 0.  Its supervisor had renamed the
 * folder and made its claim, which was on the disk, but not the new name, when
 * the machine went down.
 */
static int64_t
claimed_by(const struct local_ahead *h, const char *name)
{
	char *path = xasprintf("%s/%s/attempt-1/state", h->dir, name);
	enum record_check claim_is = RECORD_NONE, exit_is;
	int fd = file_open(AT_FDCWD, path);
	struct attempt_exit x;
	struct claim c = { 0 };

	free(path);
	if (fd == -1)
		return 0;
	(void)attempt_record_read(fd, "", &c, &claim_is, &x, &exit_is);
	(void)close(fd);
	return claim_is == RECORD_FOREIGN ? c.trial : 0;
}

static void
name_again(const struct local_ahead *h, const char *name, int64_t trial)
{
	char *from = xasprintf("%s/%s", h->dir, name);
	char *to = xasprintf("%s/../trials/%lld", h->dir, (long long)trial);

	(void)renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
	free(from);
	free(to);
}

static void
name_claimed_again(const struct local_ahead *h)
{
	const struct dirent *d;
	int64_t trial;
	DIR *dir = opendir(h->dir);

	if (dir == NULL)
		return;
	while ((d = readdir(dir)) != NULL) {
		trial = d->d_name[0] != '.' ? claimed_by(h, d->d_name) : 0;
		if (trial > 0)
			name_again(h, d->d_name, trial);
	}
	(void)closedir(dir);
}

/* Remove all folders, also what a killed server, or its maker, has left. */
static void
remove_all(const struct local_ahead *h)
{
	(void)nftw(h->dir, local_ahead_on_entry, FOLDERS, FTW_DEPTH | FTW_PHYS);
}

static void
local_ahead_name_put(const struct local_ahead *h, int i, char *text, size_t n)
{
	(void)snprintf(text, n, "%08x-%u", h->mark, h->first + (unsigned)i);
}

/* Two for each slot: a slot that needs two soon waits for none. */
static int
wanted(const struct local *l)
{
	return l->slots < LOCAL_AHEAD_MAX / 2 ? 2 * l->slots : LOCAL_AHEAD_MAX;
}

/* Start the maker of those that are missing. */
static void
make(struct local *l)
{
	struct local_ahead *h = &l->ahead;
	struct spawn_spec spec = { .in = -1, .out = -1, .err = -1 };
	struct strv w = { 0 };
	struct err e = ERR_INIT;
	char name[LOCAL_AHEAD_NAME];
	int i, n = wanted(l) - h->n;

	if (mkdir(h->dir, 0700) == -1 && errno != EEXIST) {
		h->off = true;
		return;
	}
	strv_add(&w, xstrdup(l->shim));
	strv_add(&w, xasprintf("ahead=%s", h->dir));
	if (h->gpus)
		strv_add(&w, xstrdup("gpus"));
	for (i = 0; i < n; i++) {
		local_ahead_name_put(h, h->n + i, name, sizeof name);
		strv_add(&w, xstrdup(name));
	}
	spec.argv = w.v;
	h->off = spawn_start(&h->maker, &h->maker_end, &spec, &e) != 0;
	h->making = h->off ? 0 : n;
	if (h->off)
		h->maker = 0;
	strv_free(w.v);
}

/* Count what a maker that has ended has made. */
static void
made(struct local_ahead *h)
{
	int status;

	if (h->maker == 0 || waitpid(h->maker, &status, WNOHANG) == 0)
		return;
	(void)close(h->maker_end);
	h->maker = 0;
	h->n += h->making;
	h->making = 0;
	/* A full disk, or a program that was replaced: as without this. */
	h->off = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

/* Whether half of them were taken, and nobody makes others. */
static bool
needs(const struct local *l)
{
	const struct local_ahead *h = &l->ahead;

	return !h->off && h->maker == 0 && h->n <= wanted(l) / 2;
}

static void
local_ahead_on_wait(void *arg)
{
	struct local *l = arg;

	made(&l->ahead);
	if (!local_state_dir_moved(l) && needs(l))
		make(l);
}

void
local_ahead_open(struct local *l)
{
	struct local_ahead *h = &l->ahead;

	h->dir = xasprintf("%s/ahead", l->home.path);
	h->timer = loop_timer_new(l->loop, local_ahead_on_wait, l);
	rng_system(&h->mark, sizeof h->mark);
	name_claimed_again(h);
	remove_all(h);
}

void
local_ahead_close(struct local *l)
{
	struct local_ahead *h = &l->ahead;

	if (h->maker > 0) {
		(void)spawn_end(h->maker, h->maker_end);
		(void)close(h->maker_end);
	}
	if (h->dir != NULL && !local_state_dir_moved(l))
		remove_all(h);
	loop_timer_free(h->timer);
	free(h->dir);
}

void
local_ahead_wait(struct local *l)
{
	struct local_ahead *h = &l->ahead;

	made(h);
	if (needs(l) && !loop_timer_pending(h->timer))
		loop_timer_set(h->timer, WAIT_MS);
}

bool
local_ahead_take(struct local *l, const char *trial_dir)
{
	struct local_ahead *h = &l->ahead;
	char name[LOCAL_AHEAD_NAME], *path;
	int r;

	made(h);
	if (h->off || h->n == 0)
		return false;
	local_ahead_name_put(h, 0, name, sizeof name);
	h->first++;
	h->n--;
	path = xasprintf("%s/%s", h->dir, name);
	fail_point("local.before_ahead");
	r = renameat2(AT_FDCWD, path, AT_FDCWD, trial_dir, RENAME_NOREPLACE);
	/*
	 * The folder may be on another file system, or on one without such a
	 * rename.
	 */
	h->off = r == -1 && errno != EEXIST;
	fail_point("local.after_ahead");
	free(path);
	return r == 0;
}
