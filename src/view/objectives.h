/*
 * The objectives and constraints of a recorded study as text, and its trials'
 * results in them.
 */

#ifndef HPOTUNE_OBJECTIVES_H
#define HPOTUNE_OBJECTIVES_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct err;
struct store;

struct objective {
	char *metric;
	bool maximize; /* of an objective */
};

struct objectives {
	struct objective *objectives;
	size_t n; /* at least 1 */
	bool several; /* n > 1 */
	bool constraints; /* there is at least one */
};

int objectives_read(struct objectives *, struct store *, struct err *);
void objectives_fini(struct objectives *);
/* Append "maximize accuracy, minimize latency_ms". */
void objectives_put_goals(struct buf *, const struct objectives *);
/*
 * Append "latency_ms 63 is above 50, recall was not reported": the constraints
 * that an ended trial violates; nothing when it violates none.
 */
int objectives_put_broken(
    struct buf *, struct store *, const char *trial, int digits, struct err *);
/*
 * Append "3 trials, accuracy 0.71 to 0.93, latency_ms 8 to 41"; nothing when
 * the front is empty.
 */
int objectives_put_front(struct buf *, struct store *,
    const struct objectives *, int digits, struct err *);
/*
 * A SELECT of the front, sorted by the first objective, best first: trial, the
 * objectives in their order, params.  The caller frees it.
 */
char *objectives_front_sql(const struct objectives *);

#endif /* HPOTUNE_OBJECTIVES_H */
