/* Properties of this machine, from the kernel and the driver. */

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/cli/host-facts.h"
#include "trials/gpu/gpu-snapshot.h"

/* A driver may have to initialize many GPUs. */
enum { GPUS_MS = 30 * 1000 };

int
host_facts_cores(void)
{
	cpu_set_t set;
	int n = 0;

	if (sched_getaffinity(0, sizeof set, &set) == 0)
		n = CPU_COUNT(&set);
	else
		n = (int)sysconf(_SC_NPROCESSORS_ONLN);
	return n > 0 ? n : 1;
}

int
host_facts_gpus(void)
{
	struct err e = ERR_INIT;
	struct gpu_snapshot look;
	int n = 0;
	size_t i;

	if (gpu_query(&look, GPUS_MS, &e) != 0)
		return 0;
	for (i = 0; i < look.n; i++)
		n += !look.gpus[i].lost;
	gpu_snapshot_free(&look);
	return n;
}

bool
host_facts_line(const char *path, char *buf, size_t n)
{
	FILE *f = fopen(path, "re");
	bool good;

	if (f == NULL)
		return false;
	good = fgets(buf, (int)n, f) != NULL;
	(void)fclose(f);
	if (good)
		buf[strcspn(buf, "\n")] = '\0';
	return good;
}

int64_t
host_facts_number(const char *path)
{
	char line[64], *end;
	long long value;

	if (!host_facts_line(path, line, sizeof line))
		return -1;
	value = strtoll(line, &end, 10);
	return end == line ? -1 : value;
}
