/* Control groups: as plain directories, and real ones where permitted. */

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/local-backend.h"
#include "tests/support/tap.h"
#include "trials/process/cgroup.h"
#include "trials/process/attempt-record.h"
#include "trials/local/local-internal.h"

static void
file_put(const char *dir, const char *name, const char *text)
{
	char path[128];
	int fd;

	(void)snprintf(path, sizeof path, "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd == -1 || write(fd, text, strlen(text)) == -1)
		abort();
	close(fd);
}

static const char *
file_get(const char *dir, const char *name)
{
	static char text[4096];
	char path[128];
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof path, "%s/%s", dir, name);
	fd = open(path, O_RDONLY);
	n = fd == -1 ? 0 : read(fd, text, sizeof text - 1);
	text[n > 0 ? n : 0] = '\0';
	if (fd != -1)
		close(fd);
	return text;
}

static void
test_files(void)
{
	static const char *const names[] = { "cgroup.procs", "cgroup.kill",
		"memory.max", "memory.oom.group", "memory.events", "pids.max" };
	char dir[] = "/tmp/hpotune-cgroup-XXXXXX", base[64], path[128];
	size_t i;

	if (mkdtemp(dir) == NULL)
		abort();
	setenv("HPOTUNE_CGROUP", dir, 1);
	ok(cgroup_find(base, sizeof base) && strcmp(base, dir) == 0,
	    "a given directory is the base");
	setenv("HPOTUNE_CGROUP", "/no/such/group", 1);
	ok(!cgroup_find(base, sizeof base), "a missing one is none");
	unsetenv("HPOTUNE_CGROUP");
	is_int(cgroup_enter(dir, 0), -1, "no group without its files");
	is_int(cgroup_kill(dir), -1, "none to kill in");
	ok(!cgroup_oom(dir), "nothing ran out of memory");
	for (i = 0; i < 6; i++)
		file_put(dir, names[i], "");
	is_int(cgroup_make(dir, 123456789), 0, "a group is made");
	is_str(file_get(dir, "memory.max"), "123456789", "with its limit");
	is_str(file_get(dir, "memory.oom.group"), "1", "all die or none");
	is_int(cgroup_enter(dir, 0), 0, "entered");
	is_str(file_get(dir, "cgroup.procs"), "0", "by ourselves");
	is_int(cgroup_kill(dir), 0, "killed");
	is_str(file_get(dir, "cgroup.kill"), "1", "whole");
	file_put(dir, "memory.events",
	    "low 0\nhigh 3\nmax 7\noom 2\noom_kill 0\noom_group_kill 0\n");
	ok(!cgroup_oom(dir), "pressure is no kill");
	file_put(dir, "memory.events", "oom 2\noom_kill 1\noom_group_kill 0\n");
	ok(cgroup_oom(dir), "a kill is one");
	file_put(dir, "memory.events", "oom_kill 0\noom_group_kill 1\n");
	ok(cgroup_oom(dir),
	    "a kill of the whole group counts as out of memory");
	for (i = 0; i < 6; i++) {
		(void)snprintf(path, sizeof path, "%s/%s", dir, names[i]);
		unlink(path);
	}
	cgroup_remove(dir);
	ok(access(dir, F_OK) == -1, "it is removed");
}

/* A hierarchy of our own, which goes with us. */
static bool
group_mount(const char *dir)
{
	return unshare(CLONE_NEWNS) == 0 &&
	       mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount("none", dir, "cgroup2", 0, NULL) == 0;
}

/* A supervisor was killed before it could remove the group, or claim. */
static void
test_left(void)
{
	char dir[] = "/tmp/hpotune-cgroup-XXXXXX", path[192];
	char *argv[] = { "true", NULL }, *was;
	struct launch_spec spec;
	struct err e = ERR_INIT;
	struct local_backend rig;

	if (mkdtemp(dir) == NULL)
		abort();
	setenv("HPOTUNE_CGROUP", dir, 1);
	local_rig_open(&rig, NULL);
	was = xstrdup(getenv("HPOTUNE_SHIM"));
	setenv("HPOTUNE_SHIM", "/bin/false", 1);
	local_rig_restart(&rig);
	(void)snprintf(
	    path, sizeof path, "%s/hpotune-%s", dir, local_rig_uuid(1, 1));
	(void)mkdir(path, 0755);
	spec = local_rig_spec(&rig, 1, argv);
	is_int(backend_local.start(rig.ctx, &spec, &e), 0, "one that ends");
	ok(local_rig_until(&rig, local_rig_over, 1), "before its claim");
	ok(access(path, F_OK) == -1, "leaves no group");
	(void)snprintf(
	    path, sizeof path, "%s/hpotune-%s", dir, local_rig_uuid(2, 1));
	(void)mkdir(path, 0755);
	spec = local_rig_spec(&rig, 2, argv);
	is_int(backend_local.abandon(rig.ctx, &spec, &e), 0,
	    "an abandoned attempt may have a group");
	ok(access(path, F_OK) == -1,
	    "the group of an abandoned attempt is removed");
	setenv("HPOTUNE_SHIM", was, 1);
	free(was);
	local_rig_close(&rig);
	unsetenv("HPOTUNE_CGROUP");
	rmdir(dir);
}

static void
test_real(void)
{
	char dir[] = "/tmp/hpotune-cgroup-XXXXXX", base[64], path[192];
	struct attempt_exit x;
	struct claim c;
	enum record_check a, b;
	struct local_backend rig;
	int fd;

	if (mkdtemp(dir) == NULL)
		abort();
	(void)snprintf(base, sizeof base, "%s/hpotune-%d", dir, (int)getpid());
	if (!group_mount(dir) || mkdir(base, 0755) == -1) {
		skip("trials in groups", "cannot mount cgroup2 here");
		rmdir(dir);
		return;
	}
	setenv("HPOTUNE_CGROUP", base, 1);
	local_rig_open(&rig, NULL);
	local_rig_sh(&rig, 1,
	    "cat /proc/self/cgroup >group\n"
	    "setsid sh -c 'trap \"\" TERM; sleep 1000' &\n"
	    "echo hpotune: a=1");
	ok(local_rig_until(&rig, local_rig_over, 1), "a trial in a group");
	ok(strstr(file_get(rig.dir, "group"), local_rig_uuid(1, 1)) != NULL,
	    "it is in one of its own");
	is_int(local_rig_left(1, 1), 0, "nothing of it is left");
	(void)snprintf(
	    path, sizeof path, "%s/hpotune-%s", base, local_rig_uuid(1, 1));
	ok(access(path, F_OK) == -1, "the group is removed");

	/* No lock, no mark: only the group knows this one. */
	local_rig_sh(&rig, 2,
	    "exec bash -c \"exec 100>&-; echo hpotune: a=1; "
	    "env -i setsid sh -c 'while :; do /bin/sleep 0.05; done' & "
	    "/bin/sleep 1000\"");
	local_rig_until(&rig, local_rig_reported, 2);
	fd = open(local_rig_path(&rig, 2, "state"), O_RDONLY);
	if (attempt_record_read(fd, local_rig_uuid(2, 1), &c, &a, &x, &b) == -1)
		abort();
	close(fd);
	(void)kill((pid_t)c.shim_pid, SIGKILL);
	ok(local_rig_until(&rig, local_rig_over, 2) && rig.trial[2].losts == 1,
	    "one whose supervisor died is lost");
	ok(access(c.cgroup, F_OK) == -1, "after all in its group are gone");
	local_rig_close(&rig);
	unsetenv("HPOTUNE_CGROUP");
	rmdir(base);
	(void)umount(dir);
	rmdir(dir);
}

int
main(void)
{
	test_files();
	test_left();
	test_real();
	return done_testing();
}
