/* Parameter values in the user's terms: parse, compare, write. */

#include <inttypes.h>
#include <string.h>

#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/param.h"

bool
param_value_read(struct value *v, const struct json *j)
{
	bool yes;

	*v = (struct value){ .kind = VALUE_NULL };
	switch (json_type(j)) {
	case JSON_NULL:
		return true;
	case JSON_BOOL:
		v->kind = VALUE_BOOL;
		(void)json_bool(j, &yes);
		v->integer = yes;
		return true;
	case JSON_NUMBER:
		(void)json_number(j, &v->real);
		v->kind = json_integer(j, &v->integer) ? VALUE_INT : VALUE_REAL;
		return true;
	case JSON_STRING:
		v->kind = VALUE_TEXT;
		v->text = json_string(j);
		return true;
	case JSON_ARRAY:
	case JSON_OBJECT:
		break;
	}
	return false;
}

static bool
param_value_is_number(const struct value *v)
{
	return v->kind == VALUE_INT || v->kind == VALUE_REAL;
}

bool
param_value_equal(const struct value *a, const struct value *b)
{
	if (param_value_is_number(a) && param_value_is_number(b) &&
	    a->kind != b->kind)
		return a->real == b->real;
	if (a->kind != b->kind)
		return false;
	switch (a->kind) {
	case VALUE_NONE:
	case VALUE_NULL:
		return true;
	case VALUE_BOOL:
	case VALUE_INT:
		return a->integer == b->integer;
	case VALUE_REAL:
		return a->real == b->real;
	case VALUE_TEXT:
		return strcmp(a->text, b->text) == 0;
	}
	return false;
}

void
param_value_put(struct buf *b, const struct value *v)
{
	switch (v->kind) {
	case VALUE_NONE:
		break;
	case VALUE_NULL:
		buf_puts(b, "null");
		break;
	case VALUE_BOOL:
		buf_puts(b, v->integer != 0 ? "true" : "false");
		break;
	case VALUE_INT:
		buf_printf(b, "%" PRId64, v->integer);
		break;
	case VALUE_REAL:
		json_put_number(b, v->real);
		break;
	case VALUE_TEXT:
		buf_puts(b, v->text);
		break;
	}
}

void
param_value_put_pointed(struct buf *b, const struct value *v)
{
	struct buf text = { 0 };
	const char *s, *e;

	param_value_put(&text, v);
	s = buf_str(&text);
	e = v->kind == VALUE_REAL ? strpbrk(s, "eE") : NULL;
	buf_add(b, s, e != NULL ? (size_t)(e - s) : text.len);
	if (e != NULL) {
		if (memchr(s, '.', (size_t)(e - s)) == NULL)
			buf_puts(b, ".0");
		buf_puts(b, "e");
		if (e[1] != '-' && e[1] != '+')
			buf_putc(b, '+');
		buf_puts(b, e + 1);
	}
	buf_free(&text);
}

void
param_value_put_json(struct buf *b, const struct value *v)
{
	if (v->kind == VALUE_TEXT)
		json_put_string(b, v->text);
	else if (v->kind == VALUE_NONE)
		buf_puts(b, "null");
	else
		param_value_put(b, v);
}
