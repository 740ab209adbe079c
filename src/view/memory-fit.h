/*
 * What trials of a study need of a memory, by a model of the peaks that the store has
 * recorded (strategies/memory/memory-model.h).
 */

#ifndef HPOTUNE_MEMORY_FIT_H
#define HPOTUNE_MEMORY_FIT_H

struct buf;
struct err;
struct memory_fit;
struct space;
struct store;
struct value;

/*
 * Of the memory of a GPU; *fit: NULL where too little is recorded.  space must outlive
 * it; free with memory_fit_free.
 */
int memory_fit_gpu(struct memory_fit **fit, const struct space *,
    struct store *, struct err *);
/*
 * Of the memory that more trials ran out of, that of a GPU or that of the machine;
 * *fit: NULL also where none has.
 */
int memory_fit_overrun(struct memory_fit **fit, const struct space *,
    struct store *, struct err *);
void memory_fit_free(struct memory_fit *);
/*
 * The bytes that a trial with this setting needs at most with 95 %; median: NULL, or
 * receives those that it is as likely to need as not.
 */
double memory_fit_need(
    const struct memory_fit *, const struct value *, double *median);
/* The least that a trial has needed, in bytes; 0 = none is known. */
double memory_fit_least(const struct memory_fit *);
/*
 * Append the most that is likely to fit, with a setting that needs that, by some
 * thousand settings: "up to 46 MiB of memory is likely to fit, such as width=6,
 * batch=8; 3 trials ran out of it".
 */
void memory_fit_put(struct buf *, const struct memory_fit *);

#endif /* HPOTUNE_MEMORY_FIT_H */
