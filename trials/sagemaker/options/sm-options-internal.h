/*
 * Inside the reading of the backend block: what its files hand to each other.
 * Only trials/sagemaker-{options,settings,machines,inputs,dist-read,extra}.c.
 */

#ifndef HPOTUNE_SM_OPTIONS_INTERNAL_H
#define HPOTUNE_SM_OPTIONS_INTERNAL_H

#include "trials/sagemaker/options/sm-settings.h"

struct sm_read {
	struct sm_settings *s;
	const struct option_value *values;
	const struct study_trial *trial;
	struct err *e;
};

const struct option_value *sm_option(const struct sm_read *, const char *name);
/* As it is written, or NULL when it is not. */
const struct json *sm_written(const struct sm_read *, const char *name);
/* Where an error about an option stands: at it, else at any other given one. */
const struct json *sm_place(const struct sm_read *, const char *name);
/* A value of the study as text that the caller frees; NULL: not given. */
char *sm_text(const struct sm_read *, const char *name);

/* "s3://BUCKET/PREFIX": whether it is one. */
bool sm_s3_good(const char *uri);
/* The same, or an https URL or an access point, for what only jobs read. */
bool sm_s3_readable(const char *uri);
/* Members of a list of texts, as a list that ends with NULL. */
int sm_read_texts(char ***, const struct json *, size_t max, const char *want,
    bool (*good)(const char *), struct err *);

int sm_read_machines(struct sm_read *); /* types, groups, count, prices */
int sm_read_data(struct sm_read *); /* inputs, tags, vpc */
int sm_read_dist(struct sm_read *);
int sm_read_algorithms(struct sm_read *); /* container and algorithms */
int sm_check_algorithm_spot(struct sm_read *);
int sm_read_extra(struct sm_read *); /* extra, alarm */

#endif /* HPOTUNE_SM_OPTIONS_INTERNAL_H */
