/* The entry script of a training job, from sm-run.sh. */

#include "trials/sagemaker/request/sm-request.h"

const char sm_run_sh[] =
#include "trials/sagemaker/sm-run.inc"
    ;
