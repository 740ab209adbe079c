/*
 * The modules of trial.shims in the root, which the nodes see, and in NAME.d, where
 * a trial that is run again by hand finds them.
 */

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "src/base/folder.h"
#include "src/model/study/study.h"
#include "trials/slurm/slurm-internal.h"
#include "trials/trackers/tracker-modules.h"

static bool
slurm_shims_used(const struct study_trial *t)
{
	return t->shims != NULL && t->shims[0] != NULL;
}

static int
slurm_shims_write(const char *dir, char *const *shims, struct err *e)
{
	int fd = folder_open(AT_FDCWD, dir, 022, e), rc;

	if (fd == -1)
		return -1;
	rc = tracker_modules_write(fd, dir, shims, e);
	(void)close(fd);
	return rc;
}

int
slurm_shims_open(const struct slurm *s, struct err *e)
{
	int rc = 0;

	if (!slurm_shims_used(s->trial))
		return 0;
	if (strcmp(s->root, s->state_dir) != 0)
		rc = slurm_shims_write(s->state_dir, s->trial->shims, e);
	if (rc == 0)
		rc = slurm_shims_write(s->root, s->trial->shims, e);
	return rc;
}

void
slurm_shims_put(struct buf *b, const struct slurm *s)
{
	if (!slurm_shims_used(s->trial))
		return;
	buf_puts(b, "PYTHONPATH=$hpotune_root/" TRACKER_MODULES_DIR
		    "${PYTHONPATH:+:$PYTHONPATH}\n"
		    "export PYTHONPATH\n");
}
