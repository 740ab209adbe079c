/* What the files of the import from SageMaker share. */

#ifndef HPOTUNE_IMPORT_STUDY_H
#define HPOTUNE_IMPORT_STUDY_H

#include <stdbool.h>

#include "src/base/mem.h"

struct err;
struct json;

#define IMPORT_HP_DDP "sagemaker_distributed_dataparallel_enabled"
#define IMPORT_HP_MODEL "mp_parameters"
#define IMPORT_HP_GROUPS "sagemaker_distribution_instance_groups"

#define IMPORT_CHOICE "algorithm" /* the parameter that chooses one */

enum { IMPORT_DEFS_MAX = 32 }; /* as many as backend.algorithms may have */

struct import_launcher { /* one of the toolkit's, by its hyperparameters */
	const char *word; /* of backend.distribution */
	const char *flag, *and; /* true of it; and may be NULL */
	int version; /* of modelparallel, which has mp_parameters; else 0 */
	const char *count, *options; /* or NULL */
	bool typed; /* is told the type of the machines */
};

struct import {
	struct buf out; /* study.json */
	struct buf *notes;
	const struct json *root, *config, *def; /* def: NULL = none */
	char *program; /* sagemaker_program, or NULL */
	const struct import_launcher *launcher; /* of the toolkit, or NULL */
	bool algorithm; /* the job is given no program: container algorithm */
	const struct json *defs[IMPORT_DEFS_MAX]; /* of this one study */
	size_t n_defs; /* 0: there is one, and no backend.algorithms */
	int parts; /* of how many studies this is one */
	int shift; /* is added to every depth */
	bool fresh; /* nothing stands yet in the open bracket */
	bool hyperband;
};

/* Members, indented by depth. */
void import_key(struct import *, int depth, const char *key);
void import_open(struct import *, int depth, const char *key, char bracket);
void import_close(struct import *, int depth, char bracket);
/* Nothing when text is NULL. */
void import_text(struct import *, int depth, const char *key, const char *text);
/* False, and nothing is written, when it is no number. */
bool
import_number(struct import *, int depth, const char *key, const struct json *);
/* A value as it is; nothing when it is NULL. */
void
import_copy(struct import *, int depth, const char *key, const struct json *);
/* A text in which braces have a meaning, so that it keeps its own. */
void import_escape_braces(struct buf *, const char *text);
void import_note(struct import *, const char *);
/* j.a, or j.a.b; NULL where one is missing; j may be NULL. */
const struct json *
import_at(const struct json *j, const char *a, const char *b);

/* import-sagemaker-space.c: ranges and constants. */
int import_space_put(struct import *, struct err *);
/*
 * A hyperparameter's text as a value, which becomes the same text again: of an
 * algorithm's job as it is, of a program's without the quotes of JSON.
 */
void import_value_put(struct import *, const char *text);
/* That a parameter without bounds stays at its hint. */
void import_auto_note(struct import *, const char *name);
/* The ranges that hold for the definition, or NULL. */
const struct json *import_space_ranges(const struct import *);
/* import-sagemaker-algorithms.c: jobs that are given no program. */
/* Whether an image is AWS's own of this name, by its own name. */
bool import_is_built_in(const char *image, const char *name);
/*
 * Whether the definitions of a list can be one study: then im has them; else
 * why they cannot, one clause.
 */
bool
import_several_find(struct import *, const struct json *list, struct buf *why);
/* Whether the one definition is of an algorithm of AWS's. */
void import_algorithm_find(struct import *);
/* What the objective of several definitions is called. */
const char *import_several_metric(const struct import *);
/* What stands for a definition in the study; to be freed. */
char *import_value_of(const struct json *def);
/* What a hyperparameter of im->def is called in the study; to be freed. */
char *import_param_name(const struct import *, const char *name);
/* The parameter that chooses a definition, and what stands in the block. */
void import_choice_put(struct import *);
void import_algorithms_put(struct import *);
/* import-sagemaker-script.c: the program of a framework's job, and its launcher. */
void import_script_find(struct import *);
/* Whether a hyperparameter belongs to the toolkit and not to the program. */
bool import_script_is_toolkit(const struct import *, const char *name);
/* NULL when there is none; torch: beside torch_distributed. */
const struct import_launcher *
import_script_launcher(const char *word, int version, bool torch);
void import_script_put_command(struct import *);
void import_script_put(struct import *);
/* import-sagemaker-inputs.c: channels. */
void import_inputs_put(struct import *);
/* A word of a channel in the other spelling, from theirs or to it. */
const char *import_channel_word(const char *text, bool theirs);
/* The same of the members of a file system. */
void import_file_system_put(
    struct import *, int depth, const struct json *from, bool theirs);
/* import-sagemaker-dropped.c: members that no other file reads. */
void import_dropped_note(struct import *);
/* import-sagemaker-job.c: the training definition. */
int import_job_put_trial(struct import *, struct err *);
int import_job_put_backend(struct import *, struct err *);

#endif /* HPOTUNE_IMPORT_STUDY_H */
