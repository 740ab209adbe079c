/* The keys hooks and provenance of study.json: programs beside the trials. */

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/study/study-internal.h"
#include "src/model/study/study.h"

enum { PROGRAM_WORDS_MAX = 1024, HOOK_TIMEOUT_MS = 60000 };

static const char *const hook_names[] = {
	[STUDY_HOOK_BEST] = "best",
	[STUDY_HOOK_FAILED] = "failed",
	[STUDY_HOOK_FINISHED] = "finished",
	NULL,
};

const char *
study_hook_name(enum study_hook hook)
{
	return hook_names[hook];
}

/* A program and its arguments; the caller frees *argv, also after an error. */
static int
study_read_program(char ***argv, const struct json *list, struct err *e)
{
	const struct json *j;
	const char *text;
	size_t n = 0;

	if (json_type(list) != JSON_ARRAY || json_count(list) == 0 ||
	    json_count(list) > PROGRAM_WORDS_MAX)
		return json_err(list, e,
		    "expected a list of texts: a program and its arguments");
	*argv = xcalloc(json_count(list) + 1, sizeof **argv);
	for (j = json_first(list); j != NULL; j = json_next(j)) {
		if (json_read_string(j, &text, e) != 0)
			return -1;
		(*argv)[n++] = xstrdup(text);
	}
	return **argv[0] != '\0' ? 0
				 : json_err(json_first(list), e,
				       "expected the name of a program");
}

int
study_read_hooks(
    struct study_hooks *hooks, const struct json *block, struct err *e)
{
	static const char *const known[] = { "best", "failed", "finished",
		"timeout", NULL };
	const struct json *j;
	int i;

	hooks->timeout_ms = HOOK_TIMEOUT_MS;
	if (json_want(block, JSON_OBJECT, e) != 0 ||
	    json_only(block, known, e) != 0)
		return -1;
	for (i = 0; i < STUDY_HOOKS; i++) {
		j = json_get(block, hook_names[i]);
		if (j != NULL && study_read_program(&hooks->argv[i], j, e) != 0)
			return -1;
	}
	j = json_get(block, "timeout");
	return j != NULL ? study_read_duration(&hooks->timeout_ms, j, e) : 0;
}

void
study_hooks_clear(struct study_hooks *hooks)
{
	int i;

	for (i = 0; i < STUDY_HOOKS; i++) {
		strv_free(hooks->argv[i]);
		hooks->argv[i] = NULL;
	}
}

int
study_read_provenance(
    struct study_provenance *p, const struct json *block, struct err *e)
{
	static const char *const known[] = { "git", "packages", NULL };
	const struct json *j;
	bool git = true;

	if (json_want(block, JSON_OBJECT, e) != 0 ||
	    json_only(block, known, e) != 0)
		return -1;
	j = json_get(block, "git");
	if (j != NULL && json_read_bool(j, &git, e) != 0)
		return -1;
	p->without_git = !git;
	j = json_get(block, "packages");
	return j != NULL ? study_read_program(&p->packages, j, e) : 0;
}
