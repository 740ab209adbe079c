/* GPUs from files of /proc and /sys: names and locations, not their use. */

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/mem.h"
#include "trials/gpu/gpu-snapshot-build.h"
#include "trials/gpu/gpu-sysfs.h"

void
gpu_sysfs_bus_name(char to[GPU_BUS], const char *from)
{
	unsigned int domain, bus, device, function;

	to[0] = '\0';
	if (sscanf(from, "%x:%x:%x.%x", &domain, &bus, &device, &function) == 4)
		(void)snprintf(to, GPU_BUS, "%04x:%02x:%02x.%x", domain,
		    bus & 0xff, device & 0xff, function & 0xf);
}

/* Read the first line of a file; false: none. */
static bool
sysfs_line_read(const char *path, char *line, size_t n)
{
	FILE *f = fopen(path, "re");
	bool good;

	if (f == NULL)
		return false;
	good = fgets(line, (int)n, f) != NULL;
	(void)fclose(f);
	if (good)
		line[strcspn(line, "\n")] = '\0';
	return good;
}

/* A number of at most this; -1: it is none. */
static int
number(const char *text, long most)
{
	char *end;
	long n = strtol(text, &end, 10);

	return end != text && n >= 0 && n <= most ? (int)n : -1;
}

void
gpu_sysfs_locality(
    const char *root, const char *bus, char cpus[GPU_CPUS], int *node)
{
	char path[PATH_MAX], line[GPU_CPUS];

	cpus[0] = '\0';
	*node = -1;
	if (bus[0] == '\0')
		return;
	(void)snprintf(path, sizeof path,
	    "%s/sys/bus/pci/devices/%s/local_cpulist", root, bus);
	if (sysfs_line_read(path, line, sizeof line) &&
	    line[strspn(line, "0123456789,-")] == '\0')
		(void)snprintf(cpus, GPU_CPUS, "%s", line);
	(void)snprintf(path, sizeof path, "%s/sys/bus/pci/devices/%s/numa_node",
	    root, bus);
	if (sysfs_line_read(path, line, sizeof line))
		*node = number(line, 65535);
}

/* "Model: \t NVIDIA H200": the value of a line with this key, or NULL. */
static const char *
line_value(char *line, const char *key)
{
	size_t n = strlen(key);

	if (strncmp(line, key, n) != 0 || line[n] != ':')
		return NULL;
	line[strcspn(line, "\n")] = '\0';
	line += n + 1;
	return line + strspn(line, " \t");
}

static void
information_read(struct gpu_device *g, const char *path)
{
	FILE *f = fopen(path, "re");
	char line[512];
	const char *v;

	while (f != NULL && fgets(line, sizeof line, f) != NULL) {
		if ((v = line_value(line, "Model")) != NULL)
			gpu_snapshot_set_text(g->name, sizeof g->name, v);
		else if ((v = line_value(line, "GPU UUID")) != NULL &&
			 strchr(v, '?') == NULL)
			gpu_snapshot_set_text(g->uuid, sizeof g->uuid, v);
		else if ((v = line_value(line, "Device Minor")) != NULL)
			g->minor = number(v, INT_MAX);
	}
	if (f != NULL)
		(void)fclose(f);
}

static int
bus_order(const void *a, const void *b)
{
	const struct gpu_device *g = a, *h = b;
	size_t n = strlen(g->bus), m = strlen(h->bus);

	/* A longer domain is a larger one. */
	return n != m ? (n > m) - (n < m) : strcmp(g->bus, h->bus);
}

/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue …". */
static void
driver_read(const char *root, struct gpu_snapshot *l)
{
	char path[PATH_MAX], line[256], *word, *rest;

	(void)snprintf(
	    path, sizeof path, "%s/proc/driver/nvidia/version", root);
	if (!sysfs_line_read(path, line, sizeof line))
		return;
	for (word = strtok_r(line, " ", &rest); word != NULL;
	     word = strtok_r(NULL, " ", &rest))
		if (word[strspn(word, "0123456789.")] == '\0' &&
		    strchr(word, '.') != NULL) {
			gpu_snapshot_set_text(
			    l->driver, sizeof l->driver, word);
			return;
		}
}

static void
sysfs_entry_read(const char *folder, const char *name, struct gpu_snapshot *l)
{
	char path[PATH_MAX];
	struct gpu_device *g;

	if (name[0] == '.' || l->n == GPU_SNAPSHOT_GPUS)
		return;
	g = gpu_snapshot_add(l);
	gpu_sysfs_bus_name(g->bus, name);
	(void)snprintf(path, sizeof path, "%s/%s/information", folder, name);
	information_read(g, path);
	/* A GPU without a UUID cannot be used. */
	if (g->bus[0] == '\0' || g->uuid[0] == '\0')
		l->n--;
}

void
gpu_sysfs_snapshot(const char *root, struct gpu_snapshot *l)
{
	char folder[PATH_MAX];
	struct dirent *entry;
	size_t i;
	DIR *d;

	(void)snprintf(
	    folder, sizeof folder, "%.3000s/proc/driver/nvidia/gpus", root);
	if ((d = opendir(folder)) == NULL)
		return;
	while ((entry = readdir(d)) != NULL)
		sysfs_entry_read(folder, entry->d_name, l);
	(void)closedir(d);
	driver_read(root, l);
	if (l->n > 0)
		qsort(l->gpus, l->n, sizeof *l->gpus, bus_order);
	for (i = 0; i < l->n; i++) {
		l->gpus[i].index = (int)i;
		gpu_sysfs_locality(
		    root, l->gpus[i].bus, l->gpus[i].cpus, &l->gpus[i].node);
	}
	l->source = l->n > 0 ? GPU_PROC : GPU_NONE;
}

bool
gpu_sysfs_driver(const char *root)
{
	static const char *const signs[] = { "/proc/driver/nvidia",
		"/dev/nvidiactl", "/dev/dxg" };
	char path[PATH_MAX];
	size_t i;

	for (i = 0; i < sizeof signs / sizeof *signs; i++) {
		(void)snprintf(path, sizeof path, "%s%s", root, signs[i]);
		if (access(path, F_OK) == 0)
			return true;
	}
	return false;
}
