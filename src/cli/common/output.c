/* Output to stdout: text, command lines. */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/cli/common/cli.h"
#include "src/view/shell-word.h"
#include "src/view/table.h"

/* Length of one of our own colour sequences at the beginning of text, or 0. */
static size_t
colour_length(const char *text)
{
	size_t n;

	if (strncmp(text, "\033[", 2) != 0)
		return 0;
	n = 2 + strspn(text + 2, "0123456789;");
	return text[n] == 'm' ? n + 1 : 0;
}

/* JSON may contain control characters such as DEL: write them as \u. */
static void
put_printable(struct buf *out, const char *s, size_t len)
{
	uint32_t code;
	size_t i, step, from = 0;
	int n;

	for (i = 0; i < len; i += step) {
		n = text_decode(s + i, len - i, &code);
		step = n > 0 ? (size_t)n : 1;
		if (n > 0 &&
		    (!text_is_control(code) || s[i] == '\n' || s[i] == '\t'))
			continue;
		if (n > 0 && colour_length(s + i) > 0) {
			step = colour_length(s + i);
			continue;
		}
		buf_add(out, s + from, i - from);
		if (n > 0 && code >= 0x7f)
			buf_printf(out, "\\u%04x", (unsigned)code);
		else
			buf_printf(out, "\\x%02x", (unsigned char)s[i]);
		from = i + step;
	}
	buf_add(out, s + from, len - from);
}

int
cli_print(struct buf *out)
{
	struct buf printable = { 0 };

	put_printable(&printable, buf_str(out), out->len);
	(void)fwrite(buf_str(&printable), 1, printable.len, stdout);
	buf_free(&printable);
	buf_free(out);
	return CLI_DONE;
}

void
cli_print_json(const char *text)
{
	struct buf out = { 0 };

	buf_puts(&out, text);
	(void)cli_print(&out);
}

void
cli_print_line(const char *fmt, ...)
{
	struct buf text = { 0 };
	char *raw;
	size_t n;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&raw, fmt, ap) == -1)
		mem_fail();
	va_end(ap);
	n = strlen(raw);
	if (n > 0 && raw[n - 1] == '\n')
		n--;
	text_put_harmless(&text, raw, n, TEXT_LINE);
	buf_puts(&text, raw + n);
	(void)fwrite(buf_str(&text), 1, text.len, stdout);
	buf_free(&text);
	free(raw);
}

void
cli_put_text(struct buf *out, const char *text)
{
	text_put_harmless(out, text, strlen(text), TEXT_LINE);
}

void
cli_print_notes(const struct buf *notes)
{
	const char *at = buf_str(notes), *end;
	struct buf line = { 0 };

	for (; *at != '\0'; at = end + 1) {
		end = strchr(at, '\n');
		buf_clear(&line);
		text_put_harmless(&line, at, (size_t)(end - at), TEXT_LINE);
		fprintf(stderr, "hpotune: note: %s\n", buf_str(&line));
	}
	buf_free(&line);
}

void
cli_put_argv(struct buf *out, char *const *argv)
{
	size_t i;

	for (i = 0; argv[i] != NULL; i++) {
		if (i > 0)
			buf_putc(out, ' ');
		shell_word_put(out, argv[i], SHELL_WORD_SHOWN);
	}
}

void
cli_put_argv_json(struct json_writer *w, const char *key, char *const *argv)
{
	size_t i;

	json_writer_array(w, key);
	for (i = 0; argv[i] != NULL; i++)
		json_writer_text(w, NULL, argv[i]);
	json_writer_end(w);
}

void
cli_put_params(struct buf *out, const char *json)
{
	struct table *table = table_new();
	const struct json *member;
	struct json_doc *doc;
	struct buf text = { 0 };

	if (json_parse(&doc, json, strlen(json), NULL, false, NULL) != 0) {
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
