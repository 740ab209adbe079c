/* The key replicates of study.json. */

#include <math.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/replicate-stats.h"
#include "src/model/space.h"
#include "src/model/study/study-internal.h"
#include "src/model/study/study.h"

static const char *const replicate_aggregates[] = { "mean", "median", "worst",
	NULL };

static int
replicates_read_aggregate(
    struct study_replicates *r, const struct json *j, struct err *e)
{
	static const double quantiles[] = { NAN, 0.5, 1 };
	size_t i = 0;

	r->quantile = NAN;
	if (j == NULL)
		return 0;
	if (json_type(j) == JSON_NUMBER)
		return json_read_number(j, 0, 1, &r->quantile, e);
	if (json_type(j) != JSON_STRING)
		return json_err(j, e,
		    "expected mean, median, worst or a quantile from 0 to 1");
	if (json_read_word(j, replicate_aggregates, &i, e) != 0)
		return -1;
	r->quantile = quantiles[i];
	return 0;
}

/* Adds its parameter to the space; call after that and the objectives were read. */
int
study_read_replicates(struct study *s, const struct json *block, struct err *e)
{
	static const char *const known[] = { "parameter", "count", "values",
		"aggregate", "racing", NULL };
	struct study_replicates *r = &s->replicates;
	const struct json *name, *values, *count, *j;
	int64_t n = 0;

	if (json_want(block, JSON_OBJECT, e) != 0 ||
	    json_only(block, known, e) != 0 ||
	    (name = json_need(block, "parameter", e)) == NULL)
		return -1;
	values = json_get(block, "values");
	count = json_get(block, "count");
	if ((values == NULL) == (count == NULL))
		return json_err(block, e, "expected one of count and values");
	if (count != NULL &&
	    json_read_integer(count, 2, REPLICATES_MAX, &n, e) != 0)
		return -1;
	if (values != NULL && json_want(values, JSON_ARRAY, e) != 0)
		return -1;
	if (values != NULL) {
		n = (int64_t)json_count(values);
		if (n < 2 || n > REPLICATES_MAX)
			return json_err(values, e, "expected 2 to %d values",
			    REPLICATES_MAX);
	}
	r->racing = true;
	j = json_get(block, "racing");
	if ((j != NULL && json_read_bool(j, &r->racing, e) != 0) ||
	    replicates_read_aggregate(r, json_get(block, "aggregate"), e) !=
		0 ||
	    space_add_replicates(s->space, name, values, n, e) != 0)
		return -1;
	r->param = s->space->n - 1;
	r->count = (size_t)n;
	r->where = block;
	return 0;
}
