/* The runs of a project of Trackio. */

#include <stdbool.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/import/import-results.h"
#include "src/import/import-study.h"

/* The configuration without what Trackio adds, _Username and others. */
static void
trackio_params_put(struct json_writer *w, const struct json *config)
{
	struct json_writer own = { .spacing = JSON_SPACED };
	struct buf text = { 0 };
	struct json_doc *doc;
	const struct json *j;

	own.out = &text;
	json_writer_object(&own, NULL);
	for (j = json_first(config); j != NULL; j = json_next(j))
		if (*json_key(j) != '_')
			json_write(json_writer_value(&own, json_key(j)), j);
	json_writer_end(&own);
	if (json_parse(&doc, buf_str(&text), text.len, NULL, false, NULL) ==
	    0) {
		import_put_flat(json_writer_value(w, "params"), json_root(doc));
		json_free(doc);
	}
	buf_free(&text);
}

/* A run; false: it has no value of the metric. */
static bool
trackio_run_put(
    struct json_writer *w, struct import_results *to, const struct json *run)
{
	const struct json *value = json_get(run, "value");
	bool failed = json_string(value) != NULL; /* NaN, Infinity */
	double x;

	if (!failed && !json_number(value, &x))
		return false;
	to->diverged += failed;
	json_writer_object(w, NULL);
	json_writer_text(w, "state", failed ? "failed" : "completed");
	if (!failed)
		json_writer_number(w, "objective", x);
	if (json_number(json_get(run, "step"), &x))
		json_writer_number(w, "step", x);
	trackio_params_put(w, json_get(run, "config"));
	json_writer_end(w);
	return true;
}

int
import_trackio(struct buf *trials, struct buf *notes, struct import_results *to,
    const struct json *root, const char *file, struct err *e)
{
	struct json_writer w = { .out = trials };
	const struct json *j, *names = json_get(root, "metrics");
	size_t out = 0, all = json_count(json_get(root, "runs"));

	json_writer_array(&w, NULL);
	j = json_first(json_get(root, "runs"));
	for (; j != NULL; j = json_next(j))
		out += !trackio_run_put(&w, to, j);
	json_writer_end(&w);
	if (out == all)
		return err_set(e, ERR_USAGE,
		    "%s: no run has a value of %s, but of %s", file, to->metric,
		    json_spaced(names));
	if (out > 0)
		buf_printf(notes,
		    "%zu of %zu runs have no value of %s and are left out\n",
		    out, all, to->metric);
	buf_puts(notes,
	    "Trackio does not say whether a run has ended well: runs with a "
	    "value have completed here, with their last one\n");
	return 0;
}
