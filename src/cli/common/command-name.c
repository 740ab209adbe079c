/* Commands by their names, and what a word that is none may mean. */

#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/cli/common/command-name.h"
#include "src/cli/common/cli.h"

const struct cli_command *
command_name_find(const char *name)
{
	size_t i;

	for (i = 0; cli_commands[i] != NULL; i++)
		if (strcmp(cli_commands[i]->name, name) == 0)
			break;
	return cli_commands[i];
}

/* Names of commands in other programs, and the equivalent here. */
static const struct {
	const char *theirs, *ours;
} synonyms[] = {
	{ "abort", "stop" },
	{ "add", "enqueue" },
	{ "cancel", "stop" },
	{ "comment", "note" },
	{ "continue", "start" },
	{ "create", "start" },
	{ "csv", "export" },
	{ "dashboard", "web" },
	{ "exclude", "forget" },
	{ "history", "trials" },
	{ "html", "report" },
	{ "info", "show" },
	{ "jobs", "trials" },
	{ "label", "tag" },
	{ "kill", "stop" },
	{ "lint", "check" },
	{ "list", "trials" },
	{ "ls", "trials" },
	{ "monitor", "watch" },
	{ "optimize", "start" },
	{ "output", "logs" },
	{ "plot", "report" },
	{ "ps", "trials" },
	{ "queue", "trials" },
	{ "quit", "stop" },
	{ "rerun", "retry" },
	{ "restart", "start" },
	{ "run", "start" },
	{ "samplers", "strategies" },
	{ "simulate", "replay" },
	{ "suggest", "ask" },
	{ "tail", "logs" },
	{ "terminate", "stop" },
	{ "top", "watch" },
	{ "test", "try" },
	{ "tune", "start" },
	{ "validate", "check" },
};

/*
 * The commands of which a word is the beginning, as a list: "status or stop".
 * An abbreviation is never taken for a command, nor for a similar one.
 */
static size_t
command_name_begun(const char *name, struct buf *list)
{
	const char *found[64];
	size_t len = strlen(name), n = 0, i;

	for (i = 0; len > 0 && cli_commands[i] != NULL; i++)
		if (strncmp(cli_commands[i]->name, name, len) == 0)
			found[n++] = cli_commands[i]->name;
	for (i = 0; i < n; i++)
		buf_printf(list, "%s%s",
		    i == 0	? ""
		    : i + 1 < n ? ", "
				: " or ",
		    found[i]);
	return n;
}

static const char *
command_name_near(const char *name)
{
	const char *names[64];
	size_t i;

	for (i = 0; i < sizeof synonyms / sizeof synonyms[0]; i++)
		if (strcmp(name, synonyms[i].theirs) == 0)
			return synonyms[i].ours;
	for (i = 0; cli_commands[i] != NULL; i++)
		names[i] = cli_commands[i]->name;
	names[i] = NULL;
	return text_nearest(name, names);
}

/* Whether both words have the same letters: "strat" is "start". */
static bool
command_name_is_mixed(const char *a, const char *b)
{
	size_t n = strlen(a), i;
	int count[256] = { 0 };

	if (strlen(b) != n)
		return false;
	for (i = 0; i < n; i++) {
		count[(unsigned char)a[i]]++;
		count[(unsigned char)b[i]]--;
	}
	for (i = 0; i < 256; i++)
		if (count[i] != 0)
			return false;
	return true;
}

int
command_name_unknown(const char *name, struct err *e)
{
	const char *near = command_name_near(name);
	struct buf list = { 0 };

	if ((near == NULL || !command_name_is_mixed(name, near)) &&
	    command_name_begun(name, &list) > 0) {
		(void)err_set(e, ERR_USAGE,
		    "%s: no such command: did you mean %s?", name,
		    buf_str(&list));
		buf_free(&list);
		return -1;
	}
	if (near != NULL)
		return err_set(e, ERR_USAGE,
		    "%s: no such command: did you mean %s?", name, near);
	return err_set(
	    e, ERR_USAGE, "%s: no such command: hpotune help lists them", name);
}
