/* "trial.source" of study.json: the commit whose files a trial runs. */

#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/study/study-internal.h"

/* Whether git could read the text as an option, or as several words. */
static bool
source_revision_good(const char *text)
{
	return *text != '\0' && *text != '-' &&
	       text[strcspn(text, " \t\n\r")] == '\0';
}

/* What cannot run in a worktree of its own. */
static int
study_read_source_check(
    const struct study_trial *t, const struct json *block, struct err *e)
{
	if (t->command[0] == NULL)
		return json_err_key(block, e,
		    "this key goes with trial.command, which runs in the "
		    "worktree");
	if (t->pack > 0)
		return json_err_key(block, e,
		    "this key does not go with pack: the trials of a program "
		    "share its files");
	return 0;
}

int
study_read_source(
    struct study_trial *t, const struct json *block, struct err *e)
{
	static const char *const known[] = { "git", "commit", "uncommitted",
		NULL };
	static const char *const words[] = { "refuse", "record", NULL };
	const char *git, *commit = "HEAD";
	struct study_source *s = &t->source;
	const struct json *j;
	size_t i = 0;

	if (block == NULL)
		return 0;
	if (json_want(block, JSON_OBJECT, e) != 0 ||
	    json_only(block, known, e) != 0)
		return -1;
	j = json_get(block, "git");
	if (j == NULL)
		return json_err(
		    block, e, "expected \"git\", a folder of the repository");
	if (json_read_string(j, &git, e) != 0)
		return -1;
	if (*git == '\0')
		return json_err(j, e, "expected a folder of the repository");
	j = json_get(block, "commit");
	if (j != NULL && json_read_string(j, &commit, e) != 0)
		return -1;
	if (!source_revision_good(commit))
		return json_err(
		    j, e, "expected a commit, a branch or a tag, as \"HEAD\"");
	j = json_get(block, "uncommitted");
	if (j != NULL && json_read_word(j, words, &i, e) != 0)
		return -1;
	if (study_read_source_check(t, block, e) != 0)
		return -1;
	s->git = *git == '/' ? xstrdup(git) : xasprintf("%s/%s", t->dir, git);
	s->commit = xstrdup(commit);
	s->record = i == 1;
	s->where = block;
	return 0;
}

void
study_source_clear(struct study_source *s)
{
	free(s->git);
	free(s->commit);
	free(s->hash);
	*s = (struct study_source){ 0 };
}
