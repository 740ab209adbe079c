/*
 * Merges a partial setting of the user with the strategy's suggestion,
 * respecting conditions.
 */

#include <stdlib.h>

#include "src/base/mem.h"
#include "src/model/space.h"
#include "src/model/partial-setting.h"
#include "src/model/where-internal.h"

void
partial_setting_overlay(
    const struct space *space, struct value *values, const struct value *over)
{
	size_t i, k;

	for (i = 0; i < space->n; i++)
		if (over[i].kind != VALUE_NONE)
			values[i] = over[i];
	for (k = 0; k < space->n; k++) {
		i = (size_t)space->order[k];
		if (!space_active(space, i, values))
			values[i].kind = VALUE_NONE;
	}
}

void
partial_setting_complete(const struct space *space, struct value *values)
{
	struct value *middle = xcalloc(space->n, sizeof *middle);
	double *u = xcalloc(space->n, sizeof *u);
	size_t i, k;

	for (k = 0; k < space->n; k++) {
		i = (size_t)space->order[k];
		if (values[i].kind != VALUE_NONE ||
		    !space_active(space, i, values))
			continue;
		if (space->params[i].has_default) {
			values[i] = space->params[i].def;
			continue;
		}
		space_encode(space, values, u);
		u[i] = 0.5;
		space_decode(space, u, middle);
		values[i] = middle[i];
	}
	free(u);
	free(middle);
}

bool
partial_setting_defaults(const struct space *space, struct value *def)
{
	struct where_range *box = xcalloc(space->n, sizeof *box);
	struct span *spans = xcalloc(space->n, sizeof *spans);
	const struct param *p;
	bool any = false;
	size_t i, k;

	for (k = 0; k < space->n; k++) {
		i = (size_t)space->order[k];
		p = &space->params[i];
		where_range_of(&box[i], p, p->has_default ? &p->def : NULL);
		where_span(spans, space, box, i);
		if (!p->has_default || spans[i].kinds == SPAN_NONE)
			continue;
		def[i] = p->def;
		any = true;
	}
	free(box);
	free(spans);
	return any;
}

bool
partial_setting_may_have(
    const struct space *space, size_t i, const struct value *values)
{
	struct where_range *box = xcalloc(space->n, sizeof *box);
	struct span *spans = xcalloc(space->n, sizeof *spans);
	bool may;

	where_box(box, space, values);
	where_spans(spans, space, box);
	may = spans[i].kinds != SPAN_NONE;
	free(box);
	free(spans);
	return may;
}
