/* Prints plug-ins and their options, from their tables. */

#include <math.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/cli/common/cli.h"
#include "src/cli/common/plug-table.h"
#include "src/model/plugin-options.h"
#include "src/view/table.h"

static const char *
plug_table_type(const struct option *option)
{
	switch (option->type) {
	case OPTION_BOOL:
		return option->max > 0 ? "true, false or whole number"
				       : "true or false";
	case OPTION_INT:
		return "whole number";
	case OPTION_REAL:
		return "number";
	case OPTION_TEXT:
		return "text";
	case OPTION_STEPS:
		return "steps or share";
	case OPTION_SHARE:
		return "share";
	case OPTION_DURATION:
		return "duration";
	case OPTION_SIZE:
		return "size";
	case OPTION_WORDS:
		return "text or list of texts";
	case OPTION_ANY:
		return "text, number, list of texts or object";
	case OPTION_JSON:
		return "object or list";
	case OPTION_END:
		break;
	}
	return "?";
}

/*
 * Write the choices of an option if it has any, otherwise its range if limited,
 * otherwise its type.
 */
static void
plug_table_values_put(struct buf *out, const struct option *option)
{
	size_t i;

	if (option->choices != NULL) {
		for (i = 0; option->choices[i] != NULL; i++)
			buf_printf(
			    out, "%s%s", i > 0 ? ", " : "", option->choices[i]);
		return;
	}
	buf_puts(out, plug_table_type(option));
	if (option->type != OPTION_INT && option->type != OPTION_REAL &&
	    option->type != OPTION_BOOL)
		return;
	if (option->min < option->max && isfinite(option->min)) {
		buf_printf(out, ", %g", option->min);
		if (isfinite(option->max) && option->max < 1e15)
			buf_printf(out, " to %g", option->max);
		else
			buf_puts(out, " or more");
	}
}

static void
plug_table_options_put(
    struct buf *out, const struct plug_row *plug, const struct cli *cli)
{
	const struct option *option = plug->options;
	struct table *table = table_new();
	struct buf text = { 0 };

	table_column(table, "", TABLE_LEFT);
	table_column(table, "", TABLE_LEFT);
	table_column(table, "", TABLE_SHRINK);
	for (; option != NULL && option->type != OPTION_END; option++) {
		buf_clear(&text);
		buf_printf(&text, "    %s", option->name);
		if (option->def != NULL)
			buf_printf(&text, " = %s", option->def);
		table_cell(table, buf_str(&text), TABLE_PLAIN);
		buf_clear(&text);
		plug_table_values_put(&text, option);
		table_cell(table, buf_str(&text), TABLE_FAINT);
		table_cell(table, option->help, TABLE_PLAIN);
	}
	if (table_rows(table) > 0)
		table_put(out, table, cli->width, cli->colour, false);
	table_free(table);
	buf_free(&text);
}

static void
plug_table_row_put(
    struct buf *out, const struct plug_row *plug, const struct cli *cli)
{
	buf_printf(out, cli->colour ? "\033[1m%s\033[0m: %s\n" : "%s: %s\n",
	    plug->name, plug->about);
	if (plug->source != NULL)
		buf_printf(out, "    (%s)\n", plug->source);
	plug_table_options_put(out, plug, cli);
}

static void
plug_table_row_json(struct json_writer *w, const struct plug_row *plug)
{
	const struct option *option = plug->options;
	struct buf text = { 0 };

	json_writer_object(w, NULL);
	json_writer_text(w, "name", plug->name);
	json_writer_text(w, "about", plug->about);
	json_writer_text(w, "source", plug->source);
	json_writer_array(w, "options");
	for (; option != NULL && option->type != OPTION_END; option++) {
		buf_clear(&text);
		plug_table_values_put(&text, option);
		json_writer_object(w, NULL);
		json_writer_text(w, "name", option->name);
		json_writer_text(w, "values", buf_str(&text));
		json_writer_text(w, "default", option->def);
		json_writer_text(w, "about", option->help);
		json_writer_end(w);
	}
	json_writer_end(w);
	json_writer_end(w);
	buf_free(&text);
}

/* Keep only the named plug-in; suggest the nearest when there is none. */
static int
plug_table_choose(
    const struct cli *cli, struct plug_row *plugins, size_t *n, struct err *e)
{
	const char *names[PLUG_ROWS + 1], *near;
	size_t i;

	if (cli->n_operands == 0)
		return 0;
	for (i = 0; i < *n; i++) {
		names[i] = plugins[i].name;
		if (strcmp(names[i], cli->operands[0]) != 0)
			continue;
		plugins[0] = plugins[i];
		*n = 1;
		return 0;
	}
	names[i] = NULL;
	near = text_nearest(cli->operands[0], names);
	return err_set(e, ERR_USAGE,
	    near != NULL ? "%s: %s: unknown name: did you mean %s?"
			 : "%s: %s: unknown name: hpotune %s lists them",
	    cli->command->name, cli->operands[0],
	    near != NULL ? near : cli->command->name);
}

int
plug_table_print(const struct cli *cli, struct plug_row *plugins, size_t n)
{
	struct buf out = { 0 };
	struct json_writer w = { .out = &out };
	struct err e = ERR_INIT;
	size_t i;

	if (plug_table_choose(cli, plugins, &n, &e) != 0)
		return cli_fail(&e);
	if (cli->json)
		json_writer_array(&w, NULL);
	for (i = 0; i < n; i++) {
		if (cli->json) {
			json_writer_line(&w);
			plug_table_row_json(&w, &plugins[i]);
			continue;
		}
		if (i > 0)
			buf_putc(&out, '\n');
		plug_table_row_put(&out, &plugins[i], cli);
	}
	if (cli->json) {
		json_writer_end(&w);
		buf_putc(&out, '\n');
	}
	return cli_print(&out);
}
