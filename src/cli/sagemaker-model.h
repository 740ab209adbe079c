/* The model that a training job has left. */

#ifndef HPOTUNE_SAGEMAKER_MODEL_H
#define HPOTUNE_SAGEMAKER_MODEL_H

struct cli;

/* hpotune sagemaker model: the exit status. */
int sagemaker_model_run(struct cli *);

#endif /* HPOTUNE_SAGEMAKER_MODEL_H */
