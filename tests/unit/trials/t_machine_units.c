/* Units of a machine that processes share: gaps, races, and who keeps them. */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/err.h"
#include "tests/support/tap.h"
#include "trials/process/machine-units.h"

static char dir[] = "/tmp/t_machine_units.XXXXXX";
static struct machine_range ranges[] = { { 2, 3 }, { 8, 1 }, { 10, 4 } };
static const struct machine_units units = { "cores", ranges, 3, 8 };

static int
take(int64_t n, struct err *e)
{
	*e = (struct err)ERR_INIT;
	return machine_units_take(&units, n, e);
}

static void
check_gaps(void)
{
	struct err e;
	int a, b, c, d;

	is_int(machine_units_left(&units), 8, "all are free at first");
	a = take(4, &e);
	b = take(2, &e);
	c = take(1, &e);
	is_int(machine_units_left(&units), 1, "four, two and one are taken");
	ok(take(2, &e) == -1 && e.kind == ERR_BUSY, "two are too many: %s",
	    e.text);
	is_int(machine_units_left(&units), 1,
	    "a failed attempt to take units keeps none");
	close(b);
	is_int(machine_units_left(&units), 3, "units are free after close");
	d = take(3, &e);
	ok(d != -1, "and is taken in pieces: %s", e.text);
	close(a);
	close(c);
	close(d);
	is_int(machine_units_left(&units), 8, "all are free again");
}

/* Eight processes that want three of eight at once: two can have them. */
static void
check_race(void)
{
	int go[2], up[2], i, got = 0, busy = 0, fd;
	struct err e;
	pid_t pid[8];
	char c;

	if (pipe(go) == -1 || pipe(up) == -1)
		exit(1);
	for (i = 0; i < 8; i++)
		if ((pid[i] = fork()) == 0) {
			close(go[1]);
			while (read(go[0], &c, 1) > 0)
				;
			/* While others take some one is asked to come again. */
			do
				fd = take(3, &e);
			while (fd == -1 && machine_units_left(&units) >= 3);
			c = fd != -1 ? 'y' : 'n';
			if (write(up[1], &c, 1) != 1)
				_exit(1);
			pause();
		}
	close(go[0]);
	close(go[1]);
	for (i = 0; i < 8 && read(up[0], &c, 1) == 1; i++) {
		got += c == 'y';
		busy += c == 'n';
	}
	is_int(got, 2, "of eight at once two have three each");
	is_int(busy, 6, "the others have none");
	is_int(machine_units_left(&units), 2, "two are left");
	for (i = 0; i < 8; i++) {
		kill(pid[i], SIGKILL);
		waitpid(pid[i], NULL, 0);
	}
	is_int(machine_units_left(&units), 8, "kill -9 frees them");
}

/* A duplicate in another process keeps them. */
static void
check_kept(void)
{
	struct err e;
	int fd = take(5, &e);
	pid_t pid = fork();

	if (pid == 0) {
		pause();
		_exit(0);
	}
	close(fd);
	is_int(machine_units_left(&units), 3, "a child keeps what it inherits");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	is_int(machine_units_left(&units), 8, "until it ends");
}

static void
check_machine(void)
{
	struct machine_units u;

	machine_units_cores(&u);
	ok(u.total >= 1 && u.n_ranges >= 1, "this machine has cores");
	machine_units_free(&u);
	machine_units_memory(&u);
	ok(u.total > 16, "and memory: %lld MiB", (long long)u.total);
	machine_units_free(&u);
	setenv("HPOTUNE_GPU_LOCKS", "/dev/null", 1);
	is_int(machine_units_left(&units), -1,
	    "without a folder nothing is known");
}

int
main(void)
{
	char command[64];

	if (mkdtemp(dir) == NULL)
		return 1;
	setenv("HPOTUNE_GPU_LOCKS", dir, 1);
	check_gaps();
	check_race();
	check_kept();
	check_machine();
	(void)snprintf(command, sizeof command, "rm -r %s", dir);
	if (system(command) != 0)
		return 1;
	return done_testing();
}
