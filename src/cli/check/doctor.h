/* What hpotune doctor finds. */

#ifndef HPOTUNE_DOCTOR_H
#define HPOTUNE_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/json/json-writer.h"
#include "src/base/mem.h"

struct table;

enum finding {
	FINDING_OK,
	FINDING_WARN, /* works, but may cause harm */
	FINDING_BAD /* a study would not start here */
};

/* The findings of a run; worst: enum finding. */
struct doctor {
	const char *dir; /* where the study is, or would be */
	bool probe; /* GPUs are tested, too */
	struct table *table;
	struct buf text; /* of the JSON document */
	struct json_writer json;
	int worst;
};

/* The first line of a file, without its end; false: it cannot be read. */
bool doctor_line(const char *path, char *buf, size_t n);

/* The number at the beginning of a file, or -1. */
int64_t doctor_number(const char *path);

/*
 * Print one line.  more: further members for JSON, joined by commas, or "";
 * mend is not shown for FINDING_GOOD.
 */
void doctor_add(struct doctor *, enum finding finding, const char *what,
    const char *found, const char *mend, const char *more);

#endif /* HPOTUNE_DOCTOR_H */
