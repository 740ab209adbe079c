/*
 * Uploads the user's code and our entry script to S3, once per study and
 * content.
 *
 * The key is the digest of script and archive. run.sh is uploaded last and
 * checked first: if it exists, the upload is complete.
 *
 * The tar command that packs the code folder: equal files give equal bytes, and
 * the files that studies write beside the code, which change all the time, are
 * excluded.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/capture.h"
#include "src/base/digest.h"
#include "src/base/err.h"
#include "src/base/fail.h"
#include "src/base/file.h"
#include "src/base/loop.h"
#include "src/model/study/study.h"
#include "trials/sagemaker/sm-internal.h"

/* The database and the folder of a study: its path in the code, no ".d". */
static void
study_leave_out(struct strv *w, const char *path, size_t n)
{
	static const char *const ends[] = { ".d", ".db", ".db-wal", ".db-shm",
		".db-journal" };
	size_t i;

	for (i = 0; i < sizeof ends / sizeof ends[0]; i++)
		strv_add(
		    w, xasprintf("--exclude=./%.*s%s", (int)n, path, ends[i]));
}

/* How much of "NAME.d" is NAME; 0 when it is something else. */
static size_t
name_len(const char *s)
{
	size_t n = strlen(s);

	return n > 2 && strcmp(s + n - 2, ".d") == 0 ? n - 2 : 0;
}

/* Leave out our own files, wherever they are kept below the code. */
static void
own_leave_out(struct strv *w, const char *code, const char *state_dir)
{
	char *path = realpath(state_dir, NULL);
	size_t n = strlen(code);

	if (path != NULL && strncmp(path, code, n) == 0 && path[n] == '/' &&
	    name_len(path) > n)
		study_leave_out(w, path + n + 1, name_len(path) - n - 1);
	free(path);
}

/*
 * Leave out the files of other studies, which lie side by side with the code.
 */
static void
others_leave_out(struct strv *w, const char *code)
{
	DIR *dir = opendir(code);
	const struct dirent *d;
	char *database;
	size_t n;

	while (dir != NULL && (d = readdir(dir)) != NULL) {
		if ((n = name_len(d->d_name)) == 0)
			continue;
		database = xasprintf("%s/%.*s.db", code, (int)n, d->d_name);
		if (access(database, F_OK) == 0)
			study_leave_out(w, d->d_name, n);
		free(database);
	}
	if (dir != NULL)
		(void)closedir(dir);
}

/* The command that packs the code; free with strv_free. */
static char **
sm_code_archive_argv(
    const char *code, const char *state_dir, const char *archive)
{
	static const char *const options[] = { "--format=gnu", "--sort=name",
		"--mtime=@0", "--owner=0", "--group=0", "--numeric-owner",
		"--mode=u+rw,go+rX-w", "--use-compress-program=gzip -n",
		"--force-local", "--exclude-vcs", "--exclude=__pycache__",
		"--anchored", "--no-wildcards" };
	struct strv w = { 0 };
	size_t i;

	strv_add(&w, xstrdup("tar"));
	strv_add(&w, xstrdup("--create"));
	strv_add(&w, xasprintf("--file=%s", archive));
	for (i = 0; i < sizeof options / sizeof options[0]; i++)
		strv_add(&w, xstrdup(options[i]));
	own_leave_out(&w, code, state_dir);
	others_leave_out(&w, code);
	strv_add(&w, xasprintf("--directory=%s", code));
	strv_add(&w, xstrdup("."));
	return w.v;
}

enum {
	CODE_MOST = 512 << 20, /* bytes of the archive, held in memory */
	TAR_MS = 10 * 60 * 1000,
	TAR_TRIES = 3 /* files that change while they are read */
};

/*
 * Trials of one study should run the same code: store its digest in NAME.d and
 * note a change.  Errors are ignored.
 */
static void
code_remember(struct sm *sm)
{
	char *path = xasprintf("%s/code.key", sm->state_dir);
	const char *key = strrchr(sm->code.key, '/') + 1;
	char was[128];
	int fd = -1;

	(void)file_read(AT_FDCWD, path, was, sizeof was);
	was[strcspn(was, "\n")] = '\0';
	if (*was != '\0' && strcmp(was, key) != 0)
		sm_events_note(sm, NULL, LAUNCH_WARNING,
		    "the code folder has changed: attempts that begin now "
		    "use its present contents");
	if (strcmp(was, key) != 0)
		fd = file_open_for(
		    AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	if (fd != -1) {
		(void)dprintf(fd, "%s\n", key);
		(void)close(fd);
	}
	free(path);
}

/* The upload is complete: continue the waiting attempts. */
static void
code_ready(struct sm *sm)
{
	size_t i;

	code_remember(sm);

	sm->code.step = SM_CODE_READY;
	sm->code.tries = 0;
	if (sm->code.path != NULL)
		(void)unlink(sm->code.path);
	for (i = 0; i < sm->n; i++)
		if (sm->attempts[i]->state == SM_CODE)
			sm->attempts[i]->state = SM_QUEUED;
	sm_create_pump(sm);
}

/*
 * The upload failed for a reason that only the user can fix and that is no
 * trial's fault: waiting attempts are undone; later ones try again.
 */
static void
code_failed(struct sm *sm, const char *why)
{
	size_t i;

	sm->code.step = SM_CODE_NONE;
	sm->code.tries = 0;
	for (i = 0; i < sm->n; i++)
		if (sm->attempts[i]->state == SM_CODE)
			sm_events_over_unmade(sm->attempts[i], why);
}

static void
code_wait(struct sm *sm, const char *why)
{
	struct sm_code *c = &sm->code;

	if (!c->said_trouble)
		sm_events_note(sm, NULL, LAUNCH_WARNING,
		    "the code is not in S3 yet: %s; it is tried again", why);
	c->said_trouble = true;
	c->step = SM_CODE_WAIT;
	loop_timer_set(c->timer, sm_pause_ms(sm, c->tries++));
}

/* True: the answer is good. */
static bool
code_upload_answer_good(
    struct sm *sm, const struct aws_answer *r, const char *what)
{
	char owner[LAUNCH_WHY], *why;

	sm->code.call = NULL;
	if (r->good)
		return true;
	if (sm_owner_errors_why(
		owner, sizeof owner, sm->set, r->code, r->message)) {
		code_failed(sm, owner);
		return false;
	}
	/* Without the long key, which is of no use to the user. */
	why = xasprintf("%s s3://%s: %s", what, sm->set->bucket, r->message);
	switch (r->what) {
	case AWS_THROTTLE:
	case AWS_TRANSIENT:
	case AWS_CLOCK:
	case AWS_CREDENTIALS:
		code_wait(sm, why);
		break;
	case AWS_OK:
	case AWS_QUOTA:
	case AWS_EXISTS:
	case AWS_MISSING:
	case AWS_CALLER:
	case AWS_CLASSES:
		code_failed(sm, why);
		break;
	}
	free(why);
	return false;
}

static void
ask_s3(struct sm *sm, const char *method, const char *name, const void *body,
    size_t len, aws_cb *cb)
{
	char *key = xasprintf("%s/%s", sm->code.key, name);
	struct aws_s3_ask ask = { .method = method,
		.bucket = sm->set->bucket,
		.key = key,
		.body = body,
		.body_len = len,
		.kms = sm->set->kms_key };

	sm->code.call = aws_s3(sm->aws, &ask, cb, sm);
	free(key);
}

static void
on_put_run(void *arg, const struct aws_answer *r)
{
	struct sm *sm = arg;

	if (code_upload_answer_good(sm, r, "run.sh to"))
		code_ready(sm);
}

static void
put_run(struct sm *sm)
{
	sm->code.step = SM_CODE_PUT_RUN;
	ask_s3(sm, "PUT", "run.sh", sm_run_sh, strlen(sm_run_sh), on_put_run);
}

static void
on_put(void *arg, const struct aws_answer *r)
{
	struct sm *sm = arg;

	fail_point("sagemaker.put");
	if (code_upload_answer_good(sm, r, "code.tar.gz to"))
		put_run(sm);
}

static char *
read_archive(const char *path, size_t *len, struct err *e)
{
	int fd = file_open(AT_FDCWD, path);
	char *data = NULL;
	struct stat st;
	ssize_t n = 0;

	*len = 0;
	if (fd == -1 || fstat(fd, &st) == -1) {
		(void)err_set(e, ERR_FILE, "%s: %s", path, strerror(errno));
	} else if (st.st_size > CODE_MOST) {
		(void)err_set(e, ERR_FILE,
		    "the code folder packs to %lld MiB: at most %d are sent",
		    (long long)(st.st_size >> 20), CODE_MOST >> 20);
	} else {
		data = xmalloc((size_t)st.st_size + 1);
		while (
		    *len < (size_t)st.st_size &&
		    (n = read(fd, data + *len, (size_t)st.st_size - *len)) > 0)
			*len += (size_t)n;
		if (*len != (size_t)st.st_size) {
			free(data);
			data = NULL;
			(void)err_set(
			    e, ERR_FILE, "%s: it cannot be read", path);
		}
	}
	if (fd != -1)
		(void)close(fd);
	return data;
}

static void
put_archive(struct sm *sm)
{
	struct err e = ERR_INIT;
	char *data;
	size_t len;

	data = read_archive(sm->code.path, &len, &e);
	if (data == NULL) {
		code_failed(sm, e.text);
		return;
	}
	sm->code.step = SM_CODE_PUT;
	ask_s3(sm, "PUT", "code.tar.gz", data, len, on_put);
	free(data);
}

static void
on_head(void *arg, const struct aws_answer *r)
{
	struct sm *sm = arg;
	/*
	 * Without the right to list the bucket, S3 returns 403 for missing
	 * objects.
	 */
	bool absent = r->what == AWS_MISSING || r->status == 403;

	if (absent) {
		sm->code.call = NULL;
		if (sm->set->code != NULL)
			put_archive(sm);
		else
			put_run(sm);
	} else if (code_upload_answer_good(sm, r, "a look into"))
		code_ready(sm);
}

/* Check whether the digest exists in S3. */
static void
code_head(struct sm *sm)
{
	char script[DIGEST_HEX], archive[DIGEST_HEX] = "", both[DIGEST_HEX];
	struct err e = ERR_INIT;
	char *text;

	sha256_hex(script, sm_run_sh, strlen(sm_run_sh));
	if (sm->set->code != NULL &&
	    sha256_file(archive, sm->code.path, &e) == -1) {
		code_failed(sm, e.text);
		return;
	}
	text = xasprintf("%s %s", script, archive);
	sha256_hex(both, text, strlen(text));
	free(text);
	free(sm->code.key);
	sm->code.key = xasprintf("%s/code/%s", sm->study_key, both);
	sm->code.step = SM_CODE_HEAD;
	ask_s3(sm, "HEAD", "run.sh", NULL, 0, on_head);
}

static void
on_tar(void *arg, int status, const char *out, size_t len, const char *why)
{
	struct sm *sm = arg;
	char *text;

	(void)out;
	(void)len;
	sm->code.tar = NULL;
	if (status == 0) {
		code_head(sm);
		return;
	}
	/* tar returns 1 if a file changed while it was read. */
	if (WIFEXITED(status) && WEXITSTATUS(status) == 1 &&
	    sm->code.tries + 1 < TAR_TRIES) {
		code_wait(sm, "the code folder changes while it is packed");
		return;
	}
	text = xasprintf("the code folder %s cannot be packed: tar %s",
	    sm->set->code,
	    status == -1 && why != NULL && *why != '\0' ? why : "failed");
	code_failed(sm, text);
	free(text);
}

static void
code_pack(struct sm *sm)
{
	char **argv;
	struct capture_spec spec = { .timeout_ms = TAR_MS };
	struct err e = ERR_INIT;

	if (sm->code.path == NULL)
		sm->code.path = xasprintf("%s/code.tar.gz", sm->state_dir);
	argv =
	    sm_code_archive_argv(sm->set->code, sm->state_dir, sm->code.path);
	spec.argv = argv;
	sm->code.step = SM_CODE_PACK;
	if (capture_start(&sm->code.tar, sm->loop, &spec, on_tar, sm, &e) ==
	    -1) {
		sm->code.tar = NULL;
		code_failed(sm, e.text);
	}
	strv_free(argv);
}

static void
code_upload_on_timer(void *arg)
{
	struct sm *sm = arg;

	if (sm->code.step != SM_CODE_WAIT)
		return;
	sm->code.step = SM_CODE_NONE;
	sm_code_upload_start(sm);
}

void
sm_code_upload_start(struct sm *sm)
{
	if (sm->code.step != SM_CODE_NONE)
		return;
	if (sm->code.timer == NULL)
		sm->code.timer =
		    loop_timer_new(sm->loop, code_upload_on_timer, sm);
	if (sm->set->code != NULL)
		code_pack(sm);
	else
		code_head(sm);
}

void
sm_code_upload_close(struct sm *sm)
{
	if (sm->code.tar != NULL)
		capture_kill(sm->code.tar);
	if (sm->code.call != NULL)
		aws_call_cancel(sm->code.call);
	if (sm->code.timer != NULL)
		loop_timer_free(sm->code.timer);
	free(sm->code.path);
	free(sm->code.key);
}
