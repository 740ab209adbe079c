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
void export_sagemaker_put_tags(struct import *, const struct json *backend);
/* export-sagemaker-algorithms.c */
/* Whether trials have no program. */
bool export_is_algorithm(const struct json *backend);
/* backend.algorithms, or NULL. */
const struct json *export_algorithms(const struct json *backend);
/* Whether the study can choose this definition. */
bool export_part_is_chosen(const struct export_part *);
/* Whether a parameter belongs to the definition, and its name there. */
bool export_part_takes(
    const struct export_part *, const struct param *, const char **name);
/* Whether it depends on a parameter other than the choosing one. */
bool
export_part_has_condition(const struct export_part *, const struct param *);
const char *export_part_image(const struct export_part *);
/* Whether AWS defines its metrics, so that no definition is allowed. */
bool export_part_is_known(const struct export_part *);
const char *export_part_metric(const struct export_part *);
/* Write a value as it is sent to the job. */
void export_part_value_put(
    struct buf *, const struct export_part *, const struct value *);
void export_part_constants_put(struct import *, const struct export_part *);
/* DefinitionName; number: of the definition, from 1. */
void export_part_name_put(
    struct import *, const struct export_part *, size_t number);
/* export-sagemaker-script.c: hyperparameters for command and launcher. */
void export_sagemaker_put_script(
    struct import *, const struct study *, const struct json *backend);
/*
 * Write a value as SageMaker does; a text that would read as another value is
 * quoted.
 */
void export_sagemaker_put_value(struct buf *, const struct value *);

#endif /* HPOTUNE_EXPORT_SAGEMAKER_H */
