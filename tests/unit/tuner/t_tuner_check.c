/* What a study needs of a remote backend is checked first. */

#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/engine/attempts/attempt-spec.h"
#include "src/model/plugin-options.h"
#include "src/model/study/study.h"
#include "src/plugins/plugins.h"
#include "src/store/store.h"
#include "tests/support/fake-backend/fake-backend.h"
#include "tests/support/fake-backend/fake-study.h"
#include "tests/support/tap.h"

/* The error of a study with these members, or "". */
static const char *
checked(const char *members)
{
	static struct err e;
	struct study *study;
	struct plugins plugins;
	char *json = xasprintf(
	    "{\"study\": \"far\", \"objective\": {\"metric\": \"m\", "
	    "\"goal\": \"minimize\"}, \"parameters\": {"
	    "\"x\": {\"type\": \"int\", \"min\": 8, \"max\": 64, \"step\": 8}, "
	    "\"y\": {\"type\": \"int\", \"min\": 1, \"max\": 9}, "
	    "\"z\": {\"type\": \"float\", \"min\": 1, \"max\": 9}, "
	    "\"c\": {\"type\": \"choice\", \"values\": [4, 6]}, "
	    "\"w\": {\"type\": \"int\", \"min\": 1, \"max\": 9, \"when\": "
	    "{\"c\": [4]}}},\n%s}",
	    members);

	e = (struct err)ERR_INIT;
	if (study_parse(&study, json, strlen(json), "study.json", &e) == 0) {
		if (plugins_read(&plugins, study, &e) == 0)
			plugins_free(&plugins);
		study_free(study);
	}
	free(json);
	return strncmp(e.text, "study.json:", 11) == 0 ? e.text + 11 : e.text;
}

#define TRIAL "\"trial\": {\"command\": [\"true\"]}"
#define BATCH(global)                                                          \
	"\"trial\": {\"command\": [\"true\"], \"batch\": {\"global\": " global \
	"}}"
#define LIMITS "\"limits\": {\"trials\": 1}"
#define FAR(text) "\"backend\": {\"name\": \"far\", " text "}"

static void
test_check(void)
{
	static const char *const rows[][2] = {
		{ TRIAL ", " LIMITS ", " FAR("\"slots\": 1"), "" },
		{ TRIAL ", " LIMITS ", " FAR("\"mood\": \"usage\""),
		    "2:93: backend.mood: not in this mood" },
		{ TRIAL ", " LIMITS ", " FAR("\"mood\": \"other\""),
		    "2:78: backend.name: the far side says no" },
		{ "\"trial\": {\"command\": [\"true\"], \"launcher\": "
		  "\"torchrun\"}, " LIMITS ", " FAR("\"slots\": 1"),
		    "" },
		{ "\"trial\": {\"command\": [\"true\"], \"launcher\": "
		  "\"torchrun\"}, " LIMITS ", \"backend\": \"near\"",
		    "2:44: trial.launcher: the backend near starts one process "
		    "per trial: expected none" },
		/* dollars */
		{ TRIAL ", \"limits\": {\"cost\": 5}, \"backend\": \"near\"",
		    "2:52: limits.cost: no backend of this study costs "
		    "anything" },
		{ TRIAL ", \"limits\": {\"cost\": 5}, " FAR("\"price\": -1"),
		    "2:52: limits.cost: a limit of dollars needs every price, "
		    "and the backend far has no upper bound for the cost "
		    "of an attempt" },
		{ TRIAL ", \"limits\": {\"cost\": 5}, " FAR("\"price\": 2"),
		    "" },
		/* batches */
		{ BATCH("512") ", " LIMITS ", " FAR("\"replicas\": 8"), "" },
		{ BATCH("510") ", " LIMITS ", " FAR("\"replicas\": 8"),
		    "2:52: trial.batch.global: 510 does not divide by the 8 "
		    "replicas of the backend far" },
		{ BATCH("\"x\"") ", " LIMITS ", " FAR("\"replicas\": 8"), "" },
		{ BATCH("\"x\"") ", " LIMITS ", " FAR("\"replicas\": 6"),
		    "2:52: trial.batch.global: not every value of x divides by "
		    "the 6 replicas of the backend far" },
		{ BATCH("\"y\"") ", " LIMITS ", \"backend\": \"near\"", "" },
		{ BATCH("\"c\"") ", " LIMITS ", " FAR("\"replicas\": 2"), "" },
		{ BATCH("\"c\"") ", " LIMITS ", " FAR("\"replicas\": 4"),
		    "2:52: trial.batch.global: not every value of c divides by "
		    "the 4 replicas of the backend far" },
		{ BATCH("\"z\"") ", " LIMITS,
		    "2:52: trial.batch.global: not every value of z is a whole "
		    "number above 0" },
		{ BATCH("\"w\"") ", " LIMITS,
		    "2:52: trial.batch.global: w has no value when it is "
		    "inactive" },
		{ BATCH("\"v\"") ", " LIMITS,
		    "2:52: trial.batch.global: v is "
		    "not a parameter; known: x, y, z, "
		    "c, w" },
		{ BATCH("0") ", " LIMITS,
		    "2:52: trial.batch.global: expected a whole number from 1 "
		    "to 1000000000" },
		{ BATCH("[]") ", " LIMITS,
		    "2:52: trial.batch.global: expected a whole number or the "
		    "name of a parameter, not an array" },
		{ "\"trial\": {\"command\": [\"true\", \"{batch}\"]}, " LIMITS,
		    "2:31: trial.command[1]: {batch} is the share of "
		    "trial.batch, which is not given" },
	};
	size_t i;

	for (i = 0; i < sizeof rows / sizeof rows[0]; i++)
		is_str(checked(rows[i][0]), rows[i][1], rows[i][0]);
}

static void
has(const char *list, const char *word)
{
	char *line = xasprintf("\n%s\n", word);
	char *text = xasprintf("\n%s", list);

	if (!ok(strstr(text, line) != NULL, "%s", word))
		printf("# not in%s", text);
	free(text);
	free(line);
}

static void
test_env(void)
{
	struct fake_study s;
	const struct fake_backend_call *c;
	struct store_study row = { .name = "far", .seed = 1 };
	char id[STUDY_ID], other[STUDY_ID];

	fake_study_open(&s,
	    "\"trial\": {\"command\": [\"train\", \"--batch={batch}\", "
	    "\"{checkpoint_dir}\", \"{output_dir}\"], \"batch\": {\"global\": "
	    "512}}, \"backend\": [{\"name\": \"near\", \"slots\": 1}, "
	    "{\"name\": \"far\", \"replicas\": 8}], " LIMITS);
	fake_study_server_up(&s);
	c = fake_backend_started(&near, 1);
	ok(c != NULL, "a trial is near");
	has(c->env, "HPOTUNE_GLOBAL_BATCH=512");
	has(c->env, "HPOTUNE_BATCH=512");
	has(c->env, "SM_HOSTS=[\"algo-1\"]");
	has(c->argv, "--batch=512");
	ok(strstr(c->argv, "/far.d/trials/1/checkpoint\n") != NULL,
	    "with its folder here");
	fake_study_close(&s);

	fake_study_open(&s,
	    "\"trial\": {\"command\": [\"train\", \"--batch={batch}\", "
	    "\"{checkpoint_dir}\", \"{output_dir}\"], \"batch\": {\"global\": "
	    "512}}, \"backend\": {\"name\": \"far\", \"replicas\": "
	    "8}, " LIMITS);
	fake_study_server_up(&s);
	c = fake_backend_started(&far, 1);
	has(c->env, "HPOTUNE_GLOBAL_BATCH=512");
	has(c->env, "HPOTUNE_BATCH=64");
	has(c->env, "HPOTUNE_CHECKPOINT_DIR=/far/checkpoint");
	has(c->env, "HPOTUNE_OUTPUT_DIR=/far/output");
	has(c->env, "HPOTUNE_METRICS=/far/metrics.jsonl");
	has(c->env, "HPOTUNE_PARAMS=/far/params.json");
	has(c->env, "SM_MODEL_DIR=/far/model");
	ok(strstr(c->env, "SM_HOSTS") == NULL &&
		strstr(c->env, "SM_CURRENT_HOST") == NULL &&
		strstr(c->env, "SM_NUM_GPUS") == NULL,
	    "hosts are reported by the remote machine itself");
	is_str(c->argv, "train\n--batch=64\n/far/checkpoint\n/far/output\n",
	    "templates are filled as the trial sees its folders");
	is_int((long long)strspn(far.study_id, "0123456789abcdef"), 6,
	    "the study has an id");
	fake_study_close(&s);

	store_study_id(id, &row);
	row.created_us = 1;
	store_study_id(other, &row);
	ok(strcmp(id, other) != 0, "another id when made at another time");
	row.created_us = 0;
	store_study_id(other, &row);
	is_str(other, id, "the same for the same study");
}

/* Where the plug-ins have not been asked before. */
static void
test_batch_fails(void)
{
	const char *json =
	    "{\"study\": \"far\", \"objective\": {\"metric\": "
	    "\"m\", \"goal\": \"minimize\"}, \"parameters\": "
	    "{\"x\": {\"type\": \"int\", \"min\": 1, \"max\": 9}}"
	    ", \"trial\": {\"command\": [\"a\"], \"batch\": "
	    "{\"global\": \"x\"}}, \"limits\": {\"trials\": 1}}";
	struct store_trial row = { .number = 1,
		.params = xstrdup("{\"x\":6}") };
	struct store_attempt att = { .trial = 1, .attempt = 1 };
	struct plugin_backend backend = { .type = &backend_far };
	struct attempt_spec_facts facts = {
		.backend = &backend, .row = &row, .att = &att, .state_dir = "/s"
	};
	struct err e = ERR_INIT;
	struct json_doc *block;
	struct study *study;
	struct attempt_spec te;

	json_parse(&block, "{\"replicas\": 4}", 15, NULL, false, &e);
	if (study_parse(&study, json, strlen(json), "s", &e) != 0 ||
	    plugin_options_read(&backend.options, backend_far.options,
		json_root(block), NULL, &e) != 0)
		abort();
	facts.study = study;
	is_int(attempt_spec_make(&te, &facts, &e), -1,
	    "a share that is not whole");
	is_int(e.kind, ERR_LAUNCH, "is no start");
	is_str(e.text,
	    "trial.batch: 6 does not divide by the 4 replicas of the backend "
	    "far",
	    "and reports it");
	attempt_spec_free(&te);
	plugin_options_free(backend.options);
	json_free(block);
	study_free(study);
	free(row.params);
}

int
main(void)
{
	test_check();
	test_env();
	test_batch_fails();
	return done_testing();
}
