/* The table of stopping rules, in the order of the manual. */

#include <stddef.h>
#include <string.h>

#include "strategies/stopper.h"

extern const struct stopper stopper_asha;
extern const struct stopper stopper_begun;
extern const struct stopper stopper_careful;
extern const struct stopper stopper_curve;
extern const struct stopper stopper_hyperband;
extern const struct stopper stopper_katib;
extern const struct stopper stopper_median;
extern const struct stopper stopper_narrow;
extern const struct stopper stopper_nni;
extern const struct stopper stopper_none;
extern const struct stopper stopper_optuna;
extern const struct stopper stopper_overfit;
extern const struct stopper stopper_patience;
extern const struct stopper stopper_percentile;
extern const struct stopper stopper_ray;
extern const struct stopper stopper_sagemaker;
extern const struct stopper stopper_short;
extern const struct stopper stopper_syne_tune;
extern const struct stopper stopper_threshold;
extern const struct stopper stopper_vizier;

const struct stopper *const stoppers[] = {
	&stopper_median,
	&stopper_begun,
	&stopper_percentile,
	&stopper_vizier,
	&stopper_sagemaker,
	&stopper_optuna,
	&stopper_ray,
	&stopper_nni,
	&stopper_syne_tune,
	&stopper_katib,
	&stopper_asha,
	&stopper_hyperband,
	&stopper_narrow,
	&stopper_short,
	&stopper_careful,
	&stopper_curve,
	&stopper_patience,
	&stopper_threshold,
	&stopper_overfit,
	&stopper_none,
	NULL,
};

const struct stopper *
stopper_find(const char *name)
{
	size_t i;

	for (i = 0; stoppers[i] != NULL; i++)
		if (strcmp(stoppers[i]->name, name) == 0)
			return stoppers[i];
	return NULL;
}
