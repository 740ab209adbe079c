/*
 * Words of other tuners are answered with ours, and the type of a parameter may
 * be left out where its other keys tell it.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/model/foreign-words.h"
#include "src/model/param.h"
#include "src/model/study/study.h"
#include "tests/support/tap.h"

static struct study *
parse(const char *objective, const char *parameter, const char *limits,
    const char *more, struct err *e)
{
	struct study *s = NULL;
	char *text = xasprintf("{\"study\":\"s\",\"objective\":{%s},"
			       "\"parameters\":{\"x\":{%s}},\"trial\":{"
			       "\"command\":[\"a\"]},\"limits\":{%s}%s}",
	    objective, parameter, limits, more);

	*e = (struct err)ERR_INIT;
	if (study_parse(&s, text, strlen(text), "study.json", e) != 0)
		s = NULL;
	free(text);
	return s;
}

#define OBJECTIVE "\"metric\":\"m\",\"goal\":\"minimize\""
#define PARAMETER "\"type\":\"float\",\"min\":0,\"max\":1"
#define LIMITS "\"trials\":1"

enum place { IN_STUDY, IN_OBJECTIVE, IN_PARAMETER, IN_LIMITS };

static void
test_keys(void)
{
	static const struct {
		enum place place;
		const char *text, *error;
	} rows[] = {
		{ IN_STUDY, "\"n_trials\":9", "\"trials\" of \"limits\"" },
		{ IN_STUDY, "\"trials\":9", "\"trials\" of \"limits\"" },
		{ IN_STUDY, "\"direction\":\"min\"",
		    "\"goal\" of \"objective\"" },
		{ IN_STUDY, "\"directions\":[]", "here it is \"objectives\"" },
		{ IN_STUDY, "\"sampler\":\"tpe\"", "here it is \"strategy\"" },
		{ IN_STUDY, "\"method\":\"bayes\"", "here it is \"strategy\"" },
		{ IN_STUDY, "\"pruner\":\"x\"", "here it is \"stopping\"" },
		{ IN_STUDY, "\"early_terminate\":{}",
		    "here it is \"stopping\"" },
		{ IN_STUDY, "\"maxTrialNumber\":9",
		    "\"trials\" of \"limits\"" },
		{ IN_STUDY, "\"max-steps\":9", "\"max_steps\" of \"trial\"" },
		{ IN_LIMITS, "\"n_trials\":9",
		    "n_trials: unknown key; here it is \"trials\"" },
		{ IN_LIMITS, "\"num_samples\":9", "here it is \"trials\"" },
		{ IN_LIMITS, "\"timeout\":9", "here it is \"wall_time\"" },
		{ IN_LIMITS, "\"n_jobs\":9", "here it is \"parallel\"" },
		{ IN_LIMITS, "\"max_concurrent_trials\":9",
		    "here it is \"parallel\"" },
		{ IN_LIMITS, "\"trails\":9", "did you mean \"trials\"?" },
		{ IN_OBJECTIVE, "\"name\":\"m\"", "here it is \"metric\"" },
		{ IN_OBJECTIVE, "\"mode\":\"min\"", "here it is \"goal\"" },
		{ IN_OBJECTIVE, "\"metric\":\"m\",\"goal\":\"min\"",
		    "goal: here it is \"minimize\"" },
		{ IN_PARAMETER, "\"low\":0,\"high\":1", "here it is \"min\"" },
		{ IN_PARAMETER, "\"type\":\"float\",\"min\":0,\"high\":1",
		    "here it is \"max\"" },
		{ IN_PARAMETER, "\"choices\":[1,2]", "here it is \"values\"" },
		{ IN_PARAMETER, "\"distribution\":\"uniform\"",
		    "here it is \"type\"" },
		{ IN_PARAMETER, "\"type\":\"loguniform\"",
		    "here it is \"float\", with \"scale\": \"log\"" },
		{ IN_PARAMETER, "\"type\":\"uniform\"",
		    "type: here it is \"float\"" },
		{ IN_PARAMETER, "\"type\":\"log_uniform_values\"",
		    "with \"scale\": \"log\"" },
		{ IN_PARAMETER, "\"type\":\"q_uniform\"",
		    "\"float\", with \"step\"" },
		{ IN_PARAMETER, "\"type\":\"int_uniform\"",
		    "here it is \"int\"" },
		{ IN_PARAMETER, "\"type\":\"Categorical\"",
		    "here it is \"choice\", with \"values\"" },
		{ IN_PARAMETER,
		    "\"type\":\"float\",\"min\":1,\"max\":2,\"scale\":"
		    "\"Logarithmic\"",
		    "scale: here it is \"log\"" },
	};
	struct study *s;
	struct err e;
	char *more;
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		more = xasprintf(",%s", rows[i].text);
		s = parse(
		    rows[i].place == IN_OBJECTIVE ? rows[i].text : OBJECTIVE,
		    rows[i].place == IN_PARAMETER ? rows[i].text : PARAMETER,
		    rows[i].place == IN_LIMITS ? rows[i].text : LIMITS,
		    rows[i].place == IN_STUDY ? more : "", &e);
		if (!ok(s == NULL && strstr(e.text, rows[i].error) != NULL,
			rows[i].text))
			printf("# %s\n# %s\n", e.text, rows[i].error);
		if (s != NULL)
			study_free(s);
		free(more);
	}
}

static void
test_values(void)
{
	is_str(foreign_words_value(FOREIGN_STRATEGY_NAME, "TPESampler"),
	    "\"tpe\"", "a sampler of Optuna");
	is_str(foreign_words_value(FOREIGN_STRATEGY_NAME, "bayes"), "\"gp\"",
	    "a method of W&B");
	is_str(foreign_words_value(FOREIGN_RULE_NAME, "MedianPruner"),
	    "\"median\"", "a pruner");
	is_str(foreign_words_value(FOREIGN_RULE_NAME, "ASHAScheduler"),
	    "\"asha\"", "a scheduler of Ray");
	ok(foreign_words_value(FOREIGN_RULE_NAME, "asha") == NULL &&
		foreign_words_value(FOREIGN_RULE_NAME, "") == NULL &&
		foreign_words_value(FOREIGN_BACKEND_NAME, "cpu gpu") == NULL,
	    "ours, none and several words are none of theirs");
}

static void
test_types(void)
{
	static const struct {
		const char *text;
		int type; /* -1 = an error */
		bool guessed;
	} rows[] = {
		{ "\"values\":[1,2]", PARAM_CHOICE, false },
		{ "\"value\":1", PARAM_FIXED, false },
		{ "\"min\":1,\"max\":6", PARAM_INT, true },
		{ "\"min\":-1,\"max\":1", PARAM_INT, true },
		{ "\"min\":1,\"max\":1000,\"scale\":\"log\"", PARAM_INT, true },
		{ "\"min\":1,\"max\":9,\"step\":2", PARAM_INT, true },
		{ "\"min\":1,\"max\":9,\"step\":0.5", PARAM_FLOAT, true },
		{ "\"min\":0.0,\"max\":1", PARAM_FLOAT, true },
		{ "\"min\":1e-4,\"max\":1", PARAM_FLOAT, true },
		{ "\"mean\":0,\"sd\":1", PARAM_FLOAT, true },
		{ "\"type\":\"float\",\"min\":1,\"max\":6", PARAM_FLOAT,
		    false },
		{ "\"min\":0,\"max\":1", -1, false },
		{ "\"min\":1,\"max\":2", -1, false },
		{ "\"min\":1", -1, false },
	};
	struct study *s;
	struct err e;
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		s = parse(OBJECTIVE, rows[i].text, LIMITS, "", &e);
		is_int(s == NULL ? -1 : (int)s->space->params[0].type,
		    rows[i].type, rows[i].text);
		if (s == NULL)
			continue;
		is_int(s->space->params[0].guessed, rows[i].guessed,
		    "whether it is guessed");
		study_free(s);
	}
}

int
main(void)
{
	test_keys();
	test_values();
	test_types();
	return done_testing();
}
