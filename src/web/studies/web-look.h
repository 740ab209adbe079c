/* What is seen of a study without opening its database. */

#ifndef HPOTUNE_WEB_LOOK_H
#define HPOTUNE_WEB_LOOK_H

#include <stdbool.h>

#include "src/web/studies/web-stamp.h"

struct web_look {
	struct web_stamp stamp;
	bool alive; /* a server runs it */
	bool archived;
};

/* Look at the study of NAME.db; its note, or NULL, which the caller frees. */
void web_look_read(struct web_look *, char **note, const char *db);
bool web_look_same(const struct web_look *, const struct web_look *);
/* Whether a server runs the study of NAME.db. */
bool web_look_alive(const char *db);

#endif /* HPOTUNE_WEB_LOOK_H */
