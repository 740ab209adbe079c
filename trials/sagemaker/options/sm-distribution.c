/*
 * Table of distributed launchers: names, the hyperparameters for AWS's toolkit,
 * and requirements.
 */

#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "trials/sagemaker/options/sm-distribution.h"

#define HP_TYPE "sagemaker_instance_type"
#define HP_DDP "sagemaker_distributed_dataparallel_enabled"
#define HP_TORCH "sagemaker_torch_distributed_enabled"
#define HP_MPI "sagemaker_mpi_enabled"
#define HP_MPI_COUNT "sagemaker_mpi_num_of_processes_per_host"
#define HP_MPI_OPTIONS "sagemaker_mpi_custom_mpi_options"
#define HP_DDP_OPTIONS "sagemaker_distributed_dataparallel_custom_mpi_options"

const struct sm_distribution sm_distributions[] = {
	{ .word = "none", .launcher = SM_NONE },
	{ .word = "torchrun",
	    .launcher = SM_TORCHRUN,
	    .counts = true,
	    .keys = SM_KEY_PER_HOST },
	{ .word = "mpirun",
	    .launcher = SM_MPIRUN,
	    .counts = true,
	    .keys = SM_KEY_PER_HOST | SM_KEY_MPI_OPTIONS },
	{ .word = "toolkit", .launcher = SM_TOOLKIT, .toolkit = true },
	{ .word = "smddp",
	    .launcher = SM_SMDDP,
	    .toolkit = true,
	    .counts = true,
	    .keys = SM_KEY_MPI_OPTIONS | SM_KEY_TORCH | SM_KEY_GROUP,
	    .where = SM_WHERE_SMDDP,
	    .hp = { { HP_DDP, SM_FROM_TRUE }, { HP_TYPE, SM_FROM_TYPE },
		{ HP_DDP_OPTIONS, SM_FROM_MPI_OPTIONS },
		{ HP_TORCH, SM_FROM_TORCH } } },
	{ .word = "modelparallel",
	    .launcher = SM_MODELPARALLEL,
	    .version = 2,
	    .toolkit = true,
	    .counts = true,
	    .keys = SM_KEY_PARAMETERS | SM_KEY_VERSION,
	    .where = SM_WHERE_GPU,
	    .hp = { { "mp_parameters", SM_FROM_PARAMETERS },
		{ HP_TORCH, SM_FROM_TRUE }, { HP_TYPE, SM_FROM_TYPE },
		{ HP_DDP, SM_FROM_FALSE } } },
	{ .word = "modelparallel",
	    .launcher = SM_MODELPARALLEL,
	    .version = 1,
	    .toolkit = true,
	    .counts = true,
	    .keys = SM_KEY_PARAMETERS | SM_KEY_VERSION | SM_KEY_PER_HOST |
		    SM_KEY_MPI_OPTIONS,
	    .where = SM_WHERE_GPU,
	    .hp = { { "mp_parameters", SM_FROM_PARAMETERS },
		{ HP_MPI, SM_FROM_TRUE }, { HP_MPI_COUNT, SM_FROM_PER_HOST },
		{ HP_MPI_OPTIONS, SM_FROM_MPI_OPTIONS },
		{ HP_DDP, SM_FROM_FALSE }, { HP_TYPE, SM_FROM_TYPE } } },
	{ .word = "parameter-server",
	    .launcher = SM_PARAMETER_SERVER,
	    .toolkit = true,
	    .hp = { { "sagemaker_parameter_server_enabled", SM_FROM_TRUE } } },
	{ .word = "mpi",
	    .launcher = SM_MPI,
	    .toolkit = true,
	    .counts = true,
	    .keys = SM_KEY_PER_HOST | SM_KEY_MPI_OPTIONS | SM_KEY_GROUP,
	    .hp = { { HP_MPI, SM_FROM_TRUE },
		{ HP_MPI_COUNT, SM_FROM_PER_HOST },
		{ HP_MPI_OPTIONS, SM_FROM_MPI_OPTIONS } } },
	{ .word = "torch-distributed",
	    .launcher = SM_TORCH_DISTRIBUTED,
	    .toolkit = true,
	    .counts = true,
	    .keys = SM_KEY_PER_HOST,
	    .where = SM_WHERE_GPU_OR_TRAINIUM,
	    .hp = { { HP_TORCH, SM_FROM_TRUE }, { HP_TYPE, SM_FROM_TYPE },
		{ HP_MPI_COUNT, SM_FROM_PER_HOST } } },
	{ .word = "pytorch-ddp",
	    .launcher = SM_PYTORCH_DDP,
	    .toolkit = true,
	    .counts = true,
	    .where = SM_WHERE_GPUS,
	    .hp = { { "sagemaker_pytorch_ddp_enabled", SM_FROM_TRUE },
		{ HP_TYPE, SM_FROM_TYPE } } },
	{ .word = "multi-worker-mirrored",
	    .launcher = SM_MIRRORED,
	    .toolkit = true,
	    .hp = { { "sagemaker_multi_worker_mirrored_strategy_enabled",
		SM_FROM_TRUE } } },
	{ .word = NULL },
};

static int64_t
dist_integer(const struct sm_settings *s, const char *key, int64_t none)
{
	int64_t n;

	return s->dist != NULL && json_integer(json_get(s->dist, key), &n)
		   ? n
		   : none;
}

const char *
sm_distribution_text(const struct sm_settings *s, const char *key)
{
	return s->dist != NULL ? json_string(json_get(s->dist, key)) : NULL;
}

const struct sm_distribution *
sm_distribution_row(const struct sm_settings *s)
{
	int64_t version = dist_integer(s, "version", 2);
	size_t i;

	for (i = 0; sm_distributions[i].word != NULL; i++)
		if (sm_distributions[i].launcher == s->launcher &&
		    (sm_distributions[i].version == 0 ||
			sm_distributions[i].version == version))
			break;
	return &sm_distributions[i];
}

bool
sm_distribution_is_toolkit(const struct sm_settings *s)
{
	return s->algorithm || sm_distribution_row(s)->toolkit;
}

/* "python3", "/usr/bin/python3.11", "-u": what the toolkit adds itself. */
static bool
is_python(const char *argument)
{
	const char *base = strrchr(argument, '/');

	base = base != NULL ? base + 1 : argument;
	return strncmp(base, "python", 6) == 0 || strcmp(argument, "-u") == 0;
}

static bool
is_script(const char *argument)
{
	size_t n = strlen(argument);

	return n > 3 && strcmp(argument + n - 3, ".py") == 0 &&
	       *argument != '/' && *argument != '-';
}

static bool
is_setting(const char *argument)
{
	const char *equals = strchr(argument, '=');

	return strcmp(argument, "{params}") == 0 ||
	       (strncmp(argument, "--", 2) == 0 && equals != NULL &&
		   equals > argument + 2);
}

bool
sm_distribution_is_python(const char *program)
{
	return strcmp(program, "-u") != 0 && is_python(program);
}

int
sm_distribution_find(char *const *argv, size_t *at, struct err *e)
{
	size_t i = 0;

	while (argv[i] != NULL && !is_script(argv[i])) {
		if (!is_python(argv[i]))
			return err_set(e, ERR_USAGE,
			    "the toolkit starts a Python script of the code "
			    "folder, and \"%s\" is none",
			    argv[i]);
		i++;
	}
	if (argv[i] == NULL)
		return err_set(e, ERR_USAGE,
		    "the toolkit starts a Python script of the code folder, "
		    "but the folder has none");
	*at = i;
	return 0;
}

int
sm_distribution_command_find(char *const *argv, size_t *at, struct err *e)
{
	size_t i;

	if (sm_distribution_find(argv, at, e) != 0)
		return -1;
	i = *at;
	while (argv[++i] != NULL)
		if (!is_setting(argv[i]))
			return err_set(e, ERR_USAGE,
			    "the toolkit passes only {params} and "
			    "--NAME=VALUE on, and \"%s\" is neither",
			    argv[i]);
	return 0;
}

const char *
sm_distribution_program(const struct sm_settings *s, const char *argument)
{
	size_t n = s->code_as != NULL ? strlen(s->code_as) : 0;

	while (strncmp(argument, "./", 2) == 0)
		argument += 2;
	if (n > 0 && strncmp(argument, s->code_as, n) == 0 &&
	    argument[n] == '/')
		argument += n + 1;
	return argument;
}
