/* Reads a study of an Optuna storage as one JSON document. */

#ifndef HPOTUNE_OPTUNA_READ_H
#define HPOTUNE_OPTUNA_READ_H

struct buf;
struct err;

/*
 * Append { "study": its name, "goals": ["MINIMIZE", …], "metrics": names or
 * null, "domains": [{ "name", "distribution" }, …], "trials": [{ "state":
 * "COMPLETE", "values": [0.5, …], "step": the last one or null, "last": its
 * value, "constraints": [-0.5, …] or null, "params": { "lr": 0.1 } }, …] } of an
 * SQLite file of Optuna's RDBStorage.  study: its name; NULL when there is one.
 */
int
optuna_read(struct buf *, const char *path, const char *study, struct err *);

#endif /* HPOTUNE_OPTUNA_READ_H */
