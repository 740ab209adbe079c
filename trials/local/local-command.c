/*
 * Builds the argument list of an attempt: the command of the study inside the
 * wrappers of its launcher.
 */

#include "src/model/study/study.h"
#include "trials/local/local-internal.h"

void
local_command_add(struct local_argv *w, char *word)
{
	w->word = xreallocarray(w->word, w->n + 2, sizeof *w->word);
	w->word[w->n++] = word;
	w->word[w->n] = NULL;
}

char **
local_command(
    const struct local *l, const struct launch_spec *spec, const char *dir)
{
	struct local_argv w = { 0 };
	size_t i;

	if (spec->settings->launcher != STUDY_LAUNCHER_NONE)
		local_ranks_command(&w, l, spec, dir);
	if (l->pack.size > 0) {
		local_pack_command(&w, l, spec, dir);
		return w.word;
	}
	for (i = 0; spec->argv[i] != NULL; i++)
		local_command_add(&w, xstrdup(spec->argv[i]));
	return w.word;
}
