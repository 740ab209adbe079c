/*
 * "trial.warm" of study.json: which programs can start from an interpreter that
 * has imported before, and what it imports.
 */

#include <ctype.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/study/study-internal.h"

/* "/usr/bin/python3.11" */
static bool
warm_is_python(const char *program)
{
	const char *name = strrchr(program, '/');

	name = name != NULL ? name + 1 : program;
	return strncmp(name, "python", 6) == 0 &&
	       name[6 + strspn(name + 6, "0123456789.t")] == '\0';
}

/*
 * Whether a word is options without a value, "-uB".  Those that do not run a
 * script, or ask when it has ended, are none.
 */
static bool
warm_is_flags(const char *word)
{
	return word[0] == '-' && word[1] != '\0' &&
	       word[1 + strspn(word + 1, "bBdEIOPqRsSuv")] == '\0';
}

/* "-W" or "-X", whose value is the next word, or "-Wvalue" */
static bool
warm_is_valued(const char *word)
{
	return word[0] == '-' && (word[1] == 'W' || word[1] == 'X');
}

/* Find what python runs; false: nothing, or it differs between trials. */
static bool
warm_program_find(struct study_trial *t)
{
	char **words = t->command;
	size_t i = 1, k;

	if (words[0] == NULL || !warm_is_python(words[0]))
		return false;
	while (words[i] != NULL &&
	       (warm_is_flags(words[i]) || warm_is_valued(words[i])))
		i += 1 + (warm_is_valued(words[i]) && words[i][2] == '\0' &&
			     words[i + 1] != NULL);
	t->warm_runs_module = words[i] != NULL && strcmp(words[i], "-m") == 0;
	i += t->warm_runs_module;
	if (words[i] == NULL || words[i][0] == '-' || words[i][0] == '\0')
		return false;
	for (k = 0; k <= i; k++)
		if (strpbrk(words[k], "{}") != NULL || t->command_parts[k] != 0)
			return false;
	t->warm_at = i;
	return true;
}

static bool
warm_name_good(const char *name)
{
	bool first = true;

	for (; *name != '\0'; name++) {
		if (*name == '.'
			? first
			: !isalnum((unsigned char)*name) && *name != '_')
			return false;
		first = *name == '.';
	}
	return !first;
}

static int
warm_read_modules(struct study_trial *t, const struct json *list, struct err *e)
{
	struct strv names = { 0 };
	const struct json *j;
	const char *text;

	for (j = json_first(list); j != NULL; j = json_next(j)) {
		if (json_read_string(j, &text, e) != 0 ||
		    (!warm_name_good(text) &&
			json_err(j, e,
			    "expected the name of a module, as numpy.linalg") !=
			    0)) {
			strv_free(names.v);
			return -1;
		}
		strv_add(&names, xstrdup(text));
	}
	t->warm_modules = names.v;
	return names.n > 0 ? 0
			   : json_err(list, e,
				 "expected the names of modules, or true");
}

int
study_read_warm(struct study_trial *t, const struct json *j, struct err *e)
{
	bool single = t->launcher == STUDY_LAUNCHER_NONE && t->pack == 0;

	if (single && !warm_program_find(t))
		t->warm_at = 0;
	if (j == NULL)
		return 0;
	t->warm = true;
	if (json_type(j) == JSON_ARRAY) {
		if (warm_read_modules(t, j, e) != 0)
			return -1;
	} else if (json_read_bool(j, &t->warm, e) != 0)
		return -1;
	if (!t->warm)
		return 0;
	if (t->pack > 0)
		return json_err_key(j, e,
		    "a program of packed trials starts once for many: "
		    "expected no pack, or warm false");
	/* Launchers start processes themselves: cold, which is said. */
	if (single && t->warm_at == 0)
		return json_err_key(j, e,
		    "expected a trial.command of Python and a script, or -m "
		    "and "
		    "a module, that are the same for all trials: [\"python3\", "
		    "\"train.py\", ...]");
	return 0;
}
