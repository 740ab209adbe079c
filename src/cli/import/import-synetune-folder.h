/* hpotune import synetune: a study with the trials of an experiment of Syne Tune. */

#ifndef HPOTUNE_IMPORT_SYNETUNE_FOLDER_H
#define HPOTUNE_IMPORT_SYNETUNE_FOLDER_H

#include "src/base/mem.h"

struct err;
struct import_results;
struct json;
struct json_doc;

/* The files of an experiment. */
struct import_synetune_folder {
	struct json_doc *meta; /* metadata.json */
	struct json_doc *space; /* its config_space, or NULL */
	struct json_doc *domains; /* that space for import_results */
	struct buf table; /* results.csv */
	struct buf list; /* the trials */
};

/*
 * Read folder; metric and goal are those of its metadata, unless from has a
 * metric: the names then stay in the folder.
 */
int
import_synetune_folder_read(struct import_synetune_folder *, struct buf *notes,
    struct import_results *from, const char *folder, struct err *);
void import_synetune_folder_free(struct import_synetune_folder *);

#endif /* HPOTUNE_IMPORT_SYNETUNE_FOLDER_H */
