/*
 * A HyperParameterTuningJobConfig with its training definition -> the text of a
 * study.json.  No network or file access.
 */

#ifndef HPOTUNE_IMPORT_SAGEMAKER_H
#define HPOTUNE_IMPORT_SAGEMAKER_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct err;
struct json;

struct import_source {
	/*
	 * A request of CreateHyperParameterTuningJob, an answer of
	 * DescribeHyperParameterTuningJob, or a configuration alone.
	 */
	const struct json *root;
	/* A second document: a definition or a list of them, or NULL. */
	const struct json *more;
	/* The name of one definition, or NULL: all of them in one study. */
	const char *definition;
	int parts; /* number of studies that share the tuning job's limits; 0 = one */
};

/*
 * notes: one line each on what has no equivalent in study.json, or was chosen
 * by the import.  Fails when there are several definitions, none is named, and
 * they cannot be one study.
 */
int import_sagemaker(struct buf *out, struct buf *notes,
    const struct import_source *, struct err *);
/*
 * Whether several definitions can be one study; otherwise why not, one clause.
 */
bool import_sagemaker_is_one(
    const struct json *root, const struct json *more, struct buf *why);
/* The number of definitions, and the name of number i, or NULL. */
size_t import_sagemaker_count(const struct json *root, const struct json *more);
const char *import_sagemaker_name(
    const struct json *root, const struct json *more, size_t i);

#endif /* HPOTUNE_IMPORT_SAGEMAKER_H */
