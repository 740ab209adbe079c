/*
 * The GPUs of the fake libraries, as the file in FAKE_GPUS_FILE says.  It is
 * read anew at each nvmlInit, count of GPUs, wait for events and cuInit, so a
 * test rewrites it (another file, then mv) while programs run.  One thing a
 * line, # begins a comment; sizes take KiB, MiB, GiB:
 *
 *	driver 550.54.15
 *	gpu [uuid=GPU-0] [name=Fake] [bus=00000000:01:00.0] [minor=0]
 *	    [memory=80GiB] [used=0] [reserved=0] [temperature=30] [utilization=0]
 *	    [old-memory] [power=50000] [energy=0] [recovery=0] [mig] [error=N] [cuda=STEP:N]
 *		one line for each GPU, in order of index; those left out are
 *		made up of the index.  A GPU appears or vanishes with its line.
 *		reserved: by the driver, of memory; version 1 of the memory
 *		call counts it as used.  old-memory: version 2 of it is not
 *		supported.
 *		mig: it is cut, into the slices that follow (or none).
 *		error=15: it is lost (any question, also for its handle, has
 *		this answer), 16: it must be reset.
 *		cuda=init:802, launch:719 …: this call of CUDA fails; STEP is
 *		init, context, memory, copy, module, launch or sync;
 *		cuda=corrupt:0: the kernel computes nonsense; cuda=forget:0: the
 *		memory does; cuda=hang:0.
 *	slice [uuid=MIG-0] [name=…] [memory=…] [used=…]
 *		of the gpu above; processes below it are of the slice
 *	process PID [memory=SIZE] [mps]
 *		of the gpu or slice above.  Its memory is also counted as used.
 *	contexts DIR
 *		processes of the gpu or slice above, as they come and go: each
 *		file in this folder whose name is the pid of a process that
 *		exists; it has a SIZE.  As measured on an H200, list and memory
 *		are back in the moment in which the process has gone.
 *		cuCheckpointProcessCheckpoint(N) makes .N of file N, which
 *		counts nowhere, and Restore brings it back.
 *	xid N
 *		of the gpu above: a fault that each program hears once, when
 *		its line is added, behind the others of that gpu, after the
 *		program has opened NVML
 *	grow N
 *		each list of processes that did not fit has N processes more at
 *		the next call
 *	init N, count N
 *		this call of NVML has the answer N (18: another version)
 *	hang init, hang count, hang memory
 *		this call never returns
 */

#ifndef HPOTUNE_FAKE_GPUS_H
#define HPOTUNE_FAKE_GPUS_H

#include <stdbool.h>

enum { FAKE_GPUS = 32, FAKE_PROCESSES = 64, FAKE_XIDS = 256 };

struct fake_process {
	unsigned int pid;
	unsigned long long memory;
	bool mps;
};

struct fake_gpu {
	char uuid[80], name[96], bus[32];
	unsigned int minor, temperature, utilization, power;
	unsigned long long memory, used, reserved, energy;
	int recovery, error;
	bool mig, old_memory;
	int parent; /* of a slice: its GPU in the array, else -1 */
	struct fake_process processes[FAKE_PROCESSES];
	unsigned int n_processes;
	int xids[FAKE_XIDS];
	unsigned int n_xids;
	char cuda_step[16];
	int cuda_error;
	char contexts[256]; /* the folder, or "" */
};

struct fake_world {
	char driver[64];
	int init, count; /* answers */
	char hang[16];
	unsigned int grow;
	struct fake_gpu gpus[FAKE_GPUS]; /* and slices, each behind its GPU */
	unsigned int n;
};

/* Read the file; a line that makes no sense ends the program, loudly. */
void fake_gpus_read(struct fake_world *);
/* Hang when this call is to. */
void fake_gpus_hang(const struct fake_world *, const char *call);

#endif /* HPOTUNE_FAKE_GPUS_H */
