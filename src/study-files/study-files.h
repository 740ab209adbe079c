/*
 * The files of a study: study.json, its database NAME.db, its folder NAME.d.  What
 * commands and pages find a study by; needs no server.
 */

#ifndef HPOTUNE_STUDY_FILES_H
#define HPOTUNE_STUDY_FILES_H

#include <stdbool.h>

struct err;
struct study;

struct study_files {
	char *json; /* study.json, absolute; NULL when a .db was named */
	char *db; /* NAME.db, absolute; need not exist */
	char *db_dir; /* its folder, absolute */
	struct study *study; /* study.json as read; NULL when a .db was named */
};
/*
 * Find those of a study.json, or of a NAME.db.  state: the folder of NAME.db when
 * it is not beside study.json, or NULL.  ERR_USAGE; after an error nothing is held.
 */
int study_files_find(
    struct study_files *, const char *name, const char *state, struct err *);
void study_files_fini(struct study_files *);
/* All NAME.db of a folder, or NULL; free with strv_free. */
char **study_files_in(const char *dir);
/* NAME.db -> NAME.d, its state folder, to be freed. */
char *study_files_state_dir(const char *db);
/* Check that its database exists; the error suggests what may be meant. */
int study_files_exist(const struct study_files *, struct err *);
/* Whether a server runs the study; also true when this cannot be determined. */
bool study_files_served(const char *db);

#endif /* HPOTUNE_STUDY_FILES_H */
