/* The command of a sweep: its macros as those of study.json. */

#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/import/import-study.h"
#include "src/import/import-wandb-command.h"

static const char hydra_note[] =
    "trial.command: {params:hydra} writes true, false, null, lists and texts "
    "so "
    "that Hydra reads the values; the agent writes them as Python's str()";

/*
 * words: where the agent writes a value in another way than {params}: as Python
 * does, True, None, 1.0, ['a'].
 */
static const struct {
	const char *macro, *ours, *words;
	const char *note; /* then, or NULL */
} macros[] = {
	{ "${interpreter}", "python3", "python3", NULL },
	{ "${args}", "{params}", "{params:python}", NULL },
	{ "${args_no_hyphens}", "{params:hydra}", "{params:hydra}",
	    hydra_note },
	{ "${args_append_hydra}", "{params:hydra-append}",
	    "{params:hydra-append}", hydra_note },
	{ "${args_override_hydra}", "{params:hydra-override}",
	    "{params:hydra-override}", hydra_note },
	{ "${args_no_equals}", "{params:words}", "{params:python-words}",
	    NULL },
	{ "${args_no_boolean_flags}", "{params:flags}", "{params:flags}",
	    "trial.command: {params:flags} writes null, 1 and lists as JSON, "
	    "where the agent writes None, 1.0 and lists of Python" },
	{ "${args_json_file}", "{params_file}", "{params_file}", NULL },
};

bool
import_wandb_command_has_args(const struct json *root, bool *hydra)
{
	const struct json *j = json_get(root, "command");
	bool any = j == NULL;
	const char *word;

	*hydra = false;
	for (j = json_first(j); j != NULL; j = json_next(j)) {
		word = json_string(j);
		if (word == NULL || strncmp(word, "${args", 6) != 0)
			continue;
		if (strcmp(word, "${args_json_file}") == 0)
			return false;
		any = true;
		*hydra = *hydra || strstr(word, "hydra") != NULL ||
			 strcmp(word, "${args_no_hyphens}") == 0;
	}
	return any;
}

/*
 * The arguments in a form, {params:FORM}.  Parameters that have another name
 * here have one of their own each, with the name that the program knows.
 */
static void
wandb_args_put(struct import *im, const char *form)
{
	bool words = strstr(form, "words") != NULL;
	const char *before = strstr(form, "append") != NULL	? "+"
			     : strstr(form, "override") != NULL ? "++"
			     : strstr(form, "hydra") != NULL	? ""
								: "--";
	const char *word = strcmp(form, "{params}") == 0
			       ? "joined"
			       : form + strlen("{params:");
	struct buf text = { 0 };
	size_t i, others = 0;

	buf_printf(&text, "{params:%.*s:", (int)strcspn(word, "}"), word);
	for (i = 0; i < im->names.n; i++)
		if (*im->theirs.v[i] == '\0')
			buf_printf(&text, "%s%s", others++ > 0 ? "," : "",
			    im->names.v[i]);
	buf_putc(&text, '}');
	if (others == im->names.n || strcmp(form, "{params_file}") == 0)
		converted_text(&im->to, 3, NULL, form);
	else if (others > 0)
		converted_text(&im->to, 3, NULL, buf_str(&text));
	for (i = 0; i < im->names.n; i++) {
		if (*im->theirs.v[i] == '\0')
			continue;
		buf_clear(&text);
		buf_puts(&text, before);
		import_escape_braces(&text, im->theirs.v[i]);
		if (words) {
			converted_text(&im->to, 3, NULL, buf_str(&text));
			buf_clear(&text);
		}
		buf_printf(&text, "%s{%s}", words ? "" : "=", im->names.v[i]);
		converted_text(&im->to, 3, NULL, buf_str(&text));
	}
	buf_free(&text);
}

static void
python_note(struct import *im)
{
	converted_note(&im->to,
	    "trial.command: {params:python} writes True, False, None, 1.0 and "
	    "lists as the agent does");
}

static void
macro_put(struct import *im, size_t i)
{
	const char *form = im->words ? macros[i].words : macros[i].ours;

	if (strncmp(form, "{params", 7) == 0)
		wandb_args_put(im, form);
	else
		converted_text(&im->to, 3, NULL, form);
	if (!im->words)
		return;
	if (macros[i].note != NULL)
		converted_note(&im->to, macros[i].note);
	else if (strstr(macros[i].words, ":python") != NULL)
		python_note(im);
}

static int
wandb_command_word_put(struct import *im, const struct json *j,
    const struct json *program, struct err *e)
{
	struct buf text = { 0 };
	const char *word;
	size_t i;

	if (json_read_string(j, &word, e) != 0)
		return -1;
	if (strcmp(word, "${env}") == 0) /* /usr/bin/env: no shell is used */
		return 0;
	for (i = 0; i < sizeof macros / sizeof *macros; i++)
		if (strcmp(word, macros[i].macro) == 0) {
			macro_put(im, i);
			return 0;
		}
	if (strcmp(word, "${program}") == 0) {
		if (program == NULL)
			return json_err(j, e, "the sweep has no program");
		if (json_read_string(program, &word, e) != 0)
			return -1;
	} else if (strstr(word, "${") != NULL)
		return json_err(j, e,
		    "%s has no equivalent: write the command with placeholders "
		    "of hpotune, as man hpotune-study describes them",
		    word);
	import_escape_braces(&text, word);
	converted_text(&im->to, 3, NULL, buf_str(&text));
	buf_free(&text);
	return 0;
}

int
import_wandb_command_put(struct import *im, struct err *e)
{
	const struct json *program = json_get(im->root, "program");
	const struct json *j = json_get(im->root, "command");
	struct buf text = { 0 };
	const char *name;
	size_t n;
	int rc = 0;

	converted_open(&im->to, 1, "trial", '{');
	converted_open(&im->to, 2, "command", '[');
	if (j != NULL) {
		rc = json_want(j, JSON_ARRAY, e);
		j = rc == 0 ? json_first(j) : NULL;
		for (; j != NULL && rc == 0; j = json_next(j))
			rc = wandb_command_word_put(im, j, program, e);
	} else if (program == NULL) {
		converted_text(&im->to, 3, NULL, "./train");
		wandb_args_put(im, im->words ? "{params:python}" : "{params}");
		if (im->words)
			python_note(im);
		converted_note(&im->to,
		    "trial.command: the sweep has no program: "
		    "./train");
	} else if ((rc = json_read_string(program, &name, e)) == 0) {
		n = strlen(name);
		if (n > 3 && strcmp(name + n - 3, ".py") == 0)
			converted_text(&im->to, 3, NULL, "python3");
		import_escape_braces(&text, name);
		converted_text(&im->to, 3, NULL, buf_str(&text));
		wandb_args_put(im, im->words ? "{params:python}" : "{params}");
		if (im->words)
			python_note(im);
		buf_free(&text);
	}
	converted_close(&im->to, 2, ']');
	converted_close(&im->to, 1, '}');
	converted_note(&im->to,
	    "metrics: what the program gives to wandb.log is not read: print "
	    "it (hpotune: step=1 loss=0.5), use hpotune.report, or let "
	    "trial.reads read what its library writes");
	return rc;
}
