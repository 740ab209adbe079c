/* Properties of this machine, from the kernel. */

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/cli/common/host-facts.h"

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
