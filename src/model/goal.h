/* The goal of an objective, as written in study.json and in the store. */

#ifndef HPOTUNE_GOAL_H
#define HPOTUNE_GOAL_H

#include <stdbool.h>

/* "maximize" or "minimize". */
const char *goal_name(bool maximize);
/* The goal of this name; false when there is none, and nothing is set. */
bool goal_parse(const char *, bool *maximize);

#endif /* HPOTUNE_GOAL_H */
