/*
 * A snapshot: the state of all GPUs of this machine at one moment. hpotune-gpu
 * writes it as one JSON line; the server and the command line read it.
 */

#ifndef HPOTUNE_GPU_SNAPSHOT_H
#define HPOTUNE_GPU_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;

/* Start of the reason when NVML is not installed. */
#define GPU_NO_LIBRARY "NVML cannot be opened"

enum {
	GPU_UUID = 80, /* bytes with the NUL: MIG names are long */
	GPU_NAME = 96,
	GPU_BUS = 16, /* "0000:3b:00.0", as in sysfs */
	GPU_CPUS = 512, /* "0-15,32-47" */
	GPU_WHY = 160,
	GPU_OWNER = 160
};

enum gpu_source {
	GPU_NONE, /* no driver: see why */
	GPU_NVML,
	GPU_PROC, /* names only, without memory and processes */
	GPU_SIMULATED
};

/* A process with a compute context on a GPU. */
struct gpu_process {
	int64_t pid; /* pid in the driver's namespace, perhaps the host's */
	int64_t memory; /* bytes, -1 = unknown */
	/*
	 * Filled in from /proc by the reader: the uuid of its attempt, "pack
	 * PLACE", or "" = foreign; gone: no such process here.
	 */
	char owner[GPU_OWNER];
	bool gone;
};

/* One GPU or MIG slice.  Numbers are -1 when unknown. */
struct gpu_device {
	char uuid[GPU_UUID]; /* "GPU-…", "MIG-…", "SIM-0" */
	char name[GPU_NAME];
	char bus[GPU_BUS];
	char parent[GPU_UUID]; /* of a slice: UUID of its GPU, else "" */
	char cpus[GPU_CPUS]; /* CPU cores near it, "" = unknown */
	int node; /* NUMA node */
	int index; /* in PCI order; of a slice: of its GPU */
	int minor; /* /dev/nvidiaN */
	/* bytes; without the driver's reserve where NVML tells it apart */
	int64_t memory, used;
	int temperature; /* degrees Celsius */
	int utilization; /* percent, of the whole GPU, at the last sample */
	int64_t power; /* mW */
	int64_t energy; /* mJ since the driver was loaded */
	int recovery; /* recovery action that the driver requests: 0 = none */
	bool lost; /* fallen off the bus, or must be reset */
	char why[GPU_WHY]; /* what could not be queried, or "" */
	struct gpu_process *processes;
	size_t n_processes;
};

/* A fault (Xid) that the driver has reported since the last snapshot. */
struct gpu_fault {
	char uuid[GPU_UUID];
	int xid;
};

struct gpu_snapshot {
	int64_t seq; /* of its query, 0 = none */
	enum gpu_source source;
	char driver[48];
	char why[GPU_WHY];
	struct gpu_device *gpus; /* PCI order; slices replace their GPU */
	size_t n;
	struct gpu_fault *faults;
	size_t n_faults;
};

/* gpu-snapshot.c */
/* Append one line of JSON, without newline. */
void gpu_snapshot_write(struct buf *, const struct gpu_snapshot *);
/*
 * Parse such a line.  Free the snapshot with gpu_snapshot_free, also after an
 * error.
 */
int gpu_snapshot_read(
    struct gpu_snapshot *, const char *line, size_t len, struct err *);
void gpu_snapshot_free(struct gpu_snapshot *);
/* A deep copy. */
void
gpu_snapshot_copy(struct gpu_snapshot *to, const struct gpu_snapshot *from);
/* A snapshot of n simulated, idle GPUs with this many bytes each. */
void gpu_snapshot_simulate(struct gpu_snapshot *, int n, int64_t memory);

/* gpu-query.c */
/*
 * Whether a driver seems to be installed: /proc/driver/nvidia, /dev/nvidiactl,
 * /dev/dxg, or the library of $HPOTUNE_NVML; if that is set but empty: false.
 */
bool gpu_query_driver(void);
/*
 * Take one snapshot by "hpotune-gpu list", synchronously.  Without a driver
 * nothing is started and the snapshot is empty.  Errors: the program cannot be
 * run, or the time is over.
 */
int gpu_query(struct gpu_snapshot *, int timeout_ms, struct err *);
/*
 * Check a GPU by "hpotune-gpu probe", synchronously; -1: it does not work, see
 * the error.
 */
int gpu_query_probe(const char *uuid, int timeout_ms, struct err *);

#endif /* HPOTUNE_GPU_SNAPSHOT_H */
