/*
 * Ports of this machine that one trial has to itself: blocks below those that
 * the kernel gives away on its own.  Who holds a block holds a lock on its
 * file, for as long as its process lives; nothing is ever given back by hand.
 */

#ifndef HPOTUNE_PORT_LEASE_H
#define HPOTUNE_PORT_LEASE_H

#include <stddef.h>

struct err;

enum {
	PORT_BLOCK = 16, /* ports in a block */
	PORT_BLOCKS_MAX = 512, /* … that are used, where there is room */
	PORT_LEASE_MAX = 64 /* blocks of one lease, side by side */
};

struct port_lease {
	int first; /* port number */
	int n; /* ports */
	int fd
	    [PORT_LEASE_MAX]; /* the locks, where there is a folder for them */
	size_t n_fds;
};

/* The ports that may be leased: blocks of them, from the first one up. */
struct port_lease_range {
	int first;
	int blocks;
};

/* Given those that the kernel gives away, and the first that anybody may use. */
struct port_lease_range
port_lease_range_of(int low, int high, int unprivileged);
/* … of this machine. */
struct port_lease_range port_lease_range_here(void);

/*
 * Take n ports side by side, from the preferred block on: the first that
 * nobody has leased and nobody listens on.  The folder of the locks is that
 * of HPOTUNE_GPU_LOCKS, else /dev/shm/hpotune.
 */
int port_lease_take(struct port_lease *, int preferred, int n, struct err *);
void port_lease_drop(struct port_lease *);

#endif /* HPOTUNE_PORT_LEASE_H */
