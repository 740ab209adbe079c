/*
 * A HyperParameterTuningJobConfig with its training definition -> the text of
 * a study.json.  Text to text: asks nobody and writes no file.
 */

#ifndef IMPORT_SAGEMAKER_H
#define IMPORT_SAGEMAKER_H

struct buf;
struct err;
struct json;

/*
 * root: a request of CreateHyperParameterTuningJob, an answer of
 * DescribeHyperParameterTuningJob, or the configuration alone beside a
 * TrainingJobDefinition.  definition: which of several, or NULL.  notes: one
 * line each on what has no place in a study.json, or was chosen here.
 */
int import_sagemaker(struct buf *out, struct buf *notes,
    const struct json *root, const char *definition, struct err *);

#endif /* IMPORT_SAGEMAKER_H */
