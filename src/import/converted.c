/* Writes an indented JSON document, and notes about it. */

#include "src/import/converted.h"

#include "src/base/json/json.h"

void
converted_key(struct converted *to, int depth, const char *key)
{
	buf_printf(&to->out, "%s\n%*s", to->fresh ? "" : ",",
	    2 * (depth + to->shift), "");
	if (key != NULL) {
		json_put_string(&to->out, key);
		buf_puts(&to->out, ": ");
	}
	to->fresh = false;
}

void
converted_open(struct converted *to, int depth, const char *key, char bracket)
{
	converted_key(to, depth, key);
	buf_putc(&to->out, bracket);
	to->fresh = true;
}

void
converted_close(struct converted *to, int depth, char bracket)
{
	if (!to->fresh)
		buf_printf(&to->out, "\n%*s", 2 * (depth + to->shift), "");
	buf_putc(&to->out, bracket);
	to->fresh = false;
}

struct json_writer
converted_object(struct converted *to, int depth, const char *key)
{
	struct json_writer w = { .out = &to->out, .spacing = JSON_PADDED };

	converted_key(to, depth, key);
	json_writer_object(&w, NULL);
	return w;
}

void
converted_text(
    struct converted *to, int depth, const char *key, const char *text)
{
	if (text == NULL)
		return;
	converted_key(to, depth, key);
	json_put_string(&to->out, text);
}

bool
converted_number(
    struct converted *to, int depth, const char *key, const struct json *j)
{
	double x;

	if (!json_number(j, &x))
		return false;
	converted_key(to, depth, key);
	json_put_number(&to->out, x);
	return true;
}

void
converted_copy(
    struct converted *to, int depth, const char *key, const struct json *j)
{
	if (j == NULL || json_type(j) == JSON_NULL)
		return;
	converted_key(to, depth, key);
	json_write(&to->out, j);
}

void
converted_note(struct converted *to, const char *text)
{
	buf_printf(to->notes, "%s\n", text);
}
