/* A short identifier that distinguishes studies of the same name. */

#ifndef HPOTUNE_STUDY_ID_H
#define HPOTUNE_STUDY_ID_H

struct store_study;

#define STUDY_ID 7 /* bytes, with the NUL */

/* Hex digits derived from its name, its seed and its time of creation. */
void study_id_make(char out[STUDY_ID], const struct store_study *);

#endif /* HPOTUNE_STUDY_ID_H */
