/* Copies of a launch_spec: uploading the code may take a while. */

#include <stdlib.h>

#include "src/base/mem.h"
#include "trials/backend.h"
#include "trials/sagemaker/sm-spec-copy.h"

static char *
text_copy(const char *s)
{
	return s != NULL ? xstrdup(s) : NULL;
}

struct launch_spec *
sm_spec_copy(const struct launch_spec *spec)
{
	struct launch_spec *s = xmalloc(sizeof *s);

	*s = *spec;
	s->study = text_copy(spec->study);
	s->uuid = text_copy(spec->uuid);
	s->trial_dir = text_copy(spec->trial_dir);
	s->params_json = text_copy(spec->params_json);
	s->argv = strv_copy(spec->argv);
	s->env = strv_copy(spec->env);
	s->own_env = strv_copy(backend_spec_env(spec));
	return s;
}

void
sm_spec_copy_free(struct launch_spec *s)
{
	if (s == NULL)
		return;
	free((char *)s->study);
	free((char *)s->uuid);
	free((char *)s->trial_dir);
	free((char *)s->params_json);
	strv_free((char **)s->argv);
	strv_free((char **)s->env);
	strv_free((char **)s->own_env);
	free(s);
}
