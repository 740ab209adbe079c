/*
 * Deletes checkpoints that are no longer needed.  Folders are opened without
 * following symbolic links, and a link in the place of a checkpoint is deleted
 * itself, never what it points to.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/fail.h"
#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/base/spawn.h"
#include "src/engine/tuner/checkpoints.h"
#include "src/engine/tuner/live-trial.h"
#include "src/engine/tuner/paused.h"
#include "src/engine/tuner/requests.h"
#include "src/engine/tuner/study-end.h"
#include "src/engine/tuner/tuner-internal.h"
#include "src/model/history/history.h"
#include "src/model/keep.h"
#include "src/model/study/study.h"
#include "strategies/strategy.h"

enum {
	ENTRIES_MAX = 10000, /* of a checkpoint, that are counted */
	DEPTH_MAX = 20,
	TRASH_AT_ONCE = 500, /* folders that one child deletes */
	ANSWER_MAX = 1000, /* trials in an answer as JSON, and in words: */
	SHOWN = 10,
	SIZE_TEXT = 32
};

/* Beside the trials: a backend may keep them on another file system. */
static const char trash[] = "trials/trash";

static void child_start(struct tuner *);

static int
checkpoints_folder_open(int at, const char *name)
{
	return openat(
	    at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* The folder of a trial, or -1. */
static int
trial_open(const struct tuner *t, int64_t trial)
{
	char *path = xasprintf("%s/trials/%" PRId64, t->env.state_dir, trial);
	int fd = checkpoints_folder_open(AT_FDCWD, path);

	free(path);
	return fd;
}

/* Bytes that a folder takes on the disk; entries are counted down. */
static int64_t
folder_bytes(int at, const char *name, int *entries, int depth)
{
	int fd = checkpoints_folder_open(at, name);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *d;
	struct stat st;
	int64_t sum = 0;

	if (dir == NULL) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	while (*entries > 0 && (d = readdir(dir)) != NULL) {
		if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
			continue;
		--*entries;
		if (fstatat(fd, d->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		sum += (int64_t)st.st_blocks * 512;
		if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX)
			sum += folder_bytes(fd, d->d_name, entries, depth + 1);
	}
	(void)closedir(dir);
	return sum;
}

/* Whether a trial has a checkpoint, and how large it is. */
static bool
checkpoint_find(const struct tuner *t, int64_t trial, int64_t *bytes)
{
	int fd = trial_open(t, trial), entries = ENTRIES_MAX;
	struct stat st;
	bool there;

	*bytes = 0;
	if (fd < 0)
		return false;
	there = fstatat(fd, "checkpoint", &st, AT_SYMLINK_NOFOLLOW) == 0;
	if (there && S_ISDIR(st.st_mode)) {
		*bytes = folder_bytes(fd, "checkpoint", &entries, 0);
		/* Each trial has the folder, empty or not. */
		there = entries < ENTRIES_MAX;
	}
	close(fd);
	return there;
}

static void
list_remove(struct checkpoints *c, int64_t trial)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		if (c->list[i].trial == trial) {
			c->list[i] = c->list[--c->n];
			return;
		}
}

/* Look at the folder of each trial that has ended since the last time. */
static void
list_update(struct tuner *t)
{
	struct checkpoints *c = &t->checkpoints;
	size_t n = (size_t)t->n_trials + 1;
	struct checkpoint one;
	int64_t trial;

	if (n > c->n_seen) {
		c->seen = xreallocarray(c->seen, n, sizeof *c->seen);
		memset(c->seen + c->n_seen, 0, n - c->n_seen);
		c->n_seen = n;
	}
	for (trial = 1; trial <= t->n_trials; trial++) {
		if (live_set_find(&t->live, trial) != NULL) {
			if (c->seen[trial])
				list_remove(c, trial);
			c->seen[trial] = false;
			continue;
		}
		if (c->seen[trial])
			continue;
		c->seen[trial] = true;
		one.trial = trial;
		if (!checkpoint_find(t, trial, &one.bytes))
			continue;
		XGROW(c->list, c->n, c->cap);
		c->list[c->n++] = one;
	}
}

/* Whether the study has ended, and nothing of it is resumed by itself. */
static bool
is_ended(const struct tuner *t)
{
	if (t->env.hold)
		return t->row.state == STUDY_FINISHED ||
		       t->row.state == STUDY_FAILED;
	return tuner_done(t) && !t->end.shutdown;
}

/* The newest trial of its member that has a result: others continue from it. */
static bool
is_head(const struct tuner *t, int64_t trial)
{
	const struct history *h = t->history;
	int64_t other, member = history_member(h, trial);

	if (member < 1)
		return false;
	for (other = trial + 1; other <= history_count(h); other++)
		if (history_member(h, other) == member &&
		    history_state(h, other) == TRIAL_COMPLETED &&
		    !isnan(history_loss(h, other)))
			return false;
	return true;
}

/* Whether a trial that has not ended begins with its checkpoint. */
static bool
is_parent(const struct tuner *t, int64_t trial)
{
	size_t i;

	for (i = 0; i < t->live.n; i++)
		if (t->live.list[i]->row.from == trial)
			return true;
	return false;
}

/*
 * Whether a trial may still continue from it: its own, when it is paused, or was
 * stopped and may get a second look; another one's in a population.
 */
static bool
checkpoints_is_needed(struct tuner *t, int64_t trial)
{
	enum trial_state state = history_state(t->history, trial);

	if (live_set_find(&t->live, trial) != NULL ||
	    paused_find(&t->paused_set, trial) != NULL || is_parent(t, trial))
		return true;
	if (is_ended(t))
		return false;
	if (t->plugins.strategy->continues && is_head(t, trial))
		return true;
	return state == TRIAL_STOPPED && t->looks.share > 0;
}

static bool
checkpoints_is_dominated(const struct tuner *t, int64_t trial, int64_t by)
{
	const struct history *h = t->history;
	const double *a = history_losses(h, trial), *b = history_losses(h, by);
	bool less = false;
	size_t i;

	for (i = 0; i < history_n_objectives(h); i++) {
		if (!(b[i] <= a[i]))
			return false;
		less = less || b[i] < a[i];
	}
	return less;
}

/*
 * Whether, with several objectives, a trial is on the front of those that have
 * a checkpoint.
 */
static bool
checkpoints_is_front(const struct tuner *t, int64_t trial)
{
	const struct checkpoints *c = &t->checkpoints;
	size_t i;

	if (history_n_objectives(t->history) < 2)
		return false;
	for (i = 0; i < c->n; i++)
		if (history_state(t->history, c->list[i].trial) ==
			TRIAL_COMPLETED &&
		    checkpoints_is_dominated(t, trial, c->list[i].trial))
			return false;
	return true;
}

/*
 * The first replicate of a setting is as good as the setting, as for the best
 * trial of the study.  A setting that is no candidate
 * for the best yet, because it has fewer replicates, may become one.
 */
static void
item_of_setting(
    struct keep_item *item, const struct tuner *t, const double *ranks)
{
	const struct replicates *r = &t->replicates;
	size_t i = (size_t)r->setting_of[item->trial] - 1;

	/* Other replicates come after the first ones of all settings. */
	item->loss = ranks[i];
	if (replicates_first_trial(r, i) != item->trial)
		item->loss += (double)r->n * replicates_number(r, item->trial);
	item->violation = r->list[i].violation;
	item->front = replicates_on_front(r, i) &&
		      replicates_first_trial(r, i) == item->trial;
	item->hopeful = !is_ended(t) && replicates_hopeful(r, i) &&
			replicates_first_trial(r, i) == item->trial;
}

/* The decision about each; the caller frees it. */
static struct keep_item *
items_choose(struct tuner *t)
{
	const struct checkpoints *c = &t->checkpoints;
	const struct history *h = t->history;
	struct keep_item *items = xcalloc(c->n + 1, sizeof *items);
	double *ranks = NULL;
	int64_t trial;
	size_t i;

	if (t->replicates.count > 0) {
		ranks = xcalloc(t->replicates.n + 1, sizeof *ranks);
		replicates_rank(&t->replicates, ranks);
	}

	for (i = 0; i < c->n; i++) {
		trial = c->list[i].trial;
		items[i] = (struct keep_item){
			.trial = trial,
			.bytes = c->list[i].bytes,
			.needed = checkpoints_is_needed(t, trial),
			.loss = history_loss(h, trial),
			.violation = history_violation(h, trial),
			.front = checkpoints_is_front(t, trial),
		};
		if (ranks != NULL)
			item_of_setting(&items[i], t, ranks);
		items[i].ranked = history_state(h, trial) == TRIAL_COMPLETED &&
				  isfinite(items[i].loss) &&
				  !isnan(items[i].violation);
	}
	free(ranks);
	keep_choose(&t->study->keep, items, c->n);
	return items;
}

static void
size_text(char *text, size_t n, int64_t bytes)
{
	static const char *const units[] = { "bytes", "KiB", "MiB", "GiB",
		"TiB" };
	double x = (double)bytes;
	size_t i = 0;

	while (x >= 1024 && i + 1 < sizeof units / sizeof *units) {
		x /= 1024;
		i++;
	}
	(void)snprintf(text, n, "%.3g %s", x, units[i]);
}

/* Record the end of one; it is deleted after the commit. */
static void
checkpoint_doom(struct tuner *t, const struct keep_item *item)
{
	struct checkpoints *c = &t->checkpoints;
	char size[SIZE_TEXT];

	size_text(size, sizeof size, item->bytes);
	tuner_event(t, LOG_LEVEL_INFO, "checkpoint", item->trial, 0,
	    "its checkpoint is deleted: %s", size);
	XGROW(c->doomed, c->n_doomed, c->doomed_cap);
	c->doomed[c->n_doomed++] = item->trial;
	list_remove(c, item->trial);
}

void
checkpoints_settle(struct tuner *t)
{
	struct checkpoints *c = &t->checkpoints;
	struct keep_item *items;
	bool final;
	size_t i, n;

	if (!t->study->keep.given || t->env.hold)
		return;
	final = is_ended(t);
	if (c->ends == t->outcomes.n_over + 1 && final == c->final)
		return;
	/* An earlier server may have been killed while it deleted. */
	if (c->ends == 0)
		child_start(t);
	c->ends = t->outcomes.n_over + 1;
	c->final = final;
	list_update(t);
	items = items_choose(t);
	n = c->n;
	for (i = 0; i < n; i++)
		if (items[i].deleted)
			checkpoint_doom(t, &items[i]);
	free(items);
}

static void
put_item(struct json_writer *w, const struct keep_item *item)
{
	json_writer_object(w, NULL);
	json_writer_integer(w, "trial", item->trial);
	json_writer_integer(w, "bytes", item->bytes);
	json_writer_end(w);
}

static int
item_by_trial(const void *a, const void *b)
{
	const struct keep_item *x = a, *y = b;

	return x->trial < y->trial ? -1 : x->trial > y->trial;
}

static bool
is_dry(const struct request *r)
{
	struct json_doc *doc;
	bool dry = false;

	if (r->params == NULL || json_parse(&doc, r->params, strlen(r->params),
				     NULL, false, NULL) != 0)
		return false;
	(void)json_bool(json_get(json_root(doc), "dry_run"), &dry);
	json_free(doc);
	return dry;
}

void
checkpoints_clean(struct tuner *t, struct request *r)
{
	struct checkpoints *c = &t->checkpoints;
	struct json_writer w = { .out = &r->data };
	bool dry = is_dry(r);
	struct buf trials = { 0 };
	struct keep_item *items;
	const char *verb;
	char size[SIZE_TEXT];
	int64_t bytes = 0;
	size_t i, n, deleted = 0;

	if (!t->study->keep.given) {
		(void)snprintf(r->text, sizeof r->text,
		    "study.json has no \"keep\": no checkpoint is deleted");
		return;
	}
	list_update(t);
	items = items_choose(t);
	n = c->n;
	qsort(items, n, sizeof *items, item_by_trial);
	verb = dry ? "would be" : n == 1 ? "is" : "are";
	json_writer_array(&w, NULL);
	for (i = 0; i < n; i++) {
		if (!items[i].deleted)
			continue;
		if (deleted++ < SHOWN)
			buf_printf(&trials, "%s%" PRId64,
			    deleted > 1 ? ", " : "", items[i].trial);
		else if (deleted == SHOWN + 1)
			buf_puts(&trials, ", ...");
		bytes += items[i].bytes;
		if (deleted <= ANSWER_MAX)
			put_item(&w, &items[i]);
		if (!dry)
			checkpoint_doom(t, &items[i]);
	}
	json_writer_end(&w);
	free(items);
	size_text(size, sizeof size, bytes);
	(void)snprintf(r->text, sizeof r->text,
	    "%zu of %zu checkpoints %s deleted: %s%s%s", deleted, n, verb, size,
	    deleted > 0 ? ": trials " : "", buf_str(&trials));
	buf_free(&trials);
	r->good = true;
	t->durable = t->durable || !dry;
	if (!dry)
		child_start(t);
}

/*
 * What is in the trash, as paths; empty: there is nothing, and the folder is
 * removed.  Only this process puts folders into it.
 */
static void
trash_list(struct strv *paths, const struct tuner *t)
{
	char *path = xasprintf("%s/%s", t->env.state_dir, trash);
	int fd = checkpoints_folder_open(AT_FDCWD, path);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *d;

	while (dir != NULL && paths->n < TRASH_AT_ONCE &&
	       (d = readdir(dir)) != NULL)
		if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0)
			strv_add(paths, xasprintf("%s/%s", path, d->d_name));
	if (dir != NULL)
		(void)closedir(dir);
	else if (fd >= 0)
		close(fd);
	if (paths->n == 0)
		(void)rmdir(path);
	free(path);
}

static void
on_child(void *arg, int fd, bool readable, bool writable)
{
	struct tuner *t = arg;
	struct checkpoints *c = &t->checkpoints;
	struct strv left = { 0 };
	bool failed = spawn_reap(c->child) != 0;

	(void)fd;
	(void)readable;
	(void)writable;
	loop_fd_free(c->watch);
	close(c->child_fd);
	c->watch = NULL;
	c->child = 0;
	if (failed)
		trash_list(&left, t);
	c->stuck = left.n > 0;
	strv_free(left.v);
	if (c->stuck)
		tuner_queue_event(t, LOG_LEVEL_WARN, "checkpoint",
		    "what is in NAME.d/trials/trash cannot be deleted");
	else
		child_start(t);
}

/* Delete what is in the trash. */
static void
child_start(struct tuner *t)
{
	struct checkpoints *c = &t->checkpoints;
	struct spawn_spec spec = { .in = -1, .out = -1, .err = STDERR_FILENO };
	struct strv argv = { 0 }, paths = { 0 };
	struct err e = ERR_INIT;

	if (c->child != 0 || c->stuck)
		return;
	trash_list(&paths, t);
	if (paths.n == 0)
		return;
	strv_add(&argv, xstrdup("rm"));
	strv_add(&argv, xstrdup("-rf"));
	strv_add(&argv, xstrdup("--"));
	strv_add_all(&argv, paths.v);
	spec.argv = argv.v;
	if (spawn_start(&c->child, &c->child_fd, &spec, &e) == 0) {
		c->watch = loop_fd_new(t->env.loop, c->child_fd, on_child, t);
		loop_fd_want(c->watch, true, false);
	} else {
		c->child = 0;
		c->stuck = true;
		tuner_queue_event(t, LOG_LEVEL_WARN, "checkpoint", e.text);
	}
	strv_free(argv.v);
	strv_free(paths.v);
}

/* The name in the trash is new: the trial may have had one there before. */
static int
checkpoint_rename(const struct tuner *t, int trash_fd, int64_t trial)
{
	int fd = trial_open(t, trial), error;
	char name[64];

	if (fd < 0)
		return errno;
	(void)snprintf(name, sizeof name, "%" PRId64 "-%" PRId64, trial,
	    loop_wall_us(t->env.loop));
	error = renameat(fd, "checkpoint", trash_fd, name) == 0 ? 0 : errno;
	close(fd);
	return error;
}

static void
rename_report(struct tuner *t, int64_t trial, int error)
{
	char *text;

	/* The checkpoint, or the folder of the trial, may be gone already. */
	if (error == 0 || error == ENOENT)
		return;
	text = xasprintf("the checkpoint of trial %" PRId64
			 " could not be deleted: %s",
	    trial, strerror(error));
	tuner_queue_event(t, LOG_LEVEL_WARN, "checkpoint", text);
	free(text);
}

void
checkpoints_delete(struct tuner *t)
{
	struct checkpoints *c = &t->checkpoints;
	int fd, error;
	char *path;
	size_t i;

	if (c->n_doomed == 0)
		return;
	fail_point("checkpoints.before_rename");
	path = xasprintf("%s/%s", t->env.state_dir, trash);
	(void)mkdir(path, 0777);
	fd = checkpoints_folder_open(AT_FDCWD, path);
	error = fd < 0 ? errno : 0;
	for (i = 0; i < c->n_doomed; i++)
		rename_report(t, c->doomed[i],
		    fd < 0 ? error : checkpoint_rename(t, fd, c->doomed[i]));
	if (fd >= 0)
		close(fd);
	free(path);
	c->n_doomed = 0;
	c->stuck = false;
	child_start(t);
}

void
checkpoints_close(struct tuner *t)
{
	struct checkpoints *c = &t->checkpoints;
	struct strv left = { 0 };

	/* A server leaves its child; a command without one is over then. */
	while (c->child != 0) {
		if (t->env.hold && spawn_reap(c->child) != 0)
			c->stuck = true;
		loop_fd_free(c->watch);
		close(c->child_fd);
		c->child = 0;
		if (t->env.hold)
			child_start(t);
	}
	/* Removes the folder, if it is empty. */
	if (c->n_seen > 0)
		trash_list(&left, t);
	strv_free(left.v);
	free(c->list);
	free(c->seen);
	free(c->doomed);
	*c = (struct checkpoints){ 0 };
}
