/* Reads curves from a folder of TensorBoard event files. */

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/base/err.h"
#include "src/base/gz/gz.h"
#include "src/base/mem.h"
#include "src/base/tfevents.h"
#include "src/replay/curve-events.h"
#include "src/replay/curve-file.h"

#define EVENTS_BYTES_MAX ((size_t)1 << 30)

enum { FOLDERS_DEEP = 16 };

/* One report of a trial, in the order in which it was written. */
struct scalar {
	int64_t step;
	size_t order;
	double value;
};

struct events {
	struct curve_file *curves;
	const char *metric; /* as given, or NULL */
	char *tag; /* the only one that was seen, owned */
	char *other; /* another one, owned */
	struct scalar *list; /* of the trial that is read */
	size_t n, cap;
};

static void
on_scalar(void *arg, const struct tfevents_scalar *s)
{
	struct events *v = arg;
	const char *want = v->metric != NULL ? v->metric : v->tag;

	if (want == NULL)
		want = v->tag = xstrndup(s->tag, s->tag_len);
	if (strlen(want) != s->tag_len ||
	    memcmp(want, s->tag, s->tag_len) != 0) {
		if (v->metric == NULL && v->other == NULL)
			v->other = xstrndup(s->tag, s->tag_len);
		return;
	}
	if (s->step < 0)
		return;
	XGROW(v->list, v->n, v->cap);
	v->list[v->n] = (struct scalar){
		.step = s->step, .order = v->n, .value = s->value
	};
	v->n++;
}

/* All whole records of a file; what is damaged is passed over. */
static int
events_file(struct events *v, const char *path, struct err *e)
{
	struct tfevents_record record;
	enum tfevents_status is;
	char *bytes;
	size_t len, at = 0;

	if (gz_load(&bytes, &len, path, EVENTS_BYTES_MAX, e) != 0)
		return -1;
	for (;;) {
		is = tfevents_record_read(&record, bytes + at, len - at);
		if (is == TFEVENTS_RECORD)
			(void)tfevents_scalars(
			    record.data, record.len, on_scalar, v);
		else if (is != TFEVENTS_BAD_DATA)
			break;
		at += (size_t)record.size;
	}
	free(bytes);
	return 0;
}

/* Order by step; reports of one step stay as written. */
static int
scalar_order(const void *a, const void *b)
{
	const struct scalar *x = a, *y = b;

	if (x->step != y->step)
		return x->step < y->step ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

/* The reports of the folder become a curve; the last one of a step counts. */
static void
events_curve(struct events *v)
{
	struct curve_file_curve *c;
	size_t i;

	if (v->n == 0)
		return;
	qsort(v->list, v->n, sizeof *v->list, scalar_order);
	c = curve_file_begin(v->curves);
	for (i = 0; i < v->n; i++)
		if (i + 1 == v->n || v->list[i + 1].step != v->list[i].step)
			curve_file_report(
			    v->curves, c, v->list[i].step, v->list[i].value);
	v->n = 0;
}

static int
entry_wanted(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int
events_folder(struct events *, const char *folder, int depth, struct err *);

/* An entry of a folder: files first, then the folders in it. */
static int
events_entry(struct events *v, const char *folder, const char *name,
    bool folders, int depth, struct err *e)
{
	char *path = xasprintf("%s/%s", folder, name);
	struct stat st;
	int rc = 0;

	if (lstat(path, &st) == 0) {
		if (folders && S_ISDIR(st.st_mode))
			rc = events_folder(v, path, depth + 1, e);
		else if (!folders && S_ISREG(st.st_mode) &&
			 strstr(name, "tfevents") != NULL)
			rc = events_file(v, path, e);
	}
	free(path);
	return rc;
}

static int
events_folder(struct events *v, const char *folder, int depth, struct err *e)
{
	struct dirent **list;
	int n, i, rc = 0;

	if (depth > FOLDERS_DEEP)
		return 0;
	n = scandir(folder, &list, entry_wanted, alphasort);
	if (n == -1)
		return err_set(e, ERR_USAGE, "%s: %s", folder, strerror(errno));
	for (i = 0; i < n && rc == 0; i++)
		rc = events_entry(v, folder, list[i]->d_name, false, depth, e);
	events_curve(v);
	for (i = 0; i < n && rc == 0; i++)
		rc = events_entry(v, folder, list[i]->d_name, true, depth, e);
	for (i = 0; i < n; i++)
		free(list[i]);
	free(list);
	return rc;
}

int
curve_events_read(
    struct curve_file *b, const char *folder, const char *metric, struct err *e)
{
	struct events v = { .curves = b, .metric = metric };
	int rc = events_folder(&v, folder, 0, e);

	if (rc == 0 && v.other != NULL)
		rc = err_set(e, ERR_USAGE,
		    "%s: there are several metrics, \"%s\" and \"%s\": choose "
		    "one with --metric",
		    folder, v.tag, v.other);
	else if (rc == 0 && b->n == 0)
		rc = metric != NULL
			 ? err_set(e, ERR_USAGE,
			       "%s: no event file has a report of \"%s\"",
			       folder, metric)
			 : err_set(e, ERR_USAGE,
			       "%s: no event file has a report", folder);
	free(v.tag);
	free(v.other);
	free(v.list);
	return rc;
}
