/* The entry script of a training job, as it lies in sagemaker-run.sh. */

#include "trials/sagemaker.h"

const char sm_run_sh[] =
#include "trials/sagemaker-run.inc"
    ;
