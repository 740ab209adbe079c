/*
 * mlp: trains the networks of `train` with the kernels of hpotune: one, or many
 * at once (--pack), or one by several processes (ranks); mlp-cuda uses a GPU if
 * there is one.  This file has arguments, signals and exit codes.
 */

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __SSE__
#include <xmmintrin.h>
#endif

#include "examples/fashion-mnist/pack/settings.h"

/* Set by the handler, which can speak in no other way. */
static volatile sig_atomic_t mlp_signal;

static void
mlp_hear(int number)
{
	mlp_signal = number;
}

/* No SA_RESTART: a wait for a line must be interrupted, too. */
static void
mlp_listen(void)
{
	struct sigaction action;

	memset(&action, 0, sizeof action);
	action.sa_handler = mlp_hear;
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
}

static long
mlp_cores(void)
{
	const char *told = getenv("OMP_NUM_THREADS");
	cpu_set_t set;

	if (told != NULL && atol(told) > 0)
		return atol(told);
	if (sched_getaffinity(0, sizeof set, &set) == -1)
		return 1;
	return CPU_COUNT(&set);
}

static int
settings_threads(struct settings *s, const char *value, struct fail *f)
{
	char *end;

	s->threads = strtol(value, &end, 10);
	if (*value == '\0' || *end != '\0' || s->threads < 0 ||
	    s->threads > 256)
		return fail_set(
		    f, "--threads=%s: not a number from 0 to 256", value);
	return 0;
}

/* Takes its own arguments out; the others are left in order. */
static int
settings_read(struct settings *s, int argc, char **argv, struct fail *f)
{
	int i;

	s->device = "auto";
	s->argv = argv;
	s->argc = 1;
	for (i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--pack") == 0)
			s->pack = true;
		else if (strcmp(argv[i], "--which") == 0)
			s->which = true;
		else if (strncmp(argv[i], "--device=", 9) == 0)
			s->device = argv[i] + 9;
		else if (strncmp(argv[i], "--threads=", 10) == 0) {
			if (settings_threads(s, argv[i] + 10, f) == -1)
				return -1;
		} else
			s->argv[s->argc++] = argv[i];
	}
	s->argv[s->argc] = NULL;
	if (strcmp(s->device, "auto") != 0 && strcmp(s->device, "cpu") != 0 &&
	    strcmp(s->device, "gpu") != 0)
		return fail_set(
		    f, "--device=%s: not auto, cpu or gpu", s->device);
	return 0;
}

static void
settings_usage(void)
{
	printf(
	    "usage: mlp [--pack] [--NAME=VALUE]...\n"
	    "  --pack              trials by lines: hpotune-trial(7)\n"
	    "  --device=           auto, cpu or gpu (auto)\n"
	    "                      one of several ranks: $RANK, $WORLD_SIZE,\n"
	    "                      $MASTER_ADDR, $MASTER_PORT\n"
	    "  --threads=          of --pack on the CPU ($OMP_NUM_THREADS,\n"
	    "                      or the cores there are)\n");
	options_usage(stdout);
}

/* 0, 1 when it was stopped, or -1. */
static int
mlp_alone(const struct settings *s, const struct options *o, struct machine *m,
    struct fail *f)
{
	struct star star;
	int rc = star_open(&star, s->signal, f);

	if (rc == 0)
		rc = plain_run(s, o, m, &star, f);
	star_close(&star);
	return rc;
}

static int
mlp_run(const struct settings *s, const struct options *o, struct fail *f)
{
	struct machine m = { .threads = 1 };
	int rc;

	if (!s->which)
		machine_load(&m, o);
	if ((m.kernels = machine_kernels(s->device, f)) == NULL) {
		machine_close(&m);
		return -1;
	}
	if (s->which) {
		printf("%s\n", m.kernels->device);
		return 0;
	}
	if (s->pack && strcmp(m.kernels->name, "cpu") == 0)
		m.threads = (size_t)(s->threads > 0 ? s->threads : mlp_cores());
	rc = s->pack ? packed_run(s, o, &m, f) : mlp_alone(s, o, &m, f);
	machine_close(&m);
	return rc;
}

int
main(int argc, char **argv)
{
	struct settings settings = { .signal = &mlp_signal };
	struct options options;
	struct fail f;
	int rc;

	machine_turn(argv);
	if (settings_read(&settings, argc, argv, &f) == -1 ||
	    plugin_options_read(&options, settings.argc, settings.argv, &f) ==
		-1) {
		fprintf(stderr, "mlp: %s\n", f.text);
		return 2;
	}
	if (options.help) {
		settings_usage();
		return 0;
	}
#ifdef __SSE__
	/* Numbers below 1e-38 count as 0: momentum makes many, slow ones. */
	_MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON);
#endif
	mlp_listen();
	rc = mlp_run(&settings, &options, &f);
	if (rc == -1) {
		fprintf(stderr, "mlp: %s\n", f.text);
		return 1;
	}
	/* Whoever waits for this process should see what ended it, or another
	 * of the ranks. */
	if (mlp_signal || rc == 1) {
		rc = mlp_signal ? mlp_signal : SIGTERM;
		signal(rc, SIG_DFL);
		raise(rc);
	}
	return 0;
}
