/* One screen of a study, as text or JSON, and whether a server runs it. */

#ifndef HPOTUNE_STATUS_SCREEN_H
#define HPOTUNE_STATUS_SCREEN_H

struct buf;
struct cli;
struct study_files;
struct err;
struct store;

enum study_life {
	LIFE_OVER, /* ended, or shut down in good order */
	LIFE_SERVED,
	LIFE_ALONE /* the server was killed */
};

int status_screen_life(const struct study_files *, struct store *,
    enum study_life *, struct err *);
/*
 * Append one screen, as text of this width (0 = any) or as one JSON document, which
 * may be brief: without what takes long.
 */
int status_screen_put(struct buf *, const struct cli *, struct store *,
    enum study_life, int width, bool brief, struct err *);

#endif /* HPOTUNE_STATUS_SCREEN_H */
