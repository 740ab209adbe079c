/*
 * The environment of the processes of a trial: torch's names, TensorFlow's,
 * MPI's.
 */

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/json/json.h"
#include "src/base/err.h"
#include "src/model/study/study.h"
#include "tests/support/tap.h"
#include "trials/ranks/ranks.h"

static const struct ranks_args four = { .processes = 4, .slots = 1 };

static void
env_is(const char *name, const char *want)
{
	const char *got = getenv(name);

	is_str(got != NULL ? got : "(none)", want, name);
}

static void
test_rank(void)
{
	clearenv();
	(void)setenv("HPOTUNE_METRICS", "m", 1);
	ranks_env_rank(&four, 4000, RANK_WORKER, 0);
	env_is("HPOTUNE_METRICS", "m");
	ranks_env_all(&four, 4000);
	ranks_env_rank(&four, 4000, RANK_WORKER, 3);
	env_is("RANK", "3");
	env_is("LOCAL_RANK", "3");
	env_is("WORLD_SIZE", "4");
	env_is("LOCAL_WORLD_SIZE", "4");
	env_is("GROUP_RANK", "0");
	env_is("MASTER_ADDR", "127.0.0.1");
	env_is("MASTER_PORT", "4000");
	env_is("HPOTUNE_METRICS", "(none)");
	env_is("TF_CONFIG", "(none)");
}

static void
test_threads(void)
{
	struct ranks_args a = { .processes = 2, .slots = 1 };
	cpu_set_t set;
	char want[16];
	int cores;

	if (sched_getaffinity(0, sizeof set, &set) == -1)
		abort();
	cores = CPU_COUNT(&set);
	clearenv();
	ranks_env_all(&a, 0);
	(void)snprintf(want, sizeof want, "%d", cores / 2 > 0 ? cores / 2 : 1);
	env_is("OMP_NUM_THREADS", want);
	env_is("MASTER_PORT", "(none)");
	a.slots = cores;
	clearenv();
	ranks_env_all(&a, 0);
	env_is("OMP_NUM_THREADS", "1");
	a = (struct ranks_args){ .processes = 1, .slots = 7, .cpus = 1 };
	clearenv();
	ranks_env_all(&a, 0);
	env_is("OMP_NUM_THREADS", "1");
	(void)setenv("OMP_NUM_THREADS", "13", 1);
	ranks_env_all(&a, 0);
	env_is("OMP_NUM_THREADS", "13");
}

static void
test_tensorflow(void)
{
	const struct ranks_args a = { .processes = 3, .servers = 2 };
	const struct ranks_args one = { .processes = 1, .servers = 1 };
	struct json_doc *doc;
	struct err e = ERR_INIT;
	char *text;

	ranks_env_rank(&a, 4000, RANK_WORKER, 2);
	text = getenv("TF_CONFIG");
	is_str(text,
	    "{\"cluster\":{\"chief\":[\"127.0.0.1:4001\"],\"worker\":["
	    "\"127.0.0.1:4002\",\"127.0.0.1:4003\"],\"ps\":["
	    "\"127.0.0.1:4004\",\"127.0.0.1:4005\"]},\"task\":{\"type\":"
	    "\"worker\",\"index\":1}}",
	    "a worker, its cluster and its number");
	is_int(json_parse(&doc, text, strlen(text), "TF_CONFIG", false, &e), 0,
	    "it is JSON");
	json_free(doc);
	ranks_env_rank(&one, 4000, RANK_WORKER, 0);
	text = getenv("TF_CONFIG");
	is_str(text,
	    "{\"cluster\":{\"chief\":[\"127.0.0.1:4001\"],\"ps\":["
	    "\"127.0.0.1:4002\"]},\"task\":{\"type\":\"chief\",\"index\":0}}",
	    "a chief alone has no workers");
	clearenv();
	(void)setenv("HPOTUNE_METRICS", "m", 1);
	ranks_env_rank(&one, 4000, RANK_SERVER, 0);
	env_is("RANK", "(none)");
	env_is("HPOTUNE_METRICS", "(none)");
	ok(strstr(getenv("TF_CONFIG"), "\"type\":\"ps\",\"index\":0") != NULL,
	    "a parameter server");
}

static void
test_translate(void)
{
	const struct ranks_args none = { .processes = 1 };

	clearenv();
	is_int(ranks_env_translate(&none), -1, "no variable gives the rank");
	(void)setenv("OMPI_COMM_WORLD_RANK", "2", 1);
	(void)setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
	(void)setenv("OMPI_COMM_WORLD_LOCAL_RANK", "2", 1);
	(void)setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "4", 1);
	is_int(ranks_env_translate(&none), 2, "Open MPI does");
	env_is("RANK", "2");
	env_is("WORLD_SIZE", "4");
	env_is("LOCAL_RANK", "2");
	env_is("LOCAL_WORLD_SIZE", "4");
	env_is("GROUP_RANK", "0");
	(void)setenv("RANK", "1", 1);
	is_int(ranks_env_translate(&none), 1, "variables of torchrun are kept");
	clearenv();
	(void)setenv("PMI_RANK", "1", 1);
	(void)setenv("PMI_SIZE", "2", 1);
	(void)setenv("MPI_LOCALRANKID", "1", 1);
	(void)setenv("MPI_LOCALNRANKS", "2", 1);
	is_int(ranks_env_translate(&none), 1, "MPICH does");
	env_is("LOCAL_WORLD_SIZE", "2");
}

static void
test_launcher(void)
{
	clearenv();
	(void)setenv("OMPI_MCA_hwloc_base_binding_policy", "core", 1);
	ranks_env_launcher(4000);
	env_is("OMPI_MCA_hwloc_base_binding_policy", "core");
	env_is("OMPI_MCA_rmaps_base_oversubscribe", "1");
	env_is("PRTE_MCA_rmaps_default_mapping_policy", "slot:oversubscribe");
	env_is("PET_MASTER_PORT", "4000");
	ok((getenv("OMPI_ALLOW_RUN_AS_ROOT") != NULL) ==
		(geteuid() == 0 && !ranks_env_is_root()),
	    "root is allowed in a container only");
}

static void
test_defaults(void)
{
	struct study_trial t = { .gpus = -1 };

	is_int(study_processes(&t), 1, "without a launcher, one process");
	is_int(study_cores(&t), 1, "on one core");
	t.launcher = STUDY_LAUNCHER_RANKS;
	is_int(study_processes(&t), 0, "with one, it must be given");
	t.gpus = 1;
	is_int(study_processes(&t), 0, "one GPU does not say it");
	t.gpus = 4;
	is_int(study_processes(&t), 4, "several do");
	t.processes = 2;
	t.servers = 3;
	is_int(study_processes(&t), 2, "unless it is reported");
	is_int(study_cores(&t), 5, "a core for each, servers too");
	t.cpus = 3;
	is_int(study_cores(&t), 3, "unless it is reported");
}

int
main(void)
{
	test_rank();
	test_threads();
	test_tensorflow();
	test_translate();
	test_launcher();
	test_defaults();
	return done_testing();
}
