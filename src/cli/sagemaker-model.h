/* hpotune sagemaker model. */

#ifndef CLI_SAGEMAKER_MODEL_H
#define CLI_SAGEMAKER_MODEL_H

struct cli;

/* As any command: the exit status. */
int sagemaker_model(struct cli *);

#endif /* CLI_SAGEMAKER_MODEL_H */
