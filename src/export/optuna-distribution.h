/* Distributions and values of parameters as Optuna writes them. */

#ifndef HPOTUNE_OPTUNA_DISTRIBUTION_H
#define HPOTUNE_OPTUNA_DISTRIBUTION_H

struct buf;
struct param;
struct value;

/*
 * The nearest Optuna distribution of a parameter, as JSON: linear for a
 * reverse-log scale, categorical for ordered choices and fixed values.
 */
void optuna_distribution_of(struct buf *, const struct param *);

/* A value as Optuna stores it: the number, or the index of the choice. */
double optuna_distribution_value(const struct param *, const struct value *);

#endif /* HPOTUNE_OPTUNA_DISTRIBUTION_H */
