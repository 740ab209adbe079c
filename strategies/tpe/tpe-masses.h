/* Logarithms of the probabilities of many intervals of the normal distribution. */

#ifndef HPOTUNE_TPE_MASSES_H
#define HPOTUNE_TPE_MASSES_H

#include <stddef.h>

/*
 * Of n intervals between middle - half and middle + half, half > 0: as
 * tpe_normal_log_around, within 1e-13 of the mass.  log_mass must be neither of
 * the others.
 */
void tpe_masses_log(
    double *log_mass, const double *middle, const double *half, size_t n);

#endif /* HPOTUNE_TPE_MASSES_H */
