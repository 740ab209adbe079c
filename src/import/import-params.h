/* A search space guessed from the trials of another tool. */

#ifndef HPOTUNE_IMPORT_PARAMS_H
#define HPOTUNE_IMPORT_PARAMS_H

#include <stdbool.h>
#include <stddef.h>

#include "src/import/import-study.h"

struct err;
struct import_results;
struct json;

/* One parameter, as the trials have it. */
struct import_seen {
	const char *name;
	const char *here; /* its name in study.json, one of im.names */
	const struct json *first; /* a value */
	size_t n, numbers; /* trials with it, and with a number */
	bool whole; /* each number is */
	bool words; /* one is true, false or null */
	const struct json
	    *nested; /* one that is a list or an object, or NULL */
	double min, max;
	const struct json **values; /* different ones */
	size_t n_values, cap_values;
};

/* The trials of another tool, and what is guessed from them. */
struct import_guess {
	struct import im;
	const struct import_results *from;
	struct import_seen *params;
	size_t n, cap, trials;
};

/* Look at the parameters of all trials. */
void import_params_see(struct import_guess *);
/* The name here of a parameter of the trials, once they are written. */
const char *import_params_name(const struct import_guess *, const char *theirs);
/* Write them as a search space; an error names a parameter that has none. */
int import_params_put(struct import_guess *, struct err *);

#endif /* HPOTUNE_IMPORT_PARAMS_H */
