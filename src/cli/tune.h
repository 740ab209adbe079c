/* hpotune replay --tune: the best settings of the rule median. */

#ifndef CLI_TUNE_H
#define CLI_TUNE_H

#include <stdbool.h>

struct cli;
struct replay_plan;

/* The whole command; gives its exit status. */
int tune_run(struct cli *, const struct replay_plan *);
/* Whether a file begins like a database. */
bool replay_is_database(const char *path);

#endif /* CLI_TUNE_H */
