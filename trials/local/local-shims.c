/*
 * Modules of Python in the place of trackers of experiments (trial.shims), from
 * python/shims: files of the state directory, first on the path of each trial.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/model/study/study.h"
#include "trials/local/local-internal.h"

static const char shims_common[] =
#include "python/shims/hpotune_shim.inc"
    ;
static const char shims_mlflow[] =
#include "python/shims/mlflow.inc"
    ;
static const char shims_mlflow_libraries[] =
#include "python/shims/hpotune_mlflow.inc"
    ;
static const char shims_tensorboard[] =
#include "python/shims/tensorboard.inc"
    ;
static const char shims_tensorboardx[] =
#include "python/shims/tensorboardX.inc"
    ;
static const char shims_wandb[] =
#include "python/shims/wandb.inc"
    ;
static const char shims_wandb_libraries[] =
#include "python/shims/hpotune_wandb.inc"
    ;

/* Libraries ask for the version of a package before they use it. */
static const struct shims_file {
	const char *shim, *name, *text;
	const char *version; /* as in the text; NULL: no package of its own */
} shims_files[] = {
	{ "mlflow", "hpotune_mlflow", shims_mlflow_libraries, NULL },
	{ "mlflow", "mlflow", shims_mlflow, "2.20.0" },
	{ "tensorboard", "tensorboard", shims_tensorboard, "2.18.0" },
	{ "tensorboard", "tensorboardX", shims_tensorboardx, "2.6.0" },
	{ "wandb", "hpotune_wandb", shims_wandb_libraries, NULL },
	{ "wandb", "wandb", shims_wandb, "0.19.0" },
};

/* Trials of an earlier server may read the file meanwhile.  0, or an errno. */
static int
shims_put(const char *dir, const char *name, const char *text)
{
	char *path = xasprintf("%s/%s", dir, name);
	char *new = xasprintf("%s.new", path);
	size_t len = strlen(text);
	int fd, r;

	(void)unlink(new);
	fd = open(
	    new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	r = fd == -1 ? errno : 0;
	if (fd != -1) {
		if (write(fd, text, len) != (ssize_t)len)
			r = errno != 0 ? errno : ENOSPC;
		(void)close(fd);
	}
	if (r == 0 && rename(new, path) == -1)
		r = errno;
	free(new);
	free(path);
	return r;
}

/* The metadata of a package.  0, or an errno. */
static int
shims_package_put(const char *dir, const struct shims_file *f)
{
	char *info = xasprintf("%s/%s-%s.dist-info", dir, f->name, f->version);
	char *text = xasprintf("Metadata-Version: 2.1\nName: %s\nVersion: %s\n",
	    f->name, f->version);
	int r = mkdir(info, 0700) == -1 && errno != EEXIST ? errno : 0;

	if (r == 0)
		r = shims_put(info, "METADATA", text);
	free(text);
	free(info);
	return r;
}

/* 0, or an errno. */
static int
shims_module_put(const char *dir, const struct shims_file *f)
{
	char *module = xasprintf("%s.py", f->name);
	int r = f->version != NULL ? shims_package_put(dir, f) : 0;

	if (r == 0)
		r = shims_put(dir, module, f->text);
	free(module);
	return r;
}

int
local_shims_open(struct local *l, const struct study_trial *t, struct err *e)
{
	size_t i, k;
	int r;

	if (t->shims == NULL || t->shims[0] == NULL)
		return 0;
	l->shims = xasprintf("%s/shims", l->home.path);
	r = mkdir(l->shims, 0700) == -1 && errno != EEXIST ? errno : 0;
	if (r == 0)
		r = shims_put(l->shims, "hpotune_shim.py", shims_common);
	for (i = 0; t->shims[i] != NULL; i++)
		for (k = 0; k < sizeof shims_files / sizeof *shims_files; k++)
			if (r == 0 &&
			    strcmp(shims_files[k].shim, t->shims[i]) == 0)
				r = shims_module_put(l->shims, &shims_files[k]);
	if (r == 0)
		return 0;
	return err_set(e, ERR_FILE, "%s: %s", l->shims, strerror(r));
}
