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
	};

	return c;
}

static struct claim_exit
some_exit(void)
{
	struct claim_exit x = {
		.ran = true,
		.oom = true,
		.stopped = true,
		.exit_code = -1,
		.signal = 9,
		.started_us = 1,
		.ended_us = INT64_C(1767225600000000),
		.max_rss = INT64_C(1) << 40,
		.cpu_us = 12345,
		.why = "for this reason",
	};

	return x;
}

static void
test_round_trip(void)
{
	unsigned char sector[CLAIM_SECTOR];
	struct claim c = some_claim(), d;
	struct claim_exit x = some_exit(), y;

	claim_encode(sector, &c);
	is_int(claim_decode(&d, sector, UUID), CLAIM_GOOD, "a claim reads");
	ok(d.kind == c.kind && strcmp(d.uuid, UUID) == 0 &&
		strcmp(d.boot_id, c.boot_id) == 0 && d.shim_pid == c.shim_pid &&
		d.shim_start == c.shim_start && d.trial_pid == c.trial_pid &&
		d.trial_start == c.trial_start &&
		d.claimed_us == c.claimed_us && d.started_us == c.started_us &&
		strcmp(d.cgroup, c.cgroup) == 0,
	    "as it was written");
	is_int(claim_decode(&d, sector, OTHER), CLAIM_FOREIGN,
	    "another attempt's is foreign");
	is_int(claim_exit_decode(&y, sector, UUID), CLAIM_BAD,
	    "a claim is no exit");
	claim_exit_encode(sector, &x, UUID);
	is_int(
	    claim_exit_decode(&y, sector, UUID), CLAIM_GOOD, "an exit reads");
	ok(y.ran && !y.timeout && y.oom && y.stopped && !y.killed &&
		y.exit_code == -1 && y.signal == 9 && y.started_us == 1 &&
		y.ended_us == x.ended_us && y.max_rss == x.max_rss &&
		y.cpu_us == 12345 && strcmp(y.why, x.why) == 0,
	    "as it was written");
	is_int(claim_exit_decode(&y, sector, OTHER), CLAIM_FOREIGN,
	    "another attempt's is foreign");
	memset(sector, 0, sizeof sector);
	ok(claim_decode(&d, sector, UUID) == CLAIM_NONE &&
		claim_exit_decode(&y, sector, UUID) == CLAIM_NONE,
	    "zeros are no record");
}

static void
test_damage(void)
{
	unsigned char a[CLAIM_SECTOR], b[CLAIM_SECTOR];
	struct claim c = some_claim(), d;
	struct claim_exit x = some_exit(), y;
	int bit, bad = 0, cut, torn = 0;

	claim_encode(a, &c);
	claim_exit_encode(b, &x, UUID);
	for (bit = 0; bit < CLAIM_SECTOR * 8; bit++) {
		a[bit / 8] ^= (unsigned char)(1 << bit % 8);
		b[bit / 8] ^= (unsigned char)(1 << bit % 8);
		bad += claim_decode(&d, a, UUID) == CLAIM_BAD;
		bad += claim_exit_decode(&y, b, UUID) == CLAIM_BAD;
		a[bit / 8] ^= (unsigned char)(1 << bit % 8);
		b[bit / 8] ^= (unsigned char)(1 << bit % 8);
	}
	is_int(bad, 2 * CLAIM_SECTOR * 8, "no flipped bit passes");
	c.kind = CLAIM_STARTING;
	c.trial_pid = 0;
	claim_encode(b, &c);
	for (cut = 1; cut < CLAIM_SECTOR; cut++) {
		memcpy(b, a, (size_t)cut);
		if (memcmp(a, b, CLAIM_SECTOR) != 0)
			torn += claim_decode(&d, b, UUID) == CLAIM_GOOD &&
				d.kind == CLAIM_STARTED;
		claim_encode(b, &c);
	}
	is_int(torn, 0, "no mixture of two claims passes for the second");
	c.kind = (enum claim_kind)9;
	claim_encode(a, &c);
	is_int(claim_decode(&d, a, UUID), CLAIM_BAD,
	    "a kind from the future is bad");
	x.exit_code = 256;
	claim_exit_encode(a, &x, UUID);
	is_int(claim_exit_decode(&y, a, UUID), CLAIM_BAD,
	    "so is an impossible exit code");
}

static void
test_locks(void)
{
	char path[] = "/tmp/hpotune-lock-XXXXXX", c;
	int a = mkstemp(path), b = open(path, O_RDONLY), p[2], w;
	pid_t pid;

	is_int(claim_lock_held(b), 0, "a free lock is free");
	is_int(claim_lock(a), 0, "and can be taken");
	is_int(claim_lock_held(b), 1, "others see it");
	is_int(claim_lock_held(a), 0, "its holder is not in its own way");
	w = open(path, O_RDWR);
	ok(claim_lock(w) == -1 && errno == EAGAIN, "it is not taken twice");
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
	is_int(claim_lock_held(b), 1, "a child keeps what it inherited");
	close(p[1]);
	(void)waitpid(pid, NULL, 0);
	is_int(claim_lock_held(b), 0, "its end frees it");
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
		enum truth is;
		const char *what;
	} rows[] = {
		{ 0, 0, 0, 0, TRUTH_NEVER, "no claim, no lock: never" },
		{ 0, 0, 1, 0, TRUTH_STARTING, "no claim, a lock: starting" },
		{ 1, 0, 1, 2, TRUTH_RUNNING, "claim and lock: running" },
		{ 1, 1, 0, 0, TRUTH_FINISHED, "both records: finished" },
		{ 1, 1, 1, 2, TRUTH_ENDING, "both, and a lock: ending" },
		{ 1, 0, 0, 1, TRUTH_REMAINS, "claim, trial's lock: remains" },
		{ 1, 1, 0, 1, TRUTH_REMAINS, "so with an end: remains" },
		{ 1, 0, 0, 0, TRUTH_LOST, "claim alone: lost" },
	};
	struct evidence ev;
	size_t i;
	int t;

	for (i = 0; i < sizeof rows / sizeof rows[0]; i++)
		for (t = 0; t < 2; t++) {
			if (rows[i].trial != 2 && rows[i].trial != t)
				continue;
			ev = (struct evidence){ 0 };
			ev.has_claim = rows[i].claim;
			ev.claim.kind = CLAIM_STARTED;
			ev.has_exit = rows[i].exit;
			ev.shim_lock = rows[i].shim;
			ev.trial_lock = t;
			is_int(truth_of(&ev), rows[i].is, rows[i].what);
		}
	ev = (struct evidence){ .has_claim = true };
	ev.claim.kind = CLAIM_ABANDONED;
	is_int(truth_of(&ev), TRUTH_ABANDONED, "a ruling is a ruling");
}

/* Put one sector of bytes into dir/state. */
static void
state_put(const char *dir, off_t at, const unsigned char *sector)
{
	char path[64];
	int fd;

	(void)snprintf(path, sizeof path, "%s/state", dir);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	if (pwrite(fd, sector, CLAIM_SECTOR, at) != CLAIM_SECTOR)
		abort();
	close(fd);
}

static void
test_reading(void)
{
	char dir[] = "/tmp/hpotune-claim-XXXXXX", path[64];
	unsigned char sector[CLAIM_SECTOR] = { 0 };
	struct claim c = some_claim();
	struct claim_exit x = some_exit();
	struct err e = ERR_INIT;
	struct evidence ev;

	is_int(truth_read(&ev, "/no/such/place", UUID, &e), TRUTH_NEVER,
	    "no directory: never");
	if (mkdtemp(dir) == NULL)
		abort();
	is_int(truth_read(&ev, dir, UUID, &e), TRUTH_NEVER,
	    "an empty directory: never");
	claim_exit_encode(sector, &x, UUID);
	state_put(dir, CLAIM_SECTOR, sector);
	is_int(truth_read(&ev, dir, UUID, &e), TRUTH_UNKNOWN,
	    "an end without a claim: unknown");
	claim_encode(sector, &c);
	state_put(dir, 0, sector);
	is_int(truth_read(&ev, dir, UUID, &e), TRUTH_FINISHED,
	    "with its claim: finished");
	is_int(truth_read(&ev, dir, OTHER, &e), TRUTH_FOREIGN,
	    "another's: foreign");
	is_str(ev.claim.uuid, UUID, "and says whose");
	sector[100] ^= 1;
	state_put(dir, 0, sector);
	is_int(truth_read(&ev, dir, UUID, &e), TRUTH_UNKNOWN,
	    "a damaged one: unknown");
	ok(strstr(e.text, "damaged") != NULL && strstr(e.text, dir) != NULL,
	    "and says which");
	(void)snprintf(path, sizeof path, "%s/state", dir);
	unlink(path);
	if (symlink("/dev/null", path) == -1)
		abort();
	is_int(truth_read(&ev, dir, UUID, &e), TRUTH_UNKNOWN,
	    "a link is not followed");
	unlink(path);
	if (mkfifo(path, 0600) == -1)
		abort();
	is_int(truth_read(&ev, dir, UUID, &e), TRUTH_UNKNOWN,
	    "a pipe is not waited for");
	ok(strstr(e.text, "not a regular file") != NULL, "and is told");
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
