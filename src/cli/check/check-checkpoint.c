/* hpotune check --checkpoint. */

#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/base/search.h"
#include "src/cli/check/check-checkpoint.h"
#include "src/cli/check/one-trial.h"
#include "src/cli/common/cli.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/server/server.h"
#include "src/store/store.h"
#include "src/view/rows.h"

static const char what[] = "check --checkpoint";

enum {
	FEWEST_STEPS = 4 /* that are needed to stop a trial in between */
};
/* The share of the range of a curve that counts as equal, beside noise. */
static const double equal_share = 1e-6;

struct point {
	int64_t step;
	double value;
};

/* The reports of the objective in one attempt, by step. */
struct part {
	struct point *list;
	size_t n, cap;
};

struct compare {
	struct cli *cli;
	struct study *study;
	struct one_trial_folder whole_in, cut_in; /* of both runs */
	struct part whole; /* without a stop */
	struct part before, after; /* with one */
	char *params; /* the setting of both, JSON */
	char state[16], why[200]; /* of the resumed trial */
	size_t files; /* in the folder of checkpoints when it was stopped */
	/* What is found. */
	double range; /* of the curve */
	double noise; /* greatest difference before the stop */
	double off; /* … after it */
	size_t repeated, missing; /* steps */
};

/* One run of the server. */
struct run {
	int64_t stop_after; /* reports; 0 = none */
	bool asked; /* for the stop */
};

/* The server is stopped as by Ctrl-C, which lets the trial write a checkpoint. */
static void
check_checkpoint_on_display(void *arg, struct store *store, const char *trouble)
{
	struct run *r = arg;
	double reports;

	(void)trouble;
	if (r->stop_after == 0 || r->asked || store == NULL ||
	    rows_numbers(&reports, 1, store,
		"SELECT reports FROM trials WHERE trial = 1", NULL) != 1 ||
	    !(reports >= (double)r->stop_after))
		return;
	r->asked = true;
	/* To the process: a thread of its own takes signals. */
	(void)kill(getpid(), SIGTERM);
}

/* 1: the user has interrupted it. */
static int
study_run(struct compare *c, const struct one_trial_folder *in, struct run *r,
    struct err *e)
{
	struct server_env env = { .study = c->study,
		.db = in->db,
		.state_dir = in->state_dir,
		.temporary = true,
		.trials = 1,
		.parallel = 1,
		.display = check_checkpoint_on_display,
		.arg = r };
	const struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct sigaction usual;
	enum server_end end;
	int rc;

	/* A stop that is asked for as the server ends is nobody's any more. */
	(void)sigaction(SIGTERM, &ignore, &usual);
	rc = server_run(&env, &end, e);
	(void)sigaction(SIGTERM, &usual, NULL);
	if (rc != 0)
		return -1;
	return end == SERVER_INTERRUPTED && !r->asked;
}

static int
check_checkpoint_part_read(struct part *p, struct store *store,
    const struct study *study, const char *attempt, struct err *e)
{
	const char *params[3] = { study->metric, attempt, NULL };
	struct store_rows *rows;
	int rc;

	if (store_rows_open(&rows, store,
		"SELECT step, value FROM metrics WHERE trial = 1 AND name = ? "
		"AND attempt = CAST(? AS INTEGER) AND step IS NOT NULL "
		"ORDER BY step, time",
		params, e) != 0)
		return -1;
	while ((rc = store_rows_next(rows, e)) == 1) {
		if (p->n > 0 &&
		    p->list[p->n - 1].step == store_rows_int(rows, 0))
			p->n--;
		XGROW(p->list, p->n, p->cap);
		p->list[p->n++] = (struct point){ store_rows_int(rows, 0),
			rows_real(rows, 1) };
	}
	store_rows_close(rows);
	return rc;
}

/* The state of the trial, its setting and the parts of its curve. */
static int
check_checkpoint_result_read(struct compare *c,
    const struct one_trial_folder *in, struct part *first, struct part *second,
    struct err *e)
{
	struct store_rows *rows;
	struct store *store;
	int rc;

	if (store_open(&store, in->db, STORE_READ, e) != 0)
		return -1;
	rc = rows_first(&rows, store,
	    "SELECT state, coalesce(why, ''), params FROM trials WHERE trial = "
	    "1",
	    NULL, e);
	if (rc == 1) {
		(void)snprintf(
		    c->state, sizeof c->state, "%s", store_rows_text(rows, 0));
		(void)snprintf(
		    c->why, sizeof c->why, "%s", store_rows_text(rows, 1));
		free(c->params);
		c->params = xstrdup(store_rows_text(rows, 2));
		store_rows_close(rows);
		rc = check_checkpoint_part_read(first, store, c->study, "1", e);
		if (rc == 0 && second != NULL)
			rc = check_checkpoint_part_read(
			    second, store, c->study, "2", e);
	} else if (rc == 0)
		rc = err_set(e, ERR_FILE, "%s: no trial was begun", what);
	store_close(store);
	return rc;
}

/* Run the trial without a stop. */
static int
whole_run(struct compare *c, struct err *e)
{
	struct run r = { .stop_after = 0 };
	int rc = study_run(c, &c->whole_in, &r, e);

	if (rc != 0)
		return rc;
	if (check_checkpoint_result_read(c, &c->whole_in, &c->whole, NULL, e) !=
	    0)
		return -1;
	if (strcmp(c->state, "completed") != 0)
		return err_set(e, ERR_FILE,
		    "%s: the run without a stop is %s: %s", what, c->state,
		    c->why);
	if (c->whole.n < FEWEST_STEPS)
		return err_set(e, ERR_FILE,
		    "%s: the trial reports %s at %zu steps: %d are needed to "
		    "stop it in between",
		    what, c->study->metric, c->whole.n, FEWEST_STEPS);
	return 0;
}

/* The files in its folder of checkpoints. */
static size_t
files_count(const struct one_trial_folder *in)
{
	char *path = xasprintf("%s/trials/1/checkpoint", in->state_dir);
	DIR *dir = opendir(path);
	const struct dirent *entry;
	size_t n = 0;

	while (dir != NULL && (entry = readdir(dir)) != NULL)
		n += entry->d_name[0] != '.';
	if (dir != NULL)
		(void)closedir(dir);
	free(path);
	return n;
}

/* Run the same setting, stop it after half of the reports, and resume it. */
static int
cut_run(struct compare *c, struct err *e)
{
	struct run r = { .stop_after = (int64_t)c->whole.n / 2 };
	struct run again = { .stop_after = 0 };
	struct value *values = xcalloc(c->study->space->n + 1, sizeof *values);
	int rc = space_parse_values(c->study->space, c->params, values, e);

	if (rc == 0)
		rc = one_trial_prepare(c->study, values, what, e);
	free(values);
	if (rc == 0)
		rc = study_run(c, &c->cut_in, &r, e);
	if (rc != 0)
		return rc;
	c->files = files_count(&c->cut_in);
	rc = study_run(c, &c->cut_in, &again, e);
	if (rc != 0)
		return rc;
	if (check_checkpoint_result_read(
		c, &c->cut_in, &c->before, &c->after, e) != 0)
		return -1;
	if (c->after.n == 0 && strcmp(c->state, "completed") == 0)
		return err_set(e, ERR_FILE,
		    "%s: the trial ended before it could be stopped: expected "
		    "one that runs for some seconds and exits at SIGTERM",
		    what);
	return 0;
}

/* The value of the whole curve at a step; NULL: none. */
static const struct point *
whole_at(const struct compare *c, int64_t step)
{
	size_t i;

	SEARCH_FIRST(i, c->whole.n, c->whole.list[i].step < step);
	return i < c->whole.n && c->whole.list[i].step == step
		   ? &c->whole.list[i]
		   : NULL;
}

/* The greatest difference of a part from the whole curve. */
static double
part_off(const struct compare *c, const struct part *p)
{
	const struct point *at;
	double most = 0;
	size_t i;

	for (i = 0; i < p->n; i++) {
		at = whole_at(c, p->list[i].step);
		if (at == NULL || isnan(at->value) != isnan(p->list[i].value))
			return INFINITY;
		if (at->value != p->list[i].value && !isnan(at->value))
			most = fmax(most, fabs(at->value - p->list[i].value));
	}
	return most;
}

/* Steps of a part after this one. */
static size_t
part_after(const struct part *p, int64_t step)
{
	size_t i;

	SEARCH_FIRST(i, p->n, p->list[i].step <= step);
	return p->n - i;
}

static void
parts_compare(struct compare *c)
{
	double low = INFINITY, high = -INFINITY;
	size_t i, left;

	for (i = 0; i < c->whole.n; i++)
		if (isfinite(c->whole.list[i].value)) {
			low = fmin(low, c->whole.list[i].value);
			high = fmax(high, c->whole.list[i].value);
		}
	c->range = high > low ? high - low : 0;
	c->noise = part_off(c, &c->before);
	c->off = part_off(c, &c->after);
	if (c->before.n == 0 || c->after.n == 0)
		return;
	left = part_after(&c->whole, c->before.list[c->before.n - 1].step);
	c->repeated = c->after.n - part_after(&c->after,
				       c->before.list[c->before.n - 1].step);
	c->missing = left > c->after.n - c->repeated
			 ? left - (c->after.n - c->repeated)
			 : 0;
}

/* What is wrong, as one clause; false: nothing. */
static bool
fault_put(const struct compare *c, struct buf *out)
{
	if (c->after.n == 0)
		buf_printf(
		    out, "the resumed trial is %s: %s", c->state, c->why);
	else if (c->files == 0)
		buf_puts(out,
		    "it leaves no file in $HPOTUNE_CHECKPOINT_DIR when it is "
		    "stopped");
	else if (c->before.n > 1 &&
		 c->after.list[0].step <= c->whole.list[0].step)
		buf_printf(out,
		    "it begins again at step %" PRId64
		    ", as if it did not read "
		    "its checkpoint",
		    c->after.list[0].step);
	else if (strcmp(c->state, "completed") != 0)
		buf_printf(
		    out, "the resumed trial is %s: %s", c->state, c->why);
	else if (c->missing > 0)
		buf_printf(
		    out, "%zu steps are missing after the stop", c->missing);
	else if (c->off > 2 * c->noise + equal_share * c->range)
		buf_printf(out,
		    "after the stop its curve differs by up to %.3g from that "
		    "without a stop, before it by %.3g: something that the "
		    "training needs is not in the checkpoint",
		    c->off, c->noise);
	else
		return false;
	return true;
}

static void
check_checkpoint_text_put(
    const struct compare *c, struct buf *out, const struct buf *fault)
{
	buf_printf(out,
	    "without a stop  %zu reports of %s, up to step %" PRId64 "\n",
	    c->whole.n, c->study->metric, c->whole.list[c->whole.n - 1].step);
	if (c->before.n > 0)
		buf_printf(out,
		    "stopped         after step %" PRId64
		    ", with %zu file%s of a checkpoint\n",
		    c->before.list[c->before.n - 1].step, c->files,
		    c->files == 1 ? "" : "s");
	if (c->after.n > 0) {
		buf_printf(out,
		    "resumed         at step %" PRId64
		    ", %zu step%s repeated\n",
		    c->after.list[0].step, c->repeated,
		    c->repeated == 1 ? "" : "s");
		buf_printf(out,
		    "difference      %.3g before the stop, %.3g after it, of a "
		    "curve that spans %.3g\n",
		    c->noise, c->off, c->range);
	}
	if (fault->len == 0)
		buf_puts(out,
		    "\nThe trial goes on from its checkpoint to the same "
		    "curve.\n");
	else
		buf_printf(
		    out, "\nThe trial does not resume: %s.\n", fault->data);
}

static void
check_checkpoint_json_put(
    const struct compare *c, struct buf *out, const struct buf *fault)
{
	struct json_writer w = { .out = out, .spacing = JSON_SPACED };

	json_writer_object(&w, NULL);
	json_writer_bool(&w, "resumes", fault->len == 0);
	json_writer_text(&w, "why", fault->len > 0 ? fault->data : NULL);
	json_writer_raw(&w, "params", c->params);
	json_writer_integer(&w, "reports", (int64_t)c->whole.n);
	if (c->before.n > 0)
		json_writer_integer(
		    &w, "stopped_step", c->before.list[c->before.n - 1].step);
	json_writer_integer(&w, "files", (int64_t)c->files);
	if (c->after.n > 0)
		json_writer_integer(&w, "resumed_step", c->after.list[0].step);
	json_writer_integer(&w, "repeated", (int64_t)c->repeated);
	json_writer_integer(&w, "missing", (int64_t)c->missing);
	json_writer_number(&w, "noise", c->noise);
	json_writer_number(&w, "difference", c->off);
	json_writer_number(&w, "range", c->range);
	json_writer_end(&w);
	buf_putc(out, '\n');
}

static int
compare_run(struct compare *c, struct err *e)
{
	struct buf out = { 0 }, fault = { 0 };
	int rc = whole_run(c, e);

	if (rc == 0)
		rc = cut_run(c, e);
	if (rc != 0)
		return rc < 0 ? -1 : CLI_INTERRUPTED;
	parts_compare(c);
	rc = fault_put(c, &fault) ? CLI_FAILED : CLI_DONE;
	if (c->cli->json)
		check_checkpoint_json_put(c, &out, &fault);
	else
		check_checkpoint_text_put(c, &out, &fault);
	buf_free(&fault);
	(void)cli_print(&out);
	return rc;
}

int
check_checkpoint(struct cli *cli, struct study *study, struct err *e)
{
	struct compare c = { .cli = cli, .study = study };
	int rc = -1;

	/* What a warning would say of a stop is expected here. */
	log_set_level(LOG_LEVEL_ERROR);
	study_stopping_none(study);
	if (one_trial_prepare(study, NULL, what, e) == 0 &&
	    one_trial_folder_make(&c.whole_in, study->name, what, e) == 0 &&
	    one_trial_folder_make(&c.cut_in, study->name, what, e) == 0)
		rc = compare_run(&c, e);
	one_trial_folder_free(&c.whole_in);
	one_trial_folder_free(&c.cut_in);
	free(c.whole.list);
	free(c.before.list);
	free(c.after.list);
	free(c.params);
	return rc;
}
