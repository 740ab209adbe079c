/*
 * The words of Optuna, W&B, Ray Tune, HyperOpt, scikit-optimize, NNI, Keras
 * Tuner, Ax and SageMaker, each with ours; hpotune-migrate(7) has the common
 * ones.
 */

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/model/foreign-words.h"

struct foreign_word {
	const char *theirs; /* words, blanks between them */
	const char *ours; /* as it is written here */
};

static const struct foreign_word objective_keys[] = {
	{ "name", "\"metric\"" },
	{ "direction mode type objective_type", "\"goal\"" },
	{ "directions", "\"objectives\" beside \"objective\"" },
	{ "target_value goal_value threshold stop_score", "\"target\"" },
	{ "aggregate reduce scope", "\"value\": \"best\" or \"last\"" },
	{ NULL, NULL },
};

static const struct foreign_word parameter_keys[] = {
	{ "low lower lower_bound minimum min_value from start", "\"min\"" },
	{ "high upper upper_bound maximum max_value to end stop", "\"max\"" },
	{ "bounds range limits interval", "\"min\" and \"max\"" },
	{ "choices categories options items list candidates choice",
	    "\"values\"" },
	{ "constant", "\"value\"" },
	{ "log log_scale logscale sampling", "\"scale\": \"log\"" },
	{ "scaling_type scalingtype", "\"scale\"" },
	{ "base", "\"scale\": \"log\"" },
	{ "q quantum stepsize step_size increment", "\"step\"" },
	{ "distribution dist kind class sampler suggest parameter_type "
	  "value_type dtype",
	    "\"type\": \"float\", \"int\", \"choice\" or \"fixed\"" },
	{ "prior", "\"mean\" and \"sd\", or \"weights\"" },
	{ "mu loc", "\"mean\"" },
	{ "sigma std stddev scale_sd", "\"sd\"" },
	{ "probabilities probability probs p", "\"weights\"" },
	{ "init initial initial_value default_value guess hint",
	    "\"default\"" },
	{ "condition conditions depends_on parent active_if if", "\"when\"" },
	{ "is_ordered ordinal sort_values", "\"ordered\"" },
	{ NULL, NULL },
};

static const struct foreign_word limits_keys[] = {
	{ "n_trials num_samples num_trials run_cap max_trials max_evals n_iter "
	  "n_calls max_trial_number total_trials n_runs count "
	  "max_number_of_training_jobs",
	    "\"trials\"" },
	{ "n_completed max_completed complete completions", "\"completed\"" },
	{ "timeout time_budget_s time_budget max_time max_duration time "
	  "duration walltime max_experiment_duration max_runtime "
	  "max_runtime_in_seconds",
	    "\"wall_time\"" },
	{ "n_jobs max_concurrent_trials max_concurrent concurrency "
	  "parallel_trials trial_concurrency num_workers workers agents jobs "
	  "max_parallel_training_jobs",
	    "\"parallel\"" },
	{ "budget max_cost price", "\"cost\"" },
	{ "max_failures max_failed_trials max_fail", "\"failed_trials\"" },
	{ "patience early_stopping", "\"no_improvement\"" },
	{ NULL, NULL },
};

static const struct foreign_word trial_keys[] = {
	{ "program cmd script trial_command executable entry_point entrypoint",
	    "\"command\"" },
	{ "args", "\"command\", with \"{params}\"" },
	{ "max_t epochs n_epochs num_epochs max_epochs max_iter max_resource "
	  "total_steps steps r",
	    "\"max_steps\"" },
	{ "timeout time_limit max_time max_runtime max_duration walltime",
	    "\"max_run\"" },
	{ "max_retries max_failures retry max_retry num_retries",
	    "\"retries\"" },
	{ "gpu num_gpus n_gpus", "\"gpus\"" },
	{ "cpu num_cpus n_cpus cores", "\"cpus\"" },
	{ "mem ram", "\"memory\"" },
	{ "cwd working_dir work_dir code_dir directory", "\"workdir\"" },
	{ "environment envs env_vars", "\"env\"" },
	{ "metric", "\"metrics\", a list" },
	{ "n_jobs parallel", "\"parallel\" of \"limits\"" },
	{ NULL, NULL },
};

static const struct foreign_word strategy_keys[] = {
	{ "type algorithm sampler method class search_alg strategy tuner",
	    "\"name\"" },
	{ "random_state random_seed rng", "\"seed\"" },
	{ "n_initial_points n_startup_jobs n_random_starts n_initial "
	  "num_initial random_starts n_init init_points n_warmup",
	    "\"n_startup_trials\"" },
	{ "population_size pop_size popsize", "\"population\"" },
	{ NULL, NULL },
};

static const struct foreign_word stopping_keys[] = {
	{ "type name pruner scheduler method class", "\"rule\"" },
	{ "n_warmup_steps grace_period warmup start_step",
	    "\"warmup_steps\" or, of asha and hyperband, \"min_resource\"" },
	{ "min_iter min_t", "\"min_resource\"" },
	{ "max_t max_iter max_resource", "\"max_steps\" of \"trial\"" },
	{ "n_min_trials min_samples_required n_startup_trials",
	    "\"min_trials\"" },
	{ "eta factor rung_growth", "\"reduction_factor\"" },
	{ NULL, NULL },
};

static const struct foreign_word backend_keys[] = {
	{ "type backend kind training_service platform", "\"name\"" },
	{ "n_jobs workers max_concurrent", "\"parallel\" of \"limits\"" },
	{ NULL, NULL },
};

/* Words of any block: those of others, and ours that stand elsewhere. */
static const struct foreign_word study_keys[] = {
	{ "name study_name experiment_name experiment project",
	    "\"study\": the name" },
	{ "metric metric_name objective_metric score",
	    "\"metric\" of \"objective\"" },
	{ "direction mode goal optimize", "\"goal\" of \"objective\"" },
	{ "target", "\"target\" of \"objective\"" },
	{ "directions metrics", "\"objectives\"" },
	{ "constraint", "\"constraints\"" },
	{ "space search_space searchspace params parameter hyperparameters "
	  "param_space config hyper_parameters parameter_ranges",
	    "\"parameters\"" },
	{ "n_trials num_samples num_trials run_cap max_trials max_evals trials "
	  "max_trial_number max_number_of_training_jobs n_iter n_calls",
	    "\"trials\" of \"limits\"" },
	{ "completed", "\"completed\" of \"limits\"" },
	{ "timeout time_budget_s time_budget wall_time max_duration "
	  "max_experiment_duration max_time",
	    "\"wall_time\" of \"limits\"" },
	{ "n_jobs max_concurrent_trials max_concurrent parallel concurrency "
	  "trial_concurrency parallel_trials workers num_workers agents",
	    "\"parallel\" of \"limits\"" },
	{ "cost budget", "\"cost\" of \"limits\"" },
	{ "no_improvement", "\"no_improvement\" of \"limits\"" },
	{ "failed_trials max_failures", "\"failed_trials\" of \"limits\"" },
	{ "convergence", "\"convergence\" of \"limits\"" },
	{ "sampler search_alg method algorithm tuner search optimizer",
	    "\"strategy\"" },
	{ "seed random_state random_seed", "\"seed\" of \"strategy\"" },
	{ "n_startup_trials", "\"n_startup_trials\" of \"strategy\"" },
	{ "pruner scheduler early_terminate early_stopping early_stop assessor "
	  "early_stopping_type",
	    "\"stopping\"" },
	{ "program command script cmd trial_command entry_point",
	    "\"command\" of \"trial\"" },
	{ "max_steps epochs n_epochs num_epochs max_epochs max_t max_iter "
	  "max_resource steps",
	    "\"max_steps\" of \"trial\"" },
	{ "max_run", "\"max_run\" of \"trial\"" },
	{ "retries max_retries", "\"retries\" of \"trial\"" },
	{ "gpus gpu num_gpus", "\"gpus\" of \"trial\"" },
	{ "cpus cpu num_cpus cores", "\"cpus\" of \"trial\"" },
	{ "memory", "\"memory\" of \"trial\"" },
	{ "resources resources_per_trial",
	    "\"gpus\", \"cpus\" and \"memory\" of \"trial\"" },
	{ "env environment", "\"env\" of \"trial\"" },
	{ "workdir cwd", "\"workdir\" of \"trial\"" },
	{ "reads", "\"reads\" of \"trial\"" },
	{ "grace", "\"grace\" of \"trial\"" },
	{ "training_service platform", "\"backend\"" },
	{ "points_to_evaluate enqueue_trial initial_points default_points",
	    "\"enqueue\"" },
	{ "callbacks", "\"hooks\"" },
	{ "conditions", "\"where\", or \"when\" of a parameter" },
	{ NULL, NULL },
};

static const struct foreign_word *const keys[] = {
	[FOREIGN_STUDY] = study_keys,
	[FOREIGN_OBJECTIVE] = objective_keys,
	[FOREIGN_PARAMETER] = parameter_keys,
	[FOREIGN_LIMITS] = limits_keys,
	[FOREIGN_TRIAL] = trial_keys,
	[FOREIGN_STRATEGY] = strategy_keys,
	[FOREIGN_STOPPING] = stopping_keys,
	[FOREIGN_BACKEND] = backend_keys,
};

static const struct foreign_word goals[] = {
	{ "min minimise minimizing minimization lower smaller less decrease "
	  "ascending",
	    "\"minimize\"" },
	{ "max maximise maximizing maximization higher larger greater increase "
	  "descending",
	    "\"maximize\"" },
	{ NULL, NULL },
};

static const struct foreign_word types[] = {
	{ "uniform double real number continuous floatdistribution "
	  "floatparameter suggest_float suggest_uniform uniformfloat "
	  "continuousparameter range numeric",
	    "\"float\"" },
	{ "loguniform log_uniform log_uniform_values reciprocal "
	  "suggest_loguniform loguniformdistribution inv_log_uniform_values "
	  "inv_log_uniform log",
	    "\"float\", with \"scale\": \"log\"" },
	{ "quniform q_uniform discrete_uniform suggest_discrete_uniform "
	  "discrete",
	    "\"float\", with \"step\"" },
	{ "qloguniform q_log_uniform q_log_uniform_values",
	    "\"float\", with \"scale\": \"log\" and \"step\"" },
	{ "int_uniform randint integer intuniform suggest_int intdistribution "
	  "integerparameter uniforminteger long",
	    "\"int\"" },
	{ "qrandint qint", "\"int\", with \"step\"" },
	{ "lograndint loguniformint int_log",
	    "\"int\", with \"scale\": \"log\"" },
	{ "normal randn gaussian qnormal q_normal qrandn",
	    "\"float\", with \"mean\" and \"sd\"" },
	{ "lognormal log_normal qlognormal q_log_normal",
	    "\"float\", with \"scale\": \"log\", \"mean\" and \"sd\"" },
	{ "categorical categoricaldistribution categoricalparameter "
	  "suggest_categorical categorical_w_probabilities enum options values "
	  "list grid grid_search sample_from nominal string str text ordinal",
	    "\"choice\", with \"values\"" },
	{ "bool boolean", "\"choice\", with \"values\": [false, true]" },
	{ "constant const", "\"fixed\", with \"value\"" },
	{ NULL, NULL },
};

static const struct foreign_word scales[] = {
	{ "logarithmic log10 loge ln log2 loguniform log_uniform", "\"log\"" },
	{ "uniform none lin", "\"linear\"" },
	{ "reverselogarithmic reverse_log reverselog inv_log reverse_log_10",
	    "\"reverse-log\"" },
	{ NULL, NULL },
};

static const struct foreign_word strategy_names[] = {
	{ "tpesampler hyperopt hyperoptsearch optuna optunasearch "
	  "treestructuredparzenestimator parzen",
	    "\"tpe\"" },
	{ "bayes bayesian bayesian_optimization bo gpsampler bayesopt "
	  "bayesoptsearch gaussian_process gaussianprocess botorchsampler ax "
	  "axsearch skopt bayesianoptimization smac",
	    "\"gp\"" },
	{ "cmaessampler cma cma_es", "\"cmaes\"" },
	{ "nsgaiisampler nsga nsgaii nsgaiiisampler genetic evolution "
	  "evolutionary ga",
	    "\"nsga2\"" },
	{ "randomsampler randomsearch random_search rand basicvariantgenerator "
	  "uniform",
	    "\"random\"" },
	{ "qmcsampler qmc quasirandom halton lhs latin_hypercube",
	    "\"sobol\"" },
	{ "gridsampler gridsearch grid_search bruteforcesampler brute_force",
	    "\"grid\"" },
	{ "tunebohb", "\"bohb\"" },
	{ "populationbasedtraining population_based_training pb2", "\"pbt\"" },
	{ "custom", "\"external\"" },
	{ "asha hyperband median successive_halving",
	    "a rule: \"stopping\", beside \"strategy\"" },
	{ NULL, NULL },
};

static const struct foreign_word rule_names[] = {
	{ "medianpruner medianstop medianstopping medianstoppingrule "
	  "median_stopping auto",
	    "\"median\"" },
	{ "percentilepruner", "\"percentile\"" },
	{ "successivehalvingpruner successive_halving successivehalving sha "
	  "ashascheduler asynchyperbandscheduler asynchyperband",
	    "\"asha\"" },
	{ "hyperbandpruner hyperbandscheduler hyperbandforbohb bohb",
	    "\"hyperband\"" },
	{ "thresholdpruner", "\"threshold\"" },
	{ "patientpruner early_stopping earlystopping", "\"patience\"" },
	{ "noppruner fifo fifoscheduler off no false null disabled",
	    "\"none\"" },
	{ "curvefitting curve_fitting curvefit", "\"curve\"" },
	{ "pbt populationbasedtraining", "a strategy: \"strategy\": \"pbt\"" },
	{ NULL, NULL },
};

static const struct foreign_word backend_names[] = {
	{ "process subprocess cpu gpu cuda localhost multiprocessing joblib "
	  "thread threads this machine",
	    "\"local\"" },
	{ "sbatch srun cluster hpc submitit", "\"slurm\"" },
	{ "aws ec2 amazon sm", "\"sagemaker\"" },
	{ "fake dummy mock simulated", "\"pretend\"" },
	{ NULL, NULL },
};

static const struct foreign_word *const values[] = {
	[FOREIGN_GOAL] = goals,
	[FOREIGN_TYPE] = types,
	[FOREIGN_SCALE] = scales,
	[FOREIGN_STRATEGY_NAME] = strategy_names,
	[FOREIGN_RULE_NAME] = rule_names,
	[FOREIGN_BACKEND_NAME] = backend_names,
};

/* The next letter of a word: lower case, without _ and -; '\0' at its end. */
static char
foreign_words_letter(const char **at)
{
	while (**at == '_' || **at == '-')
		(*at)++;
	if (**at == '\0' || **at == ' ')
		return '\0';
	return (char)tolower((unsigned char)*(*at)++);
}

/* maxConcurrentTrials, max-concurrent-trials and max_concurrent_trials. */
static bool
foreign_words_same(const char *a, const char *b)
{
	char x, y;

	do {
		x = foreign_words_letter(&a);
		y = foreign_words_letter(&b);
	} while (x == y && x != '\0');
	return x == y;
}

static const char *
foreign_words_find(const struct foreign_word *table, const char *word)
{
	const char *at;

	if (strchr(word, ' ') != NULL)
		return NULL;
	for (; table->theirs != NULL; table++)
		for (at = table->theirs; at != NULL; at = strchr(at, ' ')) {
			at += *at == ' ';
			if (foreign_words_same(at, word))
				return table->ours;
		}
	return NULL;
}

const char *
foreign_words_value(enum foreign_value what, const char *word)
{
	return foreign_words_find(values[what], word);
}

int
foreign_words_need(const struct json *object, enum foreign_block block,
    const char *key, struct err *e)
{
	const struct json *j;
	const char *ours;
	size_t n = strlen(key);

	for (j = json_first(object); j != NULL; j = json_next(j)) {
		ours = foreign_words_find(keys[block], json_key(j));
		if (ours != NULL && strncmp(ours + 1, key, n) == 0 &&
		    ours[n + 1] == '"')
			return json_err_key(
			    j, e, "unknown key; here it is %s", ours);
	}
	return json_need(object, key, e) != NULL ? 0 : -1;
}

static bool
foreign_words_among(const char *const *words, const char *word)
{
	for (; *words != NULL; words++)
		if (strcmp(*words, word) == 0)
			return true;
	return false;
}

int
foreign_words_only(const struct json *object, enum foreign_block block,
    const char *const *known, struct err *e)
{
	const struct json *j;
	const char *ours;

	for (j = json_type(object) == JSON_OBJECT ? json_first(object) : NULL;
	     j != NULL; j = json_next(j)) {
		if (foreign_words_among(known, json_key(j)))
			continue;
		ours = foreign_words_find(keys[block], json_key(j));
		if (ours == NULL && json_nearest(json_key(j), known) == NULL)
			ours = foreign_words_find(study_keys, json_key(j));
		if (ours == NULL)
			break; /* json_only names it */
		return json_err_key(j, e, "unknown key; here it is %s", ours);
	}
	return json_only(object, known, e);
}

int
foreign_words_read(const struct json *j, enum foreign_value what,
    const char *const *words, size_t *index, struct err *e)
{
	const char *word = json_string(j), *ours = NULL;

	if (word != NULL && !foreign_words_among(words, word))
		ours = foreign_words_value(what, word);
	if (ours != NULL)
		return json_err(j, e, "here it is %s", ours);
	return json_read_word(j, words, index, e);
}
