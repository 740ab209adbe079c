/* hpotune doctor: GPUs. */

#ifndef HPOTUNE_DOCTOR_GPUS_H
#define HPOTUNE_DOCTOR_GPUS_H

struct doctor;

/* Add a finding on the driver, and one on each GPU. */
void doctor_gpus(struct doctor *);

#endif /* HPOTUNE_DOCTOR_GPUS_H */
