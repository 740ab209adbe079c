/* A snapshot as a line and back, invalid lines, and files of the kernel. */

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "tests/support/tap.h"
#include "trials/gpu/gpu-snapshot-build.h"
#include "trials/gpu/gpu-sysfs.h"
#include "trials/gpu/gpu-snapshot.h"

static void
look_make(struct gpu_snapshot *l)
{
	struct gpu_device *g;

	*l = (struct gpu_snapshot){ .seq = 7, .source = GPU_NVML };
	(void)strcpy(l->driver, "550.54");
	(void)strcpy(l->why, "GPU 3: \"lost\"");
	g = gpu_snapshot_add(l);
	(void)strcpy(g->uuid, "GPU-1a-2b");
	(void)strcpy(g->name, "NVIDIA H200");
	(void)strcpy(g->bus, "0000:3b:00.0");
	(void)strcpy(g->cpus, "0-15,32-47");
	g->node = 1;
	g->index = 0;
	g->minor = 3;
	g->memory = INT64_C(150754820096);
	g->used = 1 << 20;
	g->temperature = 41;
	g->utilization = 99;
	g->power = 700123;
	g->energy = INT64_C(9007199254740992);
	g->processes = xcalloc(2, sizeof *g->processes);
	g->n_processes = 2;
	g->processes[0] = (struct gpu_process){ .pid = 42, .memory = -1 };
	g->processes[1] = (struct gpu_process){ .pid = 43, .memory = 5 };
	g = gpu_snapshot_add(l);
	(void)strcpy(g->uuid, "MIG-GPU-1/2/0");
	(void)strcpy(g->parent, "GPU-2");
	g->index = 1;
	g->recovery = 2;
	g->lost = true;
	(void)strcpy(g->why, "it must be reset");
	l->faults = xcalloc(1, sizeof *l->faults);
	l->n_faults = 1;
	(void)strcpy(l->faults[0].uuid, "GPU-2");
	l->faults[0].xid = 79;
}

static void
test_round(void)
{
	struct gpu_snapshot l, copy, read;
	struct buf a = { 0 }, b = { 0 };
	struct err e = ERR_INIT;

	look_make(&l);
	gpu_snapshot_write(&a, &l);
	is_int(
	    gpu_snapshot_read(&read, a.data, a.len, &e), 0, "a look is read");
	is_str(e.text, "", "without an error");
	gpu_snapshot_write(&b, &read);
	is_str(b.data, a.data, "what is read writes the same line");
	gpu_snapshot_copy(&copy, &read);
	gpu_snapshot_free(&read);
	gpu_snapshot_free(&l);
	buf_clear(&b);
	gpu_snapshot_write(&b, &copy);
	is_str(b.data, a.data, "a copy of the snapshot writes the same line");
	is_int(copy.gpus[0].processes[1].pid, 43, "with its processes");
	is_int(copy.gpus[0].energy, INT64_C(9007199254740992), "large numbers");
	gpu_snapshot_free(&copy);
	gpu_snapshot_simulate(&l, 3, INT64_C(24) << 30);
	is_int((long long)l.n, 3, "three simulated GPUs");
	is_str(l.gpus[2].uuid, "SIM-2", "with names");
	is_int(l.gpus[2].index, 2, "… and indices");
	buf_clear(&b);
	gpu_snapshot_write(&b, &l);
	is_int(
	    gpu_snapshot_read(&read, b.data, b.len, &e), 0, "they are a line");
	is_int(read.source, GPU_SIMULATED, "… that states what they are");
	gpu_snapshot_free(&read);
	gpu_snapshot_free(&l);
	buf_free(&a);
	buf_free(&b);
}

/* One text in a good line replaced by another. */
static const struct {
	const char *from, *to, *what;
} wrongs[] = {
	{ "{\"seq\"", "{\"sec\"", "another member" },
	{ "\"seq\":7", "\"seq\":-1", "a number below its bound" },
	{ "\"seq\":7", "\"seq\":7.5", "not a whole number" },
	{ "\"seq\":7", "\"seq\":1e300", "a number beyond all" },
	{ "\"seq\":7", "\"seq\":\"7\"", "a text for a number" },
	{ "\"seq\":7", "\"seq\":7,\"seq\":7", "a member twice" },
	{ "\"seq\":7,", "", "a member too few" },
	{ "\"nvml\"", "\"amd\"", "another source" },
	{ "\"nvml\"", "1", "a number for a word" },
	{ "550.54", "550.54\\u001b[2J", "what a terminal obeys" },
	{ "550.54", "550.54\xc3\xa9", "more than ASCII" },
	{ "550.54", "5555555555555555555555555555555555555555555555555",
	    "a text too long for its place" },
	{ "\"driver\":\"550.54\"", "\"driver\":null", "nothing for a text" },
	{ "GPU-1a-2b", "GPU 1", "a UUID with a space" },
	{ "GPU-1a-2b", "../GPU", "a UUID that climbs" },
	{ "GPU-1a-2b", "", "no UUID" },
	{ "GPU-1a-2b", "MIG-GPU-1/2/0", "a UUID twice" },
	{ "GPU-1a-2b", "GPU-1,GPU-2", "two UUIDs in one" },
	{ "\"index\":0", "\"index\":-1", "no index" },
	{ "\"index\":0", "\"index\":4294967296", "an index beyond int" },
	{ "\"utilization\":99", "\"utilization\":101", "more than all" },
	{ "\"lost\":false", "\"lost\":0", "a number for a truth" },
	{ "\"pid\":42", "\"pid\":0", "a process 0" },
	{ "\"pid\":42", "\"pid\":-1", "a process group" },
	{ "\"pid\":42", "\"pid\":4294967296", "a pid beyond all" },
	{ "\"pid\":42,", "", "a process without its number" },
	{ "{\"pid\":42,\"memory\":-1}", "42", "a number for a process" },
	{ "\"processes\":[]", "\"processes\":{}", "no list of processes" },
	{ "\"xid\":79", "\"xid\":-79", "a fault below 0" },
	{ "\"xid\":79", "\"xid\":79,\"x\":1", "a fault with more" },
	{ "\"faults\":[", "\"faults\":[1,", "a fault that is a number" },
	{ "\"gpus\":[", "\"gpus\":[[],", "a GPU that is a list" },
	{ "\"gpus\":[", "\"gpus\":[{},", "a GPU of which nothing is told" },
	{ "]}]}", "]}]", "a line that is cut" },
};

/* The first of from in the line made to. */
static void
line_change(struct buf *out, const char *line, const char *from, const char *to)
{
	const char *at = strstr(line, from);

	buf_clear(out);
	if (at == NULL)
		return;
	buf_add(out, line, (size_t)(at - line));
	buf_puts(out, to);
	buf_puts(out, at + strlen(from));
}

static void
refused(const struct buf *line, const char *what)
{
	struct err e = ERR_INIT;
	struct gpu_snapshot l;
	bool bad = line->len > 0 &&
		   gpu_snapshot_read(&l, line->data, line->len, &e) == -1 &&
		   e.text[0] != '\0';

	if (!ok(bad, "refused: %s", what))
		printf("# %s\n", e.text);
	if (line->len > 0)
		gpu_snapshot_free(&l);
}

static void
test_wrong(void)
{
	struct buf line = { 0 }, wrong = { 0 };
	struct gpu_snapshot l, read;
	struct err e = ERR_INIT;
	size_t i;
	int cuts = 0;

	look_make(&l);
	gpu_snapshot_write(&line, &l);
	for (i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
		/* The last GPU's list is the empty one, before the faults. */
		line_change(&wrong, line.data, wrongs[i].from, wrongs[i].to);
		if (strcmp(wrongs[i].to, "]}]") == 0)
			wrong.len = line.len - 1;
		refused(&wrong, wrongs[i].what);
	}
	for (i = 0; i < line.len; i++) {
		cuts += gpu_snapshot_read(&read, line.data, i, &e) == -1;
		gpu_snapshot_free(&read);
	}
	is_int(cuts, (long long)line.len, "refused: cut anywhere");
	gpu_snapshot_free(&l);
	gpu_snapshot_simulate(&l, GPU_SNAPSHOT_GPUS, 1);
	is_int((long long)l.n, GPU_SNAPSHOT_GPUS, "as many GPUs as may be");
	(void)strcpy(gpu_snapshot_add(&l)->uuid, "GPU-one-more");
	l.gpus[l.n - 1].index = 1;
	buf_clear(&line);
	gpu_snapshot_write(&line, &l);
	is_int(gpu_snapshot_read(&read, line.data, line.len, &e), 0,
	    "no more are written");
	gpu_snapshot_free(&read);
	line_change(&wrong, line.data, "\"SIM-0\"", "\"X\"},{\"uuid\":\"Y\"");
	refused(&wrong, "one GPU more than may be");
	gpu_snapshot_free(&l);
	buf_free(&line);
	buf_free(&wrong);
}

/* Every byte of a good line made another: read, or refused, never worse. */
static void
test_bytes(void)
{
	static const char others[] = "\0\"\\{}[],:-9e\xff";
	struct buf line = { 0 };
	struct gpu_snapshot l, read;
	struct err e = ERR_INIT;
	size_t i, k;
	char was;

	look_make(&l);
	gpu_snapshot_write(&line, &l);
	for (i = 0; i < line.len; i++)
		for (k = 0; k < sizeof others - 1; k++) {
			was = line.data[i];
			line.data[i] = others[k];
			(void)gpu_snapshot_read(&read, line.data, line.len, &e);
			gpu_snapshot_free(&read);
			line.data[i] = was;
		}
	ok(true, "%zu lines with one byte changed", line.len * k);
	gpu_snapshot_free(&l);
	buf_free(&line);
}

static void
file_put(const char *root, const char *path, const char *text)
{
	char *name = xasprintf("%s/%s", root, path), *at = name;
	int fd;

	while ((at = strchr(at + 1, '/')) != NULL) {
		*at = '\0';
		(void)mkdir(name, 0700);
		*at = '/';
	}
	fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd == -1 || write(fd, text, strlen(text)) == -1)
		printf("# %s cannot be written\n", name);
	if (fd != -1)
		(void)close(fd);
	free(name);
}

static void
test_files(const char *root)
{
	struct gpu_snapshot l = { 0 };
	char bus[GPU_BUS];

	gpu_sysfs_bus_name(bus, "00000000:3B:00.0");
	is_str(bus, "0000:3b:00.0", "a bus as sysfs writes it");
	gpu_sysfs_bus_name(bus, "00010000:0A:1F.1");
	is_str(bus, "10000:0a:1f.1", "… of a large domain");
	gpu_sysfs_bus_name(bus, "no bus");
	is_str(bus, "", "… and none");
	ok(!gpu_sysfs_driver(root), "no driver here");
	gpu_sysfs_snapshot(root, &l);
	ok(l.source == GPU_NONE && l.n == 0, "and no GPUs");
#define GPUS "proc/driver/nvidia/gpus/"
	file_put(root, GPUS "0000:af:00.0/information",
	    "Model: \t\t Tesla T4\nIRQ:   \t\t 40\n"
	    "GPU UUID: \t GPU-bb\nDevice Minor: \t 0\n");
	file_put(root, GPUS "0000:3b:00.0/information",
	    "Model: \t\t NVIDIA H200\nGPU UUID: \t GPU-aa\n"
	    "Device Minor: \t 1\n");
	file_put(root, GPUS "0000:01:00.0/information",
	    "Model: \t\t Broken\nGPU UUID: \t GPU-?\?\?-?\n");
	file_put(root, "proc/driver/nvidia/version",
	    "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue\n");
	file_put(root, "sys/bus/pci/devices/0000:3b:00.0/local_cpulist",
	    "0-15,32-47\n");
	file_put(root, "sys/bus/pci/devices/0000:3b:00.0/numa_node", "1\n");
	file_put(root, "sys/bus/pci/devices/0000:af:00.0/local_cpulist",
	    "0-15;rm\n");
	file_put(root, "sys/bus/pci/devices/0000:af:00.0/numa_node", "-1\n");
	ok(gpu_sysfs_driver(root), "a driver now");
	gpu_sysfs_snapshot(root, &l);
	is_int(l.source, GPU_PROC, "GPUs from files");
	is_str(l.driver, "550.54.15", "the version of the driver");
	is_int((long long)l.n, 2, "only GPUs with names are listed");
	is_str(l.gpus[0].uuid, "GPU-aa", "in the order of the bus");
	is_str(l.gpus[0].name, "NVIDIA H200", "a name");
	is_str(l.gpus[0].cpus, "0-15,32-47", "the processors near it");
	is_int(l.gpus[0].node, 1, "its node");
	is_int(l.gpus[0].minor, 1, "its device");
	is_str(l.gpus[1].cpus, "", "nonsense is no processor");
	is_int(l.gpus[1].node, -1, "no node");
	is_int(l.gpus[1].index, 1, "an index");
	is_int(l.gpus[1].used, -1, "nothing is known of its memory");
	gpu_snapshot_free(&l);
}

int
main(void)
{
	char root[] = "/tmp/t_gpu_snapshot.XXXXXX", *rm;

	test_round();
	test_wrong();
	test_bytes();
	if (mkdtemp(root) == NULL)
		return 99;
	test_files(root);
	rm = xasprintf("rm -rf %s", root);
	if (system(rm) != 0)
		printf("# %s is left\n", root);
	free(rm);
	return done_testing();
}
