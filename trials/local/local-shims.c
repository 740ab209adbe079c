/* The modules of trial.shims in the state directory, first on the path of trials. */

#include "src/base/mem.h"
#include "src/model/study/study.h"
#include "trials/local/local-internal.h"
#include "trials/trackers/tracker-modules.h"

int
local_shims_open(struct local *l, const struct study_trial *t, struct err *e)
{
	if (t->shims == NULL || t->shims[0] == NULL)
		return 0;
	l->shims = xasprintf("%s/" TRACKER_MODULES_DIR, l->home.path);
	return tracker_modules_write(l->home.fd, l->home.path, t->shims, e);
}
