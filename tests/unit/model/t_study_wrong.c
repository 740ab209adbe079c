/* Wrong studies: each gets one error with position and reason. */

#include "src/base/err.h"
#include "src/model/study/study.h"
#include "tests/support/study-fixture.h"
#include "tests/support/tap.h"

#define P(text)                                            \
	"{\"study\":\"s\"," OBJECTIVE "," TRIAL "," LIMITS \
	",\n\"parameters\":{\"x\":" text "}}"
#define T(text)                                                 \
	"{\"study\":\"s\"," OBJECTIVE "," PARAMETERS "," LIMITS \
	",\n\"trial\":{" text "}}"
#define C(text) T("\"command\":[\"a\",\"" text "\"]")
#define O(text)                                             \
	"{\"study\":\"s\"," PARAMETERS "," TRIAL "," LIMITS \
	",\n\"objective\":{" text "}}"
#define M(text)                                             \
	"{\"study\":\"s\"," PARAMETERS "," TRIAL "," LIMITS \
	",\n\"objectives\":" text "}"
#define K(text) BASE ",\n\"constraints\":" text "}"
#define A "{\"metric\":\"a\",\"goal\":\"maximize\"}"
#define B "{\"metric\":\"b\",\"goal\":\"minimize\"}"
#define L(text)                                                \
	"{\"study\":\"s\"," OBJECTIVE "," PARAMETERS "," TRIAL \
	",\n\"limits\":{" text "}}"
#define N(text) BASE ",\n\"notify\":" text "}"
#define SNS "\"sns\":\"arn:aws:sns:eu-west-1:123456789012:news\""
#define TOPIC                                                \
	"2:17: notify.sns: expected the ARN of a topic, as " \
	"arn:aws:sns:eu-west-1:123456789012:NAME"
#define BUS                                                                   \
	"2:25: notify.eventbridge: expected the name of an event bus, as "    \
	"default, or its ARN, as arn:aws:events:eu-west-1:123456789012:event" \
	"-bus/NAME"
#define FLOAT "\"type\":\"float\",\"min\":"

static const struct wrong {
	const char *text, *error;
} wrongs[] = {
	/* The file as a whole. */
	{ "", "1:1: there is nothing in it" },
	{ "[]", "1:1: expected an object, not an array" },
	{ "{}", "1:1: the key \"study\" is missing" },
	{ "{\"study\":\"s\",}", "1:14: a comma before '}' is one too many" },
	{ BASE ",\n\"study\":\"t\"}", "2:1: study: this key is given twice" },
	{ BASE ",\n\"strateggy\":\"t\"}",
	    "2:1: strateggy: unknown key; did you mean \"strategy\"?" },
	{ BASE ",\n\"Limits\":{}}",
	    "2:1: Limits: unknown key; did you mean \"limits\"?" },
	{ BASE ",\n\"zzzzzz\":{}}",
	    "2:1: zzzzzz: unknown key; known: $schema, description, study, "
	    "objective, objectives, constraints, parameters, where, strategy, "
	    "stopping, trial, backend, limits, enqueue, warm_start, notify, "
	    "keep, hooks, provenance, replicates, confirm" },
	{ BASE ",\n\"confirm\":{}}",
	    "2:1: confirm: no parameter has a \"default\": add them, or give "
	    "the number of a trial as \"baseline\"" },
	{ BASE ",\n\"confirm\":{\"baseline\":1}}",
	    "2:11: confirm: the key \"parameter\" is missing" },
	{ BASE ",\n\"confirm\":{\"baseline\":true}}",
	    "2:23: confirm.baseline: expected \"default\" or the number of a "
	    "trial" },
	{ BASE ",\n\"confirm\":{\"baseline\":0}}",
	    "2:23: confirm.baseline: expected a whole number from 1 to "
	    "9223372036854775807" },
	{ BASE ",\n\"confirm\":{\"replicates\":4}}",
	    "2:12: confirm.replicates: nothing could ever be confirmed: at "
	    "alpha 0.05 it takes 5 replicates at least" },
	{ BASE ",\n\"confirm\":{\"alpha\":0.001}}",
	    "2:12: confirm.alpha: nothing could ever be confirmed: at alpha "
	    "0.001 it takes 11 replicates at least" },
	{ BASE ",\n\"confirm\":{\"baseline\":1,\"goal\":\"maximize\"}}",
	    "2:25: confirm.goal: without \"report\" the objective is compared, "
	    "which has its own goal" },
	{ BASE ",\n\"confirm\":{\"baseline\":1,\"parameter\":\"s\"},"
	       "\"replicates\":{\"parameter\":\"r\",\"count\":2}}",
	    "2:25: confirm.parameter: it is that of replicates: leave it out" },
	{ BASE ",\n\"confirm\":{\"baseline\":1},"
	       "\"replicates\":{\"parameter\":\"r\",\"values\":[1,2]}}",
	    "2:26: replicates: the key confirm needs values that the search "
	    "has "
	    "not used: expected count, not values" },
	{ BASE ",\n\"hooks\":{\"best\":\"./notify\"}}",
	    "2:17: hooks.best: expected a list of texts: a program and its "
	    "arguments" },
	{ BASE ",\n\"hooks\":{\"failed\":[\"\"]}}",
	    "2:20: hooks.failed[0]: expected the name of a program" },
	{ BASE ",\n\"hooks\":{\"begun\":[\"a\"]}}",
	    "2:10: hooks.begun: unknown key; known: best, failed, finished, "
	    "timeout" },
	{ BASE ",\n\"keep\":3}",
	    "2:8: keep: expected an object, not a number" },
	{ BASE ",\n\"keep\":{\"bytes\":0}}",
	    "2:17: keep.bytes: expected a size above 0" },
	{ BASE ",\n\"keep\":{\"worst\":1}}",
	    "2:9: keep.worst: unknown key; known: best, last, bytes" },
	{ BASE ",\n\"warm_start\":\"a.db\"}",
	    "2:14: warm_start: expected an array, not a string" },
	{ BASE ",\n\"warm_start\":[\"a.db\",7]}",
	    "2:22: warm_start[1]: expected the name of a database, or an "
	    "object with tuning_job, not a number" },
	{ BASE ",\n\"warm_start\":[{\"tuning_job\":\"\"}]}",
	    "2:29: warm_start[0].tuning_job: expected a text that is not "
	    "empty" },
	{ BASE ",\n\"warm_start\":[{\"region\":\"x\"}]}",
	    "2:15: warm_start[0]: the key \"tuning_job\" is missing" },
	{ BASE ",\n\"warm_start\":[\"\"]}",
	    "2:15: warm_start[0]: expected the name of a database" },
	{ BASE ",\n\"warm_start\":[\"a.db\",\"a.db\"]}",
	    "2:22: warm_start[1]: this database is given twice" },
	/* notify */
	{ N("{}"), "2:10: notify: no destination for notices: expected sns or "
		   "eventbridge" },
	{ BASE ",\n\"notify\":true}",
	    "2:10: notify: expected an object, not a boolean" },
	{ N("{\"sns\":\"news\"}"), TOPIC },
	{ N("{\"sns\":\"arn:aws:sns:eu-west-1:12345678901:news\"}"), TOPIC },
	{ N("{\"sns\":\"arn:aws:sns:eu-west-1:123456789012:\"}"), TOPIC },
	{ N("{\"sns\":\"arn:aws:sns:EU:123456789012:news\"}"), TOPIC },
	{ N("{\"sns\":\"arn:aws:sns:eu-west-1:123456789012:n.fif\"}"), TOPIC },
	{ N("{\"sns\":\"arn:aws:sns:eu-west-1:123456789012:a:b\"}"), TOPIC },
	{ N("{\"sns\":\"arn:aws:sqs:eu-west-1:123456789012:news\"}"), TOPIC },
	{ N("{\"sns\":\"arn:aws:s\"}"), TOPIC },
	{ N("{\"eventbridge\":\"default\"}"),
	    "2:25: notify.eventbridge: no AWS region: name it in "
	    "notify.region, or give the ARN of the bus" },
	{ N("{\"eventbridge\":\"a b\",\"region\":\"eu-west-1\"}"), BUS },
	{ N("{\"eventbridge\":\"arn:aws:events:eu-west-1:123456789012:"
	    "rule/x\"}"),
	    BUS },
	{ N("{\"eventbridge\":\"arn:aws:events:eu-west-1:123456789012:"
	    "event-bus/\"}"),
	    BUS },
	{ N("{\"region\":\"eu west\",\"eventbridge\":\"default\"}"),
	    "2:20: notify.region: this is not an AWS region such as "
	    "eu-west-1" },
	{ N("{\"region\":\"eu-west-1\"," SNS "}"),
	    "2:11: notify.region: region is for eventbridge, which is not "
	    "given; a topic has the region of its ARN" },
	{ N("{\"profile\":\"\"," SNS "}"),
	    "2:21: notify.profile: expected a name" },
	{ N("{\"on\":[]," SNS "}"),
	    "2:16: notify.on: expected one moment at least" },
	{ N("{\"on\":[\"finish\"]," SNS "}"),
	    "2:17: notify.on[0]: expected finished, failed, waiting or "
	    "interrupted; did you mean \"finished\"?" },
	{ N("{\"on\":[\"failed\",\"failed\"]," SNS "}"),
	    "2:26: notify.on[1]: this moment is given twice" },
	{ N("{\"topic\":1}"), "2:11: notify.topic: unknown key; known: sns, "
			      "eventbridge, on, region, profile" },
	{ "{\"study\":\"s\"," OBJECTIVE "," PARAMETERS "," TRIAL "}",
	    "1:1: the key \"limits\" is missing" },
	{ "{\"study\":\"s\"," OBJECTIVE "," PARAMETERS "," LIMITS
	  ",\"backend\":\"local\"}",
	    "1:1: the key \"trial\" is missing" },
	{ "{\"study\":\"s\"," OBJECTIVE "," PARAMETERS "," LIMITS
	  ",\"backend\":\"local\",\n\"trial\":{}}",
	    "2:9: trial: the key \"command\" is missing" },
	{ "{\"study\":\"s\"," OBJECTIVE "," TRIAL "," LIMITS "}",
	    "1:1: the key \"parameters\" is missing" },
	{ "{\"study\":\"s\"," PARAMETERS "," TRIAL "," LIMITS "}",
	    "1:1: the key \"objective\" is missing" },
	/* study */
	{ "{\"study\":7," REST "}",
	    "1:10: study: expected a string, not a number" },
	{ "{\"study\":\"My study\"," REST "}",
	    "1:10: study: the name of a study has 1 to 32 lower-case "
	    "letters, digits or - and begins with no -" },
	{ "{\"study\":\"-s\"," REST "}",
	    "1:10: study: the name of a study has 1 to 32 lower-case "
	    "letters, digits or - and begins with no -" },
	{ "{\"study\":\"a23456789012345678901234567890123\"," REST "}",
	    "1:10: study: the name of a study has 1 to 32 lower-case "
	    "letters, digits or - and begins with no -" },
	{ "{\"study\":\"\"," REST "}",
	    "1:10: study: the name of a study has 1 to 32 lower-case "
	    "letters, digits or - and begins with no -" },
	/* objective */
	{ O(""), "2:13: objective: the key \"metric\" is missing" },
	{ O("\"metric\":\"a\""),
	    "2:13: objective: the key \"goal\" is missing" },
	{ O("\"metric\":\"a\",\"goal\":\"maximise\""),
	    "2:34: objective.goal: here it is \"maximize\"" },
	{ O("\"metric\":\"a b\",\"goal\":\"maximize\""),
	    "2:23: objective.metric: the name of a metric is a letter or _, "
	    "then up to 63 letters, digits, _ - . / : and @; what files and "
	    "libraries call so is \"a_b\" here" },
	{ O("\"metric\":\"metrics/mAP50-95(B)\",\"goal\":\"maximize\""),
	    "2:23: objective.metric: the name of a metric is a letter or _, "
	    "then up to 63 letters, digits, _ - . / : and @; what files and "
	    "libraries call so is \"metrics/mAP50-95_B_\" here" },
	{ O("\"metric\":\"%5\",\"goal\":\"maximize\""),
	    "2:23: objective.metric: the name of a metric is a letter or _, "
	    "then up to 63 letters, digits, _ - . / : and @; what files and "
	    "libraries call so is \"_5\" here" },
	{ O("\"metric\":\"step\",\"goal\":\"maximize\""),
	    "2:23: objective.metric: a metric may not be named step: "
	    "trial.step_regex is the pattern of the step" },
	{ O("\"metric\":\"a\",\"gaol\":\"maximize\""),
	    "2:27: objective.gaol: unknown key; did you mean \"goal\"?" },
	{ O("\"metric\":\"a\",\"goal\":\"maximize\",\"target\":\"1\""),
	    "2:54: objective.target: expected a number, not a string" },
	{ O("\"metric\":\"a\",\"goal\":\"maximize\",\"value\":\"mean\""),
	    "2:53: objective.value: expected best or last" },
	/* objectives */
	{ BASE ",\n \"objectives\":[]}",
	    "2:2: objectives: expected either \"objective\" or "
	    "\"objectives\"" },
	{ M("{}"), "2:14: objectives: expected an array, not an object" },
	{ M("[]"), "2:14: objectives: expected 2 to 8 objectives; a single "
		   "one is written as \"objective\"" },
	{ M("[" A "]"), "2:14: objectives: expected 2 to 8 objectives; a "
			"single one is written as \"objective\"" },
	{ M("[1," A "]"),
	    "2:15: objectives[0]: expected an object, not a number" },
	{ M("[" A ",{\"metric\":\"b\"}]"),
	    "2:48: objectives[1]: the key \"goal\" is missing" },
	{ M("[" A ",{\"metric\":\"b\",\"goal\":\"less\"}]"),
	    "2:69: objectives[1].goal: here it is \"minimize\"" },
	{ M("[" A "," A "]"),
	    "2:58: objectives[1].metric: this metric is given twice" },
	{ M("[" A ",{\"metric\":\"b\",\"goal\":\"minimize\","
	    "\"target\":1}]"),
	    "2:80: objectives[1].target: this key goes with a single "
	    "objective only: of several the last reports count" },
	{ M("[" A ",{\"metric\":\"b\",\"weight\":1}]"),
	    "2:62: objectives[1].weight: unknown key; known: metric, goal" },
	{ M("[" A "," B "],\n\"stopping\":\"median\""),
	    "3:12: stopping: a rule judges by one metric: with several "
	    "objectives expected \"none\"" },
	{ M("[" A "," B "],\n\"stopping\":[{\"rule\":\"patience\"}]"),
	    "3:21: stopping[0].rule: a rule judges by one metric: with "
	    "several objectives expected \"none\"" },
	/* constraints */
	{ K("{}"), "2:15: constraints: expected an array, not an object" },
	{ K("[]"), "2:15: constraints: expected 1 to 32 constraints" },
	{ K("[1]"), "2:16: constraints[0]: expected an object, not a number" },
	{ K("[{\"max\":1}]"),
	    "2:16: constraints[0]: the key \"metric\" is missing" },
	{ K("[{\"metric\":\"a\"}]"),
	    "2:16: constraints[0]: a constraint has a bound: expected min, "
	    "max or both" },
	{ K("[{\"metric\":\"a\",\"max\":\"1\"}]"),
	    "2:36: constraints[0].max: expected a number, not a string" },
	{ K("[{\"metric\":\"a\",\"min\":2,\"max\":1}]"),
	    "2:44: constraints[0].max: max is less than min" },
	{ K("[{\"metric\":\"a\",\"mxa\":1}]"),
	    "2:30: constraints[0].mxa: unknown key; did you mean \"max\"?" },
	{ K("[{\"metric\":\"a b\",\"max\":1}]"),
	    "2:26: constraints[0].metric: the name of a metric is a letter or "
	    "_, then up to 63 letters, digits, _ - . / : and @; what files "
	    "and libraries call so is \"a_b\" here" },
	{ K("[{\"metric\":\"a\",\"max\":1},{\"metric\":\"a\",\"min\":0}]"),
	    "2:49: constraints[1].metric: this metric is given twice: one "
	    "constraint can have min and max" },
	/* parameters */
	{ "{\"study\":\"s\"," OBJECTIVE "," TRIAL "," LIMITS
	  ",\n\"parameters\":{}}",
	    "2:14: parameters: expected 1 to 1000 parameters" },
	{ "{\"study\":\"s\"," OBJECTIVE "," TRIAL "," LIMITS
	  ",\n\"parameters\":{\"a b\":{\"type\":\"fixed\",\"value\":1}}}",
	    "2:15: parameters[\"a b\"]: the name of a parameter is a letter "
	    "or _ and up to 63 letters, digits, _ . or -" },
	{ "{\"study\":\"s\"," OBJECTIVE "," TRIAL "," LIMITS
	  ",\n\"parameters\":{\"3d\":{\"type\":\"fixed\",\"value\":1}}}",
	    "2:15: parameters[\"3d\"]: the name of a parameter is a letter "
	    "or _ and up to 63 letters, digits, _ . or -" },
	{ "{\"study\":\"s\"," OBJECTIVE "," TRIAL "," LIMITS
	  ",\n\"parameters\":{\"Trial\":{\"type\":\"fixed\",\"value\":1}}}",
	    "2:15: parameters.Trial: a parameter may not be named Trial: "
	    "{Trial} in a command means something else" },
	{ P("1"), "2:19: parameters.x: expected an object, not a number: { "
		  "\"type\": \"fixed\", \"value\": 1 }" },
	{ P("[1,2]"), "2:19: parameters.x: expected an object, not an array: { "
		      "\"type\": \"choice\", \"values\": [1,2] }" },
	{ P("{}"),
	    "2:19: parameters.x: the key \"type\" is missing, and "
	    "neither values, value, min and max nor mean and sd tell it" },
	{ P("{\"min\":0,\"max\":1}"),
	    "2:19: parameters.x: the key \"type\" is missing: float has all "
	    "values from 0 to 1, int these two" },
	{ P("{\"type\":\"flaot\"}"),
	    "2:27: parameters.x.type: expected float, int, choice or fixed; "
	    "did you mean \"float\"?" },
	{ P("{\"type\":\"float\",\"max\":1}"),
	    "2:19: parameters.x: the key \"min\" is missing" },
	{ P("{" FLOAT "0,\"mxa\":1}"),
	    "2:43: parameters.x.mxa: unknown key; did you mean \"max\"?" },
	{ P("{" FLOAT "0,\"max\":1,\"values\":[1]}"),
	    "2:51: parameters.x.values: this key does not go with type "
	    "float" },
	{ P("{" FLOAT "\"0\",\"max\":1}"),
	    "2:41: parameters.x.min: expected a number, not a string" },
	{ P("{" FLOAT "2,\"max\":1}"),
	    "2:49: parameters.x.max: max is less than min" },
	{ P("{" FLOAT "1,\"max\":1.0000000001}"),
	    "2:49: parameters.x.max: max is too close to min" },
	{ P("{" FLOAT "0,\"max\":1e301}"),
	    "2:49: parameters.x.max: expected a number from -1e300 to "
	    "1e300" },
	{ P("{" FLOAT "0,\"max\":1,\"scale\":\"log\"}"),
	    "2:41: parameters.x.min: a log scale needs min above 0" },
	{ P("{" FLOAT "-1,\"max\":1,\"scale\":\"log\"}"),
	    "2:41: parameters.x.min: a log scale needs min above 0" },
	{ P("{" FLOAT "1,\"max\":1,\"scale\":\"lgo\"}"),
	    "2:59: parameters.x.scale: expected linear, log or reverse-log; "
	    "did you mean \"log\"?" },
	{ P("{" FLOAT "0,\"max\":1,\"scale\":\"reverse-log\"}"),
	    "2:49: parameters.x.max: a reverse-log scale needs max below 1" },
	{ P("{" FLOAT "-1,\"max\":0,\"scale\":\"reverse-log\"}"),
	    "2:41: parameters.x.min: a reverse-log scale needs min of at "
	    "least 0" },
	{ P("{\"type\":\"int\",\"min\":0,\"max\":1,\"scale\":\"reverse-log\"}"),
	    "2:57: parameters.x.scale: reverse-log goes with type float "
	    "only" },
	{ P("{" FLOAT "0,\"max\":1,\"step\":0}"),
	    "2:58: parameters.x.step: expected a number above 0" },
	{ P("{" FLOAT "0,\"max\":1,\"step\":2}"),
	    "2:58: parameters.x.step: step is larger than max - min" },
	{ P("{" FLOAT "0,\"max\":1,\"step\":1e-13}"),
	    "2:58: parameters.x.step: step is too small beside min and "
	    "max" },
	{ P("{" FLOAT "0,\"max\":0.5,\"step\":0.1,\"scale\":\"reverse-log\"}"),
	    "2:60: parameters.x.step: step goes with a linear or log scale "
	    "only" },
	{ P("{" FLOAT "1,\"max\":2,\"step\":0.5,\"scale\":\"log\"},"
	    "\"y\":{" FLOAT "0,\"max\":1,\"when\":{\"x\":[1]}}"),
	    "2:121: parameters.y.when.x: x has a step on a log scale: "
	    "only an expression can compare it, like \"x < 0.5\"" },
	{ P("{\"type\":\"int\",\"min\":0,\"max\":9,\"step\":0.5}"),
	    "2:56: parameters.x.step: expected a whole number" },
	{ P("{\"type\":\"int\",\"min\":0.5,\"max\":9}"),
	    "2:39: parameters.x.min: expected a whole number" },
	{ P("{\"type\":\"int\",\"min\":0,\"max\":9007199254740993}"),
	    "2:47: parameters.x.max: expected a whole number from -2^53 to "
	    "2^53" },
	{ P("{\"type\":\"int\",\"min\":0,\"max\":9007199254740992}"),
	    "2:19: parameters.x: more than 2^50 values; a larger step makes "
	    "fewer" },
	{ P("{\"type\":\"int\",\"min\":1,\"max\":2000000000000,"
	    "\"scale\":\"log\"}"),
	    "2:47: parameters.x.max: an int on a log scale must not exceed "
	    "2^40" },
	{ P("{" FLOAT "0,\"max\":1,\"default\":2}"),
	    "2:61: parameters.x.default: x can only be a number from 0 to "
	    "1" },
	{ P("{" FLOAT "0,\"max\":1,\"step\":0.1,\"default\":0.25}"),
	    "2:72: parameters.x.default: x can only be a number from 0 to 1 "
	    "in steps of 0.1" },
	{ P("{\"type\":\"int\",\"min\":0,\"max\":1,\"default\":\"1\"}"),
	    "2:59: parameters.x.default: x can only be a whole number from 0 "
	    "to 1" },
	{ P("{\"type\":\"choice\"}"),
	    "2:19: parameters.x: the key \"values\" is missing" },
	{ P("{\"type\":\"choice\",\"values\":[]}"),
	    "2:45: parameters.x.values: expected 1 to 1000 values" },
	{ P("{\"type\":\"choice\",\"values\":[[ 1,\"a\"],[1, \"a\"]]}"),
	    "2:55: parameters.x.values[1]: this value is given twice" },
	{ P("{\"type\":\"choice\",\"values\":[\"a\",\"b\",\"a\"]}"),
	    "2:54: parameters.x.values[2]: this value is given twice" },
	{ P("{\"type\":\"choice\",\"values\":[1,1.0]}"),
	    "2:48: parameters.x.values[1]: this value is given twice" },
	{ P("{\"type\":\"choice\",\"values\":[1,2],\"ordered\":1}"),
	    "2:61: parameters.x.ordered: expected true or false, not a "
	    "number" },
	{ P("{\"type\":\"choice\",\"values\":[1,2],\"default\":3}"),
	    "2:61: parameters.x.default: x can only be one of 1, 2" },
	{ P("{\"type\":\"choice\",\"values\":[1,2],\"min\":3}"),
	    "2:51: parameters.x.min: this key does not go with type choice" },
	{ P("{\"type\":\"fixed\"}"),
	    "2:19: parameters.x: the key \"value\" is missing" },
	{ P("{\"type\":\"fixed\",\"value\":1,\"default\":1}"),
	    "2:45: parameters.x.default: this key does not go with type "
	    "fixed" },
	/* when */
	{ P("{\"type\":\"fixed\",\"value\":1,\"when\":[]}"),
	    "2:52: parameters.x.when: expected 1 to 100 objects, of which one "
	    "holds" },
	{ P("{\"type\":\"fixed\",\"value\":1,\"when\":7}"),
	    "2:52: parameters.x.when: expected an object, a list of objects "
	    "or an expression" },
	{ P("{\"type\":\"fixed\",\"value\":1,\"when\":[7]}"),
	    "2:53: parameters.x.when[0]: expected an object, not a number" },
	{ P("{\"type\":\"fixed\",\"value\":1,\"when\":[{\"y\":[1]},{\"y\":"
	    "[1],\"z\":[1]}]},\"y\":{\"type\":\"fixed\",\"value\":1}"),
	    "2:72: parameters.x.when[1].z: no such parameter; known: x, y" },
	{ P("{\"type\":\"fixed\",\"value\":1,\"when\":\"y < \"},"
	    "\"y\":{\"type\":\"fixed\",\"value\":1}"),
	    "2:52: parameters.x.when: it ends where a number, a text or a "
	    "parameter is expected" },
	{ P("{\"type\":\"fixed\",\"value\":1,\"when\":\"yy < 1\"},"
	    "\"y\":{\"type\":\"fixed\",\"value\":1}"),
	    "2:52: parameters.x.when: no such parameter 'yy'" },
	{ P("{\"type\":\"fixed\",\"value\":1,\"when\":\"y > 1\"},"
	    "\"y\":{\"type\":\"fixed\",\"value\":1}"),
	    "2:52: parameters.x.when: this holds for no values" },
	{ P("{\"type\":\"fixed\",\"value\":1,\"when\":\"1 < 2\"},"
	    "\"y\":{\"type\":\"fixed\",\"value\":1}"),
	    "2:52: parameters.x.when: it names no parameter" },
	{ P("{\"type\":\"fixed\",\"value\":1,\"when\":\"y < x + 1\"},"
	    "\"y\":{\"type\":\"fixed\",\"value\":1}"),
	    "2:52: parameters.x.when: x depends on itself" },
	{ P("{\"type\":\"fixed\",\"value\":1,\"when\":{\"y\":[1],\"z\":[1]}},"
	    "\"y\":{\"type\":\"fixed\",\"value\":1},"
	    "\"z\":{\"type\":\"fixed\",\"value\":1,\"when\":\"y + x > 0\"}"),
	    "2:139: parameters.z.when: z depends on itself through x" },
	{ P("{\"type\":\"fixed\",\"value\":1,\"when\":{}}"),
	    "2:52: parameters.x.when: expected a parameter and its values, "
	    "like {\"optimizer\": [\"sgd\"]}" },
	{ P("{\"type\":\"fixed\",\"value\":1,\"when\":{\"yy\":[1]}},"
	    "\"y\":{\"type\":\"fixed\",\"value\":1}"),
	    "2:53: parameters.x.when.yy: no such parameter; known: x, y" },
	{ P("{\"type\":\"fixed\",\"value\":1,\"when\":{\"y\":[2]}},"
	    "\"y\":{\"type\":\"fixed\",\"value\":1}"),
	    "2:58: parameters.x.when.y[0]: y can only be 1" },
	{ P("{\"type\":\"fixed\",\"value\":1,\"when\":{\"y\":[\"sdg\"]}},"
	    "\"y\":{\"type\":\"choice\",\"values\":[\"sgd\",\"adam\"]}"),
	    "2:58: parameters.x.when.y[0]: y can only be one of \"sgd\", "
	    "\"adam\"" },
	{ P("{\"type\":\"fixed\",\"value\":1,\"when\":{\"y\":1}},"
	    "\"y\":{\"type\":\"fixed\",\"value\":1}"),
	    "2:57: parameters.x.when.y: expected an array, not a number" },
	{ P("{\"type\":\"fixed\",\"value\":1,\"when\":{\"y\":[]}},"
	    "\"y\":{\"type\":\"fixed\",\"value\":1}"),
	    "2:57: parameters.x.when.y: expected at least one value" },
	{ P("{\"type\":\"fixed\",\"value\":1,\"when\":{\"y\":[1,1]}},"
	    "\"y\":{\"type\":\"fixed\",\"value\":1}"),
	    "2:60: parameters.x.when.y[1]: this value is given twice" },
	{ P("{\"type\":\"fixed\",\"value\":1,\"when\":{\"y\":[1]}},"
	    "\"y\":{\"type\":\"float\",\"min\":0,\"max\":1}"),
	    "2:53: parameters.x.when.y: y is a float without step: only "
	    "an expression can compare it, like \"y < 0.5\"" },
	{ P("{\"type\":\"fixed\",\"value\":1,\"when\":{\"x\":[1]}}"),
	    "2:53: parameters.x.when.x: x depends on itself" },
	{ P("{\"type\":\"fixed\",\"value\":1,\"when\":{\"y\":[1]}},"
	    "\"y\":{\"type\":\"fixed\",\"value\":1,\"when\":{\"x\":[1]}}"),
	    "2:52: parameters.x.when: x depends on itself through y" },
	/* strategy, stopping, backend */
	{ BASE ",\n\"strategy\":7}",
	    "2:12: strategy: expected a name or an object, not a number" },
	{ BASE ",\n\"strategy\":\"\"}", "2:12: strategy: expected a name" },
	{ BASE ",\n\"strategy\":{\"name\":7}}",
	    "2:20: strategy.name: expected a string, not a number" },
	{ BASE ",\n\"strategy\":{\"seed\":-1}}",
	    "2:20: strategy.seed: expected a whole number from 0 to "
	    "9007199254740991" },
	{ BASE ",\n\"stopping\":{\"steps\":1}}",
	    "2:12: stopping: the key \"rule\" is missing" },
	{ BASE ",\n\"stopping\":[]}",
	    "2:12: stopping: expected 1 to 64 of them" },
	{ BASE ",\n\"stopping\":[\"median\",{\"rule\":\"none\"}]}",
	    "2:30: stopping[1].rule: \"none\" cannot be combined with other "
	    "rules" },
	{ BASE ",\n\"stopping\":[[\"median\"]]}",
	    "2:13: stopping[0]: expected a name or an object, not an array" },
	{ BASE ",\n\"backend\":{}}",
	    "2:11: backend: the key \"name\" is missing" },
	{ BASE ",\n\"backend\":[\"local\",{\"name\":\"local\"}]}",
	    "2:28: backend[1].name: this backend is given twice" },
	/* trial */
	{ T("\"command\":\" python3  train.py {params}\""),
	    "2:20: trial.command: expected an array, not a string: "
	    "[\"python3\", \"train.py\", \"{params}\"]" },
	{ T("\"command\":\"./train | tee log\""),
	    "2:20: trial.command: expected an array, not a string" },
	{ T("\"command\":[]"),
	    "2:20: trial.command: expected a program and its arguments" },
	{ T("\"command\":[\"\"]"),
	    "2:21: trial.command[0]: expected a program" },
	{ T("\"command\":[\"a\",1]"),
	    "2:25: trial.command[1]: expected a string, not a number" },
	{ C("{lrr}"),
	    "2:25: trial.command[1]: {lrr} is not a parameter; did you "
	    "mean \"lr\"?" },
	{ C("{}"),
	    "2:25: trial.command[1]: {} is not a parameter; known: lr, "
	    "trial, attempt, checkpoint_dir, output_dir, model_dir, study_dir, "
	    "batch, "
	    "params" },
	{ C("{chekpoint_dir}"), "2:25: trial.command[1]: {chekpoint_dir} is "
				"not a parameter; did you "
				"mean \"checkpoint_dir\"?" },
	{ C("x{params}"),
	    "2:25: trial.command[1]: {params} must be an argument of its "
	    "own" },
	{ C("{lr"), "2:25: trial.command[1]: \"{\" without \"}\"; a literal "
		    "one is written {{" },
	{ C("{{lr}"), "2:25: trial.command[1]: \"}\" without \"{\"; a literal "
		      "one is written }}" },
	{ C("{a{lr}}"), "2:25: trial.command[1]: \"{\" without \"}\"; a "
			"literal one is written {{" },
	{ "{\"study\":\"s\"," OBJECTIVE "," LIMITS ",\"trial\":{\"command\":["
	  "\"a\",\n\"--m={m}\"]},\"parameters\":{\"m\":{\"type\":\"fixed\","
	  "\"value\":1,\"when\":{\"n\":[1]}},\"n\":{\"type\":\"fixed\","
	  "\"value\":1}}}",
	    "2:1: trial.command[1]: {m} has no value when m is inactive; "
	    "{params} leaves it out then" },
	{ T("\"command\":[\"a\"],\"workdir\":\"\""),
	    "2:36: trial.workdir: expected a folder" },
	{ T("\"command\":[\"a\"],\"env\":[\"A=1\"]"),
	    "2:32: trial.env: expected an object, not an array" },
	{ T("\"command\":[\"a\"],\"env\":{\"A-B\":\"1\"}"),
	    "2:33: trial.env.A-B: the name of a variable has letters, digits "
	    "and _ only" },
	{ T("\"command\":[\"a\"],\"env\":{\"HPOTUNE_TRIAL\":\"1\"}"),
	    "2:33: trial.env.HPOTUNE_TRIAL: names with HPOTUNE_ are set by "
	    "hpotune itself" },
	{ T("\"command\":[\"a\"],\"env\":{\"A\":1}"),
	    "2:37: trial.env.A: expected a string, not a number" },
	{ T("\"command\":[\"a\"],\"clean_env\":\"yes\""),
	    "2:38: trial.clean_env: expected true or false, not a string" },
	{ T("\"command\":[\"a\"],\"pass_env\":[\"A=\"]"),
	    "2:38: trial.pass_env[0]: expected the name of a variable" },
	{ T("\"command\":[\"a\"],\"metrics\":[{\"name\":\"a\"}]"),
	    "2:37: trial.metrics[0]: the key \"regex\" is missing" },
	{ T("\"command\":[\"a\"],\"metrics\":[{\"name\":\"a\",\"regex\":1}]"),
	    "2:57: trial.metrics[0].regex: expected a string, not a number" },
	{ T("\"command\":[\"a\"],\"reads\":\"kerras\""),
	    "2:34: trial.reads: expected lightning, lightgbm, tensorboard, "
	    "ultralytics, skorch, spacy, fastai, catboost, fairseq, fasttext, "
	    "hf, json, keras, mmengine, sb3, sklearn, table, tqdm or xgboost; "
	    "did you mean \"keras\"?" },
	{ T("\"command\":[\"a\"],\"metrics\":[{\"from\":\"csv\","
	    "\"path\":\"/tmp/x.csv\"}]"),
	    "2:58: trial.metrics[0].path: every trial would read this path: "
	    "name {trial} or {output_dir} in it" },
	{ T("\"command\":[\"a\"],\"metrics\":[{\"from\":\"tensorboard\","
	    "\"tag\":\"a\"}]"),
	    "2:65: trial.metrics[0].tag: expected \"name\", too: the name "
	    "of the metric" },
	{ T("\"command\":[\"a\"],\"metrics\":[{\"path\":\"a.log\","
	    "\"name\":\"a\"}]"),
	    "2:37: trial.metrics[0]: the key \"regex\" is missing" },
	{ T("\"command\":[\"a\"],\"metrics\":[{\"path\":\"a.log\","
	    "\"reads\":\"tensorboard\"}]"),
	    "2:61: trial.metrics[0].reads: tensorboard reads files of its own, "
	    "not the lines of another one" },
	{ T("\"command\":[\"a\"],\"step_regex\":\"\""),
	    "2:39: trial.step_regex: expected a regular expression" },
	{ T("\"command\":[\"a\"],\"max_step\":3"),
	    "2:26: trial.max_step: unknown key; did you mean "
	    "\"max_steps\"?" },
	{ T("\"command\":[\"a\"],\"max_steps\":0"),
	    "2:38: trial.max_steps: expected a whole number from 1 to "
	    "1000000000000" },
	{ T("\"command\":[\"a\"],\"max_steps\":\"y\""),
	    "2:38: trial.max_steps: no such parameter 'y'" },
	{ T("\"command\":[\"a\"],\"max_steps\":\"lr > 1\""),
	    "2:38: trial.max_steps: expected a number, like 2 * a, not true or "
	    "false" },
	{ T("\"command\":[\"a\"],\"max_steps\":\"lr - 2\""),
	    "2:38: trial.max_steps: a trial may have -2 steps: expected more "
	    "than 0" },
	{ T("\"command\":[\"a\"],\"max_steps\":\"1e9 * (1 + lr)\""),
	    "2:38: trial.max_steps: a trial may have 2000000000 steps: "
	    "expected at most 1000000000" },
	{ T("\"command\":[\"a\"],\"max_steps\":\"sqrt(lr - 2)\""),
	    "2:38: trial.max_steps: not a number for every setting" },
	{ T("\"command\":[\"a\"],\"max_steps\":{\"metric\":\"n\"}"),
	    "2:38: trial.max_steps: the key \"most\" is missing" },
	{ T("\"command\":[\"a\"],\"max_run\":\"30 minutes\""),
	    "2:36: trial.max_run: expected seconds or a duration like "
	    "\"90s\" \"10m\" \"2h\" \"1d\"" },
	{ T("\"command\":[\"a\"],\"max_run\":0"),
	    "2:36: trial.max_run: expected a duration above 0" },
	{ T("\"command\":[\"a\"],\"grace\":-1"),
	    "2:34: trial.grace: a duration is at least 0 and at most "
	    "36500d" },
	{ T("\"command\":[\"a\"],\"retries\":1.5"),
	    "2:36: trial.retries: expected a whole number from 0 to 1000" },
	{ T("\"command\":[\"a\"],\"gpus\":\"auto\""),
	    "2:33: trial.gpus: expected a whole number, not a string" },
	{ T("\"command\":[\"a\"],\"gpu_memory\":0"),
	    "2:39: trial.gpu_memory: expected a size above 0" },
	{ T("\"command\":[\"a\"],\"memory\":16"),
	    "2:35: trial.memory: 16 bytes are too few: give the unit, as "
	    "\"16GiB\"" },
	{ T("\"command\":[\"a\"],\"gpus\":0,\"gpu_memory\":\"9GiB\""),
	    "2:35: trial.gpu_memory: a trial has no GPUs: gpus is 0" },
	{ T("\"command\":[\"a\"],\"memory\":\"4Q\""),
	    "2:35: trial.memory: expected bytes or a size like \"512MiB\" "
	    "\"4GiB\"" },
	{ T("\"command\":[\"a\"],\"launcher\":\"mpi\""),
	    "2:37: trial.launcher: expected none, ranks, torchrun, mpirun or "
	    "srun; "
	    "did you mean \"mpirun\"?" },
	{ T("\"command\":[\"a\"],\"pack\":1"),
	    "2:33: trial.pack: expected a whole number from 2 to 4096" },
	{ T("\"command\":[\"a\",\"{params}\"],\"pack\":2"),
	    "2:25: trial.command[1]: {params} has no value here: with "
	    "trial.pack the program reads its trials on its standard "
	    "input" },
	{ T("\"command\":[\"a\",\"--x={trial}\"],\"pack\":2"),
	    "2:25: trial.command[1]: {trial} has no value here: with "
	    "trial.pack the program reads its trials on its standard "
	    "input" },
	{ T("\"command\":[\"a\"],\"memory\":\"9GiB\",\"pack\":2"),
	    "2:26: trial.memory: this key does not go with pack: the trials "
	    "of a program share its memory" },
	{ T("\"command\":[\"a\"],\"source\":\".\""),
	    "2:35: trial.source: expected an object, not a string" },
	{ T("\"command\":[\"a\"],\"source\":{\"commit\":\"x\"}"),
	    "2:35: trial.source: expected \"git\", a folder of the "
	    "repository" },
	{ T("\"command\":[\"a\"],\"source\":{\"git\":\"\"}"),
	    "2:42: trial.source.git: expected a folder of the repository" },
	{ T("\"command\":[\"a\"],\"source\":{\"git\":\".\","
	    "\"commit\":\"-x\"}"),
	    "2:55: trial.source.commit: expected a commit, a branch or a tag, "
	    "as \"HEAD\"" },
	{ T("\"command\":[\"a\"],\"source\":{\"git\":\".\","
	    "\"uncommitted\":\"x\"}"),
	    "2:60: trial.source.uncommitted: expected refuse or record" },
	{ T("\"command\":[\"a\"],\"source\":{\"git\":\".\",\"hash\":1}"),
	    "2:46: trial.source.hash: unknown key; known: git, commit, "
	    "uncommitted" },
	{ T("\"source\":{\"git\":\".\"}"),
	    "2:10: trial.source: this key goes with trial.command, which runs "
	    "in the worktree" },
	{ T("\"command\":[\"a\"],\"pack\":2,\"source\":{\"git\":\".\"}"),
	    "2:35: trial.source: this key does not go with pack: the trials "
	    "of a program share its files" },
	{ T("\"command\":[\"a\"],\"shims\":\"wandb\""),
	    "2:34: trial.shims: expected an array, not a string" },
	{ T("\"command\":[\"a\"],\"shims\":[\"wand\"]"),
	    "2:35: trial.shims[0]: expected \"wandb\", \"mlflow\" or "
	    "\"tensorboard\"" },
	{ T("\"command\":[\"a\"],\"shims\":[\"wandb\",\"wandb\"]"),
	    "2:43: trial.shims[1]: is in the list twice" },
	{ T("\"command\":[\"a\"],\"pack\":2,\"shims\":[\"wandb\"]"),
	    "2:35: trial.shims: cannot be combined with trial.pack, whose "
	    "program reads its trials from standard input" },
	{ T("\"command\":[\"a\"],\"warm\":true"),
	    "2:26: trial.warm: expected a trial.command of Python and a "
	    "script, or -m and a module, that are the same for all trials: "
	    "[\"python3\", \"train.py\", ...]" },
	{ T("\"command\":[\"python3\",\"{trial}.py\"],\"warm\":true"),
	    "2:45: trial.warm: expected a trial.command of Python and a "
	    "script, or -m and a module, that are the same for all trials: "
	    "[\"python3\", \"train.py\", ...]" },
	{ T("\"command\":[\"python3\",\"-c\",\"1\"],\"warm\":true"),
	    "2:41: trial.warm: expected a trial.command of Python and a "
	    "script, or -m and a module, that are the same for all trials: "
	    "[\"python3\", \"train.py\", ...]" },
	{ T("\"command\":[\"python3\",\"a\"],\"warm\":[\"a-b\"]"),
	    "2:44: trial.warm[0]: expected the name of a module, as "
	    "numpy.linalg" },
	{ T("\"command\":[\"python3\",\"a\"],\"warm\":[]"),
	    "2:43: trial.warm: expected the names of modules, or true" },
	{ T("\"command\":[\"python3\",\"a\"],\"pack\":2,\"warm\":true"),
	    "2:45: trial.warm: a program of packed trials starts once for "
	    "many: "
	    "expected no pack, or warm false" },
	{ T("\"command\":[\"a\"],\"launcher\":\"ranks\",\"pack\":2"),
	    "2:52: trial.pack: this key goes with launcher none only" },
	{ T("\"command\":[\"a\"],\"processes\":2"),
	    "2:26: trial.processes: this key goes with launcher ranks, "
	    "torchrun, mpirun or srun" },
	{ T("\"command\":[\"a\"],\"launcher\":\"mpirun\","
	    "\"parameter_servers\":2"),
	    "2:46: trial.parameter_servers: this key goes with launcher "
	    "ranks" },
	{ T("\"command\":[\"a\"],\"launcher\":\"ranks\","
	    "\"parameter_servers\":501"),
	    "2:65: trial.parameter_servers: expected a whole number from 0 to "
	    "500" },
	/* limits */
	{ L(""), "2:10: limits: the study would never end: expected one of "
		 "trials, completed, wall_time, cost or gpu_hours" },
	{ L("\"parallel\":2"),
	    "2:10: limits: the study would never end: expected one of "
	    "trials, completed, wall_time, cost or gpu_hours" },
	{ L("\"trails\":2"),
	    "2:11: limits.trails: unknown key; did you mean \"trials\"?" },
	{ L("\"completed\":0"),
	    "2:23: limits.completed: expected a whole number from 1 to "
	    "1000000000" },
	{ L("\"trials\":0"), "2:20: limits.trials: expected a whole number "
			     "from 1 to 1000000000" },
	{ L("\"trials\":\"40\""),
	    "2:20: limits.trials: expected a whole number, not a string" },
	{ L("\"wall_time\":\"2hours\""),
	    "2:23: limits.wall_time: expected seconds or a duration like "
	    "\"90s\" \"10m\" \"2h\" \"1d\"" },
	{ L("\"cost\":0"), "2:18: limits.cost: expected a number above 0" },
	{ L("\"cost\":\"5 USD\""),
	    "2:18: limits.cost: expected a number, not a string" },
	/* enqueue */
	{ BASE ",\n\"enqueue\":{}}",
	    "2:11: enqueue: expected an array, not an object" },
	{ BASE ",\n\"where\":[\"lr > 0.5\"],\n\"enqueue\":[{\"lr\":0.4}]}",
	    "3:12: enqueue[0]: the setting does not satisfy lr > 0.5" },
	{ "{\"study\":\"s\"," OBJECTIVE "," TRIAL "," LIMITS
	  ",\n\"parameters\":{\"x\":{" FLOAT "0,\"max\":1,\"default\":0.5}},"
	  "\n\"where\":[\"x > 0.5\"]}",
	    "3:9: where: the defaults do not satisfy x > 0.5" },
	{ BASE ",\n\"where\":\"lr > 0.5\"}",
	    "2:9: where: expected an array, not a string" },
	{ BASE ",\n\"where\":[\"lr > 0.5\",\"rl < 1\"]}",
	    "2:21: where[1]: no such parameter 'rl': did you mean lr?" },
	{ BASE ",\n\"where\":[\"lr > 0.5\",\"lr <= 0.5\"]}",
	    "2:9: where: no setting satisfies all of them" },
	{ BASE ",\n\"enqueue\":[{\"lr\":2}]}",
	    "2:18: enqueue[0].lr: expected a number from 0 to 1" },
	{ BASE ",\n\"enqueue\":[{},{\"rl\":1}]}",
	    "2:16: enqueue[1].rl: no such parameter; did you mean \"lr\"?" },
};

static void
test_wrong(void)
{
	char want[600];
	struct study *s;
	struct err e;
	size_t i, n = sizeof wrongs / sizeof wrongs[0];

	for (i = 0; i < n; i++) {
		(void)snprintf(
		    want, sizeof want, "study.json:%s", wrongs[i].error);
		e = (struct err)ERR_INIT;
		if (study_parse(&s, wrongs[i].text, strlen(wrongs[i].text),
			"study.json", &e) == 0)
			study_free(s);
		is_str(e.text, want, wrongs[i].error);
		if (e.kind != ERR_USAGE)
			ok(false, "it is the user's error");
	}
}

int
main(void)
{
	test_wrong();
	return done_testing();
}
