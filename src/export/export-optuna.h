/* Export of a study to an Optuna storage. */

#ifndef HPOTUNE_EXPORT_OPTUNA_H
#define HPOTUNE_EXPORT_OPTUNA_H

struct buf;
struct err;
struct param;
struct store;
struct value;

/* Fill the empty file path (name in errors) from a store in a transaction. */
int
export_optuna(struct store *, const char *path, const char *name, struct err *);

/*
 * The nearest Optuna distribution of a parameter, as JSON: linear for a
 * reverse-log scale, categorical for ordered choices and fixed values.
 */
void export_optuna_distribution(struct buf *, const struct param *);
/* A value as Optuna stores it: the number, or the index of the choice. */
double export_optuna_value(const struct param *, const struct value *);

#endif /* HPOTUNE_EXPORT_OPTUNA_H */
