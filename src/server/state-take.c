/* Takes the state folder of a study for a start. */

#include <dirent.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/file-system.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/server/server.h"
#include "src/server/state-take.h"
#include "src/store/store.h"
#include "src/study-files/state-dir.h"

/*
 * A database that cannot be checked is not recreated: opening it reports the
 * error.
 */
static bool
state_take_exists(const char *db)
{
	bool there;

	return store_exists(&there, db, NULL) != 0 || there;
}

int
state_take(struct state_dir *state, const struct server_env *env, struct err *e)
{
	char *path = xstrdup(env->state_dir), fs[32];
	struct err damage = ERR_INIT;
	bool network;

	file_system_look(dirname(path), fs, sizeof fs, &network);
	free(path);
	if (network && !env->network_fs &&
	    !(env->visits && state_take_exists(env->db)))
		return err_set(e, ERR_USAGE,
		    "%s is on a shared file system (%s), where the locks "
		    "of SQLite are unreliable: use --state with a local "
		    "folder, or --network-fs if this host alone will ever "
		    "open it",
		    env->state_dir, fs);
	/* Check the path first, so that no folder is left behind. */
	if (store_path_check(env->db, e) != 0 ||
	    state_dir_check_renaming(env->db, NULL, e) != 0 ||
	    state_dir_open(state, env->state_dir, true, e) != 0)
		return -1;
	if (state_dir_lock(state,
		env->visits ? STATE_DIR_COMMAND : STATE_DIR_SERVER, e) != 0 ||
	    state_dir_lock_db(state, env->db, e) != 0)
		return -1;
	if (store_wal_check(env->db, &damage) != 0)
		log_error("store", "%s", damage.text);
	return 0;
}

/* Whether trials have run here. */
static bool
state_take_has_trials(const struct state_dir *s)
{
	int fd = openat(s->dir_fd, "trials",
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	const struct dirent *entry;
	bool used = false;
	DIR *d;

	if (fd < 0)
		return false;
	if ((d = fdopendir(fd)) == NULL) {
		close(fd);
		return false;
	}
	while (!used && (entry = readdir(d)) != NULL)
		used = entry->d_name[0] != '.';
	(void)closedir(d);
	return used;
}

int
state_take_check_trials(const struct state_dir *state,
    const struct server_env *env, bool *there, struct err *e)
{
	if (store_exists(there, env->db, e) != 0)
		return -1;
	if (*there || !state_take_has_trials(state))
		return 0;
	return err_set(e, ERR_FILE,
	    "%s holds trials, but their database %s is missing: "
	    "restore it, or move the folder away to start a new "
	    "study",
	    state->dir, env->db);
}
