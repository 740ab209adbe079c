/*
 * A study as the request CreateHyperParameterTuningJob of SageMaker: the way
 * back of import-sagemaker.h.
 */

#ifndef CLI_EXPORT_SAGEMAKER_H
#define CLI_EXPORT_SAGEMAKER_H

struct buf;
struct err;
struct import;
struct json;
struct store;
struct study;
struct value;

/*
 * Append the request to out and what has no place in it, or another meaning
 * there, to notes, a line each.  An error names what a tuning job cannot be.
 */
int export_sagemaker(
    struct buf *out, struct buf *notes, struct store *, struct err *);

/* export-sagemaker-job.c: TrainingJobDefinition; backend is the block. */
void export_definition_put(
    struct import *, const struct study *, const struct json *backend);
void export_tags_put(struct import *, const struct json *backend);
/* export-sagemaker-script.c: hyperparameters of command and launcher. */
void export_script_put(
    struct import *, const struct study *, const struct json *backend);
/* A value as SageMaker writes it: what would read as another one in quotes. */
void export_put_hyperparameter(struct buf *, const struct value *);

#endif /* CLI_EXPORT_SAGEMAKER_H */
