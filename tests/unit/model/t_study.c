/* study.json: all members, and their defaults. */

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "tests/support/study-fixture.h"
#include "tests/support/tap.h"

static const char good[] =
    "{ // everything\n"
    "\"study\": \"fashion-mlp\",\n"
    "\"objective\": {\"metric\":\"val_accuracy\",\"goal\":\"maximize\",\n"
    "  \"value\":\"last\",\"target\":0.95},\n"
    "\"parameters\": {\n"
    "  \"momentum\":{\"type\":\"float\",\"min\":0,\"max\":0.99,\n"
    "    \"when\":{\"optimizer\":[\"sgd\"]}},\n"
    "  \"lr\":{\"type\":\"float\",\"min\":1e-4,\"max\":0.3,"
    "\"scale\":\"log\",\"default\":0.1},\n"
    "  \"optimizer\":{\"type\":\"choice\",\"values\":[\"sgd\",\"adam\"]},\n"
    "  \"hidden\":{\"type\":\"int\",\"min\":16,\"max\":256},\n"
    "  \"keep\":{\"type\":\"float\",\"min\":0.9,\"max\":0.999,"
    "\"scale\":\"reverse-log\"},\n"
    "  \"size\":{\"type\":\"choice\",\"values\":[1,2.5,true],"
    "\"ordered\":true},\n"
    "  \"dir\":{\"type\":\"fixed\",\"value\":\"/data x\"}},\n"
    "\"strategy\": {\"name\":\"tpe\",\"seed\":7,\"gamma\":0.2},\n"
    "\"stopping\": [\"median\",{\"rule\":\"patience\",\"steps\":3}],\n"
    "\"trial\": {\"command\":[\"./train\",\"--epochs=10\",\"{params}\",\n"
    "    \"lr={lr},{{{hidden}}}\",\"{trial}/{attempt}\",\n"
    "    \"{checkpoint_dir}\",\"{output_dir}/x\",\"{size}\",\"\"],\n"
    "  \"workdir\":\"sub/dir\",\"env\":{\"A\":\"1\",\"B_2\":\"x=y\"},\n"
    "  \"clean_env\":true,\"pass_env\":[\"HOME\",\"USER\"],\n"
    "  \"metrics\":[{\"name\":\"val_accuracy\",\"regex\":\"acc=([0-9.]+)\"},\n"
    "    {\"name\":\"validation:loss\",\"regex\":\"loss=(.*)\"}],\n"
    "  \"step_regex\":\"epoch ([0-9]+)\",\"max_steps\":10,\n"
    "  \"max_run\":\"30m\",\"grace\":\"30s\",\"retries\":0,\"gpus\":2,\n"
    "  \"cpus\":4,\"memory\":\"4GiB\",\"launcher\":\"torchrun\",\n"
    "  \"gpu_memory\":\"2GiB\",\n"
    "  \"processes\":2},\n"
    "\"backend\": [{\"name\":\"local\",\"gpus\":\"auto\"},\"sagemaker\"],\n"
    "\"limits\": "
    "{\"trials\":40,\"completed\":30,\"parallel\":2,\"wall_time\":\"2h\",\n"
    "  \"cost\":12.5,\"failed_trials\":5,\"drain\":false,\n"
    "  \"no_improvement\":20},\n"
    "\"enqueue\": [{\"lr\":0.01,\"optimizer\":\"sgd\"},{}]\n"
    "} /* end */";

static struct study *
parse(const char *text, struct err *e)
{
	struct study *s;

	*e = (struct err)ERR_INIT;
	if (study_parse(&s, text, strlen(text), "/some/study.json", e) != 0 &&
	    ok(s == NULL, "nothing is left of a wrong study"))
		return NULL;
	return s;
}

static void
check_trial(const struct study_trial *t)
{
	is_str(t->command[1], "--epochs=10", "command");
	is_str(t->workdir, "/some/sub/dir", "workdir");
	is_str(t->env[1], "B_2=x=y", "env");
	ok(t->env[2] == NULL, "two of them");
	ok(t->clean_env, "clean_env");
	is_str(t->pass_env[0], "HOME", "pass_env");
	is_int(t->n_metrics, 2, "metrics");
	is_str(t->metrics[1].name, "validation:loss", "metric");
	is_str(t->metrics[1].regex, "loss=(.*)", "regex");
	is_str(t->step_regex, "epoch ([0-9]+)", "step_regex");
	is_int(t->max_steps, 10, "max_steps");
	is_int(t->max_run_ms, 1800000, "max_run");
	is_int(t->grace_ms, 30000, "grace");
	is_int(t->retries, 0, "retries");
	is_int(t->gpus, 2, "gpus");
	is_int(t->cpus, 4, "cpus");
	is_int(t->memory, 4294967296, "memory");
	is_int(t->gpu_memory, 2147483648, "memory of a GPU");
	is_int(t->launcher, STUDY_LAUNCHER_TORCHRUN, "launcher");
	is_int(t->processes, 2, "processes");
}

static void
check_command(const struct study *s)
{
	static const char *const want[] = { "./train", "--epochs=10",
		"--lr=0.01", "--optimizer=adam", "--hidden=136", "--keep=0.99",
		"--size=2.5", "--dir=/data x", "lr=0.01,{136}", "3/2", "/c",
		"/o/x", "2.5", "", NULL };
	struct study_command_vars vars = { .trial = 3,
		.attempt = 2,
		.checkpoint_dir = "/c",
		.output_dir = "/o" };
	double u[7] = { 0.5, 0.5, 0.75, 0.5, 0.5, 0.5, 0.5 };
	struct value v[7];
	char **argv;
	size_t i;

	space_decode(s->space, u, v);
	v[1].real = 0.01;
	argv = study_command(s, v, &vars);
	for (i = 0; want[i] != NULL && argv[i] != NULL; i++)
		is_str(argv[i], want[i], want[i]);
	ok(argv[i] == NULL && want[i] == NULL, "and no more");
	strv_free(argv);
	vars.checkpoint_dir = NULL;
	argv = study_command(s, v, &vars);
	is_str(argv[10], "{checkpoint_dir}", "a folder that is not known");
	strv_free(argv);
	strv_free(NULL);
}

/* --NAME VALUE, sorted, -N VALUE, and values as Python writes them. */
static void
test_toolkit_arguments(void)
{
	static const char text[] =
	    "{ \"study\": \"a\", \"objective\": { \"metric\": \"m\", "
	    "\"goal\": \"minimize\" }, \"parameters\": { \"rate\": { "
	    "\"type\": \"fixed\", \"value\": 0.5 }, \"b\": { \"type\": "
	    "\"fixed\", \"value\": 3 }, \"aa\": { \"type\": \"fixed\", "
	    "\"value\": true }, \"none\": { \"type\": \"fixed\", \"value\": "
	    "null } }, \"trial\": { \"arguments\": \"toolkit\", \"command\": "
	    "[\"t\", \"--m={model_dir}\", \"{params}\", \"end\"] }, "
	    "\"limits\": { \"trials\": 1 } }";
	static const char *const want[] = { "t", "--m=/m", "--aa", "True", "-b",
		"3", "--none", "", "--rate", "0.5", "end", NULL };
	struct study_command_vars vars = { .model_dir = "/m" };
	double u[4] = { 0.5, 0.5, 0.5, 0.5 };
	struct value v[4];
	struct err e;
	struct study *s = parse(text, &e);
	char **argv;
	size_t i;

	if (!ok(s != NULL, "arguments in the toolkit's form")) {
		printf("# %s\n", e.text);
		return;
	}
	space_decode(s->space, u, v);
	argv = study_command(s, v, &vars);
	for (i = 0; want[i] != NULL && argv[i] != NULL; i++)
		is_str(argv[i], want[i], "a word of it");
	ok(argv[i] == NULL && want[i] == NULL, "all words of it");
	strv_free(argv);
	study_free(s);
}

/* A study whose command is this list. */
static struct study *
parse_command(const char *command, struct err *e)
{
	char *text = xasprintf(
	    "{ \"study\": \"a\", \"objective\": { \"metric\": \"m\", "
	    "\"goal\": \"minimize\" }, \"parameters\": { \"rate\": { "
	    "\"type\": \"fixed\", \"value\": 0.5 }, \"opt\": { \"type\": "
	    "\"choice\", \"values\": [\"sgd\", \"it's, 1\"] }, \"beta\": { "
	    "\"type\": \"float\", \"min\": 0, \"max\": 1, \"when\": { "
	    "\"opt\": [\"sgd\"] } }, \"fast\": { \"type\": \"fixed\", "
	    "\"value\": true }, \"dry\": { \"type\": \"fixed\", \"value\": "
	    "false } }, \"trial\": { \"command\": %s }, "
	    "\"limits\": { \"trials\": 1 } }",
	    command);
	struct study *s = parse(text, e);

	free(text);
	return s;
}

/* Each form of {params}, and the parts that an inactive parameter leaves out. */
static void
test_argument_forms(void)
{
	static const struct {
		const char *command, *sgd, *other; /* joined by blanks */
	} rows[] = {
		{ "[\"t\", \"{params}\"]",
		    "t --rate=0.5 --opt=sgd --beta=0.5 --fast=true --dry=false",
		    "t --rate=0.5 --opt=it's, 1 --fast=true --dry=false" },
		{ "[\"t\", \"{params:joined}\"]",
		    "t --rate=0.5 --opt=sgd --beta=0.5 --fast=true --dry=false",
		    "t --rate=0.5 --opt=it's, 1 --fast=true --dry=false" },
		{ "[\"t\", \"{params:words}\", \"end\"]",
		    "t --rate 0.5 --opt sgd --beta 0.5 --fast true --dry false "
		    "end",
		    "t --rate 0.5 --opt it's, 1 --fast true --dry false end" },
		{ "[\"t\", \"{params:short}\"]",
		    "t -rate 0.5 -opt sgd -beta 0.5 -fast true -dry false",
		    "t -rate 0.5 -opt it's, 1 -fast true -dry false" },
		{ "[\"t\", \"{params:hydra}\"]",
		    "t rate=0.5 opt=sgd beta=0.5 fast=true dry=false",
		    "t rate=0.5 opt='it\\'s, 1' fast=true dry=false" },
		{ "[\"t\", \"{params:flags}\"]",
		    "t --rate=0.5 --opt=sgd --beta=0.5 --fast",
		    "t --rate=0.5 --opt=it's, 1 --fast" },
		{ "[\"t\", \"{params:no-flags}\"]",
		    "t --rate=0.5 --opt=sgd --beta=0.5 --fast --no-dry",
		    "t --rate=0.5 --opt=it's, 1 --fast --no-dry" },
		{ "[\"t\", \"{params:python}\"]",
		    "t --rate=0.5 --opt=sgd --beta=0.5 --fast=True --dry=False",
		    "t --rate=0.5 --opt=it's, 1 --fast=True --dry=False" },
		{ "[\"t\", \"{params:python-words:rate,fast}\", "
		  "\"{params:hydra-append:rate}\", "
		  "\"{params:hydra-override:opt}\"]",
		    "t --rate 0.5 --fast True +rate=0.5 ++opt=sgd",
		    "t --rate 0.5 --fast True +rate=0.5 ++opt='it\\'s, 1'" },
		{ "[\"t\", \"{params:short:beta,rate}\", "
		  "\"{params:no-flags:dry}\", \"{params:hydra:opt}\"]",
		    "t -rate 0.5 -beta 0.5 --no-dry opt=sgd",
		    "t -rate 0.5 --no-dry opt='it\\'s, 1'" },
		{ "[\"t\", \"{params:toolkit:rate,fast}\"]",
		    "t --fast True --rate 0.5", "t --fast True --rate 0.5" },
		{ "[\"t\", [\"-b\", \"{beta}\"], [\"x\"], \"{opt}\", "
		  "[\"{rate}\", \"b{beta}\"]]",
		    "t -b 0.5 x sgd 0.5 b0.5", "t x it's, 1" },
		{ "[\"t\", [], \"e\"]", "t e", "t e" },
	};
	struct study_command_vars vars = { 0 };
	double u[5] = { 0.5, 0.25, 0.5, 0.5, 0.5 };
	struct value v[5];
	struct buf b = { 0 };
	struct study *s;
	struct err e;
	char **argv;
	size_t i, k, way;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		s = parse_command(rows[i].command, &e);
		if (!ok(s != NULL, rows[i].command)) {
			printf("# %s\n", e.text);
			continue;
		}
		for (way = 0; way < 2; way++) {
			u[1] = way == 0 ? 0.25 : 0.75;
			space_decode(s->space, u, v);
			argv = study_command(s, v, &vars);
			for (k = 0; argv[k] != NULL; k++)
				buf_printf(
				    &b, "%s%s", k > 0 ? " " : "", argv[k]);
			is_str(buf_str(&b),
			    way == 0 ? rows[i].sgd : rows[i].other,
			    rows[i].command);
			buf_clear(&b);
			strv_free(argv);
		}
		study_free(s);
	}
	buf_free(&b);
}

static void
test_wrong_arguments(void)
{
	static const struct {
		const char *command, *error;
	} rows[] = {
		{ "[\"t\", \"{params:hydro}\"]",
		    "{params:hydro} is no form of arguments; did you mean "
		    "\"hydra\"?" },
		{ "[\"t\", \"x{params:hydra}\"]",
		    "{params:hydra} must be an argument of its own" },
		{ "[\"t\", \"{params:hydro:rate}\"]",
		    "{params:hydro} is no form of arguments; did you mean "
		    "\"hydra\"?" },
		{ "[\"t\", \"x{params:hydra:rate}\"]",
		    "{params:hydra:rate} must be an argument of its own" },
		{ "[\"t\", \"{params:hydra:opt,ratte}\"]",
		    "ratte is not a parameter; did you mean \"rate\"?" },
		{ "[\"t\", \"{params:hydra:}\"]",
		    "expected names of parameters with a comma between" },
		{ "[\"t\", \"{params:hydra:opt,}\"]",
		    "expected names of parameters with a comma between" },
		{ "[\"t\", \"{params:hydra:opt,rate:x}\"]",
		    "rate:x is not a parameter" },
		{ "[[\"t\"]]", "expected a program, not a list" },
		{ "[\"t\", [[\"x\"]]]", "expected a string, not an array" },
		{ "[\"t\", [\"{bete}\"]]", "{bete} is not a parameter" },
		{ "[\"t\", \"{beta}\"]",
		    "{beta} has no value when beta is inactive" },
	};
	struct err e;
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		ok(parse_command(rows[i].command, &e) == NULL, rows[i].command);
		if (!ok(strstr(e.text, rows[i].error) != NULL, rows[i].error))
			printf("# %s\n", e.text);
	}
}

static void
test_good(void)
{
	struct err e;
	struct study *s = parse(good, &e);

	if (!ok(s != NULL, "a study with everything is read"))
		printf("# %s\n", e.text);
	if (s == NULL)
		return;
	is_str(s->name, "fashion-mlp", "study");
	is_str(s->path, "/some/study.json", "path");
	is_str(s->dir, "/some", "dir");
	is_str(s->metric, "val_accuracy", "metric");
	ok(s->maximize && s->value_last && s->has_target && s->target == 0.95,
	    "objective");
	is_int(s->space->n, 7, "parameters");
	is_str(s->strategy.name, "tpe", "strategy");
	ok(s->has_seed && s->seed == 7, "seed");
	is_int(json_count(s->strategy.block), 3, "options are kept");
	is_int(s->n_stopping, 2, "stopping");
	is_str(s->stopping[0].name, "median", "a bare rule");
	ok(s->stopping[0].block == NULL && s->stopping[0].where != NULL,
	    "has a place and no options");
	is_str(s->stopping[1].name, "patience", "a rule with options");
	is_int(s->n_backends, 2, "backends");
	is_str(s->backends[1].name, "sagemaker", "in order");
	is_int(s->limits.trials, 40, "trials");
	is_int(s->limits.completed, 30, "completed");
	is_int(s->limits.parallel, 2, "parallel");
	is_int(s->limits.wall_time_ms, 7200000, "wall_time");
	is_near(s->limits.cost, 12.5, 0, "cost");
	is_int(s->limits.failed_trials, 5, "failed_trials");
	ok(!s->limits.drain, "drain");
	is_int(s->limits.no_improvement, 20, "no_improvement");
	is_int(s->n_enqueue, 2, "enqueue");
	ok(s->enqueue[0][1].real == 0.01 && s->enqueue[0][0].kind == VALUE_NONE,
	    "what was left open is open");
	check_trial(&s->trial);
	check_command(s);
	study_free(s);
}

static void
test_defaults(void)
{
	struct err e;
	struct study *s = parse(BASE "}", &e);

	if (!ok(s != NULL, "a study with the least is read"))
		printf("# %s\n", e.text);
	if (s == NULL)
		return;
	ok(!s->maximize && !s->value_last && !s->has_target && !s->has_seed,
	    "the best report counts, no target, no seed");
	is_str(s->strategy.name, "auto", "strategy");
	ok(s->strategy.where == NULL && s->strategy.block == NULL,
	    "stands nowhere");
	is_int(s->n_stopping, 1, "one rule");
	is_str(s->stopping[0].name, "begun", "begun");
	is_int(s->n_backends, 1, "one backend");
	is_str(s->backends[0].name, "local", "local");
	is_int(s->trial.retries, 2, "retries");
	is_int(s->trial.grace_ms, 120000, "grace");
	is_int(s->trial.gpus, -1, "gpus not given");
	is_str(s->trial.workdir, "/some", "workdir is the folder");
	ok(s->trial.env[0] == NULL && s->trial.pass_env[0] == NULL,
	    "no environment");
	is_int(s->n_enqueue, 0, "nothing enqueued");
	study_free(s);
	s = parse(BASE ",\"stopping\":\"none\",\"strategy\":{\"seed\":3}}", &e);
	is_str(s->stopping[0].name, "none", "no stopping");
	is_str(s->strategy.name, "auto", "a seed for the default");
	ok(s->has_seed && s->seed == 3, "is kept");
	study_set_former(s, "gp", "");
	is_str(s->strategy.name, "auto", "a recorded gp was named");
	study_set_former(s, "tpe", "");
	is_str(s->strategy.name, "tpe", "a recorded tpe was the default");
	study_free(s);
	s = parse(BASE ",\"strategy\":{\"name\":\"random\"}}", &e);
	study_set_former(s, "tpe", "");
	is_str(s->strategy.name, "random", "unless there is a name");
	is_str(s->stopping[0].name, "begun", "the default rule");
	study_set_former(s, "auto", "none");
	is_str(s->stopping[0].name, "begun", "a recorded none was named");
	study_set_former(s, "auto", "median");
	is_str(
	    s->stopping[0].name, "median", "a recorded median was the default");
	study_free(s);
	s = parse(BASE ",\"stopping\":\"begun\"}", &e);
	study_set_former(s, "auto", "median");
	is_str(s->stopping[0].name, "begun", "unless there is a rule");
	study_free(s);
}

#define MANY "{\"study\":\"s\"," PARAMETERS "," TRIAL "," LIMITS
#define AIMS                                                           \
	",\"objectives\":[{\"metric\":\"acc\",\"goal\":\"maximize\"}," \
	"{\"metric\":\"ms\",\"goal\":\"minimize\"}]"
#define BOUNDS                                                      \
	",\"constraints\":[{\"metric\":\"ms\",\"max\":50},"         \
	"{\"metric\":\"recall\",\"min\":0.8},{\"metric\":\"size\"," \
	"\"min\":1,\"max\":3}]"

static void
test_several(void)
{
	struct err e;
	struct study *s = parse(MANY AIMS BOUNDS "}", &e);

	if (!ok(s != NULL, "several objectives and constraints are read"))
		printf("# %s\n", e.text);
	if (s == NULL)
		return;
	is_int(s->n_objectives, 2, "objectives");
	is_str(s->objectives[1].metric, "ms", "in their order");
	ok(s->objectives[0].maximize && !s->objectives[1].maximize, "goals");
	is_str(s->metric, "acc", "the first one leads");
	ok(s->maximize && s->value_last && !s->has_target,
	    "its last report counts");
	is_str(s->stopping[0].name, "none", "nothing is stopped");
	is_int(s->n_constraints, 3, "constraints");
	is_near(study_violation(&s->constraints[0], 53), 3, 0, "above max");
	is_near(study_violation(&s->constraints[0], 50), 0, 0,
	    "a value equal to max is no violation");
	is_near(study_violation(&s->constraints[1], 0.3), 0.5, 0, "below min");
	is_near(study_violation(&s->constraints[2], 2.5), -0.5, 0, "between");
	is_near(study_violation(&s->constraints[2], 0), 1, 0, "below");
	ok(isnan(study_violation(&s->constraints[0], NAN)) &&
		isnan(study_violation(&s->constraints[0], -INFINITY)),
	    "what is no number keeps no bound");
	study_free(s);
	s = parse(BASE BOUNDS ",\"stopping\":\"none\"}", &e);
	ok(s != NULL && s->n_constraints == 3 && s->n_objectives == 1 &&
		strcmp(s->objectives[0].metric, "loss") == 0 && !s->value_last,
	    "constraints beside one objective");
	study_free(s);
	s = parse(MANY AIMS ",\"stopping\":\"none\"}", &e);
	ok(s != NULL, "none may be written");
	study_free(s);
}

/* The two texts have, or have not, the same fixed part. */
static void
fixed(const char *a, const char *b, bool same, const char *what)
{
	struct err e;
	struct study *x = parse(a, &e), *y;
	struct buf p = { 0 }, q = { 0 };

	if (x == NULL)
		printf("# %s\n", e.text);
	y = parse(b, &e);
	if (y == NULL)
		printf("# %s\n", e.text);
	study_put_fixed(&p, x);
	study_put_fixed(&q, y);
	if (!ok((strcmp(buf_str(&p), buf_str(&q)) == 0) == same, "%s", what))
		printf("# %s\n# %s\n", buf_str(&p), buf_str(&q));
	buf_free(&p);
	buf_free(&q);
	study_free(x);
	study_free(y);
}

static void
test_fixed(void)
{
	struct err e;
	struct study *s = parse(good, &e), *back;
	struct buf b = { 0 };
	struct json_doc *doc;

	study_put_json(&b, s);
	back = parse(buf_str(&b), &e);
	ok(back != NULL && strchr(buf_str(&b), '\n') == NULL,
	    "the study in one line reads as well");
	fixed(good, buf_str(&b), true, "and is the same");
	buf_clear(&b);
	study_put_fixed(&b, s);
	ok(json_parse(&doc, buf_str(&b), b.len, NULL, false, NULL) == 0,
	    "the fixed part is JSON");
	json_free(doc);
	buf_free(&b);
	study_free(s);
	study_free(back);
	fixed("{" REST ", \"study\" : \"s\",\n \"strategy\":{\"seed\":1}}",
	    "{\"strategy\":{\"seed\":1,\"name\":\"auto\"},\"study\":"
	    "\"s\"," LIMITS "," OBJECTIVE "," TRIAL
	    ",\"parameters\":{\"lr\":{\"max\":1.0,"
	    "\"min\":0e0,\"scale\":\"linear\",\"type\":\"float\"}}}",
	    true, "order, space and spelling of numbers do not matter");
	fixed("{" OBJECTIVE "," TRIAL "," LIMITS ",\"study\":\"s\","
	      "\"parameters\":{\"a\":{\"type\":\"fixed\",\"value\":1},"
	      "\"b\":{\"type\":\"fixed\",\"value\":2}}}",
	    "{" OBJECTIVE "," TRIAL "," LIMITS ",\"study\":\"s\","
	    "\"parameters\":{\"b\":{\"type\":\"fixed\",\"value\":2},"
	    "\"a\":{\"type\":\"fixed\",\"value\":1}}}",
	    true, "nor the order of parameters");
	fixed(BASE "}",
	    "{\"study\":\"s\"," OBJECTIVE "," PARAMETERS "," TRIAL
	    ",\"limits\":{\"cost\":1},\"stopping\":\"none\","
	    "\"backend\":\"sagemaker\",\"enqueue\":[{}]}",
	    true, "limits, stopping, backend and queue may change");
	fixed(MANY AIMS BOUNDS "}", MANY BOUNDS AIMS "}", true,
	    "the same objectives and constraints");
	fixed(MANY AIMS "}", BASE "}", false, "objectives may not");
	fixed(MANY AIMS "}",
	    MANY ",\"objectives\":[{\"metric\":\"ms\",\"goal\":\"minimize\"},"
		 "{\"metric\":\"acc\",\"goal\":\"maximize\"}]}",
	    false, "nor may their order");
	fixed(BASE BOUNDS "}", BASE "}", false, "constraints may not");
	fixed(BASE "}", "{\"study\":\"t\"," REST "}", false, "study may not");
	fixed(BASE "}", BASE ",\"strategy\":\"grid\"}", false,
	    "strategy may not");
	fixed(BASE "}", BASE ",\"strategy\":{\"seed\":1}}", false,
	    "seed may not");
	fixed(BASE "}",
	    "{\"study\":\"s\"," TRIAL "," LIMITS "," OBJECTIVE
	    ",\"parameters\":{\"lr\":{\"type\":\"float\","
	    "\"min\":0,\"max\":2}}}",
	    false, "a range may not");
	fixed(BASE "}",
	    "{\"study\":\"s\"," TRIAL "," LIMITS "," PARAMETERS
	    ",\"objective\":{\"metric\":\"loss\",\"goal\":"
	    "\"maximize\"}}",
	    false, "goal may not");
}

static void
test_path(void)
{
	struct study *s;
	struct err e = ERR_INIT;
	char *cwd = realpath(".", NULL), *want = xasprintf("%s/x.json", cwd);
	const char *text = BASE ",\n\"enqueue\":[]}";

	is_int(study_parse(&s, text, strlen(text), "x.json", &e), 0,
	    "a name without folder");
	is_str(s->path, want, "stands in this one");
	is_str(s->dir, cwd, "which is absolute");
	study_free(s);
	is_int(study_parse(&s, text, strlen(text), "/x.json", &e), 0,
	    "a name in the root");
	is_str(s->path, "/x.json", "has one slash");
	is_str(s->dir, "/", "and a folder");
	study_free(s);
	is_int(study_parse(&s, text, strlen(text), "/no/such/x.json", &e), 0,
	    "a folder that is gone");
	is_str(s->dir, "/no/such", "is still named");
	study_free(s);
	ok(study_load(&s, "/no/such/x.json", &e) != 0 && s == NULL &&
		e.kind == ERR_FILE,
	    "a file that is gone cannot be read");
	free(want);
	free(cwd);
}

static void
test_example(void)
{
	const char *top = getenv("TOP_SRCDIR");
	char *path = xasprintf(
	    "%s/examples/fashion-mnist/study.json", top != NULL ? top : ".");
	struct err e = ERR_INIT;
	struct study *s = NULL;

	if (access(path, R_OK) != 0)
		skip("the example is read", "it is not here");
	else if (!ok(study_load(&s, path, &e) == 0, "the example is read"))
		printf("# %s\n", e.text);
	study_free(s);
	free(path);
}

/* hpotune try and check --checkpoint reduce a study, the second one twice. */
static void
test_one_trial(void)
{
	static const char more[] =
	    "\"warm_start\": [\"old.db\", {\"tuning_job\":\"j\"}],\n"
	    "\"notify\": {\"eventbridge\":\"default\"},\n"
	    "\"hooks\": {\"best\":[\"true\"]},\n\"limits\"";
	const char *at = strstr(good, "\"limits\"");
	char *text = xasprintf("%.*s%s%s", (int)(at - good), good, more,
	    at + strlen("\"limits\""));
	struct value setting[7] = { 0 };
	struct study *s;
	struct err e;
	int i;

	s = parse(text, &e);
	free(text);
	for (i = 0; s != NULL && i < 2; i++) {
		ok(study_one_trial(s, i == 0 ? NULL : setting),
		    "it is reduced to one trial");
		study_stopping_none(s);
		is_int((long)s->n_warm_start, 0, "which learns from none");
		is_int((long)s->n_backends, 1, "has one backend");
		ok(s->hooks.argv[STUDY_HOOK_BEST] == NULL &&
			s->notify.channels[STUDY_CHANNEL_EVENTS].to == NULL,
		    "and tells nobody");
	}
	study_free(s);
}

/* trial.source: a folder and a commit, which never changes. */
static void
test_source(void)
{
	static const char text[] =
	    "{\"study\":\"s\",\"objective\":{\"metric\":\"a\","
	    "\"goal\":\"minimize\"},\"parameters\":{\"x\":{\"type\":"
	    "\"int\",\"min\":0,\"max\":1}},\"trial\":{\"command\":[\"a\"],"
	    "\"source\":{\"git\":\"..\",\"uncommitted\":\"record\"}},"
	    "\"limits\":{\"trials\":1},\"keep\":{\"best\":1}}";
	struct buf fixed = { 0 };
	struct err e;
	struct study *s = parse(text, &e);

	if (s == NULL) {
		ok(false, "%s", e.text);
		return;
	}
	ok(strstr(s->trial.source.git, "/..") != NULL,
	    "from the folder of study.json on");
	is_str(s->trial.source.commit, "HEAD", "what is checked out");
	ok(s->trial.source.record, "with changes");
	ok(s->trial.source.drop, "with keep a worktree goes at once");
	study_put_fixed(&fixed, s);
	ok(strstr(buf_str(&fixed), "\"source\":{\"commit\":\"HEAD\"}") != NULL,
	    "the commit may not change");
	buf_free(&fixed);
	study_free(s);
}

int
main(void)
{
	test_good();
	test_source();
	test_one_trial();
	test_toolkit_arguments();
	test_argument_forms();
	test_wrong_arguments();
	test_defaults();
	test_several();
	test_fixed();
	test_path();
	test_example();
	return done_testing();
}
