/*
 * train: fits a small network to Fashion-MNIST, one report per epoch.  An
 * example of a program that hpotune can tune; it shares no code with hpotune
 * and runs without it.  This file has signals and exit codes.
 */

#include <cblas.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#ifdef __SSE__
#include <xmmintrin.h>
#endif

#include "options.h"
#include "run.h"

/* Set by the handler, which can speak in no other way. */
static volatile sig_atomic_t train_signal;

static void
train_hear(int number)
{
	train_signal = number;
}

static void
train_listen(void)
{
	struct sigaction action;

	memset(&action, 0, sizeof action);
	action.sa_handler = train_hear;
	action.sa_flags = SA_RESTART;
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
}

/* Several trials share a machine, so each computes with one thread. Numbers
 * below 1e-38 count as 0: momentum makes many, and they are slow. */
static void
train_arithmetic(void)
{
	openblas_set_num_threads(1);
#ifdef __SSE__
	_MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON);
#endif
}

static int
train_run(const struct options *o)
{
	struct run run;
	struct fail f;
	int bad;

	bad = run_init(&run, o, &train_signal, &f) == -1 ||
	      run_train(&run, &f) == -1 ||
	      (!train_signal && o->test && run_test(&run, &f) == -1);
	if (bad)
		fprintf(stderr, "train: %s\n", f.text);
	run_free(&run);
	return bad;
}

int
main(int argc, char **argv)
{
	struct options options;
	struct fail f;
	int bad;

	if (plugin_options_read(&options, argc, argv, &f) == -1) {
		fprintf(stderr, "train: %s\n", f.text);
		return 2;
	}
	if (options.help) {
		printf("usage: train [--NAME=VALUE]...\n");
		options_usage(stdout);
		return 0;
	}
	train_arithmetic();
	train_listen();
	bad = train_run(&options);
	/* Whoever waits for this process should see what ended it. */
	if (train_signal && !bad) {
		signal(train_signal, SIG_DFL);
		raise(train_signal);
	}
	return bad;
}
