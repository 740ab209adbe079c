/* Reads forms. */

#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/web/web-address.h"
#include "src/web/web-form.h"
#include "src/web/studies/web-note.h"
#include "src/web/studies/web-studies.h"

/* Words NAME=VALUE, so that none can be an option. */
static bool
web_form_words_add(struct strv *argv, const char *words)
{
	size_t n, start = argv->n;

	for (; words[strspn(words, " \t\r\n")] != '\0'; words += n) {
		words += strspn(words, " \t\r\n");
		n = strcspn(words, " \t\r\n");
		if (words[0] == '-' || memchr(words, '=', n) == NULL)
			return false;
		strv_add(argv, xstrndup(words, n));
	}
	return argv->n > start;
}

/* Words that are tags: those after a minus sign, which it takes away, or others. */
static void
web_form_tags_put(struct strv *argv, const char *words, bool away)
{
	size_t n;

	for (; words[strspn(words, " \t\r\n")] != '\0'; words += n) {
		words += strspn(words, " \t\r\n");
		n = strcspn(words, " \t\r\n");
		if ((words[0] == '-') != away)
			continue;
		strv_add(argv,
		    away ? xasprintf("--remove=%.*s", (int)n - 1, words + 1)
			 : xstrndup(words, n));
	}
}

/* What an action takes from the form. */
enum action_words { WORDS_NONE, WORDS_SETTING, WORDS_TEXT, WORDS_TAGS };
enum action_trial { TRIAL_NONE, TRIAL_MAY, TRIAL_MUST };

static const struct action_row {
	const char *what, *command;
	const char *option; /* or NULL */
	enum action_trial trial;
	enum action_words words;
} rows[] = {
	{ "pause", "pause", NULL, TRIAL_NONE, WORDS_NONE },
	{ "resume", "resume", NULL, TRIAL_NONE, WORDS_NONE },
	{ "stop", "stop", NULL, TRIAL_MAY, WORDS_NONE },
	{ "enqueue", "enqueue", NULL, TRIAL_NONE, WORDS_SETTING },
	{ "retry", "retry", NULL, TRIAL_MUST, WORDS_NONE },
	{ "forget", "forget", NULL, TRIAL_MUST, WORDS_NONE },
	{ "count", "forget", "--undo", TRIAL_MUST, WORDS_NONE },
	{ "note", "note", NULL, TRIAL_MUST, WORDS_TEXT },
	{ "tag", "tag", NULL, TRIAL_MUST, WORDS_TAGS },
};

static const struct action_row *
web_form_row_find(const char *what)
{
	size_t i;

	for (i = 0; what != NULL && i < sizeof rows / sizeof *rows; i++)
		if (strcmp(rows[i].what, what) == 0)
			return &rows[i];
	return NULL;
}

/* The command line, or why there is none. */
static const char *
web_form_command_make(struct strv *argv, const struct web_study *s,
    const struct web_address *form)
{
	const struct action_row *row =
	    web_form_row_find(web_address_param(form, "do", 0));
	const char *words = web_address_param(form, "words", 0);
	const char *trial = web_address_param(form, "trial", 0);

	if (row == NULL)
		return "no such action";
	if (trial == NULL ? row->trial == TRIAL_MUST
			  : row->trial == TRIAL_NONE ||
				web_address_number(form, "trial", 0) < 1)
		return "no such trial";
	words = words == NULL ? "" : words;
	strv_add(argv, xstrdup("/proc/self/exe"));
	strv_add(argv, xstrdup(row->command));
	if (row->option != NULL)
		strv_add(argv, xstrdup(row->option));
	/* Options come before, so that no word of the form is one. */
	if (row->words == WORDS_TAGS)
		web_form_tags_put(argv, words, true);
	strv_add(argv, xstrdup("--"));
	strv_add(argv, xstrdup(s->db));
	if (trial != NULL)
		strv_add(argv, xstrdup(trial));
	if (row->words == WORDS_TAGS)
		web_form_tags_put(argv, words, false);
	else if (row->words == WORDS_TEXT)
		strv_add(argv, xstrdup(words));
	else if (row->words == WORDS_SETTING &&
		 !web_form_words_add(argv, words))
		return "a setting is words NAME=VALUE";
	return NULL;
}

/* The status of what is about the list of studies; 0: another form. */
static int
web_form_list_do(
    struct buf *out, const struct web_study *s, const struct web_address *form)
{
	const char *what = web_address_param(form, "do", 0), *good;
	const char *words = web_address_param(form, "words", 0);
	struct err e = ERR_INIT;
	int rc;

	/* The note about a trial is a command. */
	if (what == NULL || web_address_param(form, "trial", 0) != NULL)
		return 0;
	if (strcmp(what, "archive") == 0) {
		rc = web_note_archive(s->db, true, &e);
		good = "archived: the list of studies hides it";
	} else if (strcmp(what, "restore") == 0) {
		rc = web_note_archive(s->db, false, &e);
		good = "the list of studies shows it";
	} else if (strcmp(what, "note") == 0) {
		rc = web_note_write(s->db, words == NULL ? "" : words, &e);
		good = "the note is saved";
	} else
		return 0;
	buf_puts(out, rc == 0 ? good : e.text);
	return rc == 0 ? 200 : 409;
}

int
web_form_read(struct strv *argv, struct buf *out, const struct web_study *s,
    const struct web_address *form)
{
	const char *wrong;
	int status = web_form_list_do(out, s, form);

	if (status != 0)
		return status;
	wrong = web_form_command_make(argv, s, form);
	if (wrong == NULL)
		return 0;
	buf_puts(out, wrong);
	return 400;
}
