/* Arbitrary bytes as an XML answer: a tree within the bounds, or an error. */

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/xml.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
need(bool good)
{
	if (!good)
		abort();
}

/* How many there are. */
static size_t
walk(const struct xml *x, size_t depth)
{
	const struct xml *c;
	size_t n = 1;

	need(depth <= 32 && xml_name(x) != NULL && xml_text(x) != NULL);
	for (c = xml_first(x, NULL); c != NULL; c = xml_next(c, NULL)) {
		need(xml_first(x, xml_name(c)) != NULL);
		n += walk(c, depth + 1);
	}
	return n;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err e = ERR_INIT;
	struct xml *x = NULL;

	if (xml_parse(&x, (const char *)data, size, &e) == -1) {
		need(x == NULL && e.kind == ERR_REMOTE && e.text[0] != '\0');
		return 0;
	}
	need(walk(x, 1) <= 100000);
	(void)xml_get(x, "Error/Code");
	(void)xml_get(x, "");
	(void)xml_get(x, "/");
	xml_free(x);
	return 0;
}
