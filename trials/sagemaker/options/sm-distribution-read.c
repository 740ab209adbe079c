/*
 * The distribution block: launcher, the options of that launcher, and the
 * allowed machines.
 */

#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/study/study.h"
#include "trials/sagemaker/options/sm-distribution.h"
#include "trials/sagemaker/options/sm-options-internal.h"

enum {
	PER_HOST_MAX = 1024, /* processes */
	OPTIONS_MAX = 2000, /* characters of custom_mpi_options */
	WORDS_MAX = 16 /* launchers */
};

static const struct {
	const char *name;
	enum sm_key bit;
} keys[] = {
	{ "processes_per_host", SM_KEY_PER_HOST },
	{ "custom_mpi_options", SM_KEY_MPI_OPTIONS },
	{ "parameters", SM_KEY_PARAMETERS },
	{ "version", SM_KEY_VERSION },
	{ "torch_distributed", SM_KEY_TORCH },
	{ "group", SM_KEY_GROUP },
};

enum { N_KEYS = sizeof keys / sizeof keys[0] };

/* Parameters of the model parallel library whose values are checked. */
enum value_form { VALUE_COUNT, VALUE_SEED, VALUE_YES, VALUE_REAL_NUMBER };
static const struct {
	int version;
	const char *name;
	enum value_form form;
	const char *words; /* " a b ": instead of form */
} parameters[] = {
	{ 1, "partitions", VALUE_COUNT, NULL },
	{ 1, "pipeline_parallel_degree", VALUE_COUNT, NULL },
	{ 1, "tensor_parallel_degree", VALUE_COUNT, NULL },
	{ 1, "microbatches", VALUE_COUNT, NULL },
	{ 1, "active_microbatches", VALUE_COUNT, NULL },
	{ 1, "pipeline", VALUE_COUNT, " simple interleaved _only_forward " },
	{ 1, "placement_strategy", VALUE_COUNT,
	    " spread cluster DPT DTP PDT PTD TDP TPD " },
	{ 1, "optimize", VALUE_COUNT, " speed memory " },
	{ 1, "auto_partition", VALUE_YES, NULL },
	{ 1, "default_partition", VALUE_SEED, NULL },
	{ 1, "memory_weight", VALUE_REAL_NUMBER, NULL },
	{ 1, "ddp", VALUE_YES, NULL },
	{ 1, "horovod", VALUE_YES, NULL },
	{ 1, "ddp_port", VALUE_COUNT, NULL },
	{ 1, "ddp_dist_backend", VALUE_COUNT, " auto nccl smddp " },
	{ 2, "hybrid_shard_degree", VALUE_SEED, NULL },
	{ 2, "sm_activation_offloading", VALUE_YES, NULL },
	{ 2, "activation_loading_horizon", VALUE_COUNT, NULL },
	{ 2, "fsdp_cache_flush_warnings", VALUE_YES, NULL },
	{ 2, "allow_empty_shards", VALUE_YES, NULL },
	{ 2, "tensor_parallel_degree", VALUE_COUNT, NULL },
	{ 2, "context_parallel_degree", VALUE_COUNT, NULL },
	{ 2, "expert_parallel_degree", VALUE_COUNT, NULL },
	{ 2, "random_seed", VALUE_SEED, NULL },
};

/* Every launcher's word once, for errors and for their hints. */
static int
read_word(struct sm_reader *r, const struct json *block)
{
	const char *words[WORDS_MAX + 1];
	const struct json *j = json_need(block, "launcher", r->e);
	enum sm_launcher of[WORDS_MAX];
	size_t i, n = 0;

	if (j == NULL)
		return -1;
	for (i = 0; sm_distributions[i].word != NULL && n < WORDS_MAX; i++)
		if (n == 0 ||
		    strcmp(words[n - 1], sm_distributions[i].word) != 0) {
			of[n] = sm_distributions[i].launcher;
			words[n++] = sm_distributions[i].word;
		}
	words[n] = NULL;
	if (json_read_word(j, words, &i, r->e) != 0)
		return -1;
	r->s->launcher = of[i];
	return 0;
}

/* Error: for which launchers an option is valid. */
static int
key_err(struct sm_reader *r, const struct json *j, enum sm_key bit)
{
	struct buf b = { 0 };
	const char *last = NULL;
	size_t i;

	for (i = 0; sm_distributions[i].word != NULL; i++) {
		if ((sm_distributions[i].keys & bit) == 0 ||
		    (last != NULL &&
			strcmp(last, sm_distributions[i].word) == 0))
			continue;
		last = sm_distributions[i].word;
		buf_printf(&b, "%s%s", b.len > 0 ? ", " : "", last);
		if (sm_distributions[i].version == 1)
			buf_puts(&b, " 1");
	}
	json_err_key(
	    j, r->e, "this key goes only with the launchers %s", buf_str(&b));
	buf_free(&b);
	return -1;
}

static int
check_keys(struct sm_reader *r, const struct json *block)
{
	const char *known[N_KEYS + 2] = { "launcher" };
	const struct sm_distribution *row = sm_distribution_row(r->s);
	const struct json *j;
	size_t i;

	for (i = 0; i < N_KEYS; i++)
		known[i + 1] = keys[i].name;
	if (json_only(block, known, r->e) != 0)
		return -1;
	for (i = 0; i < N_KEYS; i++) {
		j = json_get(block, keys[i].name);
		if (j != NULL && (row->keys & keys[i].bit) == 0)
			return key_err(r, j, keys[i].bit);
	}
	return 0;
}

static bool
word_in(const char *words, const char *word)
{
	char *spaced;
	bool found;

	if (word == NULL || *word == '\0' || strchr(word, ' ') != NULL)
		return false;
	spaced = xasprintf(" %s ", word);
	found = strstr(words, spaced) != NULL;
	free(spaced);
	return found;
}

static int
check_parameter(const struct json *j, int version, struct err *e)
{
	double x;
	int64_t n;
	bool yes;
	size_t i;

	for (i = 0; i < sizeof parameters / sizeof parameters[0]; i++)
		if (parameters[i].version == version &&
		    strcmp(parameters[i].name, json_key(j)) == 0)
			break;
	if (i == sizeof parameters / sizeof parameters[0])
		return 0;
	if (parameters[i].words != NULL)
		return word_in(parameters[i].words, json_string(j))
			   ? 0
			   : json_err(j, e, "expected one of%.*s",
				 (int)strlen(parameters[i].words) - 1,
				 parameters[i].words);
	switch (parameters[i].form) {
	case VALUE_COUNT:
		return json_read_integer(j, 1, INT32_MAX, &n, e);
	case VALUE_SEED:
		return json_read_integer(j, 0, INT32_MAX, &n, e);
	case VALUE_YES:
		return json_read_bool(j, &yes, e);
	case VALUE_REAL_NUMBER:
		return json_read_number(j, 0, 1, &x, e);
	}
	return 0;
}

static int
check_parameters(struct sm_reader *r, const struct json *block, int version)
{
	const struct json *j, *set = json_get(block, "parameters");

	if (version == 1 &&
	    (set == NULL ||
		(json_get(set, "partitions") == NULL &&
		    json_get(set, "pipeline_parallel_degree") == NULL)))
		return json_err(set != NULL ? set : block, r->e,
		    "version 1 needs parameters with partitions or "
		    "pipeline_parallel_degree");
	if (set == NULL)
		return 0;
	if (json_want(set, JSON_OBJECT, r->e) != 0)
		return -1;
	for (j = json_first(set); j != NULL; j = json_next(j))
		if (check_parameter(j, version, r->e) != 0)
			return -1;
	return 0;
}

static int
check_group(struct sm_reader *r, const struct json *block)
{
	const struct json *j = json_get(block, "group");
	const char *name;
	size_t i;

	if (j == NULL)
		return 0;
	if (json_read_string(j, &name, r->e) != 0)
		return -1;
	for (i = 0; i < r->s->n_groups; i++)
		if (strcmp(r->s->groups[i].name, name) == 0)
			return 0;
	return json_err(j, r->e, "expected the name of one of the groups");
}

static int
read_block(struct sm_reader *r, const struct json *block)
{
	const struct json *j;
	const char *text;
	int64_t version = 2, n;
	bool yes;

	if (json_want(block, JSON_OBJECT, r->e) != 0 ||
	    read_word(r, block) == -1)
		return -1;
	r->s->dist = block;
	j = json_get(block, "version");
	if (j != NULL && json_read_integer(j, 1, 2, &version, r->e) != 0)
		return -1;
	if (check_keys(r, block) == -1)
		return -1;
	if ((j = json_get(block, "processes_per_host")) != NULL) {
		if (json_read_integer(j, 1, PER_HOST_MAX, &n, r->e) != 0)
			return -1;
		r->s->per_host = (int)n;
	}
	j = json_get(block, "custom_mpi_options");
	if (j != NULL && json_read_string(j, &text, r->e) != 0)
		return -1;
	if (j != NULL &&
	    (strlen(text) > OPTIONS_MAX || strpbrk(text, "\r\n") != NULL))
		return json_err(j, r->e,
		    "expected options in one line of at most %d characters",
		    OPTIONS_MAX);
	j = json_get(block, "torch_distributed");
	if (j != NULL && json_read_bool(j, &yes, r->e) != 0)
		return -1;
	if (r->s->launcher == SM_MODELPARALLEL &&
	    check_parameters(r, block, (int)version) == -1)
		return -1;
	return check_group(r, block);
}

/* trial.launcher applies if the block names none. */
static int
read_trial(struct sm_reader *r)
{
	const struct study_trial *t = r->trial;

	switch (t->launcher) {
	case STUDY_LAUNCHER_NONE:
		return 0;
	case STUDY_LAUNCHER_TORCHRUN:
		r->s->launcher = SM_TORCHRUN;
		break;
	case STUDY_LAUNCHER_MPIRUN:
		r->s->launcher = SM_MPIRUN;
		break;
	case STUDY_LAUNCHER_SRUN:
		return json_err(sm_options_where(r, "distribution"), r->e,
		    "trial.launcher srun is for the backend slurm: expected a "
		    "distribution with torchrun or mpirun");
	case STUDY_LAUNCHER_RANKS:
		return json_err(sm_options_where(r, "distribution"), r->e,
		    "trial.launcher ranks is for one machine: expected a "
		    "distribution with torchrun or mpirun");
	}
	r->s->per_host = (int)t->processes;
	return 0;
}

/*
 * The number of machines that train: in a heterogeneous cluster the group that
 * the launcher names, else all groups; or all types of which a trial gets one.
 */
static size_t
n_machines(const struct sm_settings *s)
{
	if (s->n_groups == 0)
		return s->n_types;
	return json_get(s->dist, "group") != NULL ? 1 : s->n_groups;
}

static const char *
machine(const struct sm_settings *s, size_t i)
{
	const char *group;

	if (s->n_groups == 0)
		return s->types[i].name;
	group = json_string(json_get(s->dist, "group"));
	while (group != NULL && strcmp(s->groups[i].name, group) != 0)
		i++;
	return s->groups[i].type.name;
}

static bool
works_on(const struct sm_reader *r, const struct sm_distribution *row,
    const char *type)
{
	static const char smddp[] = " ml.p3.16xlarge ml.p3dn.24xlarge "
				    "ml.p4d.24xlarge ml.p4de.24xlarge ";
	const struct json *torch;
	bool yes = false;

	switch (row->where) {
	case SM_WHERE_ANY:
		break;
	case SM_WHERE_GPU:
		return sm_instance_type_gpus(type) != 0;
	case SM_WHERE_GPUS:
		return sm_instance_type_gpus(type) < 0 ||
		       sm_instance_type_gpus(type) > 1;
	case SM_WHERE_GPU_OR_TRAINIUM:
		return sm_instance_type_gpus(type) != 0 ||
		       strncmp(type, "ml.trn", 6) == 0;
	case SM_WHERE_SMDDP:
		torch = json_get(r->s->dist, "torch_distributed");
		(void)json_bool(torch, &yes);
		return word_in(smddp, type) ||
		       (yes && strcmp(type, "ml.p5.48xlarge") == 0);
	}
	return !row->toolkit || row->launcher == SM_TOOLKIT ||
	       strncmp(type, "ml.trn", 6) != 0;
}

static const char *
works_where(const struct sm_distribution *row)
{
	switch (row->where) {
	case SM_WHERE_ANY:
		break;
	case SM_WHERE_GPU:
		return "types with GPUs";
	case SM_WHERE_GPUS:
		return "types with several GPUs";
	case SM_WHERE_GPU_OR_TRAINIUM:
		return "types with GPUs, and Trainium";
	case SM_WHERE_SMDDP:
		return "ml.p3.16xlarge, ml.p3dn.24xlarge, ml.p4d.24xlarge, "
		       "ml.p4de.24xlarge, and with torch_distributed "
		       "ml.p5.48xlarge";
	}
	return "types other than Trainium";
}

static int
check_machines(struct sm_reader *r, const struct sm_distribution *row)
{
	const struct json *place = sm_options_where(
	    r, r->s->n_groups > 0 ? "groups" : "instance_type");
	size_t i;

	if (r->s->n_groups > 0 && row->toolkit && row->launcher != SM_TOOLKIT) {
		if ((row->keys & SM_KEY_GROUP) == 0)
			return json_err(place, r->e,
			    "the launcher %s does not go with groups: expected "
			    "mpi or smddp, or one of hpotune's own",
			    row->word);
		if (json_get(r->s->dist, "group") == NULL)
			return json_err(r->s->dist, r->e,
			    "expected \"group\", too: the one that trains "
			    "together");
	}
	for (i = 0; i < n_machines(r->s); i++)
		if (!works_on(r, row, machine(r->s, i)))
			return json_err(place, r->e,
			    "%s does not go with the launcher %s: expected %s",
			    machine(r->s, i), row->word, works_where(row));
	return 0;
}

/*
 * How many processes a host has must be the same for all, when it is counted
 * by devices: in one cluster always, over attempts when they share a batch.
 */
static int
check_counts(struct sm_reader *r, const struct sm_distribution *row)
{
	const struct study_trial *t = r->trial;
	bool batch = t->batch_global > 0 || t->batch_param != NULL;
	int devices = sm_instance_type_devices(machine(r->s, 0));
	size_t i;

	if (batch && row->launcher == SM_MODELPARALLEL)
		return json_err(r->s->dist, r->e,
		    "trial.batch does not go with modelparallel, which "
		    "divides the batch itself");
	if (!row->counts || r->s->per_host > 0 ||
	    (row->toolkit && row->keys & SM_KEY_GROUP && r->s->n_groups > 0 &&
		!batch))
		return 0;
	for (i = 1; i < n_machines(r->s); i++)
		if (sm_instance_type_devices(machine(r->s, i)) != devices &&
		    (batch || r->s->n_groups > 0))
			return json_err(r->s->dist, r->e,
			    "%s and %s differ in devices: expected "
			    "processes_per_host, too",
			    machine(r->s, 0), machine(r->s, i));
	if (batch && devices < 0)
		return json_err(r->s->dist, r->e,
		    "the number of devices of %s is unknown: expected "
		    "processes_per_host, too",
		    machine(r->s, 0));
	return 0;
}

static int
check_toolkit(struct sm_reader *r)
{
	const struct json *place = r->s->dist != NULL
				       ? r->s->dist
				       : sm_options_where(r, "distribution");
	struct err why = ERR_INIT;
	size_t at;

	if (r->s->code == NULL)
		return json_err(place, r->e,
		    "the toolkit starts a script of the code folder: expected "
		    "\"code\", too");
	if (sm_distribution_command_find(r->trial->command, &at, &why) == -1)
		return json_err(place, r->e, "trial.command: %s", why.text);
	return 0;
}

int
sm_distribution_read(struct sm_reader *r)
{
	const struct json *block = sm_options_json(r, "distribution");
	const struct sm_distribution *row;

	if ((block != NULL ? read_block(r, block) : read_trial(r)) == -1)
		return -1;
	row = sm_distribution_row(r->s);
	if (check_machines(r, row) == -1 || check_counts(r, row) == -1)
		return -1;
	return row->toolkit ? check_toolkit(r) : 0;
}
