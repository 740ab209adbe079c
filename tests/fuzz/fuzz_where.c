/*
 * A condition on parameters.  The answer for a part of the space contains the
 * answer for each of its settings; the strict one is true only where the other
 * is.
 */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/model/space.h"
#include "src/model/where-internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

enum { BOXES = 12, SETTINGS = 4 };

static const char parameters[] =
    "{\"a\":{\"type\":\"int\",\"min\":-3,\"max\":40},"
    "\"b-c\":{\"type\":\"float\",\"min\":-1,\"max\":1},"
    "\"b\":{\"type\":\"int\",\"min\":1,\"max\":1000,\"scale\":\"log\"},"
    "\"o\":{\"type\":\"choice\",\"values\":[\"sgd\",\"adam\",\"x y\"]},"
    "\"m\":{\"type\":\"float\",\"min\":0,\"max\":0.9,\"step\":0.1,"
    "\"when\":{\"o\":[\"sgd\"]}},"
    "\"f\":{\"type\":\"choice\",\"values\":[true,false]},"
    "\"n\":{\"type\":\"choice\",\"values\":[null,1,2.5]},"
    "\"k\":{\"type\":\"fixed\",\"value\":7}}";

static void
need(bool good)
{
	if (!good)
		abort();
}

static struct space *
space_make(void)
{
	struct json_doc *doc = NULL;
	struct space *space = NULL;

	need(json_parse(
		 &doc, parameters, strlen(parameters), NULL, false, NULL) == 0);
	need(space_read(&space, json_root(doc), NULL) == 0);
	json_free(doc);
	return space;
}

/* A random part of a range; of levels, whole ones. */
static struct where_range
part_of(const struct where_range *r, bool levels, struct rng *rng)
{
	double width = r->high - r->low;
	double low = r->low + width * rng_uniform(rng);
	double high = low + (r->high - low) * rng_uniform(rng);

	if (levels) {
		low = floor(low);
		high = ceil(high);
	}
	return (struct where_range){ low, high };
}

static void
check_box(const struct expression *x, const struct space *space,
    struct rng *rng, struct where_range *box, struct span *spans)
{
	struct where_range *part = xcalloc(space->n, sizeof *part), *r;
	bool levels;
	unsigned all, one, strict_all, strict;
	size_t i;
	int k;

	where_box(box, space, NULL);
	for (i = 0; i < space->n; i++)
		part[i] =
		    part_of(&box[i], param_levels(&space->params[i]) > 0, rng);
	where_spans(spans, space, part);
	all = expression_test(x, spans);
	strict_all = expression_test_strict(x, spans);
	for (k = 0; k < SETTINGS; k++) {
		for (i = 0; i < space->n; i++) {
			levels = param_levels(&space->params[i]) > 0;
			r = &box[i];
			*r = part_of(&part[i], levels, rng);
			if (k == 0)
				r->low = part[i].low;
			if (k == 1)
				r->low = part[i].high;
			r->high = r->low;
		}
		where_spans(spans, space, box);
		one = expression_test(x, spans);
		need(one == SPAN_TRUE || one == SPAN_FALSE || one == SPAN_NONE);
		need((one & ~all) == 0);
		strict = expression_test_strict(x, spans);
		need(strict == SPAN_TRUE || strict == SPAN_FALSE ||
		     strict == SPAN_NONE);
		need((strict & ~strict_all) == 0);
		need(strict == one || strict == SPAN_NONE);
	}
	free(part);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct space *space;
	struct expression *x;
	struct where_range *box;
	struct span *spans;
	struct err e = ERR_INIT;
	struct rng rng;
	char *text = xstrndup((const char *)data, size);
	int i;

	if (space == NULL)
		space = space_make();
	box = xcalloc(space->n, sizeof *box);
	spans = xcalloc(space->n, sizeof *spans);
	where_box(box, space, NULL);
	where_spans(spans, space, box);
	if (expression_parse(&x, text, space, spans, &e) != 0)
		need(e.kind == ERR_USAGE && e.text[0] != '\0');
	else {
		rng_init(&rng, size, 1);
		for (i = 0; i < BOXES; i++)
			check_box(x, space, &rng, box, spans);
		expression_free(x);
	}
	free(box);
	free(spans);
	free(text);
	return 0;
}
