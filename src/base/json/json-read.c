/* Reads one value of a required type, or reports what was expected. */

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"

int
json_want(const struct json *j, enum json_type type, struct err *e)
{
	if (json_type(j) == type)
		return 0;
	return json_err(j, e, "expected %s, not %s", json_type_name(type),
	    json_type_name(json_type(j)));
}

const struct json *
json_need(const struct json *object, const char *key, struct err *e)
{
	const struct json *j = json_get(object, key);

	if (j == NULL)
		json_err(object, e, "the key \"%s\" is missing", key);
	return j;
}

int
json_read_string(const struct json *j, const char **out, struct err *e)
{
	if (json_want(j, JSON_STRING, e) != 0)
		return -1;
	*out = json_string(j);
	return 0;
}

int
json_read_bool(const struct json *j, bool *out, struct err *e)
{
	if (!json_bool(j, out))
		return json_err(j, e, "expected true or false, not %s",
		    json_type_name(json_type(j)));
	return 0;
}

int
json_read_number(
    const struct json *j, double min, double max, double *out, struct err *e)
{
	if (json_want(j, JSON_NUMBER, e) != 0)
		return -1;
	json_number(j, out);
	if (*out >= min && *out <= max)
		return 0;
	if (isinf(max))
		return json_err(
		    j, e, "expected a number of at least %.15g", min);
	return json_err(
	    j, e, "expected a number from %.15g to %.15g", min, max);
}

int
json_read_integer(
    const struct json *j, int64_t min, int64_t max, int64_t *out, struct err *e)
{
	if (json_type(j) != JSON_NUMBER)
		return json_err(j, e, "expected a whole number, not %s",
		    json_type_name(json_type(j)));
	if (json_integer(j, out) && *out >= min && *out <= max)
		return 0;
	return json_err(j, e,
	    "expected a whole number from %" PRId64 " to %" PRId64, min, max);
}

int
json_read_word(const struct json *j, const char *const *words, size_t *index,
    struct err *e)
{
	struct buf b = { 0 };
	const char *text, *near;
	size_t i;

	if (json_read_string(j, &text, e) != 0)
		return -1;
	for (i = 0; words[i] != NULL; i++)
		if (strcmp(words[i], text) == 0) {
			*index = i;
			return 0;
		}
	for (i = 0; words[i] != NULL && b.len < 250; i++)
		buf_printf(&b, "%s%s",
		    i == 0		   ? ""
		    : words[i + 1] == NULL ? " or "
					   : ", ",
		    words[i]);
	near = json_nearest(text, words);
	json_err(j, e,
	    near != NULL ? "expected %s; did you mean \"%s\"?" : "expected %s",
	    buf_str(&b), near);
	buf_free(&b);
	return -1;
}
