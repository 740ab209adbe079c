/*
 * study.json -> struct study: reads the top-level keys, and calls the readers of the
 * parts in order.
 */

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/foreign-words.h"
#include "src/model/space.h"
#include "src/model/study/study-internal.h"
#include "src/model/study/study.h"
#include "src/model/where.h"

enum { NAME_MAX_LEN = 32 };

static const char *const known[] = { "$schema", "description", "study",
	"objective", "objectives", "constraints", "parameters", "where",
	"strategy", "stopping", "trial", "backend", "limits", "enqueue",
	"warm_start", "notify", "keep", "hooks", "provenance", "replicates",
	"confirm", NULL };

bool
study_name_good(const char *name)
{
	size_t i;

	for (i = 0; name[i] != '\0'; i++)
		if (!islower((unsigned char)name[i]) &&
		    !isdigit((unsigned char)name[i]) &&
		    (i == 0 || name[i] != '-'))
			return false;
	return i > 0 && i <= NAME_MAX_LEN;
}

static int
study_read_name(struct study *s, const struct json *root, struct err *e)
{
	const struct json *j = json_need(root, "study", e);
	const char *name;

	if (j == NULL || json_read_string(j, &name, e) != 0)
		return -1;
	if (!study_name_good(name))
		return json_err(j, e,
		    "the name of a study has 1 to %d lower-case letters, "
		    "digits or - and begins with no -",
		    NAME_MAX_LEN);
	s->name = xstrdup(name);
	return 0;
}

static int
study_read_parts(struct study *s, const struct json *root, struct err *e)
{
	const struct json *j;

	const char *schema;

	if (foreign_words_only(root, FOREIGN_STUDY, known, e) != 0 ||
	    study_read_name(s, root, e) != 0)
		return -1;
	j = json_get(root, "$schema");
	if ((j != NULL && json_read_string(j, &schema, e) != 0) ||
	    study_read_text(&s->description, root, "description", e) != 0)
		return -1;
	if (study_read_objectives(s, root, e) != 0)
		return -1;
	j = json_need(root, "parameters", e);
	if (j == NULL || space_read(&s->space, j, e) != 0)
		return -1;
	j = json_get(root, "where");
	if (j != NULL && where_read(s->space, j, e) != 0)
		return -1;
	/* After where: no condition is on its parameter. */
	j = json_get(root, "replicates");
	if (j != NULL && study_read_replicates(s, j, e) != 0)
		return -1;
	j = json_get(root, "confirm");
	if (j != NULL && study_read_confirm(s, j, e) != 0)
		return -1;
	if (study_read_strategy(s, json_get(root, "strategy"), e) != 0 ||
	    study_read_stopping(s, json_get(root, "stopping"), e) != 0)
		return -1;
	j = json_get(root, "trial");
	if (study_read_trial(s, j, e) != 0 ||
	    study_read_backend(s, json_get(root, "backend"), e) != 0)
		return -1;
	/* Without a backend the study may be for ask and tell. */
	if (s->trial.command[0] == NULL && json_get(root, "backend") != NULL &&
	    json_need(j != NULL ? j : root, j != NULL ? "command" : "trial",
		e) == NULL)
		return -1;
	j = json_need(root, "limits", e);
	if (j == NULL || study_read_limits(&s->limits, j, e) != 0)
		return -1;
	j = json_get(root, "enqueue");
	if (j != NULL && study_read_enqueue(s, j, e) != 0)
		return -1;
	j = json_get(root, "warm_start");
	if (j != NULL && study_read_warm_start(s, j, e) != 0)
		return -1;
	j = json_get(root, "hooks");
	if (j != NULL && study_read_hooks(&s->hooks, j, e) != 0)
		return -1;
	j = json_get(root, "provenance");
	if (j != NULL && study_read_provenance(&s->provenance, j, e) != 0)
		return -1;
	j = json_get(root, "keep");
	if (j != NULL && study_read_keep(&s->keep, j, e) != 0)
		return -1;
	s->trial.source.drop = s->keep.given;
	j = json_get(root, "notify");
	return j != NULL ? study_read_notify(&s->notify, j, e) : 0;
}

/* Absolute names of the file and its folder, which need not exist. */
static int
study_read_path(struct study *s, const char *path, struct err *e)
{
	const char *slash = strrchr(path, '/');
	char *dir, *cwd;

	dir = slash == NULL ? xstrdup(".")
			    : xstrndup(path, (size_t)(slash - path) + 1);
	s->dir = realpath(dir, NULL);
	if (s->dir == NULL && *dir == '/') {
		s->dir = xstrdup(dir);
		if (slash != path)
			s->dir[slash - path] = '\0';
	} else if (s->dir == NULL) {
		cwd = getcwd(NULL, 0);
		if (cwd == NULL) {
			free(dir);
			return err_set(e, ERR_FILE, "the current folder: %s",
			    strerror(errno));
		}
		s->dir = xasprintf("%s/%s", cwd, dir);
		free(cwd);
	}
	free(dir);
	s->path = xasprintf("%s/%s", strcmp(s->dir, "/") == 0 ? "" : s->dir,
	    slash == NULL ? path : slash + 1);
	return 0;
}

/* Takes ownership of doc. */
static int
study_read(
    struct study **out, struct json_doc *doc, const char *path, struct err *e)
{
	struct study *s = xcalloc(1, sizeof *s);

	s->doc = doc;
	if (study_read_path(s, path, e) != 0 ||
	    json_want(json_root(doc), JSON_OBJECT, e) != 0 ||
	    study_read_parts(s, json_root(doc), e) != 0) {
		study_free(s);
		return -1;
	}
	*out = s;
	return 0;
}

int
study_load(struct study **out, const char *path, struct err *e)
{
	struct json_doc *doc;

	*out = NULL;
	if (json_load(&doc, path, e) != 0)
		return -1;
	return study_read(out, doc, path, e);
}

int
study_parse(struct study **out, const char *text, size_t len, const char *path,
    struct err *e)
{
	struct json_doc *doc;

	*out = NULL;
	if (json_parse(&doc, text, len, path, true, e) != 0)
		return -1;
	return study_read(out, doc, path, e);
}

int
study_parse_recorded(
    struct study **out, const char *text, const char *dir, struct err *e)
{
	char *path = xasprintf("%s/study.json", dir);
	int rc = study_parse(out, text, strlen(text), path, e);

	free(path);
	return rc;
}

void
study_free(struct study *s)
{
	size_t i;

	if (s == NULL)
		return;
	for (i = 0; i < s->n_stopping; i++)
		free(s->stopping[i].name);
	for (i = 0; i < s->n_backends; i++)
		free(s->backends[i].name);
	for (i = 0; i < s->n_enqueue; i++)
		free(s->enqueue[i]);
	study_warm_clear(s);
	study_notify_clear(&s->notify);
	study_hooks_clear(&s->hooks);
	study_confirm_clear(&s->confirm);
	strv_free(s->provenance.packages);
	free(s->stopping);
	free(s->backends);
	free(s->enqueue);
	free(s->strategy.name);
	study_trial_clear(&s->trial);
	space_free(s->space);
	study_objectives_clear(s);
	free(s->name);
	free(s->description);
	free(s->path);
	free(s->dir);
	json_free(s->doc);
	free(s);
}
