/* A study of one trial in a temporary folder. */

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/base/err.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/cli/check/one-trial.h"
#include "src/cli/common/cli.h"
#include "src/cli/source/source.h"
#include "src/engine/suggest/suggest.h"
#include "src/model/study/study.h"
#include "src/plugins/plugins.h"
#include "src/study-files/study-files.h"

enum {
	ONE_TRIAL_FOLDERS = 64 /* descriptors of nftw */
};

static int
one_trial_on_entry(
    const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path) == 0 || errno == ENOENT ? 0 : -1;
}

int
one_trial_folder_make(struct one_trial_folder *f, const char *study,
    const char *what, struct err *e)
{
	const char *tmp = getenv("TMPDIR");

	f->dir = xasprintf(
	    "%s/hpotune-try-XXXXXX", tmp != NULL && *tmp == '/' ? tmp : "/tmp");
	if (mkdtemp(f->dir) == NULL) {
		(void)err_set(
		    e, ERR_FILE, "%s: %s: %s", what, f->dir, strerror(errno));
		free(f->dir);
		f->dir = NULL;
		return -1;
	}
	f->db = xasprintf("%s/%s.db", f->dir, study);
	f->state_dir = study_files_state_dir(f->db);
	return 0;
}

void
one_trial_folder_free(struct one_trial_folder *f)
{
	if (f->dir != NULL && nftw(f->dir, one_trial_on_entry,
				  ONE_TRIAL_FOLDERS, FTW_DEPTH | FTW_PHYS) != 0)
		log_warn(
		    "try", "%s was not removed: %s", f->dir, strerror(errno));
	free(f->dir);
	free(f->db);
	free(f->state_dir);
	*f = (struct one_trial_folder){ 0 };
}

int
one_trial_prepare(struct study *study, const struct value *setting,
    const char *what, struct err *e)
{
	struct plugins plugins;
	int rc;

	if (study->trial.command[0] == NULL)
		return err_set(
		    e, ERR_USAGE, "%s: trial.command is missing", study->path);
	if (!study_one_trial(study, setting))
		return err_set(e, ERR_USAGE,
		    "%s: %s runs a trial on this machine, and the backend %s "
		    "runs none here",
		    study->path, what, study->backends[0].name);
	if (plugins_read(&plugins, study, e) != 0)
		return -1;
	rc = suggest_check(&plugins, study, e);
	if (rc == 0)
		rc = source_begin(study, NULL, e);
	if (rc == 0)
		rc = plugins_check_programs(&plugins, study, e);
	plugins_free(&plugins);
	return rc;
}
