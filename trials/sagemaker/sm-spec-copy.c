/* A deep copy of a launch_spec: uploading the code may take a while. */

#include <stdlib.h>

#include "trials/sagemaker/sm-internal.h"

static char **
list_copy(char *const *list)
{
	char **copy;
	size_t n = 0;

	if (list == NULL)
		return NULL;
	while (list[n] != NULL)
		n++;
	copy = xcalloc(n + 1, sizeof *copy);
	while (n-- > 0)
		copy[n] = xstrdup(list[n]);
	return copy;
}

static void
list_drop(char *const *list)
{
	size_t i;

	for (i = 0; list != NULL && list[i] != NULL; i++)
		free(list[i]);
	free((void *)list);
}

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
	s->argv = list_copy(spec->argv);
	s->env = list_copy(spec->env);
	s->own_env = list_copy(launcher_spec_env(spec));
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
	list_drop(s->argv);
	list_drop(s->env);
	list_drop(s->own_env);
	free(s);
}
