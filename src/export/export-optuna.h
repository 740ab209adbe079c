/* A study as a storage of Optuna. */

#ifndef HPOTUNE_EXPORT_OPTUNA_H
#define HPOTUNE_EXPORT_OPTUNA_H

struct buf;
struct err;
struct param;
struct store;
struct value;

/*
 * Fill the empty file path, which errors call name, from a store that is in a
 * transaction.
 */
int
export_optuna(struct store *, const char *path, const char *name, struct err *);

/*
 * The distribution of Optuna that is nearest to a parameter, as JSON: of a
 * reverse-log scale a linear one, of what is ordered or fixed a choice.
 */
void export_optuna_distribution(struct buf *, const struct param *);
/* A value as Optuna stores it: the number, or the index of the choice. */
double export_optuna_value(const struct param *, const struct value *);

#endif /* HPOTUNE_EXPORT_OPTUNA_H */
