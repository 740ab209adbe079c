/*
 * After the death of a server: a second backend meets every row of the truth
 * table, and nothing runs twice.
 */

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/local-backend.h"
#include "tests/support/tap.h"
#include "trials/process/attempt-record.h"
#include "trials/local/local-internal.h"

/* The claim as it stands on the disk. */
static struct claim
claim_of(struct local_backend *rig, int64_t trial)
{
	struct attempt_exit x;
	struct claim c = { 0 };
	enum record_check a, b;
	int fd = open(local_rig_path(rig, trial, "state"), O_RDONLY);

	if (fd == -1 ||
	    attempt_record_read(
		fd, local_rig_uuid(trial, rig->attempt), &c, &a, &x, &b) == -1)
		abort();
	close(fd);
	return c;
}

/* kill -9 to the supervisor, and wait until it is dead. */
static void
shim_kill(struct local_backend *rig, int64_t trial)
{
	pid_t pid = (pid_t)claim_of(rig, trial).shim_pid;

	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
}

/* Take the lock of an attempt that nobody began, as a supervisor does. */
static int
state_hold(struct local_backend *rig, int64_t trial)
{
	char path[512];
	int fd;

	(void)snprintf(
	    path, sizeof path, "mkdir -p %s", local_rig_path(rig, trial, ""));
	if (system(path) != 0)
		abort();
	fd = open(local_rig_path(rig, trial, "state"),
	    O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd == -1 || attempt_record_lock(fd) == -1)
		abort();
	return fd;
}

static void
records_put(int fd, int64_t trial, bool with_exit)
{
	unsigned char sector[RECORD_SECTOR];
	struct claim c = { .kind = CLAIM_STARTED, .shim_pid = 1 };
	struct attempt_exit x = { .ran = true, .exit_code = 11 };

	memcpy(c.uuid, local_rig_uuid(trial, 1), RECORD_UUID);
	attempt_record_encode_claim(sector, &c);
	if (pwrite(fd, sector, sizeof sector, 0) == -1)
		abort();
	attempt_record_encode_exit(sector, &x, c.uuid);
	if (with_exit && pwrite(fd, sector, sizeof sector, RECORD_SECTOR) == -1)
		abort();
}

static void
test_running(void)
{
	struct local_backend rig;
	struct local_rig_trial *t = &rig.trial[1];
	struct err e = ERR_INIT;

	local_rig_open(&rig, NULL);
	is_int(
	    local_rig_look(&rig, 1, &e), ADOPT_NEVER, "nothing there: never");
	local_rig_sh(&rig, 1,
	    "echo hpotune: step=1 a=1; while ! test -f go; do sleep 0.01; "
	    "done; echo hpotune: step=2 a=2; exit 6");
	local_rig_until(&rig, local_rig_reported, 1);
	local_rig_restart(&rig);
	is_int(
	    local_rig_look(&rig, 1, &e), ADOPT_ALIVE, "it outlived the server");
	is_int(
	    local_rig_look(&rig, 1, &e), ADOPT_ALIVE, "asked twice, the same");
	t->ups = 0;
	ok(local_rig_until(&rig, local_rig_is_up, 1), "it is up again");
	close(open(local_rig_path(&rig, 1, "../../../../go"), O_CREAT, 0600));
	ok(local_rig_until(&rig, local_rig_over, 1), "its end is read");
	is_int(t->exit.exit_code, 6, "the exit status is that of the trial");
	is_int(t->reports, 2, "no report twice, none lost");
	rig.attempt = 1;

	local_rig_sh(&rig, 2,
	    "trap 'exit 8' TERM; echo hpotune: a=1\n"
	    "while :; do sleep 0.01; done");
	local_rig_until(&rig, local_rig_reported, 2);
	local_rig_restart(&rig);
	is_int(local_rig_look(&rig, 2, &e), ADOPT_ALIVE,
	    "a second attempt is alive after a restart");
	backend_local.stop(rig.ctx, 2, 1, false);
	ok(local_rig_until(&rig, local_rig_over, 2),
	    "an adopted trial can be stopped");
	is_int(rig.trial[2].exit.exit_code, 8,
	    "an adopted trial gets SIGTERM first");
	local_rig_close(&rig);
}

static void
test_ended(void)
{
	struct local_backend rig;
	struct local_rig_trial *t = &rig.trial[1];
	struct err e = ERR_INIT;
	char path[128];

	local_rig_open(&rig, NULL);
	local_rig_sh(&rig, 1,
	    "echo hpotune: step=1 a=1; while ! test -f go; do sleep 0.01; "
	    "done; echo hpotune: step=2 a=2; echo >gone; exit 3");
	local_rig_until(&rig, local_rig_reported, 1);
	backend_local.close(rig.ctx);
	(void)snprintf(path, sizeof path, "%s/go", rig.dir);
	close(open(path, O_CREAT, 0600));
	(void)waitpid((pid_t)claim_of(&rig, 1).shim_pid, NULL, 0);
	if (local_rig_backend_open(&rig, &e) == -1)
		abort();
	is_int(local_rig_look(&rig, 1, &e), ADOPT_ENDED,
	    "an attempt that ended without a server");
	ok(local_rig_until(&rig, local_rig_over, 1), "its end is delivered");
	ok(t->exits == 1 && t->exit.exit_code == 3, "once, as it was");
	is_int(t->reports, 2, "with the report that was not read");
	is_str(t->last, "a 2 2", "which is the second");
	local_rig_close(&rig);
}

static void
test_lost(void)
{
	struct local_backend rig;
	struct local_rig_trial *t = rig.trial;
	struct err e = ERR_INIT;
	int fd;

	local_rig_open(&rig, NULL);
	local_rig_sh(&rig, 1, "echo hpotune: a=1; sleep 1000");
	local_rig_until(&rig, local_rig_reported, 1);
	shim_kill(&rig, 1);
	ok(local_rig_until(&rig, local_rig_over, 1),
	    "a supervisor killed is noticed");
	ok(t[1].losts == 1 && t[1].exits == 0, "the trial is lost");
	is_int(local_rig_alive(1, 1), 0,
	    "the processes of the lost trial are gone");

	local_rig_sh(&rig, 2, "echo hpotune: a=1; exec sleep 1000");
	local_rig_until(&rig, local_rig_reported, 2);
	local_rig_restart(&rig);
	shim_kill(&rig, 2);
	while (local_rig_alive(2, 1) > 0)
		(void)poll(NULL, 0, 5);
	is_int(local_rig_look(&rig, 2, &e), ADOPT_LOST,
	    "a supervisor killed without a server: the attempt is lost");
	ok(local_rig_until(&rig, local_rig_over, 2) && t[2].losts == 1,
	    "it is reported");
	is_int(t[2].reports, 1, "its reports are not reported again");

	local_rig_sh(&rig, 3,
	    "setsid sh -c 'trap \"\" TERM; while :; do sleep 1; done' & \n"
	    "echo hpotune: a=1; sleep 1000");
	local_rig_until(&rig, local_rig_reported, 3);
	backend_local.close(rig.ctx);
	shim_kill(&rig, 3);
	if (local_rig_backend_open(&rig, &e) == -1)
		abort();
	ok(local_rig_alive(3, 1) > 0, "a daemon survives its supervisor");
	fd = open(local_rig_path(&rig, 3, "trial.lock"), O_RDONLY);
	is_int(attempt_record_locked(fd), 1, "and holds the trial's lock");
	close(fd);
	is_int(local_rig_look(&rig, 3, &e), ADOPT_LOST, "the trial is lost");
	ok(local_rig_until(&rig, local_rig_over, 3) && t[3].losts == 1,
	    "it is reported");
	is_int(local_rig_alive(3, 1), 0, "once nothing is left");

	local_rig_sh(&rig, 4,
	    "exec bash -c \"exec 100>&-; "
	    "setsid sh -c 'while :; do sleep 1; done' & "
	    "echo hpotune: a=1; sleep 1000\"");
	local_rig_until(&rig, local_rig_reported, 4);
	shim_kill(&rig, 4);
	ok(local_rig_until(&rig, local_rig_over, 4) && t[4].losts == 1,
	    "one that let go of its lock is lost too");
	while (local_rig_alive(4, 1) > 0)
		(void)poll(NULL, 0, 5);
	ok(true, "and its stray is found by its mark");
	local_rig_close(&rig);
}

static void
test_between(void)
{
	struct local_backend rig;
	struct local_rig_trial *t = rig.trial;
	struct err e = ERR_INIT;
	char *argv[] = { "true", NULL };
	struct launch_spec spec;
	int fd;

	local_rig_open(&rig, NULL);
	fd = state_hold(&rig, 1);
	is_int(
	    local_rig_look(&rig, 1, &e), ADOPT_ALIVE, "a lock alone: starting");
	spec = local_rig_spec(&rig, 1, argv);
	is_int(backend_local.abandon(rig.ctx, &spec, &e), -1,
	    "what starts cannot be abandoned");
	is_int(e.kind, ERR_BUSY, "now");
	close(fd);
	ok(local_rig_until(&rig, local_rig_over, 1) && t[1].losts == 1,
	    "it lets go without a claim: lost");
	is_int(local_rig_sh(&rig, 1, "echo >ran"), 0, "a late supervisor");
	t[1].losts = 0;
	ok(local_rig_until(&rig, local_rig_over, 1) && t[1].ups == 0,
	    "cannot start it any more");

	fd = state_hold(&rig, 2);
	records_put(fd, 2, true);
	is_int(local_rig_look(&rig, 2, &e), ADOPT_ALIVE,
	    "an end, its supervisor still there: alive");
	close(fd);
	ok(local_rig_until(&rig, local_rig_over, 2) &&
		t[2].exit.exit_code == 11,
	    "then its end");

	fd = state_hold(&rig, 3);
	records_put(fd, 3, true);
	if (pwrite(fd, "x", 1, 20) == -1)
		abort();
	close(fd);
	is_int(local_rig_look(&rig, 3, &e), ADOPT_UNKNOWN, "damage: unknown");
	ok(strstr(e.text, "damaged") != NULL, "the error says: damaged");

	fd = state_hold(&rig, 4);
	records_put(fd, 4, false);
	close(fd);
	is_int(local_rig_look(&rig, 4, &e), ADOPT_LOST, "after a reboot: lost");
	ok(local_rig_until(&rig, local_rig_over, 4) && t[4].losts == 1,
	    "an attempt before a reboot is reported as lost");

	spec = local_rig_spec(&rig, 5, argv);
	(void)close(state_hold(&rig, 5));
	is_int(backend_local.abandon(rig.ctx, &spec, &e), 0, "abandon");
	is_int(backend_local.abandon(rig.ctx, &spec, &e), 0, "twice");
	is_int(local_rig_look(&rig, 5, &e), ADOPT_LOST,
	    "an abandoned attempt stays lost");
	local_rig_until(&rig, local_rig_over, 5);

	fd = state_hold(&rig, 6);
	records_put(fd, 7, false);
	is_int(local_rig_look(&rig, 6, &e), ADOPT_UNKNOWN,
	    "a directory with another run in progress: unknown");
	ok(strstr(e.text, "another run") != NULL,
	    "the error names the other run");
	records_put(fd, 7, true);
	close(fd);
	is_int(local_rig_look(&rig, 6, &e), ADOPT_NEVER, "it is over: never");
	local_rig_sh(&rig, 6, "exit 0");
	ok(local_rig_until(&rig, local_rig_over, 6) && t[6].losts == 1 &&
		t[6].exits == 0,
	    "a directory of another run is left alone");
	spec = local_rig_spec(&rig, 6, argv);
	is_int(backend_local.abandon(rig.ctx, &spec, &e), 0,
	    "to give it up needs nothing");
	local_rig_close(&rig);
}

static void
test_race(void)
{
	struct local_backend a, b;
	struct local_rig_trial *t;
	char path[128], *text, *own;
	int64_t i;
	int twice = 0, heard = 0;

	local_rig_open(&a, NULL);
	local_rig_open(&b, NULL);
	own = b.state_dir;
	b.state_dir = a.state_dir;
	b.settings.workdir = a.dir;
	for (i = 1; i <= 20; i++) {
		local_rig_sh(&a, i, "echo $HPOTUNE_ATTEMPT_UUID >>ledger");
		local_rig_sh(&b, i, "echo $HPOTUNE_ATTEMPT_UUID >>ledger");
	}
	for (i = 1; i <= 20; i++) {
		local_rig_until(&a, local_rig_over, i);
		local_rig_until(&b, local_rig_over, i);
		t = &a.trial[i];
		heard += t->exits == 1 && t->exit.exit_code == 0;
		t = &b.trial[i];
		heard += t->exits == 1 && t->exit.exit_code == 0;
	}
	is_int(heard, 40, "the ends of trials of two supervisors arrive");
	(void)snprintf(path, sizeof path, "%s/ledger", a.dir);
	text = local_rig_text(path);
	for (i = 0; text[i] != '\0'; i++)
		twice += text[i] == '\n';
	is_int(twice, 20, "and each ran once");
	free(text);
	b.state_dir = own;
	local_rig_close(&b);
	local_rig_close(&a);
}

int
main(void)
{
	test_running();
	test_ended();
	test_lost();
	test_between();
	test_race();
	return done_testing();
}
