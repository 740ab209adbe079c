/*
 * The ABI of NVML as far as it is used here, and its library.  Declared here
 * because the header is not part of the toolkit and the library is optional.
 */

#ifndef HPOTUNE_GPU_NVML_DL_H
#define HPOTUNE_GPU_NVML_DL_H

#include <stdint.h>

struct err;
struct nvml_device; /* opaque type of NVML */
struct nvml_events;

enum {
	NVML_OK = 0,
	NVML_NOT_SUPPORTED = 3,
	NVML_NO_PERMISSION = 4,
	NVML_NOT_FOUND = 6,
	NVML_TOO_SMALL = 7, /* the buffer for a list is too small */
	NVML_NO_DRIVER = 9,
	NVML_TIMEOUT = 10,
	NVML_LOST = 15,
	NVML_RESET_REQUIRED = 16,
	NVML_MISMATCH = 18 /* library and loaded driver differ in version */
};

enum {
	NVML_INIT_NO_GPUS = 1, /* having no GPUs is no error */
	NVML_EVENT_XID = 0x8,
	NVML_FIELD_RECOVERY = 230,
	NVML_TYPE_UNSIGNED = 1,
	NVML_TYPE_SIGNED = 5
};

struct nvml_memory {
	unsigned long long total, free, used; /* bytes */
};
_Static_assert(sizeof(struct nvml_memory) == 24, "nvmlMemory_t");

/* Version 2 counts as used what processes use, without reserved. */
struct nvml_memory_v2 {
	unsigned int version; /* NVML_MEMORY_V2 */
	unsigned long long total, reserved, free, used; /* bytes */
};
_Static_assert(sizeof(struct nvml_memory_v2) == 40, "nvmlMemory_v2_t");
#define NVML_MEMORY_V2 ((unsigned int)sizeof(struct nvml_memory_v2) | 2U << 24)

struct nvml_utilization {
	unsigned int gpu, memory; /* % */
};
_Static_assert(sizeof(struct nvml_utilization) == 8, "nvmlUtilization_t");

struct nvml_pci {
	char short_id[16];
	unsigned int domain, bus, device, device_id, subsystem_id;
	char id[32];
};
_Static_assert(sizeof(struct nvml_pci) == 68, "nvmlPciInfo_t");

/*
 * Version 2 of the record, used only by the _v2 calls.  The calls without
 * suffix write 16 bytes each; _v3 wrote 32 in some drivers.
 */
struct nvml_process {
	unsigned int pid;
	unsigned long long memory; /* bytes, all ones = unknown */
	unsigned int gpu_instance, compute_instance;
};
_Static_assert(sizeof(struct nvml_process) == 24, "nvmlProcessInfo_v2_t");

struct nvml_field {
	unsigned int field, scope;
	long long timestamp, latency;
	unsigned int type;
	int answer;
	union {
		double d;
		int i;
		unsigned int u;
		unsigned long long ull;
	} value;
};
_Static_assert(sizeof(struct nvml_field) == 40, "nvmlFieldValue_t");

struct nvml_event {
	struct nvml_device *device;
	unsigned long long type, data;
	unsigned int gpu_instance, compute_instance;
};
_Static_assert(sizeof(struct nvml_event) == 32, "nvmlEventData_t");

typedef int
nvml_processes_fn(struct nvml_device *, unsigned int *n, struct nvml_process *);

/* Functions; NULL if the library lacks one. */
struct nvml_calls {
	/* Always present: one of the first two, and the others. */
	int (*init_flags)(unsigned int flags);
	int (*init)(void);
	int (*shutdown)(void);
	int (*count)(unsigned int *);
	int (*by_index)(unsigned int, struct nvml_device **);
	int (*uuid)(struct nvml_device *, char *, unsigned int size);

	const char *(*error)(int);
	int (*driver)(char *, unsigned int size);
	int (*name)(struct nvml_device *, char *, unsigned int size);
	int (*pci)(struct nvml_device *, struct nvml_pci *);
	int (*minor)(struct nvml_device *, unsigned int *);
	int (*memory)(struct nvml_device *, struct nvml_memory *);
	int (*memory_v2)(struct nvml_device *, struct nvml_memory_v2 *);
	nvml_processes_fn *compute;
	nvml_processes_fn *mps;
	int (*temperature)(struct nvml_device *, int sensor, unsigned int *);
	int (*utilization)(struct nvml_device *, struct nvml_utilization *);
	int (*power)(struct nvml_device *, unsigned int *);
	int (*energy)(struct nvml_device *, unsigned long long *);
	int (*fields)(struct nvml_device *, int n, struct nvml_field *);
	int (*mig_mode)(
	    struct nvml_device *, unsigned int *now, unsigned int *pending);
	int (*mig_most)(struct nvml_device *, unsigned int *);
	int (*mig)(struct nvml_device *, unsigned int, struct nvml_device **);
	int (*events_new)(struct nvml_events **);
	int (*events_add)(struct nvml_device *, unsigned long long types,
	    struct nvml_events *);
	int (*events_wait)(
	    struct nvml_events *, struct nvml_event *, unsigned int ms);
	int (*events_free)(struct nvml_events *);
};

/*
 * Load the library of $HPOTUNE_NVML, else from the usual places.  Returns a
 * handle for dlclose, or NULL with the error set.
 */
void *gpu_nvml_dl_open(struct nvml_calls *, struct err *);

#endif /* HPOTUNE_GPU_NVML_DL_H */
