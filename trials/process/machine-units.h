/*
 * Units of a resource of this machine (cores, pieces of memory) that trials of
 * all studies and users share.  Each unit is a byte of one file, which the
 * holder of the unit has locked; the kernel frees it with the last holder.
 */

#ifndef HPOTUNE_MACHINE_UNITS_H
#define HPOTUNE_MACHINE_UNITS_H

#include <stddef.h>
#include <stdint.h>

struct err;

/* Units first to first + n - 1. */
struct machine_range {
	int64_t first, n;
};

/* The units of a resource that this process may use. */
struct machine_units {
	const char *name; /* of the file: letters */
	struct machine_range *range; /* array, owned; ascending, apart */
	size_t n_ranges;
	int64_t total; /* in all of them */
};

enum { MACHINE_UNIT_BYTES = 1 << 20 /* of memory */ };

/* The cores to which this process may be scheduled. */
void machine_units_cores(struct machine_units *);
/* The memory of this machine. */
void machine_units_memory(struct machine_units *);
void machine_units_free(struct machine_units *);

/*
 * Take n units: a close-on-exec descriptor; duplicates of it in other processes
 * keep the units.  -1: ERR_BUSY: fewer are free, or another process is taking
 * some; other errors: locks do not work here.  Never blocks.
 */
int machine_units_take(const struct machine_units *, int64_t n, struct err *);
/* How many are free; -1 = unknown, as where locks do not work. */
int64_t machine_units_left(const struct machine_units *);

#endif /* HPOTUNE_MACHINE_UNITS_H */
