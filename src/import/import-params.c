/* Names and values of parameters of other tools. */

#include <ctype.h>
#include <string.h>

#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/import/import-results.h"
#include "src/model/space.h"

enum { NAME_MOST = 64 };

void
import_put_metric(struct buf *out, const char *name)
{
	size_t start = out->len;

	if (!isalpha((unsigned char)*name) && *name != '_')
		buf_putc(out, 'm');
	for (; *name != '\0' && out->len - start < NAME_MOST; name++)
		buf_putc(out, isalnum((unsigned char)*name) ||
				      strchr("_-./:@", *name) != NULL
				  ? *name
				  : '_');
}

void
import_put_name(struct buf *out, const char *name)
{
	size_t start = out->len;
	bool taken = space_name_taken(name);

	if (!isalpha((unsigned char)*name) && *name != '_')
		buf_putc(out, 'p');
	for (; *name != '\0' && out->len - start < NAME_MOST; name++)
		if (isalnum((unsigned char)*name) ||
		    strchr("_.-", *name) != NULL)
			buf_putc(out, *name);
		else
			buf_putc(out, *name == '/' ? '.' : '_');
	if (taken)
		buf_putc(out, '_');
}

/* A list has no equivalent: its JSON is a text. */
static void
member_put(struct json_writer *w, const char *name, const struct json *j)
{
	struct buf text = { 0 };

	if (json_type(j) == JSON_ARRAY) {
		json_write(&text, j);
		json_writer_text(w, name, buf_str(&text));
	} else
		json_write(json_writer_value(w, name), j);
	buf_free(&text);
}

static void
members_put(struct json_writer *w, const char *above, const struct json *object)
{
	struct buf name = { 0 };
	const struct json *j;

	for (j = json_first(object); j != NULL; j = json_next(j)) {
		buf_clear(&name);
		if (above != NULL)
			buf_printf(&name, "%s.", above);
		import_put_name(&name, json_key(j));
		if (json_type(j) == JSON_OBJECT)
			members_put(w, buf_str(&name), j);
		else
			member_put(w, buf_str(&name), j);
	}
	buf_free(&name);
}

void
import_put_params(struct buf *out, const struct json *object)
{
	struct json_writer w = { .out = out, .spacing = JSON_SPACED };

	json_writer_object(&w, NULL);
	members_put(&w, NULL, object);
	json_writer_end(&w);
}
