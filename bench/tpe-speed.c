/*
 * TPE alone: one suggestion after the other on a history that grows by each.
 *
 *	bench/tpe-speed SUGGESTIONS PARAMETERS KIND [CANDIDATES]
 *
 * KIND is float, or mixed: every second parameter is an int, a choice or on a
 * log scale.  Prints the seconds.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/history/history.h"
#include "src/model/plugin-options.h"
#include "src/model/space.h"
#include "strategies/strategy.h"

static const char *const kinds[] = {
	"{\"type\": \"float\", \"min\": -5, \"max\": 5}",
	"{\"type\": \"int\", \"min\": 1, \"max\": 100}",
	"{\"type\": \"float\", \"min\": -5, \"max\": 5}",
	"{\"type\": \"choice\", \"values\": [\"a\", \"b\", \"c\"]}",
	"{\"type\": \"float\", \"min\": -5, \"max\": 5}",
	"{\"type\": \"float\", \"min\": 1e-5, \"max\": 1, \"scale\": \"log\"}",
};

static struct json_doc *
space_text(int dims, bool mixed)
{
	struct json_doc *doc = NULL;
	struct err e = ERR_INIT;
	struct buf b = { 0 };
	int i;

	for (i = 0; i < dims; i++)
		buf_printf(&b, "%s\"x%d\": %s", i == 0 ? "{" : ", ", i,
		    kinds[mixed ? i % 6 : 0]);
	buf_putc(&b, '}');
	if (json_parse(&doc, buf_str(&b), b.len, NULL, false, &e) != 0) {
		fprintf(stderr, "tpe: %s\n", e.text);
		exit(1);
	}
	buf_free(&b);
	return doc;
}

/* Any smooth function with one minimum does. */
static double
loss(const double *x, size_t n)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < n; i++)
		sum += (x[i] - 0.3) * (x[i] - 0.3);
	return sum;
}

/* All defaults, but for the candidates when they are given. */
static struct option_value *
options_of(const struct strategy *tpe, const char *candidates)
{
	struct option_value *options = NULL;
	struct json_doc *doc = NULL;
	struct err e = ERR_INIT;
	struct buf b = { 0 };

	if (candidates != NULL)
		buf_printf(&b, "{\"n_ei_candidates\": %s}", candidates);
	else
		buf_puts(&b, "{}");
	if (json_parse(&doc, buf_str(&b), b.len, NULL, false, &e) != 0 ||
	    plugin_options_read(
		&options, tpe->options, json_root(doc), NULL, &e) != 0) {
		fprintf(stderr, "tpe: %s\n", e.text);
		exit(1);
	}
	json_free(doc);
	buf_free(&b);
	return options;
}

static void
run(const struct space *space, long n, const char *candidates)
{
	const struct strategy *tpe = strategy_find("tpe");
	struct history *h = history_new(space->n, false, HISTORY_POINTS);
	struct strategy_ask ask = { .space = space, .history = h, .seed = 1 };
	double *x = xcalloc(space->n, sizeof *x);
	struct suggestion out = { .x = x, .made_by = "cpu" };
	struct option_value *options = options_of(tpe, candidates);
	struct err e = ERR_INIT;
	long i;

	for (i = 1; i <= n; i++) {
		ask.trial = i;
		if (tpe->suggest(&out, &ask, options, &e) != 0)
			break;
		space_snap(space, x);
		history_add(h, i, x);
		history_end(h, i, TRIAL_COMPLETED, loss(x, space->n));
	}
	plugin_options_free(options);
	history_free(h);
	free(x);
}

int
main(int argc, char **argv)
{
	struct timespec began, ended;
	struct space *space = NULL;
	struct json_doc *doc;
	struct err e = ERR_INIT;

	/* As hpotune begins. */
	mem_settle();
	if (argc != 4 && argc != 5) {
		fprintf(stderr, "usage: tpe SUGGESTIONS PARAMETERS KIND "
				"[CANDIDATES]\n");
		return 2;
	}
	doc = space_text(atoi(argv[2]), strcmp(argv[3], "mixed") == 0);
	if (space_read(&space, json_root(doc), &e) != 0)
		return 1;
	(void)clock_gettime(CLOCK_MONOTONIC, &began);
	run(space, atol(argv[1]), argv[4]);
	(void)clock_gettime(CLOCK_MONOTONIC, &ended);
	printf("%.4f\n", difftime(ended.tv_sec, began.tv_sec) +
			     (double)(ended.tv_nsec - began.tv_nsec) * 1e-9);
	space_free(space);
	json_free(doc);
	return 0;
}
