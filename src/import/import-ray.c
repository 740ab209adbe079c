/*
 * A trial of Ray Tune: ray/tune/logger/json.py writes params.json and a line of
 * result.json for each report.
 */

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/import/import-results.h"
#include "src/import/import-study.h"

/* Python writes NaN and Infinity, which are no JSON: they become texts. */
static void
import_ray_line_clean(char *line)
{
	static const char *const words[] = { "NaN", "-Infinity", "Infinity" };
	bool text = false;
	size_t i, n;

	for (; *line != '\0'; line++) {
		if (*line == '"')
			text = !text;
		else if (*line == '\\' && line[1] != '\0')
			line++;
		for (i = 0; i < 3 && !text; i++) {
			n = strlen(words[i]);
			if (strncmp(line, words[i], n) != 0)
				continue;
			memset(line, ' ', n);
			line[0] = line[1] = '"';
			line++;
			break;
		}
	}
}

/*
 * The last report of the metric, NAN when it is no finite number.  The last line
 * may be half: Ray was killed.
 */
static bool
last_report(char *results, const char *metric, double *value, double *step)
{
	const struct json *j;
	struct json_doc *doc;
	char *line, *next;
	bool found = false;

	for (line = results; line != NULL && *line != '\0'; line = next) {
		next = strchr(line, '\n');
		if (next != NULL)
			*next++ = '\0';
		import_ray_line_clean(line);
		if (json_parse(&doc, line, strlen(line), NULL, false, NULL) !=
		    0)
			continue;
		j = json_get(json_root(doc), metric);
		if (j != NULL) {
			*value = NAN;
			(void)json_number(j, value);
			found = true;
			if (!json_number(
				json_get(json_root(doc), "training_iteration"),
				step))
				*step += 1;
		}
		json_free(doc);
	}
	return found;
}

int
import_ray_trial(struct buf *trials, struct import_results *to,
    const struct json *params, char *results, bool failed, const char *file,
    bool *reported, struct err *e)
{
	struct json_writer w = { .out = trials };
	double value = 0, step = 0;
	bool found;

	if (json_type(params) != JSON_OBJECT)
		return err_set(e, ERR_USAGE,
		    "%s: params.json is no object of parameters", file);
	found = last_report(results, to->metric, &value, &step);
	if (!found && !failed)
		return 0; /* it has not begun */
	if (found)
		*reported = true;
	if (found && !isfinite(value) && !failed) {
		failed = true;
		to->diverged++;
	}
	if (trials->len > 1)
		buf_putc(trials, ',');
	json_writer_object(&w, NULL);
	json_writer_text(&w, "state", failed ? "failed" : "completed");
	if (found) {
		if (isfinite(value))
			json_writer_number(&w, "objective", value);
		json_writer_number(&w, "step", step);
	}
	import_put_flat(json_writer_value(&w, "params"), params);
	json_writer_end(&w);
	return 0;
}
