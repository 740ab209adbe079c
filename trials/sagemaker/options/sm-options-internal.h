/*
 * Private to the files that read the backend block, trials/sagemaker/options/.
 */

#ifndef HPOTUNE_SM_OPTIONS_INTERNAL_H
#define HPOTUNE_SM_OPTIONS_INTERNAL_H

#include "trials/sagemaker/options/sm-settings.h"

struct sm_reader {
	struct sm_settings *s;
	const struct option_value *values;
	const struct study_trial *trial;
	struct err *e;
};

/* The JSON of an option, or NULL if not given. */
const struct json *sm_options_json(const struct sm_reader *, const char *name);
/* Position of an error about an option: the option, else any given one. */
const struct json *sm_options_where(const struct sm_reader *, const char *name);
/* A value of the study as text that the caller frees; NULL: not given. */
char *sm_options_text(const struct sm_reader *, const char *name);

/* An s3:// address, an https URL or an access point: what only jobs read. */
bool sm_settings_s3_readable(const char *uri);

int sm_machines_read(struct sm_reader *); /* types, groups, prices */
int sm_inputs_read(struct sm_reader *); /* inputs, tags, vpc */
int sm_distribution_read(struct sm_reader *);
int sm_algorithms_read(struct sm_reader *); /* container and algorithms */
int sm_algorithms_check_spot(struct sm_reader *);

#endif /* HPOTUNE_SM_OPTIONS_INTERNAL_H */
