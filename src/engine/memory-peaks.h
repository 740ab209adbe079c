/*
 * The memory that trials had, from what the store has recorded, for strategies that
 * leave out what is unlikely to fit: a restart reads the same.
 */

#ifndef HPOTUNE_MEMORY_PEAKS_H
#define HPOTUNE_MEMORY_PEAKS_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct history;
struct store;

/*
 * Tell the history the peak of each of the newest trials that ended (history.h), and
 * which ran out of memory; nothing where none did.  settings: of the settings whose
 * replicates they are.  The memory of GPUs counts where more trials ran out of it
 * than of that of the machine.
 */
int memory_peaks_load(
    struct history *, struct store *, bool settings, struct err *);

#endif /* HPOTUNE_MEMORY_PEAKS_H */
