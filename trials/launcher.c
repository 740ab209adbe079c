/* What an attempt is given, whichever launcher runs it. */

#include "src/model/study/study.h"
#include "trials/launcher.h"

char *const *
launch_env_of(const struct launch_spec *spec)
{
	return spec->own_env != NULL ? spec->own_env : spec->settings->env;
}

const char *
launch_workdir_of(const struct launch_spec *spec)
{
	return spec->workdir != NULL ? spec->workdir : spec->settings->workdir;
}
