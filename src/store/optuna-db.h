/*
 * Writes a new Optuna storage (schema 12): one study, its trials one after the
 * other.
 *
 * All is written in one transaction without a journal: the caller removes the
 * file after any error.
 */

#ifndef HPOTUNE_OPTUNA_DB_H
#define HPOTUNE_OPTUNA_DB_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct optuna;

enum optuna_state {
	OPTUNA_RUNNING,
	OPTUNA_WAITING,
	OPTUNA_COMPLETE,
	OPTUNA_PRUNED,
	OPTUNA_FAIL
};

struct optuna_trial {
	int64_t number; /* from 0, without gaps */
	enum optuna_state state;
	int64_t started_us, ended_us; /* UTC; 0 = none */
};

/* path exists and is empty; name is used in errors. */
int optuna_db_create(struct optuna **, const char *path, const char *name,
    const char *study, struct err *);
/* Add the direction of the next objective. */
int optuna_db_add_direction(struct optuna *, bool maximize, struct err *);
/* An attribute of the study, as JSON; system: one of Optuna's own. */
int optuna_db_add_study_attr(struct optuna *, bool system, const char *key,
    const char *json, struct err *);
int
optuna_db_add_trial(struct optuna *, const struct optuna_trial *, struct err *);
/*
 * Of the trial that was added last.  A parameter is the number, or the index of
 * the choice; its distribution is JSON, the same text in all trials.
 */
int optuna_db_add_param(struct optuna *, const char *name, double value,
    const char *distribution, struct err *);
/* Value of an objective, from 0; not NaN, which Optuna cannot store here. */
int optuna_db_add_value(
    struct optuna *, int64_t objective, double value, struct err *);
int
optuna_db_add_report(struct optuna *, int64_t step, double value, struct err *);
int optuna_db_add_attr(struct optuna *, bool system, const char *key,
    const char *json, struct err *);
/* Commit. */
int optuna_db_commit(struct optuna *, struct err *);
void optuna_db_close(struct optuna *);

#endif /* HPOTUNE_OPTUNA_DB_H */
