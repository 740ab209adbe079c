/* Converts recorded parameters from JSON to points. */

#include <stdlib.h>
#include <string.h>

#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/store/store.h"
#include "src/view/trial-points.h"

int
trial_points_study(struct study **study, struct store *store, struct err *e)
{
	struct store_study row = { 0 };
	int rc;

	if (store_study_get(store, &row, e) != 0)
		return -1;
	rc = study_parse_recorded(study, row.json, row.dir, e);
	store_study_fini(&row);
	return rc;
}

int
trial_points_read(
    double *u, const struct space *space, const char *params, struct err *e)
{
	struct value *values = xcalloc(space->n + 1, sizeof *values);
	struct json_doc *doc = NULL;
	int rc;

	rc = json_parse(&doc, params, strlen(params), NULL, false, e);
	if (rc == 0)
		rc = space_read_values(space, json_root(doc), values, e);
	if (rc == 0)
		space_encode(space, values, u);
	json_free(doc);
	free(values);
	return rc;
}

double
trial_points_shares(double *share, size_t n)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < n; i++)
		sum += share[i];
	for (i = 0; i < n && sum > 0; i++)
		share[i] /= sum;
	return sum;
}
