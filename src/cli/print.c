/* What goes to stdout: text, command lines. */

#include <stdio.h>
#include <string.h>

#include "src/base/json.h"
#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/cli/cli.h"
#include "src/cli/table.h"

int
cli_print(struct buf *out)
{
	(void)fwrite(buf_str(out), 1, out->len, stdout);
	buf_free(out);
	return CLI_DONE;
}

void
cli_print_notes(const struct buf *notes)
{
	const char *at = buf_str(notes), *end;

	for (; *at != '\0'; at = end + 1) {
		end = strchr(at, '\n');
		fprintf(stderr, "hpotune: note: %.*s\n", (int)(end - at), at);
	}
}

/* Whether every shell takes the word as it is. */
static bool
word_plain(const char *word)
{
	static const char *const letters =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	    "@%_-+=:,./";

	return *word != '\0' && strspn(word, letters) == strlen(word);
}

static bool
word_has_control(const char *word)
{
	size_t len = strlen(word), at = 0;
	uint32_t code;
	int n;

	for (; at < len; at += (size_t)n)
		if ((n = text_decode(word + at, len - at, &code)) <= 0 ||
		    text_is_control(code))
			return true;
	return false;
}

/* $'…' of bash and zsh, so that a terminal never sees the bytes themselves. */
static void
word_put_escaped(struct buf *out, const char *word)
{
	buf_puts(out, "$'");
	for (; *word != '\0'; word++)
		if (*word == '\'' || *word == '\\')
			buf_printf(out, "\\%c", *word);
		else if (*word < 0x20 || *word == 0x7f || *word & 0x80)
			buf_printf(out, "\\x%02x", (unsigned char)*word);
		else
			buf_putc(out, *word);
	buf_putc(out, '\'');
}

void
cli_put_shell(struct buf *out, const char *word)
{
	if (word_plain(word)) {
		buf_puts(out, word);
		return;
	}
	if (word_has_control(word)) {
		word_put_escaped(out, word);
		return;
	}
	buf_putc(out, '\'');
	for (; *word != '\0'; word++)
		if (*word == '\'')
			buf_puts(out, "'\\''");
		else
			buf_putc(out, *word);
	buf_putc(out, '\'');
}

void
cli_put_argv(struct buf *out, char *const *argv)
{
	size_t i;

	for (i = 0; argv[i] != NULL; i++) {
		if (i > 0)
			buf_putc(out, ' ');
		cli_put_shell(out, argv[i]);
	}
}

void
cli_put_argv_json(struct buf *out, char *const *argv)
{
	size_t i;

	buf_putc(out, '[');
	for (i = 0; argv[i] != NULL; i++) {
		if (i > 0)
			buf_putc(out, ',');
		json_put_string(out, argv[i]);
	}
	buf_putc(out, ']');
}

void
cli_put_params(struct buf *out, const char *json)
{
	struct table *table = table_new();
	const struct json *member;
	struct json_doc *doc;
	struct buf text = { 0 };

	if (json_parse(&doc, json, strlen(json), NULL, false, NULL) == -1) {
		table_free(table);
		return;
	}
	table_column(table, "", TABLE_LEFT);
	table_column(table, "", TABLE_LEFT);
	member = json_first(json_root(doc));
	for (; member != NULL; member = json_next(member)) {
		buf_clear(&text);
		buf_printf(&text, "  %s", json_key(member));
		table_cell(table, buf_str(&text), TABLE_PLAIN);
		buf_clear(&text);
		if (json_string(member) != NULL)
			buf_puts(&text, json_string(member));
		else
			json_write(&text, member);
		table_cell(table, buf_str(&text), TABLE_PLAIN);
	}
	table_put(out, table, 0, false, false);
	table_free(table);
	json_free(doc);
	buf_free(&text);
}
