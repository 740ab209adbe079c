/*
 * The folder of locks between studies of all users of this machine.  It is
 * world-writable, so its contents are not trusted: links are not followed, files
 * of other users are not overwritten, and no call blocks.
 */

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/file.h"
#include "src/base/mem.h"
#include "trials/process/lock-folder.h"

const char *
lock_folder_path(void)
{
	const char *dir = getenv("HPOTUNE_GPU_LOCKS");

	return dir != NULL && *dir != '\0' ? dir : "/dev/shm/hpotune";
}

/*
 * Rename a prepared file unless the name exists, so that it is never visible
 * with wrong permissions.
 */
static int
publish(const char *from, const char *to)
{
	/* Not every C library has it for static programs. */
	if (syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to,
		RENAME_NOREPLACE) == 0)
		return 0;
	return errno == EEXIST ? 0 : -1;
}

static void
lock_folder_dir_make(const char *dir)
{
	char *tmp = xasprintf("%s.XXXXXX", dir);

	if (mkdtemp(tmp) != NULL) {
		if (chmod(tmp, 01777) != 0 || publish(tmp, dir) != 0)
			/* The following open reports the error. */
			errno = 0;
		rmdir(tmp);
	}
	free(tmp);
}

int
lock_folder_enter(void)
{
	return open(lock_folder_path(),
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Create the file, writable for all users: each study of each user locks it. */
static int
lock_folder_file_make(const char *path)
{
	char *tmp = xasprintf("%s.XXXXXX", path);
	int fd = mkostemp(tmp, O_CLOEXEC), r = -1;

	if (fd != -1) {
		r = fchmod(fd, 0666);
		if (r == 0)
			r = publish(tmp, path);
		close(fd);
		unlink(tmp);
	}
	free(tmp);
	return r;
}

/*
 * Open without O_CREAT: with fs.protected_regular the kernel rejects O_CREAT
 * for a file of another user.
 */
int
lock_folder_file(int dir, const char *name, int flags)
{
	return file_open_for(dir, name, flags, 0);
}

int
lock_folder_create(struct err *e)
{
	const char *folder = lock_folder_path();
	int dir = lock_folder_enter();

	if (dir == -1 && errno == ENOENT) {
		lock_folder_dir_make(folder);
		dir = lock_folder_enter();
	}
	if (dir == -1)
		err_set(e, ERR_FILE, "cannot open %s for locks: %s", folder,
		    strerror(errno));
	return dir;
}

int
lock_folder_file_create(int dir, const char *name, struct err *e)
{
	const char *folder = lock_folder_path();
	char *path;
	int fd = lock_folder_file(dir, name, O_RDWR);

	if (fd == -1 && errno == ENOENT) {
		path = xasprintf("%s/%s", folder, name);
		if (lock_folder_file_make(path) == 0)
			fd = lock_folder_file(dir, name, O_RDWR);
		free(path);
	}
	if (fd == -1)
		err_set(e, ERR_FILE, "cannot open %s/%s for a lock: %s", folder,
		    name, strerror(errno));
	return fd;
}

int
lock_folder_open(const char *name, int *dir, struct err *e)
{
	int fd;

	*dir = lock_folder_create(e);
	if (*dir == -1)
		return -1;
	fd = lock_folder_file_create(*dir, name, e);
	if (fd == -1)
		close(*dir);
	return fd;
}
