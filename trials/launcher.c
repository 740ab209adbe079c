/* Accessors of struct launch_spec that all launchers share. */

#include "src/model/study/study.h"
#include "trials/launcher.h"

char *const *
launcher_spec_env(const struct launch_spec *spec)
{
	return spec->own_env != NULL ? spec->own_env : spec->settings->env;
}

const char *
launcher_spec_workdir(const struct launch_spec *spec)
{
	return spec->workdir != NULL ? spec->workdir : spec->settings->workdir;
}
