/*
 * The studies that the pages show: databases named on the command line, and
 * those found in folders, which are searched again and again.  Functions that
 * search are for readers (web-reader.h): a disk may hang.
 */

#ifndef HPOTUNE_WEB_STUDIES_H
#define HPOTUNE_WEB_STUDIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/web/studies/web-look.h"

struct web_study {
	char *id; /* in addresses: NAME, or NAME~2 when it is taken */
	char *db; /* NAME.db, absolute */
	char *db_dir; /* its folder, absolute */
	bool seen; /* in the last search */
	/* What web-list.c knows of it: as looked at last */
	struct web_look look;
	char *note; /* of the user, or NULL */
	bool looked;
	/* and as read last */
	struct web_look of; /* what the row is of */
	bool read;
	char *row; /* of the list, or NULL: not read yet */
	char *words; /* in which it is searched: id, note, goal */
	int64_t
	    again_ms; /* one that failed is not read before (clock_boot_ms) */
	bool hung; /* it did not answer when it was read last */
	bool late; /* it is to be read */
	bool skipped; /* it is not to be looked at */
};

struct web_studies {
	char **
	    places; /* folders, study.json, NAME.db; borrowed, ends with NULL */
	struct web_study **studies; /* by id */
	size_t n, cap;
};

/* Search the places; studies that are gone are removed.  Whether some changed. */
bool web_studies_search(struct web_studies *);
/*
 * Replace the studies by those named: n triples of id, database and folder, each
 * ending with NUL, in the order of ids.  What is known of others stays.
 */
void web_studies_set(struct web_studies *, const char *names, size_t len);
void web_studies_fini(struct web_studies *);
/* The study of this id among those known; NULL = none. */
struct web_study *web_studies_known(const struct web_studies *, const char *id);
/* The same; searches again when it is unknown. */
struct web_study *web_studies_find(struct web_studies *, const char *id);

#endif /* HPOTUNE_WEB_STUDIES_H */
