/*
 * Warm starts in jobs of several trials: hpotune-node has the warm process
 * (trials/node/node-warm.c).  The server puts what is to be imported into the folder
 * of a job, keeps what a job has learnt for the next ones, and notes what is said.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/model/study/study.h"
#include "trials/node/node.h"
#include "trials/slurm/slurm-internal.h"
#include "trials/warm/warm-process.h"

enum { NOTES_MAX = 4096 }; /* bytes of them that are read */

static char *
warm_path(const char *dir, const char *name)
{
	return xasprintf("%s/" NODE_WARM "/%s", dir, name);
}

/* Why trials start cold under these settings; NULL: they need not. */
static const char *
warm_why_not(const struct slurm_settings *set, const struct study_trial *t)
{
	if (t->launcher != STUDY_LAUNCHER_NONE)
		return "trial.launcher starts the processes of a trial";
	if (set->nodes > 1)
		return "a trial has several nodes";
	if (set->per_job < 2)
		return "each trial is a job; those of a job with "
		       "trials_per_job of 2 or more start warm";
	return NULL;
}

const char *
slurm_warm_cold(const struct study_trial *t, const struct option_value *values)
{
	struct slurm_settings set;
	struct err e = ERR_INIT;
	const char *why;

	if (slurm_options_read(&set, t, values, &e) != 0)
		return NULL;
	why = warm_why_not(&set, t);
	slurm_options_free(&set);
	return why;
}

bool
slurm_warm_used(const struct slurm *s)
{
	return s->trial->warm && s->trial->warm_at > 0 &&
	       warm_why_not(&s->set, s->trial) == NULL;
}

/* The modules that the study lists; otherwise those that an earlier job learnt. */
static int
modules_put(const struct slurm_attempt *job, struct err *e)
{
	char *const *names = job->slurm->trial->warm_modules;
	char *to = warm_path(job->dir, ""), *learnt;
	struct buf b = { 0 };
	int rc = 0;

	for (; names != NULL && *names != NULL; names++)
		buf_printf(&b, "%s\n", *names);
	if (b.len > 0)
		rc =
		    slurm_folder_write(to, WARM_PROCESS_LISTED, buf_str(&b), e);
	free(to);
	buf_free(&b);
	if (job->slurm->trial->warm_modules != NULL)
		return rc;
	/* Nobody writes in place what has this name. */
	learnt = warm_path(job->slurm->root, WARM_PROCESS_LEARNT);
	to = warm_path(job->dir, WARM_PROCESS_LEARNT);
	(void)!link(learnt, to);
	free(to);
	free(learnt);
	return 0;
}

int
slurm_warm_folder_make(const struct slurm_attempt *job, struct err *e)
{
	char *dir = xasprintf("%s/" NODE_WARM, job->dir);
	int rc = slurm_folder_mkdir(dir, e);

	if (rc == 0)
		rc = slurm_folder_reserve(dir, NODE_WARM_NOTES, e);
	if (rc == 0)
		rc = modules_put(job, e);
	free(dir);
	return rc;
}

/* The list stays for later jobs. */
static void
learnt_keep(const struct slurm_attempt *job)
{
	char *dir = xasprintf("%s/" NODE_WARM, job->slurm->root);
	char *from = warm_path(job->dir, WARM_PROCESS_LEARNT);
	char *to = warm_path(job->slurm->root, WARM_PROCESS_LEARNT);
	struct err e = ERR_INIT;

	if (access(from, F_OK) == 0 && slurm_folder_mkdir(dir, &e) == 0)
		(void)rename(from, to);
	free(to);
	free(from);
	free(dir);
}

void
slurm_warm_folder_remove(const struct slurm_attempt *job)
{
	static const char *const files[] = { WARM_PROCESS_SCRIPT,
		WARM_PROCESS_LISTED, WARM_PROCESS_LEARNT, WARM_PROCESS_LOG,
		NODE_WARM_NOTES, "." };
	char *dir = xasprintf("%s/" NODE_WARM, job->dir), *path, text[4];
	size_t i;

	learnt_keep(job);
	for (i = 0; i < sizeof files / sizeof files[0]; i++) {
		/* What imports have printed may say why trials start cold. */
		if (strcmp(files[i], WARM_PROCESS_LOG) == 0 &&
		    slurm_folder_read(dir, files[i], text, sizeof text) &&
		    *text != '\0')
			continue;
		path = i + 1 < sizeof files / sizeof files[0]
			   ? xasprintf("%s/%s", dir, files[i])
			   : xstrdup(dir);
		if (i + 1 < sizeof files / sizeof files[0])
			(void)unlink(path);
		else
			(void)rmdir(path);
		free(path);
	}
	free(dir);
}

/* Each text once for the whole study. */
static void
warm_note_once(struct slurm *s, const char *text)
{
	size_t i;

	for (i = 0; i < s->noted_warm.n; i++)
		if (strcmp(s->noted_warm.v[i], text) == 0)
			return;
	strv_add(&s->noted_warm, xstrdup(text));
	backend_note(&s->source, LAUNCH_INFO, "%s", text);
}

void
slurm_warm_look(struct slurm_attempt *job)
{
	char *dir, text[NOTES_MAX], *at = text, *end;

	if (!job->claimed)
		return;
	dir = xasprintf("%s/" NODE_WARM, job->dir);
	if (slurm_folder_read(dir, NODE_WARM_NOTES, text, sizeof text))
		for (; (end = strchr(at, '\n')) != NULL; at = end + 1) {
			*end = '\0';
			warm_note_once(job->slurm, at);
		}
	free(dir);
}
