/* A list or an object as a value: its JSON in the words of another language. */

#include <string.h>

#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/param-tree.h"
#include "src/model/space.h"

static void
tree_put(struct buf *b, const struct json *j, const struct param_tree *form)
{
	bool list = json_type(j) == JSON_ARRAY, yes = false, first = true;
	const struct json *child;

	if (json_type(j) == JSON_NULL) {
		buf_puts(b, form->null != NULL ? form->null : "null");
		return;
	}
	if (json_bool(j, &yes)) {
		buf_puts(b, yes ? form->yes : form->no);
		return;
	}
	if (json_type(j) == JSON_NUMBER) {
		form->number(b, json_spaced(j));
		return;
	}
	if (json_string(j) != NULL) {
		form->text(b, json_string(j));
		return;
	}
	buf_putc(b, list ? '[' : '{');
	for (child = json_first(j); child != NULL; child = json_next(child)) {
		if (form->null == NULL && json_type(child) == JSON_NULL)
			continue;
		if (!first)
			buf_puts(b, form->comma);
		first = false;
		if (!list) {
			form->key(b, json_key(child));
			buf_puts(b, form->colon);
		}
		tree_put(b, child, form);
	}
	buf_putc(b, list ? ']' : '}');
}

void
param_tree_put(
    struct buf *b, const struct value *v, const struct param_tree *form)
{
	struct json_doc *doc;

	if (json_parse(&doc, v->text, strlen(v->text), NULL, false, NULL) != 0)
		return; /* json_spaced has written it */
	tree_put(b, json_root(doc), form);
	json_free(doc);
}

static bool
tree_has_null(const struct json *j)
{
	const struct json *child;

	for (child = json_first(j); child != NULL; child = json_next(child))
		if ((json_type(j) == JSON_ARRAY &&
			json_type(child) == JSON_NULL) ||
		    tree_has_null(child))
			return true;
	return false;
}

bool
param_tree_has_null(const struct value *v)
{
	struct json_doc *doc;
	bool has;

	if (v->kind != VALUE_TREE ||
	    json_parse(&doc, v->text, strlen(v->text), NULL, false, NULL) != 0)
		return false;
	has = tree_has_null(json_root(doc));
	json_free(doc);
	return has;
}

void
param_tree_put_pointed(struct buf *b, const char *number)
{
	const char *e = strpbrk(number, "eE");

	buf_add(b, number, e != NULL ? (size_t)(e - number) : strlen(number));
	if (e == NULL)
		return;
	if (memchr(number, '.', (size_t)(e - number)) == NULL)
		buf_puts(b, ".0");
	buf_puts(b, "e");
	if (e[1] != '-' && e[1] != '+')
		buf_putc(b, '+');
	buf_puts(b, e + 1);
}
