/*
 * A study as the SageMaker request CreateHyperParameterTuningJob: the inverse
 * of import-sagemaker.h.
 */

#ifndef HPOTUNE_EXPORT_SAGEMAKER_H
#define HPOTUNE_EXPORT_SAGEMAKER_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct err;
struct import;
struct json;
struct param;
struct store;
struct study;
struct value;

/* Inputs of one definition. */
struct export_part {
	const struct study *study;
	const struct json *backend; /* the block */
	const struct json *algorithm; /* of backend.algorithms, or NULL */
};

/*
 * Append the request to out, and to notes one line on each thing that is lost
 * or changes its meaning.  An error names what a tuning job cannot have.
 */
int export_sagemaker(
    struct buf *out, struct buf *notes, struct store *, struct err *);

/* export-sagemaker.c: write the ranges of a definition under a key. */
void
export_ranges_put(struct import *, const struct export_part *, const char *key);
/*
 * export-sagemaker-job.c: write TrainingJobDefinition, or …s; backend is the
 * block.
 */
void export_definitions_put(
    struct import *, const struct study *, const struct json *backend);
/* export-sagemaker-job.c */
/* backend.algorithms, or NULL. */
const struct json *export_algorithms(const struct json *backend);
/* Whether a parameter belongs to the definition, and its name there. */
bool export_part_takes(
    const struct export_part *, const struct param *, const char **name);
/* Whether it depends on a parameter other than the choosing one. */
bool
export_part_has_condition(const struct export_part *, const struct param *);
/* Write a value as it is sent to the job. */
void export_part_value_put(
    struct buf *, const struct export_part *, const struct value *);
/* export-sagemaker-script.c: hyperparameters for command and launcher. */
void export_sagemaker_put_script(
    struct import *, const struct study *, const struct json *backend);

#endif /* HPOTUNE_EXPORT_SAGEMAKER_H */
