/* Converts settings of another study to this study's space. */

#include <stdio.h>

#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/param.h"
#include "src/model/space.h"
#include "src/server/warmstart/warmstart-internal.h"

/* A parameter without a value there: whether it has one here all the same. */
static bool
value_absent(struct value *v, const struct param *p)
{
	if (p->type == PARAM_FIXED)
		*v = p->values[0];
	else if (p->has_default)
		*v = p->def;
	else
		return false;
	return true;
}

/* Record why one parameter excludes a trial. */
static void
warmstart_unfit_text(
    char *why, size_t n, const struct param *p, const struct json *j)
{
	struct buf is = { 0 }, domain = { 0 };

	if (j == NULL) {
		(void)snprintf(why, n, "%s is missing", p->name);
		return;
	}
	json_write(&is, j);
	param_put_domain(&domain, p);
	(void)snprintf(why, n, "%.32s is %.40s, not %.80s", p->name,
	    buf_str(&is), buf_str(&domain));
	buf_free(&is);
	buf_free(&domain);
}

/* Parameters that this study does not have are skipped. */
bool
warmstart_fit(const struct space *space, const struct json *params,
    struct value *values, char *why, size_t n)
{
	const struct param *p;
	const struct json *j;
	size_t i, k;

	for (i = 0; i < space->n; i++)
		values[i] = (struct value){ .kind = VALUE_NONE };
	for (k = 0; k < space->n; k++) {
		i = (size_t)space->order[k];
		p = &space->params[i];
		if (!space_active(space, i, values))
			continue;
		j = json_get(params, p->name);
		if (j == NULL ? value_absent(&values[i], p)
			      : param_value_read(&values[i], j) &&
				    param_fit(p, &values[i]))
			continue;
		warmstart_unfit_text(why, n, p, j);
		return false;
	}
	return true;
}
