/* Finds the files of a trial below a folder, or by a pattern of their paths. */

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/base/mem.h"
#include "trials/metric-files/metric-files-internal.h"

enum {
	DEPTH_MAX = 8, /* folders below the first one */
	ENTRIES_MAX = 10000 /* of one search, that may be searched */
};

/* Folders that keep the same tags apart. */
static const char *const splits[] = { "train", "training", "val", "valid",
	"validation", "eval", "test", NULL };

bool
metric_search_ends(const char *name, const char *end)
{
	size_t n = strlen(name), k = strlen(end);

	return n > k && strcmp(name + n - k, end) == 0;
}

bool
metric_search_is_events(const char *name)
{
	return strstr(name, "tfevents") != NULL;
}

/* Whether a pattern without '/' matches a name: '*' is any bytes. */
static bool
metric_search_part(const char *pattern, size_t n, const char *name, size_t len)
{
	size_t p = 0, i = 0, star = n, from = 0;

	while (i < len) {
		if (p < n && pattern[p] == '*') {
			star = p++;
			from = i;
		} else if (p < n && pattern[p] == name[i]) {
			p++;
			i++;
		} else if (star < n) {
			p = star + 1;
			i = ++from;
		} else
			return false;
	}
	while (p < n && pattern[p] == '*')
		p++;
	return p == n;
}

bool
metric_search_matches(const char *pattern, const char *path)
{
	size_t n = strcspn(pattern, "/"), len = strcspn(path, "/");
	const char *rest = pattern + n + (pattern[n] == '/');

	if (n == 2 && memcmp(pattern, "**", 2) == 0) {
		for (;; path += len + 1) {
			if (metric_search_matches(rest, path))
				return true;
			len = strcspn(path, "/");
			if (path[len] == '\0')
				return *rest == '\0' && len > 0;
		}
	}
	if (*pattern == '\0' || len == 0)
		return *pattern == *path;
	return metric_search_part(pattern, n, path, len) &&
	       metric_search_matches(rest, path + len + (path[len] == '/'));
}

bool
metric_search_is_pattern(const char *path)
{
	return strchr(path, '*') != NULL;
}

/*
 * The prefix of event files in a folder: its name where that says what data
 * they are of, or where the folder above has event files too (add_scalars),
 * unless the name begins with a digit (add_hparams); else none.
 */
static const char *
metric_search_prefix(const char *name, bool below)
{
	size_t i;

	for (i = 0; splits[i] != NULL; i++)
		if (strcmp(name, splits[i]) == 0)
			return name;
	return below && (*name < '0' || *name > '9') ? name : NULL;
}

/* A folder: its path, its name, and what is known of it. */
struct folder {
	const char *path, *name;
	const char *prefix; /* of its files */
	bool below; /* the folder above has event files */
	bool events; /* and so has this one */
	int depth;
};

static void metric_search_folder(struct metric_search *, struct folder *);

static bool
metric_search_takes(
    const struct metric_search *s, const struct folder *in, const char *name)
{
	if (s->unless_events && in->events)
		return false;
	return s->only != NULL ? strcmp(name, s->only) == 0 : s->fits(name);
}

static void
metric_search_entry(
    struct metric_search *s, const struct folder *in, const char *name)
{
	char path[METRIC_FILE_PATH_BYTES];
	const char *pattern = s->pattern;
	struct folder sub = { path, name, NULL, in->events, false,
		in->depth + 1 };
	bool matches;
	struct stat st;
	int n = snprintf(path, sizeof path, "%s/%s", in->path, name);

	if (n < 0 || (size_t)n >= sizeof path || lstat(path, &st) == -1)
		return;
	matches = pattern != NULL && strlen(path) > s->base &&
		  metric_search_matches(pattern, path + s->base);
	if (S_ISDIR(st.st_mode) && in->depth < DEPTH_MAX) {
		/* All files of a folder that the pattern names. */
		s->pattern = matches ? NULL : pattern;
		metric_search_folder(s, &sub);
		s->pattern = pattern;
	} else if (S_ISREG(st.st_mode) &&
		   (pattern != NULL ? matches
				    : metric_search_takes(s, in, name)))
		s->found(s->arg, path, in->prefix, in->below);
}

/* Names that are kept of a folder. */
struct names {
	char **list;
	size_t n, cap;
};

static int
metric_search_order(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Whether an entry may be a folder, or a file that is searched. */
static bool
metric_search_may(const struct metric_search *s, const struct folder *in,
    const struct dirent *d)
{
	char path[METRIC_FILE_PATH_BYTES];
	int n;

	if (d->d_type == DT_DIR || d->d_type == DT_UNKNOWN)
		return true;
	if (d->d_type != DT_REG)
		return false;
	if (s->pattern == NULL)
		return s->only != NULL ? strcmp(d->d_name, s->only) == 0
				       : s->fits(d->d_name);
	n = snprintf(path, sizeof path, "%s/%s", in->path, d->d_name);
	return n > 0 && (size_t)n < sizeof path && strlen(path) > s->base &&
	       metric_search_matches(s->pattern, path + s->base);
}

/*
 * A trial may keep some hundred thousand pictures there: what cannot be searched
 * is not kept, sorted and looked at.
 */
static void
metric_search_list(
    struct metric_search *s, struct folder *f, struct names *names)
{
	DIR *dir = opendir(f->path);
	const struct dirent *d;

	while (dir != NULL && (d = readdir(dir)) != NULL) {
		if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
			continue;
		s->seen++;
		f->events |= metric_search_is_events(d->d_name);
		if (!metric_search_may(s, f, d))
			continue;
		XGROW(names->list, names->n, names->cap);
		names->list[names->n++] = xstrdup(d->d_name);
	}
	if (dir != NULL)
		(void)closedir(dir);
}

/* In the order of names, because those of event files grow. */
static void
metric_search_folder(struct metric_search *s, struct folder *f)
{
	struct names names = { 0 };
	size_t i;

	metric_search_list(s, f, &names);
	if (names.n > 0)
		qsort(names.list, names.n, sizeof *names.list,
		    metric_search_order);
	if (s->has_folders && f->depth > 0)
		f->prefix = metric_search_prefix(f->name, f->below);
	for (i = 0; i < names.n; i++) {
		if (++s->entries > ENTRIES_MAX)
			s->is_full = true;
		else
			metric_search_entry(s, f, names.list[i]);
		free(names.list[i]);
	}
	free(names.list);
}

/* The folder above the first part of the pattern that has a '*'. */
static char *
metric_search_base(const char *path)
{
	const char *star = strchr(path, '*'), *slash;

	slash = memrchr(path, '/', (size_t)(star - path));
	if (slash == NULL)
		return xstrdup(".");
	return xstrndup(path, slash > path ? (size_t)(slash - path) : 1);
}

void
metric_search(struct metric_search *s, const char *path)
{
	struct folder f = { .path = path, .name = "" };
	char *base = NULL;
	struct stat st;

	if (stat(path, &st) == 0 && !S_ISDIR(st.st_mode)) {
		s->found(s->arg, path, NULL, false);
		return;
	}
	if (stat(path, &st) == -1) {
		if (!metric_search_is_pattern(path))
			return;
		base = metric_search_base(path);
		f.path = base;
		s->base = strcmp(base, "/") == 0 ? 1 : strlen(base) + 1;
		s->pattern = path + s->base;
	}
	metric_search_folder(s, &f);
	free(base);
}
