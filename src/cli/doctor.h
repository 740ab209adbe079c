/* Shared by the files of hpotune doctor. */

#ifndef HPOTUNE_DOCTOR_H
#define HPOTUNE_DOCTOR_H

#include <stdbool.h>

#include "src/base/json/json-writer.h"
#include "src/base/mem.h"

struct table;

enum finding {
	FINDING_OK,
	FINDING_WARN, /* works, but may cause harm */
	FINDING_BAD /* a study would not start here */
};

struct doctor {
	const char *dir; /* where the study is, or would be */
	bool probe; /* GPUs are tested, too */
	struct table *table;
	struct buf text; /* of the JSON document */
	struct json_writer json;
	int worst;
};

/*
 * Print one line.  more: further members for JSON, joined by commas, or "";
 * mend is not shown for FINDING_GOOD.
 */
void doctor_add(struct doctor *, enum finding, const char *what,
    const char *found, const char *mend, const char *more);
/* doctor-gpus.c: check the driver and each GPU. */
void doctor_gpus(struct doctor *);

#endif /* HPOTUNE_DOCTOR_H */
