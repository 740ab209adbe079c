/*
 * hpotune completion: a script by which a shell completes commands, options,
 * and the names of strategies and rules; made from the command table.
 */

#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/cli/common/cli.h"
#include "strategies/stopper.h"
#include "strategies/strategy.h"

static const char *const shells[] = { "bash", "fish", "zsh", NULL };

static void
commands_put(struct buf *out)
{
	size_t i;

	for (i = 0; cli_commands[i] != NULL; i++)
		buf_printf(
		    out, "%s%s", i > 0 ? " " : "", cli_commands[i]->name);
}

/* The words that the first operand can be; others, and all without any, are files. */
static void
operands_put(struct buf *out, const char *command)
{
	size_t i;

	if (strcmp(command, "help") == 0)
		commands_put(out);
	else if (strcmp(command, "strategies") == 0)
		for (i = 0; strategies[i] != NULL; i++)
			buf_printf(
			    out, "%s%s", i > 0 ? " " : "", strategies[i]->name);
	else if (strcmp(command, "rules") == 0)
		for (i = 0; stoppers[i] != NULL; i++)
			buf_printf(
			    out, "%s%s", i > 0 ? " " : "", stoppers[i]->name);
	else if (strcmp(command, "sagemaker") == 0)
		buf_puts(out, "gc model");
	else if (strcmp(command, "import") == 0)
		buf_puts(out,
		    "csv katib nni optuna ray sagemaker synetune trackio "
		    "wandb");
	else if (strcmp(command, "completion") == 0)
		for (i = 0; shells[i] != NULL; i++)
			buf_printf(out, "%s%s", i > 0 ? " " : "", shells[i]);
}

/* A text within single quotes of a shell, with escape before each of marks. */
static void
quoted_put(struct buf *out, const char *text, const char *marks)
{
	for (; *text != '\0'; text++)
		if (*text == '\'')
			buf_puts(out, "'\\''");
		else {
			if (strchr(marks, *text) != NULL)
				buf_putc(out, '\\');
			buf_putc(out, *text);
		}
}

/* "--detach --trials": of options with a value (or without one). */
static void
bash_put_options(struct buf *out, const struct cli_command *c, bool with_value)
{
	const struct cli_option *row;
	const char *between = "";
	size_t i;

	for (i = 0; (row = cli_option_row(c, i)) != NULL; i++) {
		if (row->about == NULL || (with_value && row->value == NULL))
			continue;
		buf_printf(out, "%s--%s", between, row->name);
		between = with_value ? " | " : " ";
		if (with_value && row->letter != 0)
			buf_printf(out, " | -%c", row->letter);
	}
}

/* Where no word is offered, readline completes the name of a file. */
static void
bash_put(struct buf *out)
{
	const struct cli_command *c;
	struct buf list = { 0 };
	size_t k;

	buf_puts(out,
	    "_hpotune()\n{\n"
	    "\tlocal cur=${COMP_WORDS[COMP_CWORD]} words= options= command i\n"
	    "\tlocal previous=${COMP_WORDS[COMP_CWORD-1]}\n"
	    "\tCOMPREPLY=()\n"
	    "\tcommand=${COMP_WORDS[1]}\n"
	    "\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n\t\twords='");
	commands_put(out);
	buf_puts(out, "'\n\telse\n\t\tcase $command in\n");
	for (k = 0; (c = cli_commands[k]) != NULL; k++) {
		buf_printf(out, "\t%s)\n\t\toptions='", c->name);
		bash_put_options(out, c, false);
		buf_puts(out, "'\n\t\twords='");
		operands_put(out, c->name);
		buf_puts(out, "'\n");
		buf_clear(&list);
		bash_put_options(&list, c, true);
		/* The value of an option may be a file. */
		if (list.len > 0)
			buf_printf(out,
			    "\t\tcase $previous in %s) return ;; esac\n",
			    buf_str(&list));
		buf_puts(out, "\t\t;;\n");
	}
	buf_puts(out, "\t\tesac\n"
		      "\t\tfor i in \"${COMP_WORDS[@]:2:COMP_CWORD-2}\"; do\n"
		      "\t\t\tcase \" $words \" in *\" $i \"*) words= ;; esac\n"
		      "\t\tdone\n\tfi\n"
		      "\tcase $cur in -*) words=$options ;; esac\n"
		      "\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
		      "}\n"
		      "complete -o default -F _hpotune hpotune\n");
	buf_free(&list);
}

/* One option as _arguments of zsh takes it: '--trials=[about]:N:_files'. */
static void
zsh_put_option(struct buf *out, const struct cli_option *row)
{
	buf_puts(out, " \\\n\t\t    ");
	if (row->letter != 0)
		buf_printf(out, "'(-%c --%s)'{-%c%s,--%s%s}", row->letter,
		    row->name, row->letter, row->value != NULL ? "+" : "",
		    row->name, row->value != NULL ? "=" : "");
	else
		buf_printf(
		    out, "--%s%s", row->name, row->value != NULL ? "=" : "");
	buf_puts(out, "'[");
	quoted_put(out, row->about, "[]:\\");
	buf_puts(out, "]");
	if (row->value != NULL) {
		buf_putc(out, ':');
		quoted_put(out, row->value, "[]:\\");
		buf_puts(out, ":_files");
	}
	buf_putc(out, '\'');
}

static void
zsh_put(struct buf *out)
{
	const struct cli_command *c;
	const struct cli_option *row;
	struct buf words = { 0 };
	size_t i, k;

	buf_puts(out, "#compdef hpotune\n\n_hpotune()\n{\n"
		      "\tlocal -a commands\n\tcommands=(\n");
	for (k = 0; (c = cli_commands[k]) != NULL; k++) {
		buf_printf(out, "\t    '%s:", c->name);
		quoted_put(out, c->about, ":\\");
		buf_puts(out, "'\n");
	}
	buf_puts(out,
	    "\t)\n"
	    "\tif ((CURRENT == 2)); then\n"
	    "\t\t_describe -t commands command commands\n\t\treturn\n\tfi\n"
	    "\tshift words\n\t((CURRENT--))\n"
	    "\tcase $words[1] in\n");
	for (k = 0; (c = cli_commands[k]) != NULL; k++) {
		buf_printf(out, "\t%s)\n\t\t_arguments -s", c->name);
		for (i = 0; (row = cli_option_row(c, i)) != NULL; i++)
			if (row->about != NULL)
				zsh_put_option(out, row);
		buf_clear(&words);
		operands_put(&words, c->name);
		if (words.len > 0)
			buf_printf(
			    out, " \\\n\t\t    '1:name:(%s)'", buf_str(&words));
		buf_puts(out, " \\\n\t\t    '*:file:_files'\n");
		buf_puts(out, "\t\t;;\n");
	}
	buf_puts(out, "\tesac\n}\n\n_hpotune \"$@\"\n");
	buf_free(&words);
}

/* Within single quotes, \' and \\ are all that fish replaces. */
static void
fish_put_quoted(struct buf *out, const char *text)
{
	for (; *text != '\0'; text++) {
		if (*text == '\'' || *text == '\\')
			buf_putc(out, '\\');
		buf_putc(out, *text);
	}
}

static void
fish_put_option(
    struct buf *out, const char *command, const struct cli_option *row)
{
	buf_printf(out,
	    "complete -c hpotune -n '__fish_seen_subcommand_from %s' -l %s",
	    command, row->name);
	if (row->letter != 0)
		buf_printf(out, " -s %c", row->letter);
	if (row->value != NULL)
		buf_puts(out, " -r");
	buf_puts(out, " -d '");
	fish_put_quoted(out, row->about);
	buf_puts(out, "'\n");
}

static void
fish_put(struct buf *out)
{
	const struct cli_command *c;
	const struct cli_option *row;
	struct buf words = { 0 };
	size_t i, k;

	for (k = 0; (c = cli_commands[k]) != NULL; k++) {
		buf_printf(out,
		    "complete -c hpotune -n __fish_use_subcommand -f -a %s "
		    "-d '",
		    c->name);
		fish_put_quoted(out, c->about);
		buf_puts(out, "'\n");
		for (i = 0; (row = cli_option_row(c, i)) != NULL; i++)
			if (row->about != NULL)
				fish_put_option(out, c->name, row);
		buf_clear(&words);
		operands_put(&words, c->name);
		if (words.len > 0)
			buf_printf(out,
			    "complete -c hpotune -n "
			    "'__fish_seen_subcommand_from %s; and not "
			    "__fish_seen_subcommand_from %s' -f -a '%s'\n",
			    c->name, buf_str(&words), buf_str(&words));
	}
	buf_free(&words);
}

static int
completion_run(struct cli *cli)
{
	const char *shell = cli->operands[0];
	struct err e = ERR_INIT;
	struct buf out = { 0 };

	if (strcmp(shell, "bash") == 0)
		bash_put(&out);
	else if (strcmp(shell, "zsh") == 0)
		zsh_put(&out);
	else if (strcmp(shell, "fish") == 0)
		fish_put(&out);
	else {
		err_set(&e, ERR_USAGE,
		    "completion: %s: expected bash, fish or zsh", shell);
		return cli_fail(&e);
	}
	return cli_print(&out);
}

const struct cli_command cmd_completion = {
	.name = "completion",
	.args = "SHELL",
	.about = "a script that completes commands in bash, fish or zsh",
	.min_operands = 1,
	.max_operands = 1,
	.run = completion_run,
};
