/*
 * Walks the d of a path of SVG: each line of it from a point to a point.  An arc
 * counts as the line to its end.
 */

#ifndef HPOTUNE_PATH_WALK_H
#define HPOTUNE_PATH_WALK_H

#include <stddef.h>

struct path_point {
	double x, y;
};

struct path_walk {
	const char *at, *end;
	char command;
	struct path_point start, now;
};

enum path_step { PATH_END, PATH_MOVE, PATH_LINE };

void path_walk_begin(struct path_walk *, const char *d, size_t len);
/* The next step leads to w->now; of a line *from is where it begins. */
enum path_step path_walk_next(struct path_walk *w, struct path_point *from);

#endif /* HPOTUNE_PATH_WALK_H */
