/* Reads the d of a path: M, L, H, V, A and Z, and the relative ones. */

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/figure/path-walk.h"

void
path_walk_begin(struct path_walk *w, const char *d, size_t len)
{
	*w = (struct path_walk){ .at = d, .end = d + len };
}

static void
path_walk_blanks(struct path_walk *w)
{
	while (w->at < w->end && strchr(" ,\n", *w->at) != NULL)
		w->at++;
}

/* The next number, or 0 at the end. */
static double
path_walk_number(struct path_walk *w)
{
	char *end;
	double v;

	path_walk_blanks(w);
	if (w->at >= w->end)
		return 0;
	v = strtod(w->at, &end);
	w->at = end > w->at ? end : w->at + 1;
	return v;
}

enum path_step
path_walk_next(struct path_walk *w, struct path_point *from)
{
	struct path_point to = { 0, 0 };
	bool relative;
	int i, arc;

	path_walk_blanks(w);
	if (w->at >= w->end)
		return PATH_END;
	if (isalpha((unsigned char)*w->at))
		w->command = *w->at++;
	else if (w->command == 'M')
		w->command = 'L';
	else if (w->command == 'm')
		w->command = 'l';
	*from = w->now;
	if (w->command == 'z' || w->command == 'Z') {
		w->now = w->start;
		return PATH_LINE;
	}
	relative = islower((unsigned char)w->command) != 0;
	if (relative)
		to = w->now;
	arc = toupper((unsigned char)w->command) == 'A' ? 5 : 0;
	for (i = 0; i < arc; i++) /* radii, angle and flags */
		(void)path_walk_number(w);
	switch (toupper((unsigned char)w->command)) {
	case 'H':
		to.x = path_walk_number(w) + (relative ? to.x : 0);
		to.y = w->now.y;
		break;
	case 'V':
		to.y = path_walk_number(w) + (relative ? to.y : 0);
		to.x = w->now.x;
		break;
	case 'M':
	case 'L':
	case 'A':
		to.x += path_walk_number(w);
		to.y += path_walk_number(w);
		break;
	default:
		w->at = w->end; /* none of ours */
		return PATH_END;
	}
	w->now = to;
	if (toupper((unsigned char)w->command) != 'M')
		return PATH_LINE;
	w->start = to;
	return PATH_MOVE;
}
