/* Writes a JSON document value by value: commas, keys and brackets. */

#include <inttypes.h>
#include <stdlib.h>

#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"

struct buf *
json_writer_value(struct json_writer *w, const char *key)
{
	bool spaced = w->spacing != JSON_TIGHT;

	if (w->comma)
		buf_puts(w->out, w->line ? ",\n" : spaced ? ", " : ",");
	w->comma = true;
	w->line = false;
	if (key != NULL) {
		json_put_string(w->out, key);
		buf_puts(w->out, spaced ? ": " : ":");
	}
	return w->out;
}

static void
level_open(struct json_writer *w, const char *key, const char *start, char end)
{
	if (w->depth == JSON_WRITER_DEPTH)
		abort();
	buf_puts(json_writer_value(w, key), start);
	w->ends[w->depth++] = end;
	w->comma = false;
}

void
json_writer_object(struct json_writer *w, const char *key)
{
	level_open(w, key, w->spacing == JSON_PADDED ? "{ " : "{", '}');
}

void
json_writer_array(struct json_writer *w, const char *key)
{
	level_open(w, key, "[", ']');
}

void
json_writer_end(struct json_writer *w)
{
	char end;

	if (w->depth == 0)
		abort();
	end = w->ends[--w->depth];
	if (w->spacing == JSON_PADDED && end == '}' && w->comma)
		buf_putc(w->out, ' ');
	buf_putc(w->out, end);
	w->comma = true;
	w->line = false;
}

void
json_writer_line(struct json_writer *w)
{
	w->line = true;
}

void
json_writer_raw(struct json_writer *w, const char *key, const char *json)
{
	buf_puts(json_writer_value(w, key), json);
}

void
json_writer_null(struct json_writer *w, const char *key)
{
	json_writer_raw(w, key, "null");
}

void
json_writer_text(struct json_writer *w, const char *key, const char *text)
{
	if (text != NULL)
		json_put_string(json_writer_value(w, key), text);
	else
		json_writer_null(w, key);
}

void
json_writer_number(struct json_writer *w, const char *key, double x)
{
	json_put_number(json_writer_value(w, key), x);
}

void
json_writer_integer(struct json_writer *w, const char *key, int64_t n)
{
	buf_printf(json_writer_value(w, key), "%" PRId64, n);
}

void
json_writer_bool(struct json_writer *w, const char *key, bool on)
{
	json_writer_raw(w, key, on ? "true" : "false");
}
