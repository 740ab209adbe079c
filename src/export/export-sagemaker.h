/*
 * A study as the request CreateHyperParameterTuningJob of SageMaker: the way
 * back of import-sagemaker.h.
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

/* What one definition is made of. */
struct export_part {
	const struct study *study;
	const struct json *backend; /* the block */
	const struct json *algorithm; /* of backend.algorithms, or NULL */
};

/*
 * Append the request to out and what has no place in it, or another meaning
 * there, to notes, a line each.  An error names what a tuning job cannot be.
 */
int export_sagemaker(
    struct buf *out, struct buf *notes, struct store *, struct err *);

/* export-sagemaker.c: the ranges of a definition under a key. */
void
export_ranges_put(struct import *, const struct export_part *, const char *key);
/* export-sagemaker-job.c: TrainingJobDefinition, or …s; backend is the block. */
void export_definitions_put(
    struct import *, const struct study *, const struct json *backend);
void export_sagemaker_put_tags(struct import *, const struct json *backend);
/* export-sagemaker-algorithms.c */
/* Whether trials are given no program. */
bool export_is_algorithm(const struct json *backend);
/* backend.algorithms, or NULL. */
const struct json *export_algorithms(const struct json *backend);
/* Whether the study chooses it at all. */
bool export_part_is_chosen(const struct export_part *);
/* Whether a parameter is the definition's, and what it is called there. */
bool export_part_takes(
    const struct export_part *, const struct param *, const char **name);
/* Whether it depends on another parameter than the one that chooses. */
bool
export_part_has_condition(const struct export_part *, const struct param *);
const char *export_part_image(const struct export_part *);
/* Whether AWS defines its metrics, and lets nobody define them. */
bool export_part_is_known(const struct export_part *);
const char *export_part_metric(const struct export_part *);
/* A value as the job is sent it. */
void export_part_value_put(
    struct buf *, const struct export_part *, const struct value *);
void export_part_constants_put(struct import *, const struct export_part *);
/* DefinitionName; number: of the definition, from 1. */
void export_part_name_put(
    struct import *, const struct export_part *, size_t number);
/* export-sagemaker-script.c: hyperparameters of command and launcher. */
void export_sagemaker_put_script(
    struct import *, const struct study *, const struct json *backend);
/* A value as SageMaker writes it: what would read as another one in quotes. */
void export_sagemaker_put_value(struct buf *, const struct value *);

#endif /* HPOTUNE_EXPORT_SAGEMAKER_H */
