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
struct converted;
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
void export_ranges_put(
    struct converted *, const struct export_part *, const char *key);
/*
 * export-sagemaker-job.c: write TrainingJobDefinition, or …s; backend is the
 * block.
 */
void export_definitions_put(
    struct converted *, const struct study *, const struct json *backend);
/* export-sagemaker-part.c: one definition for each algorithm. */
/* Whether the block runs an algorithm, not a program. */
bool export_is_algorithm(const struct json *backend);
/* backend.algorithms, or NULL. */
const struct json *export_algorithms(const struct json *backend);
/* Whether a parameter belongs to the definition, and its name there. */
bool export_part_takes(
    const struct export_part *, const struct param *, const char **name);
/* Whether a parameter depends on another one than the choosing one. */
bool
export_part_has_condition(const struct export_part *, const struct param *);
/* Whether the study can choose this definition. */
bool export_part_is_chosen(const struct export_part *);
/* The image of its jobs, or NULL. */
const char *export_part_image(const struct export_part *);
/* Whether AWS defines the algorithm's metrics: no definition is allowed. */
bool export_part_is_known(const struct export_part *);
/* The name of its objective. */
const char *export_part_metric(const struct export_part *);
/* Write what all its jobs get. */
void export_part_constants_put(struct converted *, const struct export_part *);
/*
 * Write its name: a letter or digit, then letters, digits and hyphens, not ending
 * in a hyphen.  number: among all definitions, where its own name has none of
 * these.
 */
void export_part_name_put(
    struct converted *, const struct export_part *, size_t number);
/* Write a value as it is sent to the job. */
void export_part_value_put(
    struct buf *, const struct export_part *, const struct value *);
/* export-sagemaker-script.c: hyperparameters for command and launcher. */
void export_sagemaker_put_script(
    struct converted *, const struct study *, const struct json *backend);

#endif /* HPOTUNE_EXPORT_SAGEMAKER_H */
