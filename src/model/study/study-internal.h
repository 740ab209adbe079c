/*
 * Inside src/model: one reader for each part of study.json.  What clears a part
 * leaves it empty: it can be cleared, and the study freed, afterwards.
 */

#ifndef HPOTUNE_STUDY_INTERNAL_H
#define HPOTUNE_STUDY_INTERNAL_H

#include "src/model/study/study.h"

/* Larger counts are rejected as mistakes. */
#define STUDY_COUNT_MAX INT64_C(1000000000)

/* The keys objective, objectives and constraints of the whole file. */
int
study_read_objectives(struct study *, const struct json *root, struct err *);
void study_objectives_clear(struct study *);
/* Call after the folder of study.json is set. */
int study_read_notify(struct study_notify *, const struct json *, struct err *);
void study_notify_clear(struct study_notify *);
/* Call after the space was read: commands name its parameters.  May be NULL. */
int study_read_trial(struct study *, const struct json *, struct err *);
/* trial.max_steps: a number, an expression, or a metric. */
int study_read_max_steps(struct study *, const struct json *, struct err *);
void study_trial_clear(struct study_trial *);
/* trial.metrics, trial.reads and trial.step_regex; after workdir was read. */
int study_read_metrics(struct study *, const struct json *block, struct err *);
void study_metrics_clear(struct study_trial *);

/*
 * Check the names in braces of one argument of trial.command. may_vanish: it is
 * left out when a parameter in it is inactive.
 */
int study_command_check_arg(
    const struct study *, const struct json *, bool may_vanish, struct err *);

/* The names of the forms, by enum study_params_form; ends with NULL. */
extern const char *const study_params_forms[];
/* An argument that stands for parameters. */
struct study_params {
	enum study_params_form form;
	const char *names; /* in the argument, with commas; NULL = all */
	size_t names_len;
};
/*
 * Whether an argument is {params}, {params:FORM} or {params:FORM:NAMES}; usual
 * is the form of the first.  NAMES are not checked; they borrow the argument.
 */
bool study_params_parse(
    const char *argument, enum study_params_form usual, struct study_params *);
/* Whether NAMES are parameters; j: the argument. */
int study_params_check(const struct study_params *, const struct space *,
    const struct json *j, struct err *);
/* An error: no parameter has this name.  Returns -1. */
int study_params_err(
    const struct space *, const struct json *, const char *name, struct err *);
/* Append those that are active as arguments, one value per parameter. */
void study_params_add(struct strv *, const struct study_params *,
    const struct space *, const struct value *values);

/* Whether a name in braces is params_file, or params_file:FORM. */
bool study_params_file_parse(const char *name, enum study_params_file *);
/* The same, with an error for a wrong form, or names that cannot be nested. */
int study_params_file_check(
    const struct study *, const struct json *, const char *name, struct err *);
/* Append the name of the file of a form; its contents. */
void study_params_file_put_name(struct buf *, enum study_params_file);
void study_params_file_put(struct buf *, enum study_params_file,
    const struct space *, const struct value *values);

/* trial.files; after pack was read, and before the commands. */
int study_read_templates(struct study *, const struct json *, struct err *);
void study_templates_clear(struct study_trial *);
/* Whether a name in braces is file:NAME. */
bool study_template_is_name(const char *name);
/* The template of file:NAME, or NULL. */
const struct study_template *
study_template_find(const struct study_trial *, const char *name);
/* Whether the command or the environment names one of trial.files. */
bool study_command_has_template(const struct study_trial *);
/* An error for a file:NAME that is no template. */
int study_template_check(
    const struct study *, const struct json *, const char *name, struct err *);

/* The same for another text; {params} is not allowed in it. */
int study_command_check_text(
    const struct study *, const struct json *, struct err *);
/*
 * A text for a trial, with its names replaced.  values NULL: without a trial;
 * doubled braces become one, names stay.  The caller frees it.
 */
char *study_command_fill(const struct study *, const char *,
    const struct value *values, const struct study_command_vars *);
/* The same of a folder without a trial, which becomes absolute. */
char *study_command_plain_dir(const struct study *, const char *);

/* The key trial.shims, NULL: not given; after pack was read. */
int study_read_shims(struct study_trial *, const struct json *, struct err *);

/*
 * The key trial.warm, NULL: not given; after the command and the launcher were
 * read.
 */
int study_read_warm(struct study_trial *, const struct json *, struct err *);

/* The key trial.source, NULL: not given; after all others of its block. */
int study_read_source(struct study_trial *, const struct json *, struct err *);
void study_source_clear(struct study_source *);

/* The keys limits and enqueue; enqueue after the space was read. */
int study_read_limits(
    struct study_limits *, const struct json *block, struct err *);
int study_read_enqueue(struct study *, const struct json *list, struct err *);
/* The key warm_start; after the folder of study.json is set. */
int
study_read_warm_start(struct study *, const struct json *list, struct err *);
void study_warm_clear(struct study *);
/* The keys strategy, stopping and backend; NULL sets their defaults. */
int study_read_strategy(struct study *, const struct json *, struct err *);
int study_read_stopping(struct study *, const struct json *, struct err *);
int study_read_backend(struct study *, const struct json *, struct err *);
/* The keys hooks and provenance. */
int
study_read_hooks(struct study_hooks *, const struct json *block, struct err *);
void study_hooks_clear(struct study_hooks *);
int study_read_provenance(
    struct study_provenance *, const struct json *block, struct err *);
/* The key keep. */
int study_read_keep(struct keep_rule *, const struct json *block, struct err *);
/* The key replicates; after the space was read. */
int
study_read_replicates(struct study *, const struct json *block, struct err *);

/* The key confirm; after replicates, which it extends, and the objectives. */
int study_read_confirm(struct study *, const struct json *block, struct err *);
void study_confirm_clear(struct study_confirm *);

/* Read the name of a metric: one that a report line can contain. */
int study_read_metric_name(char **, const struct json *, struct err *);
/* A duration above 0. */
int study_read_duration(int64_t *ms, const struct json *, struct err *);
/* A text under a key of block, where it is given; the caller frees it. */
int study_read_text(
    char **, const struct json *block, const char *key, struct err *);

#endif /* HPOTUNE_STUDY_INTERNAL_H */
