/* What may never change in study.json between two starts. */

#ifndef HPOTUNE_STUDY_DIFFERENCE_H
#define HPOTUNE_STUDY_DIFFERENCE_H

#include <stdbool.h>

struct err;
struct json;
struct study;

/*
 * Whether what may never change is the same in fixed (study_put_fixed), with the
 * study.json given as json, and this study: an error (ERR_USAGE) names the first
 * key that differs and both values.
 */
int study_difference_check(
    const char *fixed, const char *json, const struct study *, struct err *);

/* Whether it is there and an object. */
bool study_difference_is_object(const struct json *);

#endif /* HPOTUNE_STUDY_DIFFERENCE_H */
