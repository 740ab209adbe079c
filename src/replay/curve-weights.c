/* Reads the weights of the steps of curves. */

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/gz/gz.h"
#include "src/base/mem.h"
#include "src/replay/curve-file.h"
#include "src/replay/curve-weights.h"

enum { WEIGHTS_BYTES_MAX = 1 << 26 };

/* The path of the weights, which the caller frees; NULL: there are none. */
static char *
weights_path(const char *path)
{
	static const char *const ends[] = { ".csv.gz", ".csv", NULL };
	static const char *const other[] = { ".wt", ".wt.gz", NULL };
	size_t len = strlen(path), end, i;
	char *name;

	for (i = 0; ends[i] != NULL; i++) {
		end = strlen(ends[i]);
		if (len > end && strcmp(path + len - end, ends[i]) == 0)
			break;
	}
	if (ends[i] == NULL)
		return NULL;
	for (i = 0; other[i] != NULL; i++) {
		name = xasprintf("%.*s%s", (int)(len - end), path, other[i]);
		if (access(name, F_OK) == 0)
			return name;
		free(name);
	}
	return NULL;
}

/* One number on each line, as many as there are curves. */
static int
weights_take(struct curve_file *b, char *text, const char *path, struct err *e)
{
	char *next = text, *line, *end;
	size_t n = 0;
	double v;

	while ((line = strsep(&next, "\n")) != NULL) {
		line += strspn(line, " \t\r");
		if (*line == '\0')
			continue;
		v = strtod(line, &end);
		end += strspn(end, " \t\r");
		if (end == line || *end != '\0' || !(v > 0) || !isfinite(v))
			return err_set(e, ERR_USAGE,
			    "%s: expected a number above 0 on each line, not "
			    "%.40s",
			    path, line);
		if (n < b->n)
			b->curves[n].weight = v;
		n++;
	}
	if (n != b->n)
		return err_set(e, ERR_USAGE, "%s: %zu weights of %zu curves",
		    path, n, b->n);
	return 0;
}

int
curve_weights_read(struct curve_file *b, const char *path, struct err *e)
{
	char *name = weights_path(path), *text;
	size_t len;
	int rc;

	if (name == NULL)
		return 0;
	rc = gz_load(&text, &len, name, WEIGHTS_BYTES_MAX, e);
	if (rc == 0) {
		rc = weights_take(b, text, name, e);
		free(text);
	}
	free(name);
	return rc;
}
