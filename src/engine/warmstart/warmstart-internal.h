/* Shared by the files of warm_start; others include warmstart.h. */

#ifndef HPOTUNE_WARMSTART_INTERNAL_H
#define HPOTUNE_WARMSTART_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/engine/warmstart/warmstart.h"
#include "src/model/trial.h"

struct json;
struct study_warm;
struct value;

struct warmstart_trial {
	size_t source; /* index */
	int64_t trial;
	enum trial_state state;
	double objective; /* NaN = none */
	int64_t step; /* -1 = none */
	double value; /* reported there */
	char *params;
	char *metrics; /* last reports, as JSON; NULL = objective suffices */
};

/* State while one source is read. */
struct warmstart_reading {
	struct warmstart *warm;
	struct warmstart_source *source;
	const struct study *study;
	struct store *store; /* for a database */
	struct value *values; /* one per parameter */
};

/* warmstart.c: add one trial, taking ownership of the values read. */
void
warmstart_source_take(struct warmstart_reading *, struct warmstart_trial *);
/* Record a parameter of the source that this study does not have. */
void
warmstart_source_unknown(struct warmstart_reading *, const struct json *params);
/* An error: no trial of the source can be used. */
int warmstart_source_useless(
    const struct warmstart_source *, const struct study_warm *, struct err *);
/* Whether there are several objectives, or constraints. */
bool warmstart_source_is_multi(const struct study *);

/*
 * warmstart-tuning-job.c: the training jobs of a SageMaker tuning job, from
 * AWS, and from a file that lists them.
 */
int warmstart_tuning_job_fetch(
    struct warmstart_reading *, const struct study_warm *, struct err *);
int warmstart_tuning_job_load(
    struct warmstart_reading *, const struct study_warm *, struct err *);

/*
 * warmstart-list.c: the list "trials" of a document as hpotune export --format
 * json writes it.
 */
int warmstart_list_read(struct warmstart_reading *, const struct json *root,
    const struct study_warm *, struct err *);

/*
 * The values of a setting of the source in this study, into r->values; false
 * with the reason when the space or its conditions do not have it.
 */
bool warmstart_source_fit(
    struct warmstart_reading *, const struct json *params, char *why, size_t n);

#endif /* HPOTUNE_WARMSTART_INTERNAL_H */
