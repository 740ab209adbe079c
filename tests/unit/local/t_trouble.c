/*
 * Errors around an attempt: a full disk, no supervisor, a process that cannot
 * be killed, paths that are no directories.
 */

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/local-backend.h"
#include "tests/support/tap.h"
#include "trials/process/attempt-record.h"
#include "trials/local/local-internal.h"

static bool
noted(struct local_backend *rig, int64_t trial)
{
	return rig->trial[trial].notes > 0;
}

/* Fill what is left of a file system; the file's path comes back. */
static void
disk_fill(const char *path)
{
	static char block[4096];
	int fd = open(path, O_WRONLY | O_CREAT, 0600);

	while (write(fd, block, sizeof block) > 0)
		;
	close(fd);
}

/* A supervisor in the attempt's directory, started by hand. */
static void
shim_alone(struct local_backend *rig, int64_t trial)
{
	char command[1024];
	int status;

	(void)snprintf(command, sizeof command,
	    "$HPOTUNE_SHIM dir=%s uuid=%s workdir=/ -- touch %s/ran",
	    local_rig_path(rig, trial, ""), local_rig_uuid(trial, 1), rig->dir);
	status = system(command);
	is_int(WEXITSTATUS(status), ENOSPC, "the supervisor gives the reason");
	(void)snprintf(command, sizeof command, "%s/ran", rig->dir);
	ok(access(command, F_OK) == -1, "and starts nothing");
}

static void
test_full_disk(void)
{
	struct local_backend rig;
	struct local_rig_trial *t = rig.trial;
	struct err e = ERR_INIT;
	char fill[128];

	local_rig_open(&rig, NULL);
	if (unshare(CLONE_NEWNS) == -1 ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == -1 ||
	    mount("none", rig.state_dir, "tmpfs", 0, "size=256k") == -1) {
		skip("a full disk", "cannot mount a small tmpfs here");
		local_rig_close(&rig);
		return;
	}
	/* The folder is another one now: as one that is there at a start. */
	local_rig_restart(&rig);
	(void)snprintf(fill, sizeof fill, "%s/fill", rig.state_dir);
	local_rig_sh(&rig, 1,
	    "echo hpotune: a=1; while ! test -f go; do sleep 0.01; done\n"
	    "exit 5");
	local_rig_until(&rig, local_rig_reported, 1);
	disk_fill(fill);
	close(open(local_rig_path(&rig, 1, "../../../../go"), O_CREAT, 0600));
	ok(local_rig_until(&rig, local_rig_over, 1),
	    "a trial ends on a full disk");
	is_int(t[1].exit.exit_code, 5, "and its end is recorded");
	unlink(fill);
	/* Directories and parameters are there, room for the claim is not. */
	local_rig_sh(&rig, 2, "exit 0");
	local_rig_until(&rig, local_rig_over, 2);
	unlink(local_rig_path(&rig, 2, "state"));
	disk_fill(fill);
	is_int(
	    local_rig_sh(&rig, 3, "echo >ran"), -1, "no room for directories");
	t[2].exits = 0;
	shim_alone(&rig, 2);
	is_int(local_rig_look(&rig, 2, &e), ADOPT_NEVER,
	    "no room for the claim: never begun");
	(void)umount2(rig.state_dir, MNT_DETACH);
	local_rig_close(&rig);
}

/* A supervisor that is one line of shell. */
static void
shim_script(struct local_backend *rig, const char *line)
{
	char path[128];
	FILE *f;

	(void)snprintf(path, sizeof path, "%s/shim", rig->dir);
	f = fopen(path, "w");
	(void)fprintf(f, "#!/bin/sh\n%s\n", line);
	(void)fclose(f);
	(void)chmod(path, 0700);
	setenv("HPOTUNE_SHIM", path, 1);
	local_rig_restart(rig);
}

static void
test_no_shim(void)
{
	struct local_backend rig;
	struct err e = ERR_INIT;
	char *argv[] = { "true", NULL }, *was;
	struct launch_spec spec;

	local_rig_open(&rig, NULL);
	was = xstrdup(getenv("HPOTUNE_SHIM"));
	setenv("HPOTUNE_SHIM", "/no/such/shim", 1);
	local_rig_restart(&rig);
	spec = local_rig_spec(&rig, 1, argv);
	is_int(backend_local.start(rig.ctx, &spec, &e), -1, "no supervisor");
	is_int(e.kind, ERR_BUSY, "is no start now");
	ok(strstr(e.text, "/no/such/shim") != NULL, "and reports it");
	setenv("HPOTUNE_SHIM", "/bin/false", 1);
	local_rig_restart(&rig);
	spec = local_rig_spec(&rig, 2, argv);
	is_int(backend_local.start(rig.ctx, &spec, &e), 0, "a broken one");
	ok(local_rig_until(&rig, local_rig_over, 2) && !rig.trial[2].exit.ran,
	    "is an end");
	shim_script(&rig, "exit 28");
	spec = local_rig_spec(&rig, 3, argv);
	is_int(backend_local.start(rig.ctx, &spec, &e), 0, "one out of space");
	ok(local_rig_until(&rig, local_rig_over, 3) &&
		rig.trial[3].exits == 1 && rig.trial[3].exit.not_yet,
	    "states that it may begin later");
	is_str(rig.trial[3].exit.why,
	    "its supervisor could not begin: No space left on device",
	    "and gives the reason");
	setenv("HPOTUNE_SHIM", was, 1);
	free(was);
	local_rig_close(&rig);
}

/* The end of a trial on a file system that became read-only. */
static void
test_read_only(void)
{
	char *was = xstrdup(getenv("HPOTUNE_SHIM"));
	char *fails = xasprintf("%.*s/tests/torture/hpotune-shim-fail",
	    (int)(strrchr(was, '/') - was), was);
	struct local_backend rig;

	local_rig_open(&rig, NULL);
	if (access(fails, X_OK) == -1)
		skip("a read-only file system", "no programs that fail");
	else {
		setenv("HPOTUNE_SHIM", fails, 1);
		setenv("HPOTUNE_FAIL", "bug.read_only", 1);
		local_rig_restart(&rig);
		local_rig_sh(&rig, 1, "echo hpotune: a=1");
		ok(local_rig_until(&rig, local_rig_over, 1) &&
			rig.trial[1].losts == 1,
		    "an end that cannot be recorded is not waited for");
		is_str(rig.trial[1].lost,
		    "its end could not be recorded: the file system is "
		    "read-only",
		    "and the reason is reported");
		is_int(rig.trial[1].reports, 1, "its reports count");
		unsetenv("HPOTUNE_FAIL");
		setenv("HPOTUNE_SHIM", was, 1);
	}
	free(was);
	free(fails);
	local_rig_close(&rig);
}

static void
test_paths(void)
{
	struct local_backend rig;
	struct err e = ERR_INIT;
	char *argv[] = { "true", NULL };
	struct launch_spec spec;
	char path[128];

	local_rig_open(&rig, NULL);
	local_rig_sh(&rig, 1, "exit 0");
	local_rig_until(&rig, local_rig_over, 1);
	(void)snprintf(path, sizeof path, "%s/trials/2", rig.state_dir);
	if (symlink("/tmp", path) == -1)
		abort();
	spec = local_rig_spec(&rig, 2, argv);
	is_int(backend_local.start(rig.ctx, &spec, &e), -1,
	    "a link instead of a directory is refused");
	local_rig_close(&rig);
}

static void
test_unkillable(void)
{
	unsigned char sector[RECORD_SECTOR];
	struct claim c = { .kind = CLAIM_STUCK, .shim_pid = 1 };
	struct flock first_byte = {
		.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1
	};
	struct err e = ERR_INIT;
	struct local_backend rig;
	int fd;

	local_rig_open(&rig, NULL);
	local_rig_sh(&rig, 1, "exit 0");
	local_rig_until(&rig, local_rig_over, 1);
	/* As a supervisor would leave it that waits for such a process. */
	rig.trial[1].exits = 0;
	fd = open(local_rig_path(&rig, 1, "state"), O_RDWR);
	memcpy(c.uuid, local_rig_uuid(1, 1), RECORD_UUID);
	attempt_record_encode_claim(sector, &c);
	/*
	 * The supervisor holds the lock until its record of the end is on the
	 * disk.
	 */
	if (fd == -1 || fcntl(fd, F_OFD_SETLKW, &first_byte) == -1 ||
	    ftruncate(fd, 0) == -1 ||
	    pwrite(fd, sector, sizeof sector, 0) == -1)
		abort();
	is_int(local_rig_look(&rig, 1, &e), ADOPT_ALIVE, "not dead is alive");
	ok(local_rig_until(&rig, noted, 1), "a process that survives SIGKILL");
	ok(strstr(buf_str(&rig.trial[1].note), "SIGKILL") != NULL,
	    "is worth a note");
	is_int(
	    rig.trial[1].exits + rig.trial[1].losts, 0, "and keeps its place");
	close(fd);
	ok(local_rig_until(&rig, local_rig_over, 1), "until it is gone");
	local_rig_close(&rig);
}

int
main(void)
{
	test_no_shim();
	test_read_only();
	test_paths();
	test_unkillable();
	test_full_disk();
	return done_testing();
}
