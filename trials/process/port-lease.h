/*
 * Ports reserved for one trial: blocks below the kernel's ephemeral range.  A
 * lease is a lock on the file of each block and ends with the process that
 * holds it.
 */

#ifndef HPOTUNE_PORT_LEASE_H
#define HPOTUNE_PORT_LEASE_H

#include <stddef.h>

struct err;

enum {
	PORT_BLOCK = 16, /* ports in a block */
	PORT_BLOCKS_MAX = 512, /* maximum number of blocks */
	PORT_LEASE_MAX = 64 /* maximum of contiguous blocks in one lease */
};

struct port_lease {
	int first; /* port number */
	int n; /* ports */
	int fd[PORT_LEASE_MAX]; /* locks, if the folder exists */
	size_t n_fds;
};

/* The range of ports that may be leased: blocks from port first on. */
struct port_lease_range {
	int first;
	int blocks;
};

/*
 * The range, given the kernel's ephemeral ports low to high and the first
 * unprivileged port.
 */
struct port_lease_range
port_lease_range_of(int low, int high, int unprivileged);
/* The range of this machine. */
struct port_lease_range port_lease_range_here(void);

/*
 * Lease n contiguous ports, searching from the block preferred on for blocks
 * that are neither leased nor in use.  The folder of the locks is
 * $HPOTUNE_GPU_LOCKS, else /dev/shm/hpotune.
 */
int port_lease_take(struct port_lease *, int preferred, int n, struct err *);
void port_lease_drop(struct port_lease *);

#endif /* HPOTUNE_PORT_LEASE_H */
