/* What all files of the import and the export write. */

#ifndef HPOTUNE_IMPORT_STUDY_H
#define HPOTUNE_IMPORT_STUDY_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/mem.h"
#include "src/import/converted.h"

struct err;
struct json;

#define IMPORT_HP_DDP "sagemaker_distributed_dataparallel_enabled"
#define IMPORT_HP_MODEL "mp_parameters"
#define IMPORT_HP_GROUPS "sagemaker_distribution_instance_groups"

#define IMPORT_CHOICE "algorithm" /* the parameter that chooses one of them */

enum { IMPORT_DEFS_MAX = 32 }; /* limit of backend.algorithms */

struct import_launcher { /* a launcher of the toolkit, by its hyperparameters */
	const char *word; /* of backend.distribution */
	const char *flag,
	    *and; /* hyperparameters that must be true; and may be NULL */
	int version; /* of modelparallel with mp_parameters; otherwise 0 */
	const char *count, *options; /* or NULL */
	bool typed; /* it is given the instance type */
};

struct import {
	struct converted to; /* study.json */
	const struct json *root, *config, *def; /* def: NULL = none */
	char *program; /* sagemaker_program, or NULL */
	const struct import_launcher *launcher; /* of the toolkit, or NULL */
	bool algorithm; /* without a program: container algorithm */
	const struct json *defs[IMPORT_DEFS_MAX]; /* of this study */
	size_t n_defs; /* 0: one, without backend.algorithms */
	int parts; /* number of studies of the tuning job */
	bool hyperband;
	bool words; /* Python writes a value of a parameter in another way */
	struct strv names; /* parameters of import_take_name */
	/* What the program calls each of names in its arguments; "": the same. */
	struct strv theirs;
	double settings; /* of a grid; 0: it has no end */
};

/*
 * The name of a study: the first len bytes of a name in small letters and
 * digits, with one - for what stands between them, cut to 32; otherwise where
 * nothing is left.
 */
void import_put_study_name(
    struct buf *, const char *name, size_t len, const char *otherwise);
/* Write it as a member. */
void import_name(
    struct import *, const char *name, size_t len, const char *otherwise);
/* Append a text with braces escaped. */
void import_escape_braces(struct buf *, const char *text);
/*
 * Note each member of an object that is none of the known ones, after where and
 * a dot if where is not NULL: the other tool does without it, too.
 */
void import_unknown_note(struct import *, const char *where,
    const struct json *object, const char *const *known);
/* j.a, or j.a.b; NULL where one is missing; j may be NULL. */
const struct json *
import_at(const struct json *j, const char *a, const char *b);

/*
 * Write a hyperparameter's string as a value that converts back to the same
 * string: unchanged for an algorithm, without JSON quotes for a program, with a
 * note where a number is written otherwise.
 */
void import_value_put(struct import *, const char *name, const char *text);
/* Note that a parameter without bounds keeps its hint. */
void import_auto_note(struct import *, const char *name);
/* A valid name of a metric: "val loss" is val_loss. */
void import_put_metric(struct buf *, const char *name);
/*
 * A valid name of a parameter: "opt/lr" is opt.lr, and trial, which means
 * something else in a command, trial_.
 */
void import_put_name(struct buf *, const char *name);
/*
 * The members of an object as one of params: nested ones get dots.  Lists stay,
 * and names that are none here, for import_results, which notes other ones.
 */
void import_put_flat(struct buf *, const struct json *object);
/*
 * Make a name of import_put_name, or several with dots between them, one that no
 * parameter of the list has: lr_2.  The list gets a copy.
 */
void import_take_name(struct buf *name, struct strv *used);
/* Whether a value is a list or an object; NULL is none. */
bool import_is_nested(const struct json *);
/* Note how the program gets a value that is a list or an object. */
void
import_nested_note(struct import *, const char *name, const struct json *value);
/* Whether a list has the value before j, which is of it: study.json has it once. */
bool import_is_earlier(const struct json *list, const struct json *j);
/* Note that a list has a value twice. */
void import_twice_note(struct import *, const char *name);

/*
 * Note the GPUs of a trial: a study with them is refused where the machine has
 * none.
 */
void import_gpus_note(struct import *, int64_t n);

/* The ranges of the definition, or NULL. */
const struct json *import_space_ranges(const struct import *);

/* import-sagemaker-space.c: write ranges and constants. */
int import_space_put(struct import *, struct err *);
/* import-sagemaker-algorithms.c: jobs that are given no program. */
/* Whether an image is AWS's built-in algorithm of this name. */
bool import_is_built_in(const char *image, const char *name);
/*
 * Whether the definitions of a list can be one study: then stored in im;
 * otherwise why not, one clause.
 */
bool
import_several_find(struct import *, const struct json *list, struct buf *why);
/* Determine whether the only definition is a built-in algorithm. */
void import_algorithm_find(struct import *);
/* The objective's name for several definitions. */
const char *import_several_metric(const struct import *);
/* The value of the choosing parameter for a definition; the caller frees it. */
char *import_value_of(const struct json *def);
/* The study's name of a hyperparameter of im->def; the caller frees it. */
char *import_param_name(const struct import *, const char *name);
/* Write the block's list of algorithms. */
void import_algorithms_put(struct import *);
/*
 * import-sagemaker-script.c: find the program of a framework's job, and its
 * launcher.
 */
void import_script_find(struct import *);
/* Whether a hyperparameter belongs to the toolkit, not to the program. */
bool import_script_is_toolkit(const struct import *, const char *name);
/* NULL when there is none; torch: used with torch_distributed. */
const struct import_launcher *
import_script_launcher(const char *word, int version, bool torch);
void import_script_put_command(struct import *);
void import_script_put(struct import *);
/* import-sagemaker-inputs.c: write the channels. */
void import_inputs_put(struct import *);
/* Convert a word of a channel from AWS's spelling, or to it. */
const char *import_channel_word(const char *text, bool theirs);
/* The same for the members of a file system. */
void import_file_system_put(
    struct converted *, int depth, const struct json *from, bool theirs);
/* import-sagemaker-job.c: write the training definition. */
int import_job_put(struct import *, struct err *);
/* import-sagemaker-dropped.c: note members that no other file reads. */
void import_dropped_note(struct import *);

#endif /* HPOTUNE_IMPORT_STUDY_H */
