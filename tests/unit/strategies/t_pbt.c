/* pbt: which member is next, which one it copies, and how settings change. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/rng.h"
#include "src/model/history/history.h"
#include "src/model/plugin-options.h"
#include "src/model/space.h"
#include "strategies/evolution/pbt.h"
#include "strategies/strategy.h"
#include "tests/support/tap.h"

static const char space_text[] =
    "{\"lr\": {\"type\": \"float\", \"min\": 1e-4, \"max\": 1, \"scale\": "
    "\"log\"},"
    " \"n\": {\"type\": \"int\", \"min\": 1, \"max\": 9},"
    " \"m\": {\"type\": \"float\", \"min\": 0, \"max\": 0.999, \"scale\": "
    "\"reverse-log\"},"
    " \"c\": {\"type\": \"choice\", \"values\": [\"a\", \"b\", \"c\"]},"
    " \"k\": {\"type\": \"float\", \"min\": 0, \"max\": 2, \"step\": 0.5,"
    " \"when\": {\"c\": [\"c\"]}}}";

enum { DIMS = 5 };

struct rig {
	struct json_doc *doc, *options_doc;
	struct space *space;
	struct history *h;
	struct option_value *values;
	int64_t max_steps;
	double x[DIMS];
	struct suggestion out;
};

static void
rig_open(struct rig *r, const char *options)
{
	const struct strategy *s = strategy_find("pbt");
	struct err e = ERR_INIT;

	memset(r, 0, sizeof *r);
	if (json_parse(&r->doc, space_text, strlen(space_text), NULL, false,
		&e) != 0 ||
	    space_read(&r->space, json_root(r->doc), &e) != 0 ||
	    json_parse(&r->options_doc, options, strlen(options), NULL, false,
		&e) != 0 ||
	    plugin_options_read(&r->values, s->options,
		json_root(r->options_doc), NULL, &e) != 0) {
		printf("Bail out! %s\n", e.text);
		exit(1);
	}
	r->h = history_new(DIMS, false, HISTORY_POINTS);
}

static void
rig_close(struct rig *r)
{
	history_free(r->h);
	plugin_options_free(r->values);
	space_free(r->space);
	json_free(r->options_doc);
	json_free(r->doc);
}

static int
ask(struct rig *r)
{
	struct strategy_ask ask = { .space = r->space,
		.history = r->h,
		.seed = 5,
		.trial = history_count(r->h) + 1,
		.max_steps = r->max_steps };
	struct err e = ERR_INIT;

	r->out = (struct suggestion){ .x = r->x };
	return strategy_find("pbt")->suggest(&r->out, &ask, r->values, &e);
}

/* Ask and begin what comes of it; its number, or 0. */
static int64_t
begin(struct rig *r)
{
	int64_t t = history_count(r->h) + 1;

	if (ask(r) != 0)
		return 0;
	space_snap(r->space, r->x);
	history_add(r->h, t, r->x);
	history_set_parent(r->h, t, r->out.from, r->out.member);
	return t;
}

static void
end(struct rig *r, int64_t trial, double loss)
{
	history_end(r->h, trial, TRIAL_COMPLETED, loss);
}

static bool
same_point(const double *a, const double *b)
{
	int i;

	for (i = 0; i < DIMS; i++)
		if (a[i] != b[i] && !(isnan(a[i]) && isnan(b[i])))
			return false;
	return true;
}

static void
test_turns(void)
{
	struct rig r;
	int64_t t, m;
	double again[DIMS];

	rig_open(&r, "{\"population\": 4, \"perturbation_interval\": 10}");
	for (m = 1; m <= 4; m++) {
		t = begin(&r);
		ok(t == m && r.out.member == m && r.out.from == 0 &&
			r.out.until == 10,
		    "member %d begins at random", (int)m);
	}
	ok(!same_point(history_point(r.h, 1), history_point(r.h, 2)),
	    "not at the same place");
	is_int(ask(&r), 2, "while all members run, none continues");
	end(&r, 3, 1);
	is_int(ask(&r), 0, "a member whose trial has ended continues");
	is_int(r.out.member, 3, "it is its turn");
	is_int(r.out.from, 3, "alone it is not bad");
	is_int(r.out.until, 20, "its next segment ends at step 20");
	ok(same_point(r.x, history_point(r.h, 3)),
	    "a member alone continues with its setting");
	end(&r, 2, 2);
	end(&r, 4, 3);
	end(&r, 1, 4);
	is_int(begin(&r), 5, "after the end of all members one continues");
	ok(r.out.member == 1 && r.out.from == 3,
	    "the first of equals, the worst, takes over from the best");
	ok(!same_point(r.x, history_point(r.h, 3)),
	    "the copied setting is perturbed");
	memcpy(again, r.x, sizeof again);
	is_int(begin(&r), 6, "the next");
	ok(r.out.member == 2 && r.out.from == 2 &&
		same_point(r.x, history_point(r.h, 2)),
	    "an average member continues unchanged");
	end(&r, 5, 0.5);
	is_int(begin(&r), 7, "and the next");
	ok(r.out.member == 3 && r.out.from == 3, "the one that is least far");
	history_end(r.h, 6, TRIAL_FAILED, NAN);
	history_end(r.h, 7, TRIAL_CANCELLED, NAN);
	is_int(begin(&r), 8, "the last of them");
	ok(r.out.member == 4 && r.out.from == 5,
	    "the worst takes over from the newest of the best");
	is_int(r.out.until, 30, "its segment ends after that of the best");
	is_int(begin(&r), 9, "one whose trial failed");
	ok(r.out.member == 1 && r.out.from == 5, "good ones continue");
	is_int(begin(&r), 10, "the member whose trial failed continues");
	ok(r.out.member == 2 && r.out.from == 5, "takes over");
	is_int(begin(&r), 11, "and one whose trial was cancelled");
	ok(r.out.member == 3 && r.out.from == 5, "does, too");
	is_int(ask(&r), 2, "while all run again, none continues");
	rig_close(&r);

	/* The same questions, the same answers. */
	rig_open(&r, "{\"population\": 4, \"perturbation_interval\": 10}");
	for (m = 1; m <= 4; m++)
		(void)begin(&r);
	end(&r, 1, 4);
	end(&r, 4, 3);
	end(&r, 3, 1);
	end(&r, 2, 2);
	(void)begin(&r);
	ok(same_point(r.x, again), "in whatever order they ended");
	rig_close(&r);
}

static void
test_end(void)
{
	struct rig r;

	rig_open(&r, "{\"population\": 2, \"perturbation_interval\": 4}");
	r.max_steps = 6;
	(void)begin(&r);
	(void)begin(&r);
	history_end(r.h, 1, TRIAL_FAILED, NAN);
	history_end(r.h, 2, TRIAL_FAILED, NAN);
	is_int(begin(&r), 3, "no member has a result");
	ok(r.out.from == 0 && r.out.member == 1 && r.out.until == 4,
	    "without results a member starts from the beginning");
	end(&r, 3, 1);
	is_int(begin(&r), 4, "the second member starts, too");
	ok(r.out.from == 3 && r.out.until == 6, "goes to the last step: %d",
	    (int)r.out.until);
	is_int(begin(&r), 5, "as does the first");
	end(&r, 4, 1);
	is_int(
	    ask(&r), 2, "while one runs and the other is done, none continues");
	end(&r, 5, 1);
	is_int(ask(&r), 1, "nothing is left");
	rig_close(&r);
}

/* One change of this setting; values of all afterwards. */
static void
change(struct rig *r, const char *setting, const struct pbt_change *how,
    struct rng *rng, struct value *values)
{
	struct value before[DIMS] = { 0 };
	struct json_doc *doc = NULL;
	struct err e = ERR_INIT;
	double x[DIMS];

	if (json_parse(&doc, setting, strlen(setting), NULL, false, &e) != 0 ||
	    space_read_values(r->space, json_root(doc), before, &e) != 0)
		printf("# %s: %s\n", setting, e.text);
	space_encode(r->space, before, x);
	pbt_explore(x, r->space, how, rng);
	space_snap(r->space, x);
	space_decode(r->space, x, values);
	json_free(doc);
}

static void
test_explore(void)
{
	static const char text[] =
	    "{\"lr\": 0.01, \"n\": 2, \"m\": 0.9, \"c\": \"b\"}";
	struct pbt_change how = { .up = 1.2, .down = 0.8 };
	int i, up = 0, odd = 0, active = 0, far = 0;
	struct value v[DIMS];
	struct rig r;
	struct rng rng;

	rig_open(&r, "{}");
	rng_init(&rng, 1, 1);
	for (i = 0; i < 400; i++) {
		change(&r, text, &how, &rng, v);
		up += fabs(v[0].real - 0.012) < 1e-9;
		odd += fabs(v[0].real - 0.012) > 1e-9 &&
		       fabs(v[0].real - 0.008) > 1e-9;
		odd += v[1].integer != 1 && v[1].integer != 3;
		odd += fabs(v[2].real - 0.88) > 1e-9 &&
		       fabs(v[2].real - 0.92) > 1e-9;
		odd += strcmp(v[3].text, "b") == 0;
		active += v[4].kind != VALUE_NONE;
		odd +=
		    (v[4].kind != VALUE_NONE) != (strcmp(v[3].text, "c") == 0);
	}
	is_int(odd, 0, "numbers by a factor, the rest by one");
	ok(up > 160 && up < 240, "up and down: %d of 400", up);
	ok(active > 160 && active < 240, "what becomes active has a value");
	how.only = "n,m";
	change(&r, text, &how, &rng, v);
	ok(v[0].real == 0.01 && v[1].integer != 2 && v[2].real != 0.9 &&
		strcmp(v[3].text, "b") == 0,
	    "only what is listed");
	how = (struct pbt_change){ .up = 1.2, .down = 0.8, .resample = 1 };
	for (i = 0; i < 400; i++) {
		change(&r, text, &how, &rng, v);
		far += v[0].real < 0.001 || v[0].real > 0.1;
	}
	ok(far > 120 && far < 280, "or drawn again: %d of 400", far);
	how = (struct pbt_change){ .up = 1e6, .down = 1e-6 };
	for (i = 0, odd = 0; i < 100; i++) {
		change(&r, text, &how, &rng, v);
		odd += v[0].real < 1e-4 || v[0].real > 1 || v[1].integer < 1 ||
		       v[1].integer > 9 || v[2].real < 0 || v[2].real > 0.999;
	}
	is_int(odd, 0, "never out of bounds");
	rig_close(&r);
}

static void
test_check(void)
{
	const struct strategy *s = strategy_find("pbt");
	struct err e = ERR_INIT;
	struct rig r;

	rig_open(&r, "{\"mutate\": [\"lr\", \"nn\"]}");
	is_int(s->check(r.values, r.space, &e), -1, "an unknown parameter");
	is_str(e.text, "pbt: mutate: no such parameter: \"nn\"",
	    "the error names the parameter");
	rig_close(&r);
	rig_open(&r, "{\"mutate\": [\"lr\", \"n\"]}");
	is_int(s->check(r.values, r.space, &e), 0, "known ones are fine");
	rig_close(&r);
}

int
main(void)
{
	test_turns();
	test_end();
	test_explore();
	test_check();
	return done_testing();
}
