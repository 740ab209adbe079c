/*
 * Downloads what a job left in S3: one object after the other, in pieces, into
 * a folder that gets its final name when it is complete.  Runs the caller's
 * loop.
 */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/loop.h"
#include "trials/sagemaker/sm-internal.h"
#include "trials/sagemaker/sm-open.h"

enum { PIECE = 8 << 20 /* bytes of one request */ };

struct fetch_object {
	char *key;
	int64_t size;
};

struct fetch {
	struct sm *sm;
	char *bucket, *prefix; /* of the URI; prefix without slash at its end */
	bool folder; /* all below prefix, else the one object */
	const char *dir;
	char *part; /* what dir is called until it is whole */
	struct fetch_object *objects;
	size_t n, at;
	int fd; /* of object at, or -1 */
	int64_t done; /* bytes of it */
	bool begun, over, bad;
	struct err err;
};

static void
fetch_end(struct fetch *f)
{
	f->over = true;
	loop_stop(f->sm->loop);
}

static void
fetch_fail_file(struct fetch *f, const char *path)
{
	f->bad = true;
	(void)err_set(&f->err, ERR_FILE, "%s: %s", path, strerror(errno));
	fetch_end(f);
}

static void
fetch_fail_answer(struct fetch *f, const char *key, const struct aws_answer *r)
{
	f->bad = true;
	(void)err_set(
	    &f->err, ERR_REMOTE, "s3://%s/%s: %s", f->bucket, key, r->message);
	fetch_end(f);
}

/* The part of a key below the prefix; NULL = it would leave the folder. */
static const char *
inner_name(const struct fetch *f, const char *key)
{
	const char *name =
	    f->folder ? key + strlen(f->prefix) + 1 : strrchr(key, '/');
	const char *at;

	if (!f->folder)
		name = name != NULL ? name + 1 : key;
	for (at = name; *at != '\0'; at += strcspn(at, "/"), at += *at == '/')
		if (*at == '/' || strncmp(at, "../", 3) == 0 ||
		    strcmp(at, "..") == 0)
			return NULL;
	return *name != '\0' ? name : NULL;
}

/* All folders of a path. */
static int
folders_make(char *path)
{
	char *at;

	for (at = strchr(path + 1, '/'); at != NULL; at = strchr(at + 1, '/')) {
		*at = '\0';
		if (mkdir(path, 0777) == -1 && errno != EEXIST)
			return -1;
		*at = '/';
	}
	return 0;
}

static void fetch_next(struct fetch *);

static void
on_piece(void *arg, const struct aws_answer *r)
{
	struct fetch *f = arg;
	const struct fetch_object *o = &f->objects[f->at];
	size_t done = 0;
	ssize_t n;

	if (!r->good || (r->len == 0 && f->done < o->size)) {
		fetch_fail_answer(f, o->key, r);
		return;
	}
	while (done < r->len) {
		n = write(f->fd, r->body + done, r->len - done);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1) {
			fetch_fail_file(f, f->part);
			return;
		}
		done += (size_t)n;
	}
	f->done += (int64_t)r->len;
	fetch_next(f);
}

static void
piece_ask(struct fetch *f)
{
	struct aws_s3_ask ask = { .method = "GET",
		.bucket = f->bucket,
		.key = f->objects[f->at].key,
		.from = f->done,
		.most = PIECE };

	(void)aws_s3(f->sm->aws, &ask, on_piece, f);
}

/* Start with object at; skip the empty objects that mark folders. */
static void
object_open(struct fetch *f)
{
	const char *name = inner_name(f, f->objects[f->at].key);
	char *path;

	if (name == NULL) {
		f->objects[f->at].size = 0;
		return;
	}
	path = xasprintf("%s/%s", f->part, name);
	f->fd = folders_make(path) == -1
		    ? -1
		    : open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (f->fd == -1)
		fetch_fail_file(f, path);
	free(path);
}

static void
object_close(struct fetch *f)
{
	if (f->fd != -1 && (fsync(f->fd) == -1 || close(f->fd) == -1))
		fetch_fail_file(f, f->part);
	f->fd = -1;
	f->done = 0;
	f->at++;
}

static void
fetch_next(struct fetch *f)
{
	while (!f->over && f->at < f->n) {
		if (f->done == 0)
			object_open(f);
		if (!f->over && f->done < f->objects[f->at].size) {
			piece_ask(f);
			return;
		}
		if (!f->over)
			object_close(f);
	}
	if (f->over)
		return;
	if (rename(f->part, f->dir) == -1)
		fetch_fail_file(f, f->dir);
	else
		fetch_end(f);
}

static void
sm_download_on_list(void *arg, const struct aws_answer *r,
    const struct aws_s3_object *objects, size_t n)
{
	struct fetch *f = arg;
	size_t i;

	if (!r->good) {
		fetch_fail_answer(f, f->prefix, r);
		return;
	}
	f->objects = xcalloc(n + 1, sizeof *f->objects);
	for (i = 0; i < n; i++) {
		if (!f->folder && strcmp(objects[i].key, f->prefix) != 0)
			continue;
		f->objects[f->n++] = (struct fetch_object){
			.key = xstrdup(objects[i].key),
			.size = objects[i].size,
		};
	}
	if (f->n == 0) {
		f->bad = true;
		(void)err_set(&f->err, ERR_REMOTE,
		    "s3://%s/%s: nothing found: the trial wrote nothing to its "
		    "SM_MODEL_DIR, or it was removed",
		    f->bucket, f->prefix);
		fetch_end(f);
		return;
	}
	fetch_next(f);
}

static void
sm_download_on_turn(void *arg)
{
	struct fetch *f = arg;
	char *prefix;

	if (!f->begun) {
		f->begun = true;
		prefix = xasprintf("%s%s", f->prefix, f->folder ? "/" : "");
		(void)aws_s3_list(
		    f->sm->aws, f->bucket, prefix, 0, sm_download_on_list, f);
		free(prefix);
	}
	if (f->over)
		loop_stop(f->sm->loop);
}

/* What was written of object i, and the folders that are empty by that. */
static void
object_remove(const struct fetch *f, size_t i)
{
	const char *name = inner_name(f, f->objects[i].key);
	size_t n = strlen(f->part);
	char *path, *slash;

	if (name == NULL)
		return;
	path = xasprintf("%s/%s", f->part, name);
	(void)unlink(path);
	while ((slash = strrchr(path, '/')) != NULL && slash > path + n) {
		*slash = '\0';
		(void)rmdir(path);
	}
	free(path);
}

static void
fetch_fini(struct fetch *f)
{
	size_t i;

	if (f->fd != -1)
		(void)close(f->fd);
	for (i = 0; f->bad && i < f->n; i++)
		object_remove(f, i);
	if (f->bad && f->part != NULL)
		(void)rmdir(f->part);
	for (i = 0; i < f->n; i++)
		free(f->objects[i].key);
	free(f->objects);
	free(f->bucket);
	free(f->prefix);
	free(f->part);
}

/* The two parts of s3://BUCKET/KEY; the key without a slash at its end. */
static int
uri_split(struct fetch *f, const char *uri, struct err *e)
{
	const char *slash;
	size_t n;

	slash = strncmp(uri, "s3://", 5) == 0 ? strchr(uri + 5, '/') : NULL;
	if (slash == NULL || slash == uri + 5 || slash[1] == '\0')
		return err_set(e, ERR_USAGE, "%s is no place in S3", uri);
	f->bucket = xstrndup(uri + 5, (size_t)(slash - uri) - 5);
	n = strlen(slash + 1);
	f->folder = slash[n] == '/';
	while (n > 0 && slash[n] == '/')
		n--;
	f->prefix = xstrndup(slash + 1, n);
	return 0;
}

static int
fetch_begin(struct fetch *f, const char *uri, struct err *e)
{
	struct stat st;

	if (uri_split(f, uri, e) != 0)
		return -1;
	if (lstat(f->dir, &st) == 0)
		return err_set(e, ERR_FILE,
		    "%s: exists already, and is not overwritten", f->dir);
	f->part = xasprintf("%s.%ld.part", f->dir, (long)getpid());
	if (mkdir(f->part, 0777) == -1)
		return err_set(e, ERR_FILE, "%s: %s", f->part, strerror(errno));
	return 0;
}

int
sm_download(const struct launch_env *env, const char *uri, const char *dir,
    struct err *e)
{
	struct sm *sm = xcalloc(1, sizeof *sm);
	struct fetch f = { .sm = sm, .dir = dir, .fd = -1, .err = ERR_INIT };
	int rc = sm_open_client(sm, env, e);

	if (rc == 0 && (rc = fetch_begin(&f, uri, e)) == 0) {
		loop_run(sm->loop, sm_download_on_turn, &f);
		if (f.bad || !f.over) {
			f.bad = true;
			rc = -1;
			if (e != NULL)
				*e = f.err;
		}
	}
	sm_close(sm);
	fetch_fini(&f);
	return rc;
}
