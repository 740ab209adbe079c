/* Runs commands for the pages. */

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "src/base/capture.h"
#include "src/base/err.h"
#include "src/base/http/http-server.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/web/web-action.h"
#include "src/web/web-address.h"
#include "src/web/web-studies.h"

enum { TIMEOUT_MS = 120000, RUNNING = 8 };

struct action {
	struct web_actions *all;
	struct action *next;
	struct capture *capture;
	struct http_server_request *request; /* NULL = its client has gone */
};

struct web_actions {
	struct loop *loop;
	struct action *first;
	size_t n;
};

static void
answer(struct http_server_request *request, int status, const char *text)
{
	http_server_set(request, "Content-Type", "text/plain; charset=utf-8");
	http_server_answer(request, status, text, strlen(text));
}

static void
on_gone(void *arg, struct http_server_request *request)
{
	struct action *a = arg;

	(void)request;
	a->request = NULL;
}

static void
on_end(void *arg, int status, const char *out, size_t len, const char *why)
{
	struct action *a = arg, **at;
	bool good =
	    status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == 0;

	(void)len;
	for (at = &a->all->first; *at != a; at = &(*at)->next)
		;
	*at = a->next;
	a->all->n--;
	if (a->request != NULL)
		answer(a->request, good ? 200 : 409, status == -1 ? why : out);
	free(a);
}

struct web_actions *
web_actions_open(struct loop *loop)
{
	struct web_actions *all = xcalloc(1, sizeof *all);

	all->loop = loop;
	return all;
}

void
web_actions_close(struct web_actions *all)
{
	struct action *a, *next;

	for (a = all == NULL ? NULL : all->first; a != NULL; a = next) {
		next = a->next;
		capture_kill(a->capture);
		free(a);
	}
	free(all);
}

/* Words NAME=VALUE, so that none can be an option. */
static bool
words_add(struct strv *argv, const char *words)
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
tags_put(struct strv *argv, const char *words, bool away)
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
row_find(const char *what)
{
	size_t i;

	for (i = 0; what != NULL && i < sizeof rows / sizeof *rows; i++)
		if (strcmp(rows[i].what, what) == 0)
			return &rows[i];
	return NULL;
}

/* The command line, or why there is none. */
static const char *
command_make(struct strv *argv, const struct web_study *s,
    const struct web_address *form)
{
	const struct action_row *row =
	    row_find(web_address_param(form, "do", 0));
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
		tags_put(argv, words, true);
	strv_add(argv, xstrdup("--"));
	strv_add(argv, xstrdup(s->db));
	if (trial != NULL)
		strv_add(argv, xstrdup(trial));
	if (row->words == WORDS_TAGS)
		tags_put(argv, words, false);
	else if (row->words == WORDS_TEXT)
		strv_add(argv, xstrdup(words));
	else if (row->words == WORDS_SETTING && !words_add(argv, words))
		return "a setting is words NAME=VALUE";
	return NULL;
}

/* Whether the form is about the list of studies: no command. */
static bool
list_do(const struct web_study *s, const struct web_address *form,
    struct http_server_request *request)
{
	const char *what = web_address_param(form, "do", 0), *good;
	const char *words = web_address_param(form, "words", 0);
	struct err e = ERR_INIT;
	int rc;

	/* The note about a trial is a command. */
	if (what == NULL || web_address_param(form, "trial", 0) != NULL)
		return false;
	if (strcmp(what, "archive") == 0) {
		rc = web_study_archive(s, true, &e);
		good = "archived: the list of studies hides it";
	} else if (strcmp(what, "restore") == 0) {
		rc = web_study_archive(s, false, &e);
		good = "the list of studies shows it";
	} else if (strcmp(what, "note") == 0) {
		rc = web_study_note(s, words == NULL ? "" : words, &e);
		good = "the note is saved";
	} else
		return false;
	answer(request, rc == 0 ? 200 : 409, rc == 0 ? good : e.text);
	return true;
}

void
web_action_do(struct web_actions *all, const struct web_study *s,
    const struct web_address *form, struct http_server_request *request)
{
	struct strv argv = { 0 };
	struct capture_spec spec = { .timeout_ms = TIMEOUT_MS, .both = true };
	const char *wrong;
	struct err e = ERR_INIT;
	struct action *a;

	if (list_do(s, form, request))
		return;
	wrong = command_make(&argv, s, form);
	if (wrong == NULL && all->n >= RUNNING)
		wrong = "too many actions are in progress";
	if (wrong != NULL) {
		answer(request, 400, wrong);
		strv_free(argv.v);
		return;
	}
	a = xcalloc(1, sizeof *a);
	a->all = all;
	a->request = request;
	spec.argv = argv.v;
	if (capture_start(&a->capture, all->loop, &spec, on_end, a, &e) != 0) {
		answer(request, 409, e.text);
		free(a);
	} else {
		http_server_watch(request, on_gone, a);
		a->next = all->first;
		all->first = a;
		all->n++;
	}
	strv_free(argv.v);
}
