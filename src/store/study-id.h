/* The name of a study where others of its name may be. */

#ifndef HPOTUNE_STUDY_ID_H
#define HPOTUNE_STUDY_ID_H

struct store_study;

#define STUDY_ID 7 /* bytes, with the NUL */

/* Hex digits that follow from its name, its seed and when it was made. */
void study_id_make(char out[STUDY_ID], const struct store_study *);

#endif /* HPOTUNE_STUDY_ID_H */
