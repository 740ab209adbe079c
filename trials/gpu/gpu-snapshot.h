/*
 * What is seen of the GPUs of this machine: a look is everything seen of all
 * of them at one moment.  hpotune-gpu makes it, one JSON line; the server and
 * the command line read it.
 */

#ifndef HPOTUNE_GPU_SNAPSHOT_H
#define HPOTUNE_GPU_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;

/* How the reason of a look begins when NVML is not installed. */
#define GPU_NO_LIBRARY "NVML cannot be opened"

enum {
	GPU_UUID = 80, /* bytes with the end: MIG names are long */
	GPU_NAME = 96,
	GPU_BUS = 16, /* "0000:3b:00.0", as sysfs writes it */
	GPU_CPUS = 512, /* "0-15,32-47" */
	GPU_WHY = 160,
	GPU_OWNER = 64
};

enum gpu_source {
	GPU_NONE, /* no driver: why says what is missing */
	GPU_NVML,
	GPU_PROC, /* names only: neither memory nor processes are known */
	GPU_SIMULATED
};

/* A process that computes on a GPU. */
struct gpu_process {
	int64_t pid; /* as the driver counts: perhaps of the host */
	int64_t memory; /* bytes, -1 = not known */
	/*
	 * Filled by whoever reads the look, from /proc: the uuid of the attempt
	 * it is of, "pack PLACE", "" = somebody else's; gone: no such process
	 * here.
	 */
	char owner[GPU_OWNER];
	bool gone;
};

/* One GPU, or one MIG slice of one.  Numbers are -1 where not known. */
struct gpu_device {
	char uuid[GPU_UUID]; /* "GPU-…", "MIG-…", "SIM-0" */
	char name[GPU_NAME];
	char bus[GPU_BUS];
	char parent[GPU_UUID]; /* of a slice: its GPU, else "" */
	char cpus[GPU_CPUS]; /* the cores near it, "" = not known */
	int node; /* NUMA */
	int index; /* in PCI order; of a slice: of its GPU */
	int minor; /* /dev/nvidiaN */
	int64_t memory, used; /* bytes */
	int temperature; /* degrees Celsius */
	int utilization; /* % of the last moment, of the whole GPU */
	int64_t power; /* mW */
	int64_t energy; /* mJ since the driver was loaded */
	int recovery; /* what the driver asks for: 0 = nothing */
	bool lost; /* fallen off the bus, or must be reset */
	char why[GPU_WHY]; /* what could not be asked, or "" */
	struct gpu_process *processes;
	size_t n_processes;
};

/* A fault that the driver has reported since the last look. */
struct gpu_fault {
	char uuid[GPU_UUID];
	int xid;
};

struct gpu_snapshot {
	int64_t seq; /* of the question it answers, 0 = none */
	enum gpu_source source;
	char driver[48];
	char why[GPU_WHY];
	struct gpu_device *gpus; /* PCI order, slices in place of their GPU */
	size_t n;
	struct gpu_fault *faults;
	size_t n_faults;
};

/* gpu-snapshot.c */
/* One line of JSON, without its end. */
void gpu_snapshot_write(struct buf *, const struct gpu_snapshot *);
/* Free it with gpu_snapshot_free, also after an error. */
int gpu_snapshot_read(
    struct gpu_snapshot *, const char *line, size_t len, struct err *);
void gpu_snapshot_free(struct gpu_snapshot *);
/* A deep copy. */
void
gpu_snapshot_copy(struct gpu_snapshot *to, const struct gpu_snapshot *from);
/* Simulated GPUs, all idle, of so many bytes each. */
void gpu_snapshot_simulate(struct gpu_snapshot *, int n, int64_t memory);

/* gpu-query.c */
/*
 * Whether there is a sign of a driver: /proc/driver/nvidia, /dev/nvidiactl,
 * /dev/dxg, or what HPOTUNE_NVML says; empty, it says that there is none.
 */
bool gpu_query_driver(void);
/*
 * One look, by "hpotune-gpu list", waited for.  Without a sign of a driver
 * nothing is started and the look is empty.  An error: the program could not
 * be run, or did not answer in time.
 */
int gpu_query(struct gpu_snapshot *, int timeout_ms, struct err *);
/* Whether a GPU works, by "hpotune-gpu probe", waited for; -1: why not. */
int gpu_query_probe(const char *uuid, int timeout_ms, struct err *);

#endif /* HPOTUNE_GPU_SNAPSHOT_H */
