/*
 * Prints importances as numbers, for tests/peers/optuna-importance.t, which
 * compares them with Optuna.  Input: one JSON object, { space, target, trials:
 * [{loss, params}, …] }; output: a line per parameter with its name, PED-ANOVA,
 * fANOVA.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/space.h"
#include "strategies/importance/importance.h"

enum { DIMS_MAX = 64, TRIALS_MAX = 10000, TREES = 64 };

static void
die(const char *what)
{
	fprintf(stderr, "importance-of: %s\n", what);
	exit(1);
}

static void
read_trials(struct importance_data *data, const struct json *trials,
    double *points, double *losses)
{
	struct value values[DIMS_MAX];
	struct err e = ERR_INIT;
	const struct json *j;

	for (j = json_first(trials); j != NULL; j = json_next(j)) {
		if (data->n == TRIALS_MAX ||
		    space_read_values(
			data->space, json_get(j, "params"), values, &e) != 0 ||
		    !json_number(json_get(j, "loss"), &losses[data->n]))
			die(e.text);
		space_encode(
		    data->space, values, points + data->n * data->space->n);
		data->n++;
	}
}

int
main(void)
{
	double *points = xcalloc(TRIALS_MAX * DIMS_MAX, sizeof *points);
	double *losses = xcalloc(TRIALS_MAX, sizeof *losses);
	double ped[DIMS_MAX], forest[DIMS_MAX], target = 0.1;
	struct importance_data data = { .points = points, .losses = losses };
	struct buf text = { 0 };
	struct space *space;
	struct json_doc *doc;
	struct err e = ERR_INIT;
	char chunk[65536];
	size_t got, i;

	while ((got = fread(chunk, 1, sizeof chunk, stdin)) > 0)
		buf_add(&text, chunk, got);
	if (json_parse(&doc, buf_str(&text), text.len, NULL, false, &e) != 0 ||
	    space_read(&space, json_get(json_root(doc), "space"), &e) != 0)
		die(e.text);
	data.space = space;
	(void)json_number(json_get(json_root(doc), "target"), &target);
	read_trials(&data, json_get(json_root(doc), "trials"), points, losses);
	importance_ped_anova(ped, &data, target, 1);
	importance_fanova(forest, &data, TREES);
	for (i = 0; i < space->n; i++)
		printf("%s %.17g %.17g\n", space->params[i].name, ped[i],
		    forest[i]);
	space_free(space);
	json_free(doc);
	buf_free(&text);
	free(points);
	free(losses);
	return 0;
}
