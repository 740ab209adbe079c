/*
 * A study as written in study.json.  Blocks of plug-ins (strategy, stopping,
 * backend) stay JSON: the server passes each to its plug-in.
 */

#ifndef HPOTUNE_STUDY_H
#define HPOTUNE_STUDY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/model/keep.h"

struct buf;
struct err;
struct expression;
struct json;
struct json_doc;
struct space;
struct study;
struct value;

/* A plug-in as named in study.json. */
struct study_plugin {
	char *name;
	const struct json *block; /* its object, or NULL for a bare name */
	const struct json *where; /* for errors; NULL when it is the default */
};

/* trial.metrics: a PCRE2 pattern whose first group is the value. */
struct study_metric {
	char *name;
	char *regex;
	const struct json *where;
};

/*
 * Lines of the log that are read besides tagged ones: a set of bits, STUDY_LINES_NAME
 * for each trials/metric-line/format-NAME.c.  study-lines.inc is made of these names.
 */
#define STUDY_LINES(name, NAME) STUDY_LINES_##NAME##_BIT,
enum study_lines_bit {
#include "src/model/study/study-lines.inc"
	STUDY_LINES_BITS
};
#undef STUDY_LINES
#define STUDY_LINES(name, NAME) \
	STUDY_LINES_##NAME = 1 << STUDY_LINES_##NAME##_BIT,
enum study_lines {
#include "src/model/study/study-lines.inc"
};
#undef STUDY_LINES

/* Files of a trial that its metrics are read from. */
struct study_file {
	char *format; /* a word of trials/metric-files: csv, text, ... */
	char *path_text; /* template, see study_file_paths */
	/* Name of the files in a folder; NULL: those that the format fits. */
	char *only;
	/* The column or member with the step; NULL: the usual ones. */
	char *step;
	char *prefix; /* before each name, with '/'; or NULL */
	bool unless_events; /* only in folders without event files */
	/* The patterns of lines of text are as those of the log. */
	struct study_metric *metrics;
	size_t n_metrics;
	char *step_regex;
	unsigned lines;
	const struct json *where; /* its entry; NULL: a word of trial.reads */
};

/* A metric that has another name in the files. */
struct study_tag {
	char *tag, *name;
};

enum { STUDY_OBJECTIVES_MAX = 8 };

/* What is minimized or maximized. */
struct study_objective {
	char *metric;
	bool maximize;
	const struct json *where; /* of the metric */
};

/* A metric whose last report must lie between two bounds. */
struct study_constraint {
	char *metric;
	double min, max; /* infinite: no bound */
	const struct json *where; /* of the metric */
};

/* What happens with a setting that was tried before. */
enum study_duplicates {
	STUDY_DUPLICATES_RESAMPLE, /* the strategy is asked for another one */
	STUDY_DUPLICATES_REUSE /* the trial ends with the earlier result */
};

/* The device of strategies. */
enum study_device { STUDY_DEVICE_AUTO, STUDY_DEVICE_CPU, STUDY_DEVICE_CUDA };

/* Keys of the strategy block that hpotune reads itself; ends with NULL. */
extern const char *const study_strategy_keys[];

enum study_launcher {
	STUDY_LAUNCHER_NONE,
	STUDY_LAUNCHER_RANKS,
	STUDY_LAUNCHER_TORCHRUN,
	STUDY_LAUNCHER_MPIRUN,
	STUDY_LAUNCHER_SRUN
};

/* The final state of a trial that has a result and reached max_run. */
enum study_on_max_run {
	STUDY_ON_MAX_RUN_STOPPED,
	STUDY_ON_MAX_RUN_COMPLETED,
	STUDY_ON_MAX_RUN_FAILED
};

/* How {params} writes parameter NAME. */
enum study_params_form {
	STUDY_PARAMS_JOINED, /* --NAME=VALUE */
	STUDY_PARAMS_TOOLKIT, /* as AWS's training toolkit does */
	STUDY_PARAMS_WORDS, /* --NAME VALUE */
	STUDY_PARAMS_HYDRA, /* NAME=VALUE, quoted for Hydra */
	STUDY_PARAMS_SHORT, /* -NAME VALUE */
	STUDY_PARAMS_FLAGS, /* --NAME=VALUE; true is --NAME, false nothing */
	STUDY_PARAMS_NO_FLAGS, /* the same; false is --no-NAME */
	STUDY_PARAMS_PYTHON, /* --NAME=VALUE: True, None, 1.0, ['a'] */
	STUDY_PARAMS_PYTHON_WORDS, /* --NAME VALUE of the same values */
	STUDY_PARAMS_HYDRA_APPEND, /* +NAME=VALUE */
	STUDY_PARAMS_HYDRA_OVERRIDE /* ++NAME=VALUE */
};

/* The forms of {params_file}. */
enum study_params_file {
	STUDY_PARAMS_FILE_JSON,
	STUDY_PARAMS_FILE_YAML, /* numbers as YAML 1.1 reads them */
	STUDY_PARAMS_FILE_TOML,
	STUDY_PARAMS_FILES
};

/* The folder of filled templates, below that of the attempt. */
#define STUDY_TEMPLATES_DIR "files"

/* trial.files: a text file in which names in braces are replaced. */
struct study_template {
	char *name;
	char *path; /* of the template, absolute */
	const struct json *where; /* of the path */
};

/*
 * trial.source: the command runs in a worktree of a commit.  The hash is that of
 * the trials that the search makes; it is no part of study.json.
 */
struct study_source {
	char *git; /* a folder of the repository, absolute; NULL: no source */
	char *commit; /* as written, "HEAD" */
	char *hash; /* what that was when the study began; NULL = not known */
	bool record; /* changes that are in no commit become one */
	bool
	    passing; /* of a study that leaves nothing: no ref keeps the commit */
	bool drop; /* a worktree is removed with the end of its attempt */
	const struct json *where;
};

struct study_trial {
	/*
	 * Ends with NULL, templates not yet filled; empty: ask and tell only.
	 */
	char **command;
	/*
	 * For each argument 0, or the number of the list that it is part of: such
	 * a part is left out when a parameter in it is inactive.
	 */
	size_t *command_parts;
	enum study_params_form arguments; /* of {params} */
	/* Without a trial: names in braces stay. */
	char *workdir; /* absolute */
	char **env; /* "NAME=VALUE", ends with NULL */
	/* Templates not yet filled, for study_workdir and study_env. */
	char *workdir_text;
	char **env_text; /* ends with NULL */
	bool clean_env;
	char **pass_env; /* names, ends with NULL */
	struct study_metric *metrics;
	size_t n_metrics;
	char *step_regex; /* or NULL */
	unsigned lines; /* bits of study_lines */
	char *
	    lines_step; /* the member of JSON lines that is the step, or NULL */
	struct study_file *files;
	size_t n_files;
	const struct json *metrics_where; /* trial.metrics, or NULL */
	struct study_template *templates;
	size_t n_templates;
	struct study_tag *tags;
	size_t n_tags;
	/* Of a whole trial, of the longest one; 0 = unknown */
	int64_t max_steps;
	/*
	 * Steps of a trial by its setting, or the metric whose first value says
	 * them; both NULL: max_steps.
	 */
	struct expression *own_steps;
	char *own_metric;
	int64_t max_run_ms; /* 0 = no limit */
	enum study_on_max_run on_max_run;
	int64_t grace_ms;
	int64_t retries;
	int64_t gpus; /* -1 = not given */
	int64_t cpus; /* 0 = not given */
	int64_t memory; /* bytes, 0 = not given */
	int64_t gpu_memory; /* bytes of each of its GPUs, 0 = not given */
	enum study_launcher launcher;
	int64_t processes; /* of launcher, 0 = not given */
	int64_t servers; /* parameter_servers, with launcher ranks */
	int64_t pack; /* trials per program; 0 = one program for each */
	struct study_source source;
	char **shims; /* in whose place hpotune stands; NULL: nobody's */
	/* Whether Python imports modules once, not in each trial. */
	bool warm;
	char **warm_modules; /* NULL: as the first trial */
	/* In command: the script, or the module after -m; 0: not of Python. */
	size_t warm_at;
	bool warm_runs_module;
	const char *dir; /* of study.json, absolute */
	/*
	 * trial.batch.global: a number, or the name of an integer parameter.
	 * The trial receives the share of each of its replicas.
	 */
	int64_t batch_global; /* 0 = not given */
	char *batch_param; /* or NULL */
};

/* Whether trials have numbers of steps of their own. */
bool study_has_own_steps(const struct study_trial *);
/* Steps of a trial by its setting; 0: the trial says it, or all have max_steps. */
int64_t study_own_steps(const struct study *, const struct value *values);
/* A number of steps that a trial has reported; 0: it is none. */
int64_t study_own_steps_of(double steps);
/*
 * Where a step of a trial of own steps (0 = most) is on the axis of the trial
 * with most steps: at the same share of its length, rounded down.  own and most
 * are at most 10^9 where they differ.
 */
int64_t study_axis_step(int64_t most, int64_t own, int64_t step);

/*
 * Processes of one trial on one machine: the number that launcher starts, by
 * default one for each of its GPUs where it has several; 0 = not passed to the
 * launcher.
 */
int64_t study_processes(const struct study_trial *);
/* Cores of a trial, as far as the study states them. */
int64_t study_cores(const struct study_trial *);

struct study_limits {
	int64_t trials; /* each 0 = not given */
	int64_t completed; /* trials that completed */
	int64_t parallel;
	int64_t wall_time_ms;
	double cost;
	double gpu_hours;
	int64_t failed_trials;
	int64_t no_improvement;
	bool drain; /* avoid places that fail trials; end when nothing works */
	bool convergence; /* end the study when the search has converged */
	const struct json *convergence_block; /* its options, or NULL */
	const struct json *convergence_where; /* for errors */
};

/* The moments of a study about which notices are sent. */
enum study_moment {
	STUDY_MOMENT_FINISHED,
	STUDY_MOMENT_FAILED,
	STUDY_MOMENT_WAITING, /* its owner must act */
	STUDY_MOMENT_INTERRUPTED,
	STUDY_MOMENTS
};
/* "finished", …; and as a clause in a notice: "has finished". */
const char *study_moment_name(enum study_moment);
const char *study_moment_phrase(enum study_moment);

enum study_channel { STUDY_CHANNEL_SNS, STUDY_CHANNEL_EVENTS, STUDY_CHANNELS };
/* "sns", "eventbridge", as in study.json. */
const char *study_channel_name(enum study_channel);

/* Destination of notices on one channel. */
struct study_notify {
	struct {
		char *to; /* topic ARN, bus name or ARN; NULL = none */
		char *region;
	} channels[STUDY_CHANNELS];
	char *profile; /* or NULL */
	bool on[STUDY_MOMENTS];
};

/*
 * Another study, or an AWS tuning job, whose trials the strategy learns from.
 */
struct study_warm {
	char *path; /* of a database or list, absolute; NULL: a tuning job */
	char *tuning_job; /* name or ARN */
	char *region, *profile; /* or NULL */
	char *metric; /* the objective's name there; NULL = the same */
	const struct json *where;
};

/* Each setting is tried once for each value of a parameter. */
struct study_replicates {
	size_t count; /* of one setting; 0 = no replicates */
	size_t param; /* of the space: its last one */
	/*
	 * The quantile of the replicates' losses that is the setting's value: 0
	 * to 1; NaN = the mean.
	 */
	double quantile;
	bool racing; /* further ones only for settings that may be the best */
	const struct json *where;
};

/*
 * The best setting is run again, beside a baseline: both with the same values of
 * the parameter of replicates, which the search does not use.
 */
struct study_confirm {
	/*
	 * Pairs of runs at most; 0 = nothing is confirmed.  The parameter of
	 * replicates has so many values beyond replicates.count.
	 */
	size_t pairs;
	int64_t baseline; /* a trial; 0: the defaults of the parameters */
	double alpha; /* the probability of a false verdict */
	char *metric; /* that is compared */
	bool maximize;
	bool own; /* there is no key replicates: the parameter is its own */
};

/* When a program of the user is run. */
enum study_hook {
	STUDY_HOOK_BEST, /* a trial is the new best one */
	STUDY_HOOK_FAILED, /* a trial has failed for good */
	STUDY_HOOK_FINISHED, /* the study has ended */
	STUDY_HOOKS
};

struct study_hooks {
	char **argv[STUDY_HOOKS]; /* ends with NULL; NULL = none */
	int64_t timeout_ms; /* of one run */
};

/* The key of a hook in study.json. */
const char *study_hook_name(enum study_hook);

/* What is recorded of where trials are started. */
struct study_provenance {
	bool without_git;
	char *
	    *packages; /* a program that lists them; ends with NULL; or NULL */
};

struct study {
	char *name;
	char *description; /* or NULL */
	char *path; /* of study.json, absolute */
	char *dir; /* its folder, absolute */
	struct json_doc *doc;
	const char *metric; /* of the first objective */
	bool maximize;
	bool value_last; /* the last report counts, not the best */
	bool has_target;
	double target;
	struct study_objective *objectives; /* at least one */
	size_t n_objectives;
	struct study_constraint *constraints;
	size_t n_constraints;
	struct space *space;
	struct study_plugin strategy;
	bool has_seed;
	uint64_t seed;
	enum study_duplicates duplicates;
	enum study_device device;
	struct study_plugin *stopping; /* none: one rule named "none" */
	size_t n_stopping;
	struct study_trial trial;
	struct study_plugin *backends;
	size_t n_backends;
	struct study_limits limits;
	struct value **enqueue; /* each n values, VALUE_NONE where left open */
	size_t n_enqueue;
	struct study_warm *warm_start;
	size_t n_warm_start;
	struct study_notify notify;
	struct keep_rule keep;
	struct study_hooks hooks;
	struct study_provenance provenance;
	struct study_replicates replicates;
	struct study_confirm confirm;
};

/* Whether a text can be the name of a study. */
bool study_name_good(const char *);
/* Read and check study.json.  Strict; each error names its position. */
int study_load(struct study **, const char *path, struct err *);
/*
 * The same from text, as the store recorded it; path is that of the original
 * file.
 */
int study_parse(struct study **, const char *text, size_t len, const char *path,
    struct err *);
/* The same of dir/study.json. */
int study_parse_recorded(
    struct study **, const char *text, const char *dir, struct err *);
void study_free(struct study *);
/* The metric of objective i from 0, or after these of a constraint. */
static inline const char *
study_aim_metric(const struct study *s, size_t i)
{
	return i < s->n_objectives ? s->objectives[i].metric
				   : s->constraints[i - s->n_objectives].metric;
}

/*
 * Reduce a study that was read to one trial on this machine, without retries,
 * warm start, notices, target, and limits other than its wall time.  setting:
 * n values, VALUE_NONE where the strategy chooses, replaces the settings of
 * enqueue; NULL leaves them.  False when the study has no backend that runs
 * trials on this machine; then nothing has changed.
 */
bool study_one_trial(struct study *, const struct value *setting);
/* Replace the stopping rules by none. */
void study_stopping_none(struct study *);
/*
 * Where study.json names no strategy or no stopping rule, use the one that its
 * database has recorded, if that was the default of earlier versions.
 */
void study_set_former(struct study *, const char *strategy, const char *rule);
/*
 * The part that may not change between runs (study, objectives, constraints,
 * parameters, seed, strategy name), written so that equal studies give equal
 * text.
 */
void study_put_fixed(struct buf *, const struct study *);
/* The whole study.json without comments and white space, for the store. */
void study_put_json(struct buf *, const struct study *);

/*
 * The violation of a constraint by a value: above 0 it is violated, up to 0
 * satisfied.  NaN for a value that is not finite.
 */
double study_violation(const struct study_constraint *, double value);

/*
 * Fill trial.command for one attempt: a new argv that ends with NULL. values
 * has one per parameter.  A folder that is NULL leaves its name in braces.
 */
struct study_command_vars {
	int64_t trial;
	int attempt;
	const char *checkpoint_dir;
	const char *output_dir;
	const char *model_dir;
	const char *params_dir; /* of {params_file} and {file:NAME} */
	int64_t batch; /* per replica: study_batch */
};
/*
 * The files of {params_file} in command, env and workdir: names and texts in
 * turn, to be written into params_dir; a list that ends with NULL, freed with
 * strv_free.
 */
char **study_params_files(const struct study *, const struct value *values);
/*
 * Append a template's text with the values of parameters in place of their names
 * in braces, without the lines that name an inactive one.
 */
void study_template_fill(struct buf *, const char *text, const struct space *,
    const struct value *values);
/* Whether a template's text names a parameter. */
bool study_template_names_any(const char *text, const struct space *);
/* Append its name below the folder of the attempt: files/NAME. */
void study_template_put_name(struct buf *, const struct study_template *);
/* trial.batch.global for these values; 0 = not given. */
int64_t study_batch(const struct study *, const struct value *values);
char **study_command(const struct study *, const struct value *values,
    const struct study_command_vars *);
/* Fill trial.env in the same way; free it with strv_free. */
char **study_env(const struct study *, const struct value *values,
    const struct study_command_vars *);
/* And trial.workdir: absolute, freed by the caller. */
char *study_workdir(const struct study *, const struct value *values,
    const struct study_command_vars *);
/*
 * The path of each of trial.files, absolute; a list that ends with NULL, freed
 * with strv_free.  A relative path is below the folder of the trial: its
 * workdir, where that names {trial} or a folder of the trial, else output_dir.
 */
char **study_file_paths(const struct study *, const struct value *values,
    const struct study_command_vars *);
/*
 * Whether metrics are read from files below output_dir while the program runs in
 * the folder of another one; then this is said when none was found.
 */
bool study_files_elsewhere(const struct study_trial *);
#define STUDY_FILES_ELSEWHERE                                                  \
	" in {output_dir}: a program that writes to its working folder needs " \
	"\"workdir\": \"{output_dir}\""
/* Whether a template names {trial} or a folder of the trial. */
bool study_command_is_own(const char *text);
/*
 * Whether the command, its environment or its working folder names the parameter,
 * or what has all parameters: {params}, a file of them, a template.  If not,
 * the program has to read HPOTUNE_PARAMS or a variable.
 */
bool study_command_gives(const struct study *, const char *param);
/* Whether the command names {params_file}. */
bool study_command_has_params_file(const struct study_trial *);
/*
 * The words that trial.reads may name, or, with lines, those of them that name the
 * form of lines: word i, from 0; NULL behind the last.
 */
const char *study_read_metrics_preset(size_t i, bool lines);
/* Whether a template contains names in braces. */
bool study_command_has_names(const char *text);

#endif /* HPOTUNE_STUDY_H */
