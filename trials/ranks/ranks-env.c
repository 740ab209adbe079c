/*
 * The environment by which the processes of a trial find each other: torch's,
 * TensorFlow's and MPI's names.  They do not collide, so each process gets all.
 */

#include <sched.h>
#include <stdio.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/mem.h"
#include "trials/process/args.h"
#include "trials/ranks/ranks.h"

#define HOST "127.0.0.1"

static void
number_set(const char *name, int64_t number)
{
	char text[32];

	(void)snprintf(text, sizeof text, "%lld", (long long)number);
	(void)setenv(name, text, 1);
}

static int64_t
ranks_env_cores(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof set, &set) == -1)
		return 1;
	return CPU_COUNT(&set);
}

/* By default each library would use all cores in each process. */
static int64_t
threads(const struct ranks_args *a)
{
	int64_t n = ranks_env_cores();

	if (a->cpus > 0)
		n = a->cpus < n ? a->cpus : n;
	else if (a->slots > 1)
		n /= a->slots;
	n /= ranks_env_per_node(a);
	return n > 0 ? n : 1;
}

int64_t
ranks_env_per_node(const struct ranks_args *a)
{
	int64_t n = a->nodes > 0 ? a->processes / a->nodes : a->processes;

	return n > 0 ? n : 1;
}

int
ranks_env_node(void)
{
	const char *value = getenv("SLURM_NODEID");
	int64_t node;

	if (value == NULL || !args_number(value, &node) || node < 0 ||
	    node > INT_MAX)
		return -1;
	number_set("GROUP_RANK", node);
	number_set("PET_NODE_RANK", node);
	return (int)node;
}

void
ranks_env_all(const struct ranks_args *a, int port)
{
	if (getenv("OMP_NUM_THREADS") == NULL)
		number_set("OMP_NUM_THREADS", threads(a));
	if (port == 0)
		return;
	/*
	 * With several nodes the script of the job sets the address of the
	 * first one.
	 */
	if (a->nodes == 0 || getenv("MASTER_ADDR") == NULL)
		(void)setenv("MASTER_ADDR", HOST, 1);
	if (a->nodes > 0)
		(void)setenv("PET_MASTER_ADDR", getenv("MASTER_ADDR"), 1);
	number_set("MASTER_PORT", port);
}

bool
ranks_env_is_root(void)
{
	static const char *const marks[] = { "/.dockerenv",
		"/run/.containerenv", "/run/systemd/container" };
	char text[64] = "";
	unsigned long from, to, n;
	FILE *f;
	size_t i;

	for (i = 0; i < sizeof marks / sizeof marks[0]; i++)
		if (access(marks[i], F_OK) == 0)
			return false;
	if (geteuid() != 0 || getenv("KUBERNETES_SERVICE_HOST") != NULL)
		return false;
	f = fopen("/proc/self/uid_map", "re");
	if (f == NULL)
		return true;
	if (fgets(text, sizeof text, f) == NULL)
		*text = '\0';
	(void)fclose(f);
	return sscanf(text, "%lu %lu %lu", &from, &to, &n) != 3 ||
	       (from == 0 && to == 0 && n == 4294967295);
}

void
ranks_env_launcher(int port)
{
	static const struct {
		const char *name, *value;
	} rows[] = {
		/* Two trials at once would be bound to the same cores. */
		{ "OMPI_MCA_hwloc_base_binding_policy", "none" },
		{ "PRTE_MCA_hwloc_default_binding_policy", "none" },
		/*
		 * How many run here is our decision.  Open MPI 5 would start
		 * all on the first node if it were not told to map by slots.
		 */
		{ "OMPI_MCA_rmaps_base_oversubscribe", "1" },
		{ "PRTE_MCA_rmaps_default_mapping_policy",
		    "slot:oversubscribe" },
	};
	static const char *const root[] = { "OMPI_ALLOW_RUN_AS_ROOT",
		"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "PRTE_ALLOW_RUN_AS_ROOT",
		"PRTE_ALLOW_RUN_AS_ROOT_CONFIRM" };
	size_t i;

	for (i = 0; i < sizeof rows / sizeof rows[0]; i++)
		(void)setenv(rows[i].name, rows[i].value, 0);
	/* torchrun reads its arguments from here, too. */
	number_set("PET_MASTER_PORT", port);
	if (geteuid() != 0 || ranks_env_is_root())
		return;
	for (i = 0; i < sizeof root / sizeof root[0]; i++)
		(void)setenv(root[i], "1", 0);
}

static void
tasks_put(struct buf *b, const char *job, int *port, int64_t n)
{
	int64_t i;

	buf_printf(b, "%s\"%s\":[", b->data[b->len - 1] == '{' ? "" : ",", job);
	for (i = 0; i < n; i++)
		buf_printf(b, "%s\"" HOST ":%d\"", i > 0 ? "," : "", (*port)++);
	buf_putc(b, ']');
}

/* The port of rank 0 is torch's; the tasks have those behind it. */
static char *
tf_config(const struct ranks_args *a, int port, enum rank_role role, int number)
{
	const char *job = "ps";
	struct buf b = { 0 };

	if (role == RANK_WORKER) {
		job = number == 0 ? "chief" : "worker";
		number -= number > 0;
	}
	port++;
	buf_puts(&b, "{\"cluster\":{");
	tasks_put(&b, "chief", &port, 1);
	if (a->processes > 1)
		tasks_put(&b, "worker", &port, a->processes - 1);
	tasks_put(&b, "ps", &port, a->servers);
	buf_printf(
	    &b, "},\"task\":{\"type\":\"%s\",\"index\":%d}}", job, number);
	return buf_take(&b);
}

void
ranks_env_rank(
    const struct ranks_args *a, int port, enum rank_role role, int number)
{
	char *text;

	if (a->servers > 0) {
		text = tf_config(a, port, role, number);
		(void)setenv("TF_CONFIG", text, 1);
		free(text);
	}
	/* Only one process reports metrics. */
	if (role != RANK_WORKER || number > 0)
		(void)unsetenv("HPOTUNE_METRICS");
	if (role != RANK_WORKER)
		return;
	number_set("RANK", number);
	number_set("LOCAL_RANK", number);
	number_set("WORLD_SIZE", a->processes);
	number_set("LOCAL_WORLD_SIZE", a->processes);
	number_set("GROUP_RANK", 0);
}

int
ranks_env_translate(const struct ranks_args *a)
{
	static const struct {
		const char *to, *from[4];
	} rows[] = {
		{ "RANK", { "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
			      "SLURM_PROCID" } },
		{ "WORLD_SIZE", { "OMPI_COMM_WORLD_SIZE", "PMI_SIZE" } },
		{ "LOCAL_RANK",
		    { "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID" } },
		{ "LOCAL_WORLD_SIZE",
		    { "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS" } },
	};
	const char *value;
	int64_t rank;
	size_t i, k;

	for (i = 0; i < sizeof rows / sizeof rows[0]; i++)
		for (k = 0; k < 4 && rows[i].from[k] != NULL; k++) {
			value = getenv(rows[i].from[k]);
			if (value != NULL)
				(void)setenv(rows[i].to, value, 0);
		}
	value = getenv("RANK");
	if (value == NULL || !args_number(value, &rank) || rank < 0 ||
	    rank > INT_MAX)
		return -1;
	if (a->nodes > 0) {
		/* By blocks, whatever a launcher calls its part of them. */
		number_set("WORLD_SIZE", a->processes);
		number_set("LOCAL_WORLD_SIZE", ranks_env_per_node(a));
		number_set("LOCAL_RANK", rank % ranks_env_per_node(a));
		number_set("GROUP_RANK", rank / ranks_env_per_node(a));
	}
	(void)setenv("GROUP_RANK", "0", 0);
	return (int)rank;
}
