/* The modules of python/shims, and their files. */

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/file.h"
#include "src/base/folder.h"
#include "src/base/mem.h"
#include "trials/trackers/tracker-modules.h"

static const char tracker_common[] =
#include "python/shims/hpotune_shim.inc"
    ;
static const char tracker_mlflow[] =
#include "python/shims/mlflow.inc"
    ;
static const char tracker_mlflow_libraries[] =
#include "python/shims/hpotune_mlflow.inc"
    ;
static const char tracker_tensorboard[] =
#include "python/shims/tensorboard.inc"
    ;
static const char tracker_tensorboardx[] =
#include "python/shims/tensorboardX.inc"
    ;
static const char tracker_wandb[] =
#include "python/shims/wandb.inc"
    ;
static const char tracker_wandb_libraries[] =
#include "python/shims/hpotune_wandb.inc"
    ;

/* Libraries ask for the version of a package before they use it. */
static const struct tracker_file {
	const char *tracker, *name, *text;
	const char *version; /* as in the text; NULL: no package of its own */
} tracker_files[] = {
	{ "mlflow", "hpotune_mlflow", tracker_mlflow_libraries, NULL },
	{ "mlflow", "mlflow", tracker_mlflow, "2.20.0" },
	{ "tensorboard", "tensorboard", tracker_tensorboard, "2.18.0" },
	{ "tensorboard", "tensorboardX", tracker_tensorboardx, "2.6.0" },
	{ "wandb", "hpotune_wandb", tracker_wandb_libraries, NULL },
	{ "wandb", "wandb", tracker_wandb, "0.19.0" },
};

/* Whether the file has this text. */
static bool
tracker_file_same(int dir_fd, const char *name, const char *text)
{
	size_t len = strlen(text), n = 0;
	int fd = file_open(dir_fd, name);
	char *found;
	ssize_t got;
	bool same;

	if (fd == -1)
		return false;
	found = xcalloc(len + 1, 1);
	while (n <= len && (got = read(fd, found + n, len + 1 - n)) > 0)
		n += (size_t)got;
	same = n == len && memcmp(found, text, len) == 0;
	free(found);
	(void)close(fd);
	return same;
}

/* 0, or an errno. */
static int
tracker_file_write(int dir_fd, const char *name, const char *text)
{
	size_t len = strlen(text);
	char *new;
	int fd, r;

	if (tracker_file_same(dir_fd, name, text))
		return 0;
	new = xasprintf("%s.new", name);
	(void)unlinkat(dir_fd, new, 0);
	fd = openat(dir_fd, new,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	r = fd == -1 ? errno : 0;
	if (fd != -1) {
		errno = 0;
		if (write(fd, text, len) != (ssize_t)len)
			r = errno != 0 ? errno : ENOSPC;
		/* Other nodes see it only then. */
		if (close(fd) == -1 && r == 0)
			r = errno;
	}
	if (r == 0 && renameat(dir_fd, new, dir_fd, name) == -1)
		r = errno;
	free(new);
	return r;
}

/* Make a folder that is this user's alone, or open it; -1: errno. */
static int
tracker_folder_open(int dir_fd, const char *name)
{
	struct err e = ERR_INIT;

	if (mkdirat(dir_fd, name, 0700) == -1 && errno != EEXIST)
		return -1;
	return folder_open(dir_fd, name, 077, &e);
}

/* The metadata of a package.  0, or an errno. */
static int
tracker_package_write(int dir_fd, const struct tracker_file *f)
{
	char *info = xasprintf("%s-%s.dist-info", f->name, f->version);
	char *text = xasprintf("Metadata-Version: 2.1\nName: %s\nVersion: %s\n",
	    f->name, f->version);
	int fd = tracker_folder_open(dir_fd, info), r = fd == -1 ? errno : 0;

	if (fd != -1) {
		r = tracker_file_write(fd, "METADATA", text);
		(void)close(fd);
	}
	free(text);
	free(info);
	return r;
}

/* 0, or an errno. */
static int
tracker_module_write(int dir_fd, const struct tracker_file *f)
{
	char *module = xasprintf("%s.py", f->name);
	int r = f->version != NULL ? tracker_package_write(dir_fd, f) : 0;

	if (r == 0)
		r = tracker_file_write(dir_fd, module, f->text);
	free(module);
	return r;
}

int
tracker_modules_write(
    int dir_fd, const char *path, char *const *trackers, struct err *e)
{
	size_t k, n = sizeof tracker_files / sizeof *tracker_files;
	int fd, r;

	if (strchr(path, ':') != NULL)
		return err_set(e, ERR_FILE,
		    "%s: trial.shims needs a folder without a colon in its "
		    "path, which PYTHONPATH cannot have",
		    path);
	fd = tracker_folder_open(dir_fd, TRACKER_MODULES_DIR);
	r = fd == -1 ? errno : 0;
	if (r == 0)
		r = tracker_file_write(fd, "hpotune_shim.py", tracker_common);
	for (; *trackers != NULL; trackers++)
		for (k = 0; k < n; k++)
			if (r == 0 &&
			    strcmp(tracker_files[k].tracker, *trackers) == 0)
				r = tracker_module_write(fd, &tracker_files[k]);
	if (fd != -1)
		(void)close(fd);
	if (r == 0)
		return 0;
	return err_set(
	    e, ERR_FILE, "%s/" TRACKER_MODULES_DIR ": %s", path, strerror(r));
}
