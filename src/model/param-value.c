/* Parameter values in the user's terms: parse, compare, write. */

#include <inttypes.h>
#include <string.h>

#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/param-tree.h"
#include "src/model/param.h"

void
param_value_read(struct value *v, const struct json *j)
{
	bool yes;

	*v = (struct value){ .kind = VALUE_NULL };
	switch (json_type(j)) {
	case JSON_NULL:
		return;
	case JSON_BOOL:
		v->kind = VALUE_BOOL;
		(void)json_bool(j, &yes);
		v->integer = yes;
		return;
	case JSON_NUMBER:
		(void)json_number(j, &v->real);
		/* In a choice 1.0 is another type than 1 for some programs. */
		v->kind = json_integer(j, &v->integer) && !json_is_decimal(j)
			      ? VALUE_INT
			      : VALUE_REAL;
		return;
	case JSON_STRING:
		v->kind = VALUE_TEXT;
		v->text = json_string(j);
		return;
	case JSON_ARRAY:
	case JSON_OBJECT:
		v->kind = VALUE_TREE;
		v->text = json_spaced(j);
		return;
	}
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
	case VALUE_TREE:
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
	case VALUE_TREE:
		buf_puts(b, v->text);
		break;
	}
}

void
param_value_put_pointed(struct buf *b, const struct value *v)
{
	static const struct param_tree pointed = { "null", "true", "false",
		", ", ": ", json_put_string, json_put_string,
		param_tree_put_pointed };
	struct buf text = { 0 };

	if (v->kind == VALUE_TREE) {
		param_tree_put(b, v, &pointed);
		return;
	}
	param_value_put(&text, v);
	if (v->kind == VALUE_REAL)
		param_tree_put_pointed(b, buf_str(&text));
	else
		buf_puts(b, buf_str(&text));
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
