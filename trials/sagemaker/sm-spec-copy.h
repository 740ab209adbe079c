/* A copy of a launch_spec. */

#ifndef HPOTUNE_SM_SPEC_COPY_H
#define HPOTUNE_SM_SPEC_COPY_H

struct launch_spec;

/* A copy that outlives start. */
struct launch_spec *sm_spec_copy(const struct launch_spec *);
/* NULL is allowed. */
void sm_spec_copy_free(struct launch_spec *);

#endif /* HPOTUNE_SM_SPEC_COPY_H */
