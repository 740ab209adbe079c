/* Export of a study to an Optuna storage. */

#ifndef HPOTUNE_EXPORT_OPTUNA_H
#define HPOTUNE_EXPORT_OPTUNA_H

struct err;
struct store;

/* Fill the empty file path (name in errors) from a store in a transaction. */
int
export_optuna(struct store *, const char *path, const char *name, struct err *);

#endif /* HPOTUNE_EXPORT_OPTUNA_H */
