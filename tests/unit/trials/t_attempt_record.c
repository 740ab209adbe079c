/* Records, locks and the truth table. */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/err.h"
#include "tests/support/tap.h"
#include "trials/process/attempt-record.h"
#include "trials/process/attempt-status.h"
#include "trials/process/proc.h"

#define UUID "01234567-89ab-4def-8123-456789abcdef"
#define OTHER "01234567-89ab-4def-8123-456789abcdee"

static struct claim
some_claim(void)
{
	struct claim c = {
		.kind = CLAIM_STARTED,
		.uuid = UUID,
		.boot_id = "f6ad3e2e-38cc-4f2c-8f63-61a4e7ce0df8",
		.shim_pid = 4194303,
		.shim_start = INT64_C(123456789012),
		.trial_pid = 17,
		.trial_start = INT64_MAX,
		.claimed_us = INT64_C(1767225600000000),
		.started_us = INT64_C(1767225600000001),
		.cgroup = "/sys/fs/cgroup/x",
		.trial = INT64_C(1) << 40,
	};

	return c;
}

static struct attempt_exit
some_exit(void)
{
	struct attempt_exit x = {
		.ran = true,
		.oom = true,
		.stopped = true,
		.unsynced = true,
		.preempted = true,
		.exit_code = -1,
		.signal = 9,
		.started_us = 1,
		.ended_us = INT64_C(1767225600000000),
		.max_rss = INT64_C(1) << 40,
		.cpu_us = 12345,
		.why = "for this reason",
		.log_size = INT64_C(1) << 33,
		.metrics_size = 7,
	};

	return x;
}

static void
test_round_trip(void)
{
	unsigned char sector[RECORD_SECTOR];
	struct claim c = some_claim(), d;
	struct attempt_exit x = some_exit(), y;

	attempt_record_encode_claim(sector, &c);
	is_int(attempt_record_decode_claim(&d, sector, UUID), RECORD_GOOD,
	    "a claim reads");
	ok(d.kind == c.kind && strcmp(d.uuid, UUID) == 0 &&
		strcmp(d.boot_id, c.boot_id) == 0 && d.shim_pid == c.shim_pid &&
		d.shim_start == c.shim_start && d.trial_pid == c.trial_pid &&
		d.trial_start == c.trial_start &&
		d.claimed_us == c.claimed_us && d.started_us == c.started_us &&
		strcmp(d.cgroup, c.cgroup) == 0 && d.trial == c.trial,
	    "as it was written");
	is_int(attempt_record_decode_claim(&d, sector, OTHER), RECORD_FOREIGN,
	    "another attempt's is foreign");
	is_int(attempt_record_decode_exit(&y, sector, UUID), RECORD_BAD,
	    "a claim is no exit");
	attempt_record_encode_exit(sector, &x, UUID);
	is_int(attempt_record_decode_exit(&y, sector, UUID), RECORD_GOOD,
	    "an exit reads");
	ok(y.ran && !y.timeout && y.oom && y.stopped && !y.killed &&
		y.unsynced && y.preempted && y.exit_code == -1 &&
		y.signal == 9 && y.started_us == 1 &&
		y.ended_us == x.ended_us && y.max_rss == x.max_rss &&
		y.cpu_us == 12345 && strcmp(y.why, x.why) == 0 &&
		y.log_size == x.log_size && y.metrics_size == 7,
	    "as it was written");
	is_int(attempt_record_decode_exit(&y, sector, OTHER), RECORD_FOREIGN,
	    "another attempt's is foreign");
	memset(sector, 0, sizeof sector);
	ok(attempt_record_decode_claim(&d, sector, UUID) == RECORD_NONE &&
		attempt_record_decode_exit(&y, sector, UUID) == RECORD_NONE,
	    "zeros are no record");
}

static void
test_damage(void)
{
	unsigned char a[RECORD_SECTOR], b[RECORD_SECTOR];
	struct claim c = some_claim(), d;
	struct attempt_exit x = some_exit(), y;
	int bit, bad = 0, cut, torn = 0;

	attempt_record_encode_claim(a, &c);
	attempt_record_encode_exit(b, &x, UUID);
	for (bit = 0; bit < RECORD_SECTOR * 8; bit++) {
		a[bit / 8] ^= (unsigned char)(1 << bit % 8);
		b[bit / 8] ^= (unsigned char)(1 << bit % 8);
		bad += attempt_record_decode_claim(&d, a, UUID) == RECORD_BAD;
		bad += attempt_record_decode_exit(&y, b, UUID) == RECORD_BAD;
		a[bit / 8] ^= (unsigned char)(1 << bit % 8);
		b[bit / 8] ^= (unsigned char)(1 << bit % 8);
	}
	is_int(bad, 2 * RECORD_SECTOR * 8, "no flipped bit passes");
	c.kind = CLAIM_STARTING;
	c.trial_pid = 0;
	attempt_record_encode_claim(b, &c);
	for (cut = 1; cut < RECORD_SECTOR; cut++) {
		memcpy(b, a, (size_t)cut);
		if (memcmp(a, b, RECORD_SECTOR) != 0)
			torn += attempt_record_decode_claim(&d, b, UUID) ==
				    RECORD_GOOD &&
				d.kind == CLAIM_STARTED;
		attempt_record_encode_claim(b, &c);
	}
	is_int(torn, 0, "no mixture of two claims passes for the second");
	c.kind = (enum claim_kind)9;
	attempt_record_encode_claim(a, &c);
	is_int(attempt_record_decode_claim(&d, a, UUID), RECORD_BAD,
	    "a kind from the future is bad");
	x.log_size = -1;
	attempt_record_encode_exit(a, &x, UUID);
	is_int(attempt_record_decode_exit(&y, a, UUID), RECORD_BAD,
	    "a record with a size below zero is bad");
	x = some_exit();
	x.exit_code = 256;
	attempt_record_encode_exit(a, &x, UUID);
	is_int(attempt_record_decode_exit(&y, a, UUID), RECORD_BAD,
	    "a record with an impossible exit code is bad");
}

static void
test_locks(void)
{
	char path[] = "/tmp/hpotune-lock-XXXXXX", c;
	int a = mkstemp(path), b = open(path, O_RDONLY), p[2], w;
	pid_t pid;

	is_int(attempt_record_locked(b), 0, "a free lock is free");
	is_int(attempt_record_lock(a), 0, "and can be taken");
	is_int(attempt_record_locked(b), 1, "others see it");
	is_int(attempt_record_locked(a), 0, "its holder is not in its own way");
	w = open(path, O_RDWR);
	ok(attempt_record_lock(w) == -1 && errno == EAGAIN,
	    "it is not taken twice");
	if (pipe(p) == -1)
		abort();
	pid = fork();
	if (pid == 0) {
		close(p[1]);
		if (read(p[0], &c, 1) == -1)
			_exit(1);
		_exit(0);
	}
	close(a);
	is_int(attempt_record_locked(b), 1, "a child keeps what it inherited");
	close(p[1]);
	(void)waitpid(pid, NULL, 0);
	is_int(attempt_record_locked(b), 0, "its end frees it");
	close(p[0]);
	close(b);
	close(w);
	unlink(path);
}

static void
test_table(void)
{
	static const struct {
		int claim, exit, shim, trial; /* 2: either */
		enum attempt_status is;
		const char *what;
	} rows[] = {
		{ 0, 0, 0, 0, ATTEMPT_NEVER, "no claim, no lock: never" },
		{ 0, 0, 1, 0, ATTEMPT_STARTING, "no claim, a lock: starting" },
		{ 1, 0, 1, 2, ATTEMPT_RUNNING, "claim and lock: running" },
		{ 1, 1, 0, 0, ATTEMPT_FINISHED, "both records: finished" },
		{ 1, 1, 1, 2, ATTEMPT_ENDING, "both, and a lock: ending" },
		{ 1, 0, 0, 1, ATTEMPT_REMAINS, "claim, trial's lock: remains" },
		{ 1, 1, 0, 1, ATTEMPT_REMAINS, "so with an end: remains" },
		{ 1, 0, 0, 0, ATTEMPT_LOST, "claim alone: lost" },
	};
	struct attempt_evidence ev;
	size_t i;
	int t;

	for (i = 0; i < sizeof rows / sizeof rows[0]; i++)
		for (t = 0; t < 2; t++) {
			if (rows[i].trial != 2 && rows[i].trial != t)
				continue;
			ev = (struct attempt_evidence){ 0 };
			ev.has_claim = rows[i].claim;
			ev.claim.kind = CLAIM_STARTED;
			ev.has_exit = rows[i].exit;
			ev.shim_lock = rows[i].shim;
			ev.trial_lock = t;
			is_int(
			    attempt_status_of(&ev), rows[i].is, rows[i].what);
		}
	ev = (struct attempt_evidence){
		.has_claim = true, .has_exit = true, .shim_lock = true
	};
	ev.claim.kind = CLAIM_STARTED;
	ev.exit.unsynced = true;
	is_int(attempt_status_of(&ev), ATTEMPT_FINISHED,
	    "an end that is announced: finished");
	ev.trial_lock = true;
	is_int(attempt_status_of(&ev), ATTEMPT_ENDING,
	    "unless something of the trial is left: ending");
	ev = (struct attempt_evidence){ .has_claim = true };
	ev.claim.kind = CLAIM_ABANDONED;
	is_int(
	    attempt_status_of(&ev), ATTEMPT_ABANDONED, "a ruling is a ruling");
}

/* Put one sector of bytes into dir/state. */
static void
state_put(const char *dir, off_t at, const unsigned char *sector)
{
	char path[64];
	int fd;

	(void)snprintf(path, sizeof path, "%s/state", dir);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	if (pwrite(fd, sector, RECORD_SECTOR, at) != RECORD_SECTOR)
		abort();
	close(fd);
}

static void
test_reading(void)
{
	char dir[] = "/tmp/hpotune-claim-XXXXXX", path[64];
	unsigned char sector[RECORD_SECTOR] = { 0 };
	struct claim c = some_claim();
	struct attempt_exit x = some_exit();
	struct err e = ERR_INIT;
	struct attempt_evidence ev;

	is_int(attempt_status_read(&ev, "/no/such/place", UUID, &e),
	    ATTEMPT_NEVER, "no directory: never");
	if (mkdtemp(dir) == NULL)
		abort();
	is_int(attempt_status_read(&ev, dir, UUID, &e), ATTEMPT_NEVER,
	    "an empty directory: never");
	x.unsynced = false;
	attempt_record_encode_exit(sector, &x, UUID);
	state_put(dir, RECORD_SECTOR, sector);
	is_int(attempt_status_read(&ev, dir, UUID, &e), ATTEMPT_UNKNOWN,
	    "an end without a claim: unknown");
	attempt_record_encode_claim(sector, &c);
	state_put(dir, 0, sector);
	is_int(attempt_status_read(&ev, dir, UUID, &e), ATTEMPT_FINISHED,
	    "with its claim: finished");
	x.unsynced = true;
	attempt_record_encode_exit(sector, &x, UUID);
	state_put(dir, RECORD_SECTOR, sector);
	is_int(attempt_status_read(&ev, dir, UUID, &e), ATTEMPT_LOST,
	    "the machine went down before the output was on the disk: lost");
	proc_boot_id(c.boot_id);
	attempt_record_encode_claim(sector, &c);
	state_put(dir, 0, sector);
	is_int(attempt_status_read(&ev, dir, UUID, &e), ATTEMPT_FINISHED,
	    "it did not: finished");
	is_int(attempt_status_read(&ev, dir, OTHER, &e), ATTEMPT_FOREIGN,
	    "another's: foreign");
	is_str(ev.claim.uuid, UUID, "and names the owner");
	sector[100] ^= 1;
	state_put(dir, 0, sector);
	is_int(attempt_status_read(&ev, dir, UUID, &e), ATTEMPT_UNKNOWN,
	    "a damaged one: unknown");
	ok(strstr(e.text, "damaged") != NULL && strstr(e.text, dir) != NULL,
	    "and names it");
	(void)snprintf(path, sizeof path, "%s/state", dir);
	unlink(path);
	if (symlink("/dev/null", path) == -1)
		abort();
	is_int(attempt_status_read(&ev, dir, UUID, &e), ATTEMPT_UNKNOWN,
	    "a link is not followed");
	unlink(path);
	if (mkfifo(path, 0600) == -1)
		abort();
	is_int(attempt_status_read(&ev, dir, UUID, &e), ATTEMPT_UNKNOWN,
	    "a pipe is not waited for");
	ok(strstr(e.text, "not a regular file") != NULL, "and is reported");
	unlink(path);
	rmdir(dir);
}

int
main(void)
{
	test_round_trip();
	test_damage();
	test_locks();
	test_table();
	test_reading();
	return done_testing();
}
