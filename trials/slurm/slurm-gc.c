/*
 * Lists jobs of this user with names of ours, for hpotune slurm gc, and cancels
 * those that the caller names.
 */

#include <stdio.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "trials/node/node.h"
#include "trials/slurm/slurm-internal.h"

enum { LIST_MS = 30000, FIELDS = 4 };

/* hp-STUDY-ID6-TRIAL.ATTEMPT-UUID8: cut the study and its id out of it. */
static bool
name_cut(const char *name, char *study, size_t n, char id[8], char uuid[16])
{
	const char *end = strrchr(name, '-'), *at, *before;

	if (strncmp(name, "hp-", 3) != 0 || end == NULL || strlen(end + 1) != 8)
		return false;
	(void)snprintf(uuid, 16, "%s", end + 1);
	at = memrchr(name, '-', (size_t)(end - name));
	if (at == NULL || memchr(at, '.', (size_t)(end - at)) == NULL)
		return false;
	before = memrchr(name, '-', (size_t)(at - name));
	if (before == NULL || before <= name + 3 || at - before != 7 ||
	    (size_t)(before - name - 3) >= n)
		return false;
	(void)snprintf(id, 8, "%.6s", before + 1);
	(void)snprintf(study, n, "%.*s", (int)(before - name - 3), name + 3);
	return true;
}

/* The uuid of a trial that a job of several holds; "" = of none. */
static void
held_by(const char *dir, char *uuid, size_t n)
{
	static const char *const below[] = { NODE_NEXT, NODE_TAKEN };
	const struct dirent *d;
	char *path, text[64];
	DIR *list;
	size_t i;

	*uuid = '\0';
	for (i = 0; i < 2 && *uuid == '\0'; i++) {
		path = xasprintf("%s/%s", dir, below[i]);
		list = opendir(path);
		while (list != NULL && (d = readdir(list)) != NULL)
			if (d->d_name[0] >= '0' && d->d_name[0] <= '9' &&
			    slurm_folder_read(
				path, d->d_name, text, sizeof text))
				(void)snprintf(uuid, n, "%.*s",
				    (int)strcspn(text, "\n"), text);
		if (list != NULL)
			(void)closedir(list);
		free(path);
	}
}

/*
 * A job of several trials belongs to those that it holds.  It is looked for below
 * the root of this study; one of another study has no uuid then.
 */
static void
uuid_of_guest(const struct launch_env *env, const char *name, char uuid[40])
{
	struct slurm_settings set;
	struct err e = ERR_INIT;
	const char *at = strrchr(name, '-');
	char *dir;
	int number;

	*uuid = '\0';
	at = memrchr(name, '-', (size_t)(at - name));
	if (sscanf(at, "-0.%d-", &number) != 1 ||
	    slurm_options_read(&set, env->settings, env->options, &e) != 0)
		return;
	if (set.dir != NULL)
		dir = xasprintf("%s/%s-%s/jobs/%d-%s", set.dir, env->study,
		    env->study_id, number, strrchr(name, '-') + 1);
	else
		dir = xasprintf("%s/jobs/%d-%s", env->state_dir, number,
		    strrchr(name, '-') + 1);
	held_by(dir, uuid, 40);
	free(dir);
	slurm_options_free(&set);
}

/* The uuid of an attempt, at the end of the comment, "NAME UUID". */
static const char *
uuid_in(const char *fields)
{
	const char *at = fields + strlen(fields);

	while (at > fields && strchr("| ", at[-1]) == NULL)
		at--;
	return at;
}

/* ID|STATE|NODES|NAME|COMMENT, of which the last two are one field */
static bool
row_cut(char *line, char *field[FIELDS])
{
	int i;

	for (i = 0; i < FIELDS; i++) {
		field[i] = line;
		if (i == FIELDS - 1)
			return true;
		line = strchr(line, '|');
		if (line == NULL)
			return false;
		*line++ = '\0';
	}
	return false;
}

int
slurm_gc_strays(
    const struct launch_env *env, launch_stray_cb *cb, void *arg, struct err *e)
{
	char *argv[] = { "squeue", "--me", "--all", "--noheader",
		"--states=PENDING,CONFIGURING,RUNNING,SUSPENDED",
		"--format=%A|%T|%N|%j|%k", NULL };
	char *text, *line, *rest, *field[FIELDS], study[SLURM_NAME], id[8],
	    tail[16];
	char *name = NULL, *job = NULL;
	const char *ours, *found;
	size_t len;
	struct strv cancel = { 0 };
	struct buf out = { 0 };
	char guest[40];
	struct launch_stray j;
	int rc = 0;

	if (slurm_program_call(argv, LIST_MS, &out) != 0) {
		rc = err_set(e, ERR_LAUNCH, "squeue: %.*s",
		    (int)strcspn(buf_str(&out), "\n"), buf_str(&out));
		buf_free(&out);
		return rc;
	}
	text = rest = buf_take(&out);
	while ((line = strsep(&rest, "\n")) != NULL) {
		*guest = '\0';
		if (!row_cut(line, field))
			continue;
		len = slurm_row_name(field[3], strlen(field[3]), &ours);
		free(job);
		job = xstrndup(len > 0 ? ours : "", len);
		if (!name_cut(job, study, sizeof study, id, tail))
			continue;
		/* Several jobs may have one name. */
		free(name);
		name = xasprintf("%s %s", field[0], job);
		j = (struct launch_stray){ .name = name,
			.study = study,
			.study_id = id,
			.state = field[1],
			.place = field[2] };
		/* A site may put something else into comments. */
		found = uuid_in(field[3]);
		if (strncmp(found, tail, 8) == 0)
			j.uuid = found;
		if (strcmp(study, env->study) == 0 &&
		    strcmp(id, env->study_id) == 0)
			uuid_of_guest(env, job, guest);
		if (*guest != '\0')
			j.uuid = guest;
		if (!cb(arg, &j))
			continue;
		if (cancel.n == 0)
			strv_add(&cancel, xstrdup("scancel"));
		strv_add(&cancel, xstrdup(field[0]));
	}
	if (cancel.n > 0 && slurm_program_call(cancel.v, LIST_MS, &out) != 0)
		rc = err_set(e, ERR_LAUNCH, "scancel: %.*s",
		    (int)strcspn(buf_str(&out), "\n"), buf_str(&out));
	strv_free(cancel.v);
	buf_free(&out);
	free(name);
	free(job);
	free(text);
	return rc;
}
