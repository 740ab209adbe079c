/* hpotune sagemaker model. */

#ifndef HPOTUNE_SAGEMAKER_MODEL_H
#define HPOTUNE_SAGEMAKER_MODEL_H

struct cli;

/* Run it as a command; returns the exit status. */
int sagemaker_model(struct cli *);

#endif /* HPOTUNE_SAGEMAKER_MODEL_H */
