/* Trials of another tool -> the text of a study.json that begins with them. */

#ifndef HPOTUNE_IMPORT_RESULTS_H
#define HPOTUNE_IMPORT_RESULTS_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct err;
struct json;

/* Trials, as the parts of the import write them. */
struct import_results {
	const char *study; /* a name, any text */
	const char *metric; /* the objective; NULL: there are several */
	bool maximize;
	const struct json *goals; /* of several objectives: MINIMIZE, … */
	const struct json *metrics; /* their names, or NULL */
	/*
	 * [{ "state", "objective", "step", "params" }, …]; see export --format
	 * json.  "values" of several objectives in their order, or the one; and
	 * "constraints", each of which is satisfied by 0 or less.
	 */
	const struct json *trials;
	size_t constraints; /* how many a trial has; constraint_0, … */
	const struct json *domains; /* Optuna's distributions, or NULL */
	bool stops; /* some trials were stopped early */
	size_t
	    diverged; /* trials that failed by NaN or infinity at their end */
};

/*
 * Write study.json, and its trials as a file for warm_start, whose name in
 * study.json is warm (NULL: no such file).  Ranges are those of domains, or
 * those of the trials, of which notes say so.
 */
int import_results(struct buf *study, struct buf *trials, struct buf *notes,
    const struct import_results *, const char *warm, struct err *);

/*
 * import-csv.c: a table with a row for each trial, as a list of trials.  The
 * metric is the column of the objective, NULL: a usual one, whose name it then
 * has; diverged is counted.  params: names of columns with commas, or NULL.
 */
int import_csv(struct buf *trials, struct buf *notes, struct import_results *,
    const char *params, char *text, const char *file, struct err *);

/* import-optuna.c: the trials of a document of optuna_read, in the same form. */
int import_optuna(struct buf *trials, struct import_results *,
    const struct json *root, struct err *);

/*
 * import-ray.c: add a trial of Ray Tune: its params.json, the lines of its
 * result.json, whether it has an error.txt.  One whose last report is NaN or
 * infinite has failed; diverged counts it.  reported is set when the metric was
 * reported.
 */
int import_ray_trial(struct buf *trials, struct import_results *,
    const struct json *params, char *results, bool failed, const char *file,
    bool *reported, struct err *);

/*
 * import-trackio.c: the runs of a document of trackio_read; one whose last value
 * is NaN or infinite has failed; diverged counts it.  An error where no run has a
 * value of the metric.
 */
int
import_trackio(struct buf *trials, struct buf *notes, struct import_results *,
    const struct json *root, const char *file, struct err *);

/*
 * import-synetune.c: the table of the reports of Syne Tune, as a list of trials,
 * with metadata.json and the space in it.  text is changed.
 */
int import_synetune(struct buf *trials, struct buf *notes,
    struct import_results *, const struct json *meta, const struct json *space,
    char *text, const char *file, struct err *);
/* Append the space of Syne Tune as the domains of import_results. */
void import_synetune_domains(struct buf *, const struct json *space);

#endif /* HPOTUNE_IMPORT_RESULTS_H */
