/*
 * A line for each change of a trial's state, for those who read the log and not
 * the screen.
 */

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "src/base/json/json.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/engine/announce/trial-log.h"
#include "src/model/trial.h"
#include "src/store/store.h"

enum { SETTING_MOST = 400 /* bytes */ };

/* "lr=0.001 optimizer=sgd", from the JSON of params. */
static void
trial_log_put_setting(struct buf *b, const char *params)
{
	const struct json *j;
	struct json_doc *doc;
	const char *between = "";
	double x;

	if (params == NULL ||
	    json_parse(&doc, params, strlen(params), NULL, false, NULL) != 0)
		return;
	for (j = json_first(json_root(doc)); j != NULL && b->len < SETTING_MOST;
	     j = json_next(j), between = " ") {
		buf_printf(b, "%s%s=", between, json_key(j));
		if (json_number(j, &x))
			buf_printf(b, "%.6g", x);
		else if (json_string(j) != NULL)
			buf_printf(b, "%.100s", json_string(j));
		else
			json_write(b, j);
	}
	if (j != NULL)
		buf_puts(b, " ...");
	json_free(doc);
}

void
trial_log_moved(const struct store_trial *row)
{
	struct buf b = { 0 };

	if (row->why != NULL)
		buf_puts(&b, row->why);
	else if (row->state == TRIAL_STARTING)
		trial_log_put_setting(&b, row->params);
	log_info("trial", "%" PRId64 " %s%s%s", row->number,
	    trial_state_name(row->state), b.len > 0 ? ": " : "", buf_str(&b));
	buf_free(&b);
}

void
trial_log_ended(const struct store_trial *row, const char *metric, double best,
    int64_t best_trial)
{
	const char *between = ": ";
	struct buf b = { 0 };

	if (row->why != NULL) {
		buf_printf(&b, "%s%s", between, row->why);
		between = "; ";
	}
	if (isfinite(row->objective)) {
		buf_printf(&b, "%s%s %.6g", between, metric, row->objective);
		between = "; ";
	}
	if (best_trial > 0 && isfinite(best))
		buf_printf(&b, "%sbest %.6g, trial %" PRId64, between, best,
		    best_trial);
	log_info("trial", "%" PRId64 " %s%s", row->number,
	    trial_state_name(row->state), buf_str(&b));
	buf_free(&b);
}
