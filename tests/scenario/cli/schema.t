#!/bin/sh
# The JSON Schema of study.json: its keys and words are those that the reader
# takes, and it accepts the examples.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3

ok 'check --schema prints it' quietly "$HPOTUNE" check --schema
mv out schema.json
is "$(sqlite3 :memory: "SELECT json_valid(readfile('schema.json'))")" 1 \
    'it is JSON'
# --schema of the build is what is installed.
ok 'it is the one that is installed' cmp schema.json \
    "$TOP_BUILDDIR/schema/study.schema.json"

cat >whole.json <<'END_STUDY'
{ "$schema": "schema.json", "description": "how fast it learns", "study": "s",
  "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": {
    "f": { "type": "float", "min": 0, "max": 1 },
    "i": { "type": "int", "min": 0, "max": 9 },
    "c": { "type": "choice", "values": [1, 2] },
    "x": { "type": "fixed", "value": 1 } },
  "trial": { "command": ["true"], "batch": { "global": 4 },
    "metrics": [ { "name": "a", "regex": "a=(.*)" },
      { "from": "csv", "path": "{output_dir}/m.csv" } ] },
  "warm_start": [ { "tuning_job": "t" } ],
  "replicates": { "parameter": "seed", "count": 3 },
  "confirm": { "baseline": 1, "report": "m", "goal": "minimize" }, "keep": { "best": 2 }, "hooks": { "best": ["true"] },
  "notify": { "sns": "arn:aws:sns:eu-west-1:123456789012:t",
    "on": ["finished"] },
  "limits": { "trials": 3 } }
END_STUDY
sed 's/"objective": {\(.*\)},/"objectives": [ {\1}, { "metric": "t", \
    "goal": "minimize" } ], "constraints": [ { "metric": "m", "max": 1 } ],/' \
    whole.json >several.json

# The keys that the reader names when it meets another one.
reader() { # file path
	sqlite3 :memory: "SELECT json_set(readfile('$1'),
	    '$2.zqzqzq', 1)" >wrong.json
	"$HPOTUNE" check wrong.json 2>&1 |
	    sed -n 's/.*; known: *//p' | tr -d ' ' | tr , '\n' | sort
}
# The keys of an object of the schema.
keys() { # path
	sqlite3 :memory: "SELECT key FROM json_each(
	    json_extract(readfile('schema.json'), '$1'), '\$.properties')
	    ORDER BY key" | sort
}
same() { # what file path path-of-schema
	got=$(reader "$2" "$3")
	ok "$1: the reader names its keys" test -n "$got"
	is "$(keys "$4")" "$got" "$1: keys of the schema and of the reader"
}
p='$.properties'
param="\$.\"\$defs\".parameter.anyOf"
same 'the study' whole.json '$' '$'
same objective whole.json '$.objective' "$p.objective"
same objectives several.json '$.objectives[0]' "$p.objectives.items"
same constraints several.json '$.constraints[0]' "$p.constraints.items"
same 'a float' whole.json '$.parameters.f' "${param}[0]"
same 'an int' whole.json '$.parameters.i' "${param}[1]"
same 'a choice' whole.json '$.parameters.c' "${param}[2]"
same 'a fixed one' whole.json '$.parameters.x' "${param}[3]"
same trial whole.json '$.trial' "$p.trial"
same trial.batch whole.json '$.trial.batch' "$p.trial.properties.batch"
same 'a pattern' whole.json '$.trial.metrics[0]' \
    "$p.trial.properties.metrics.items.anyOf[0]"
same 'a file' whole.json '$.trial.metrics[1]' \
    "$p.trial.properties.metrics.items.anyOf[1]"
same limits whole.json '$.limits' "$p.limits"
same warm_start whole.json '$.warm_start[0]' "$p.warm_start.items.anyOf[1]"
same hooks whole.json '$.hooks' "$p.hooks"
same replicates whole.json '$.replicates' "$p.replicates"
same confirm whole.json '$.confirm' "$p.confirm"
same keep whole.json '$.keep' "$p.keep"
same notify whole.json '$.notify' "$p.notify"

# Words: the reader names them when it meets another one.
words() { # what file path path-of-schema
	sqlite3 :memory: "SELECT json_set(readfile('$2'), '$3', 'zqzqzq')" \
	    >wrong.json
	got=$("$HPOTUNE" check wrong.json 2>&1 | sed -n 's/.*: expected //p' |
	    sed 's/, /\n/g; s/ or /\n/g' | sort)
	ok "$1: the reader names its words" test -n "$got"
	is "$(sqlite3 :memory: "SELECT value FROM json_each(json_extract(
	    readfile('schema.json'), '$4'))" | sort)" "$got" \
	    "$1: words of the schema and of the reader"
}
words objective.goal whole.json '$.objective.goal' "$p.objective.properties.goal.enum"
words objective.value whole.json '$.objective.value' "$p.objective.properties.value.enum"
words confirm.goal whole.json '$.confirm.goal' "$p.confirm.properties.goal.enum"
words scale whole.json '$.parameters.f.scale' "${param}[0].properties.scale.enum"
words trial.arguments whole.json '$.trial.arguments' \
    "$p.trial.properties.arguments.enum"
words trial.on_max_run whole.json '$.trial.on_max_run' \
    "$p.trial.properties.on_max_run.enum"
words trial.launcher whole.json '$.trial.launcher' \
    "$p.trial.properties.launcher.enum"
# shellcheck disable=SC2016 # $defs is a key
words trial.reads whole.json '$.trial.reads' '$."$defs".preset.enum'
words 'a format' whole.json '$.trial.metrics[1].from' \
    "$p.trial.properties.metrics.items.anyOf[1].properties.from.enum"
words notify.on whole.json '$.notify.on[0]' "$p.notify.properties.on.items.enum"
# shellcheck disable=SC2016
words strategies whole.json '$.strategy' '$."$defs".strategy.anyOf[0].enum'
# shellcheck disable=SC2016
words rules whole.json '$.stopping' '$."$defs".rule.anyOf[0].enum'
# shellcheck disable=SC2016
words backends whole.json '$.backend' '$."$defs".backend.anyOf[0].enum'

# Options of each plug-in.  A long list ends with dots: then those before them.
options() { # kind key place
	for name in $(sqlite3 :memory: "SELECT value FROM json_each(json_extract(
	    readfile('schema.json'), '\$.\"\$defs\".$1.anyOf[0].enum'))"); do
		sqlite3 :memory: "SELECT json_set(readfile('whole.json'), '$3',
		    json('{\"$2\": \"$name\", \"zqzqzq\": 1}'))" >wrong.json
		"$HPOTUNE" check wrong.json 2>&1 |
		    sed -n 's/.*; known: *//p' | tr -d ' ' | tr , '\n' |
		    grep -v '\.\.\.$' | sort >reader
		sqlite3 :memory: "SELECT k.key FROM json_each(
		    readfile('schema.json'), '\$.\"\$defs\".$1.anyOf') AS p,
		    json_each(p.value, '\$.properties') AS k WHERE
		    json_extract(p.value, '\$.properties.$2.const') = '$name'" |
		    sort >keys
		ok "$1 $name: the reader names its options" test -s reader
		is "$(comm -23 reader keys)" '' "$1 $name: all are in the schema"
	done
}
options strategy name '$.strategy'
options rule rule '$.stopping'
options backend name '$.backend'

# The description is shown.
cat >d.json <<'END_STUDY'
{ "$schema": "schema.json", "description": "how fast <it> learns", "study": "d",
  "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "f": { "type": "float", "min": 0, "max": 1 } },
  "trial": { "command": ["true"], "max_steps": 3 },
  "backend": { "name": "pretend", "seconds_per_step": 0.001 },
  "limits": { "trials": 3 } }
END_STUDY
ok 'a study with a description' quietly "$HPOTUNE" start d.json
like "$("$HPOTUNE" status d.json)" '^how fast <it> learns' 'status has it'
is "$(sql d.db 'SELECT description FROM study')" 'how fast <it> learns' \
    'the view study has it'
like "$("$HPOTUNE" report d.json -o - )" '<p>how fast &lt;it&gt; learns</p>' \
    'the report has it'
sed 's/"how fast <it> learns"/3/' d.json >e.json
fails 'a description that is no text' 2 quietly "$HPOTUNE" check e.json
like "$(cat err)" 'description: expected a string' 'is an error that names it'

# With a validator: the examples are valid, and a wrong key is not.
python=python3
if python_has jsonschema; then
	ok 'a validator accepts the examples' "$python" - "$TOP_SRCDIR" <<'END_PY'
import glob, json, re, sys
import jsonschema
schema = json.load(open("schema.json"))
jsonschema.Draft202012Validator.check_schema(schema)
v = jsonschema.Draft202012Validator(schema)
found = 0
for name in glob.glob(sys.argv[1] + "/examples/**/*.json", recursive=True):
    text = re.sub(r"^\s*//.*$", "", open(name).read(), flags=re.M)
    try:
        study = json.loads(text)
    except ValueError:
        continue
    if not isinstance(study, dict) or "study" not in study:
        continue
    found += 1
    for e in v.iter_errors(study):
        sys.exit("%s: %s" % (name, e))
assert found > 3, found
study["limits"]["trails"] = 3
assert list(v.iter_errors(study))
del study["limits"]["trails"]
study["strategy"] = {"name": "random", "sed": 3}
assert list(v.iter_errors(study))
END_PY
	cat >pairs.py <<'END_PY'
import copy, json, os, subprocess
import jsonschema
V = jsonschema.Draft202012Validator(json.load(open("schema.json")))
open("t.in", "w").write("{f}\n")
base = {
    "study": "s", "objective": {"metric": "loss", "goal": "minimize"},
    "parameters": {
        "f": {"type": "float", "min": 0.5, "max": 0.9},
        "i": {"type": "int", "min": 1, "max": 9, "scale": "log"},
        "n": {"type": "float", "mean": 0, "sd": 1},
        "c": {"type": "choice", "values": ["a", 1, None], "weights": [1, 2, 3]},
        "w": {"type": "int", "min": 0, "max": 9, "when": {"c": ["a"]}}},
    "where": ["f > 0.6"], "strategy": {"name": "tpe", "seed": 1},
    "stopping": {"rule": "median", "warmup_steps": "30%"},
    "trial": {
        "command": ["true", "{f}", ["{w}"], "{file:t}"], "files": {"t": "t.in"},
        "env": {"A": "b"}, "pass_env": ["B"], "workdir": ".", "max_steps": 9,
        "metrics": [{"name": "loss", "regex": "l=(.*)"},
                    {"from": "csv", "path": "m.csv", "tag": "l", "name": "loss"}],
        "max_run": "1h", "grace": 0, "retries": 1, "gpus": 0, "memory": "1GiB"},
    "hooks": {"best": ["true"], "timeout": "1m"}, "keep": {"bytes": "1.5GB"},
    "limits": {"trials": 3, "wall_time": 60}}
GONE = object()
f, i, n, c, w = (["parameters", k] for k in "fincw")
trial, csv = ["trial"], ["trial", "metrics", 1]
right = [
    (f + ["scale"], "log"), (f + ["scale"], "reverse-log"), (f + ["step"], 0.1),
    (f + ["min"], 0.9), (n + ["min"], -2), (c + ["ordered"], True),
    (w + ["when"], [{"c": ["a"]}, {"i": [1, 2]}]), (w + ["when"], "f < 0.7"),
    (["strategy"], "gp"), (["stopping"], ["median", {"rule": "patience"}]),
    (["stopping", "warmup_steps"], 0.5), (["stopping", "warmup_steps"], 3),
    (["stopping", "warmup_steps"], "100%"), (["where"], []),
    (trial + ["reads"], ["keras", "json"]), (trial + ["max_run"], 0.5),
    (csv, {"path": "a.log", "name": "loss", "regex": "(.)", "step_regex": "(.)"}),
    (csv, {"from": "text", "path": "*/a.log", "reads": ["keras"]}),
    (csv, {"from": "json", "path": "a.json", "step": "k"}),
    (trial + ["grace"], "1.5m"), (trial + ["memory"], 1048576), (csv + ["step"], "k"),
    (["limits"], {"wall_time": "1d"}), (["limits", "convergence"], {"error": 1}),
    (f + ["type"], GONE), (i + ["type"], GONE), (n + ["type"], GONE), (c + ["type"], GONE),
    (["limits"], {"completed": 3}), (["description"], "x"), (["keep"], {}), (["warm_start"], [])]
wrong = [
    (["study"], "S"), (["study"], GONE), (["objective"], GONE), (["limits"], {}),
    (["description"], ""), (["objectives"], []), (["constraints"], []),
    (["constraints"], [{"metric": "m"}]), (["constraints"], [{"metric": "m m", "max": 1}]),
    (["objective", "metric"], "1x"), (["objective", "goal"], "min"),
    (["parameters", "trial"], {"type": "fixed", "value": 1}),
    (["parameters", "a b"], {"type": "fixed", "value": 1}), (["parameters"], {}),
    (f + ["min"], GONE), (f + ["step"], 0), (f + ["values"], [1]), (f + ["scale"], "ln"),
    (["parameters", "l"], {"type": "float", "min": 0, "max": 1, "scale": "log"}),
    (["parameters", "l"], {"type": "float", "min": 0, "max": 1, "scale": "reverse-log"}),
    (["parameters", "l"], {"type": "int", "min": 0, "max": 0, "scale": "reverse-log"}),
    (i + ["min"], 0), (i + ["max"], 9.5), (n + ["sd"], GONE), (n + ["sd"], 0),
    (f + ["mean"], 0.7), (c + ["values"], ["a", "a", 1]), (c + ["values"], []),
    (c + ["weights"], [0, 1, 1]), (w + ["when"], {}), (w + ["when"], []),
    (w + ["when"], {"c": []}), (w + ["when"], {"c": ["a", "a"]}), (w + ["when"], 3),
    (["where"], [""]), (["where"], "f > 1"), (["strategy"], "tpee"),
    (["strategy", "seed"], 2 ** 53), (["strategy", "seed"], -1),
    (["stopping"], []), (["stopping", "warmup_steps"], "101%"),
    (["stopping", "warmup_steps"], -1), (["stopping", "warmup_steps"], 1.5),
    (["stopping", "warmup_steps"], "30."), (trial + ["command"], []),
    (trial + ["command", 0], ""), (trial + ["command", 0], ["true"]),
    (trial + ["files"], {".t": "t.in"}), (trial + ["files", "t"], ""),
    (trial + ["env"], {"A B": "c"}), (trial + ["env"], {"HPOTUNE_X": "c"}),
    (trial + ["pass_env"], ["1"]), (trial + ["workdir"], ""), (trial + ["max_steps"], 0),
    (trial + ["metrics", 0, "regex"], ""), (csv + ["path"], GONE), (csv + ["tag"], GONE),
    (csv + ["name"], GONE), (csv + ["tag"], ""), (csv, {"from": "tensorboard", "step": "k"}),
    (csv, {"from": "text"}), (csv, {"path": "a", "name": "b"}), (csv, {"path": "a", "regex": "(.)"}),
    (csv, {"path": "a", "reads": "lightning"}), (csv, {"path": "a", "tag": "b", "name": "c"}),
    (csv + ["regex"], "(.)"), (csv + ["reads"], "keras"),
    (trial + ["max_run"], 0), (trial + ["max_run"], "1.h"), (trial + ["max_run"], ".5h"),
    (trial + ["max_run"], "1 h"), (trial + ["retries"], 1001), (trial + ["gpus"], 100001),
    (trial + ["memory"], "1kiB"), (trial + ["memory"], 0), (trial + ["memory"], 16),
    (trial + ["pack"], 4097),
    (["hooks", "best"], []), (["hooks", "best"], [""]), (["hooks", "timeout"], 0),
    (["keep", "bytes"], 0), (["keep", "best"], -1), (["limits", "trials"], 0),
    (["limits", "trials"], 2e9), (["limits", "cost"], 0), (["limits", "wall_time"], "0.5"),
    (["replicates"], {"parameter": "s"}),
    (["replicates"], {"parameter": "s", "count": 2, "values": [1, 2]}),
    (["replicates"], {"parameter": "s", "values": [1, 1]}),
    (["replicates"], {"parameter": "a b", "count": 2})]
def changed(path, value):
    study = copy.deepcopy(base)
    at = study
    for k in path[:-1]:
        at = at[k]
    if value is GONE:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return study
def verdicts(study):
    json.dump(study, open("pair.json", "w"))
    check = subprocess.run([os.environ["HPOTUNE"], "check", "pair.json"],
                           capture_output=True, text=True)
    return check.returncode == 0, V.is_valid(study), check.stderr
for path, value in [(["study"], "s")] + right + wrong:
    want = (path, value) not in wrong
    check, schema, why = verdicts(changed(path, value))
    if (check, schema) != (want, want):
        print(path, value, "check:", check, "schema:", schema, why)
END_PY
	is "$(HPOTUNE="$HPOTUNE" "$python" pairs.py 2>&1)" '' \
	    'a validator and check accept and refuse the same studies'
else
	skip 'a validator accepts the examples' 'no jsonschema'
	skip 'a validator and check accept and refuse the same studies' \
	    'no jsonschema'
fi
done_testing
