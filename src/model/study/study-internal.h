/* Inside src/model: the parts of study.json, one reader each. */

#ifndef HPOTUNE_STUDY_INTERNAL_H
#define HPOTUNE_STUDY_INTERNAL_H

#include "src/model/study/study.h"

/* Counts that nobody means seriously are wrong. */
#define STUDY_COUNT_MAX INT64_C(1000000000)

/* The keys objective, objectives and constraints of the whole file. */
int
study_read_objectives(struct study *, const struct json *root, struct err *);
void study_objectives_clear(struct study *);
int study_read_limits(struct study_limits *, const struct json *, struct err *);
int study_read_enqueue(struct study *, const struct json *, struct err *);
/* After the folder of study.json is known. */
int study_read_warm_start(struct study *, const struct json *, struct err *);
void study_warm_clear(struct study *);
int study_read_notify(struct study_notify *, const struct json *, struct err *);
void study_notify_clear(struct study_notify *);
/* Each may be NULL: then the default.  Stopping after the objectives. */
int study_read_strategy(struct study *, const struct json *, struct err *);
int study_read_stopping(struct study *, const struct json *, struct err *);
int study_read_backend(struct study *, const struct json *, struct err *);
/* After the space was read: commands name its parameters.  May be NULL. */
int study_read_trial(struct study *, const struct json *, struct err *);
void study_trial_clear(struct study_trial *);

/* What stands in the braces of one argument of trial.command. */
int study_command_check_arg(
    const struct study *, const struct json *, struct err *);

/* The same of another text; it is no argument, so {params} cannot stand. */
int study_command_check_text(
    const struct study *, const struct json *, struct err *);
/* A text without a trial: doubled braces are one, names stay; a folder is
 * absolute.  The caller frees. */
char *study_command_plain(const struct study *, const char *);
char *study_command_plain_dir(const struct study *, const char *);

/* The name of a metric: report lines must be able to carry it. */
int study_read_metric_name(char **, const struct json *, struct err *);
/* A duration above 0. */
int study_read_duration(int64_t *ms, const struct json *, struct err *);

#endif /* HPOTUNE_STUDY_INTERNAL_H */
