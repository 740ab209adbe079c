/* Which files below a folder are read. */

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "trials/metric-files/metric-files-internal.h"

enum {
	DEPTH_MAX = 8, /* folders below the folder of a trial */
	ENTRIES_MAX = 10000, /* of one search */
	FILES_MAX = 1000
};

struct search {
	struct metric_files *m;
	const struct study_file *source;
	int entries; /* seen so far */
};

/* Folders that keep the same tags apart. */
static const char *const splits[] = { "train", "training", "val", "valid",
	"validation", "eval", "test", NULL };

static bool
ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), k = strlen(end);

	return n > k && strcmp(name + n - k, end) == 0;
}

static bool
is_events(const char *name)
{
	return strstr(name, "tfevents") != NULL;
}

static bool
name_fits(const struct study_file *source, const char *name)
{
	if (source->only != NULL)
		return strcmp(name, source->only) == 0;
	switch (source->format) {
	case STUDY_FILE_TENSORBOARD:
		return is_events(name);
	case STUDY_FILE_CSV:
		return ends_with(name, ".csv");
	case STUDY_FILE_JSON:
		return ends_with(name, ".jsonl");
	case STUDY_FILE_TRAINER_STATE:
		return strcmp(name, "trainer_state.json") == 0;
	}
	return false;
}

static struct metric_file *
file_find(const struct metric_files *m, const struct study_file *source,
    const char *path)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		if (m->files[i].source == source &&
		    strcmp(m->files[i].path, path) == 0)
			return &m->files[i];
	return NULL;
}

static void
file_found(struct search *s, const char *path, const char *prefix)
{
	struct metric_files *m = s->m;
	struct metric_file *f;

	if (file_find(m, s->source, path) != NULL || m->n == FILES_MAX)
		return;
	XGROW(m->files, m->n, m->cap);
	f = &m->files[m->n++];
	*f = (struct metric_file){ .source = s->source,
		.path = xstrdup(path),
		.prefix = prefix != NULL ? xstrdup(prefix) : NULL,
		.again = m->adopted };
}

static void
search_full(struct search *s, const char *path)
{
	char *text;

	if (s->m->noted_many)
		return;
	s->m->noted_many = true;
	text = xasprintf("%s has more than %d files: further ones are not "
			 "searched for metrics",
	    path, ENTRIES_MAX);
	s->m->sink->note(s->m->sink->arg, text);
	free(text);
}

/*
 * The prefix of event files in a folder: its name where that says what data they
 * are of, or where the folder above has event files too (add_scalars), unless
 * the name begins with a digit (add_hparams); else none.
 */
static const char *
prefix_of(const char *name, bool below_events)
{
	size_t i;

	for (i = 0; splits[i] != NULL; i++)
		if (strcmp(name, splits[i]) == 0)
			return name;
	return below_events && (*name < '0' || *name > '9') ? name : NULL;
}

static void folder_search(struct search *, const char *path, const char *name,
    bool below_events, int depth);

static int
by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int
is_visible(const struct dirent *d)
{
	return strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0;
}

static void
entry_search(struct search *s, const char *folder, const char *name,
    const char *prefix, bool events, int depth)
{
	char path[METRIC_FILES_PATH];
	struct stat st;
	int n = snprintf(path, sizeof path, "%s/%s", folder, name);

	if (n < 0 || (size_t)n >= sizeof path || lstat(path, &st) == -1)
		return;
	if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX)
		folder_search(s, path, name, events, depth + 1);
	else if (S_ISREG(st.st_mode) && name_fits(s->source, name))
		file_found(s, path, prefix);
}

/*
 * In the order of names, because those of event files grow.  Lightning writes
 * metrics.csv only where it writes no event files, unless both were asked for.
 */
static void
folder_search(struct search *s, const char *path, const char *name,
    bool below_events, int depth)
{
	struct dirent **list;
	int n = scandir(path, &list, is_visible, by_name), i;
	const char *prefix = NULL;
	bool events = false;

	if (n < 0)
		return;
	for (i = 0; i < n; i++)
		events |= is_events(list[i]->d_name);
	if (s->source->format == STUDY_FILE_TENSORBOARD && depth > 0)
		prefix = prefix_of(name, below_events);
	for (i = 0; i < n; i++) {
		if (++s->entries > ENTRIES_MAX)
			search_full(s, path);
		else if (!events || s->source->only == NULL ||
			 strcmp(list[i]->d_name, s->source->only) != 0)
			entry_search(
			    s, path, list[i]->d_name, prefix, events, depth);
		free(list[i]);
	}
	free(list);
}

void
metric_files_search(struct metric_files *m)
{
	struct search s = { .m = m };
	struct stat st;
	size_t i;

	for (i = 0; i < m->trial->n_files; i++) {
		s.source = &m->trial->files[i];
		if (stat(m->paths[i], &st) == -1)
			continue;
		if (S_ISDIR(st.st_mode))
			folder_search(&s, m->paths[i], "", false, 0);
		else
			file_found(&s, m->paths[i], NULL);
	}
}
