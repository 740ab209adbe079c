#!/bin/sh
# A study as a tuning job of SageMaker: the request is one that AWS takes, what
# it cannot say is named, and read back it is the same study.

. "$TOP_SRCDIR/tests/lib.sh"
. "$TOP_SRCDIR/tests/botocore.sh"
need sqlite3

cat >study.json <<'END'
{
  "study": "tuned",
  "objective": { "metric": "val.loss", "goal": "minimize", "value": "last",
	"target": 0.05 },
  "parameters": {
    "lr": { "type": "float", "min": 1e-5, "max": 0.1, "scale": "log" },
    "keep": { "type": "float", "min": 0.5, "max": 0.99,
	"scale": "reverse-log" },
    "drop": { "type": "float", "min": 0, "max": 0.5 },
    "layers": { "type": "int", "min": 1, "max": 8 },
    "opt": { "type": "choice", "values": ["adam", "sgd"] },
    "odd": { "type": "choice", "values": ["32", 32, true, "true", "a\"b"] },
    "epochs": { "type": "fixed", "value": 10 },
    "name": { "type": "fixed", "value": "10" }
  },
  "strategy": { "name": "tpe", "seed": 7 },
  "stopping": "sagemaker",
  "trial": {
    "command": ["python3", "train.py", "{params}"],
    "metrics": [ { "name": "val.loss", "regex": "val_loss: ([0-9.]+)" } ],
    "env": { "MODE": "a=b" }, "retries": 3
  },
  "backend": {
    "name": "sagemaker", "region": "eu-west-1",
    "role": "arn:aws:iam::123456789012:role/Trial",
    "image": "123456789012.dkr.ecr.eu-west-1.amazonaws.com/x:1",
    "input_mode": "File",
    "instance_type": ["ml.g5.xlarge", "ml.g4dn.xlarge"], "instance_count": 2,
    "volume": "50GiB", "max_run": 3600, "spot": true, "max_wait": 7200,
    "s3": "s3://bucket/out",
    "inputs": { "train": { "s3": "s3://bucket/train/",
	"distribution": "sharded" }, "test": "s3://bucket/test/" },
    "vpc": { "subnets": ["subnet-1"], "security_groups": ["sg-1"] }
  },
  "limits": { "trials": 100, "parallel": 10, "wall_time": 86400,
	"no_improvement": 12 }
}
END

# The study in a folder of its own, as a request; $? is export's.
exported() { # study folder
	mkdir -p "$2"
	cp "$1" "$2/study.json"
	quietly "$HPOTUNE" ask "$2/study.json" || diag "$(cat err)"
	"$HPOTUNE" export "$2/study.json" --format sagemaker \
	    >"$2.job" 2>notes
}
# All that a document says, one path a line.
said() { # file
	sqlite3 :memory: "SELECT fullkey, atom, type FROM
	    json_tree(readfile('$1')) WHERE type NOT IN ('array', 'object')
	    ORDER BY 1"
}
json() { # file path
	sqlite3 :memory: "SELECT json_extract(readfile('$1'), '$2')"
}

exported study.json same
is $? 0 'a study is exported'
is "$(wc -l <notes)" 1 'of which one thing is noted'
like "$(cat notes)" '^hpotune: note: trial.command: .*sagemaker_submit' \
    'where its code is'
"$HPOTUNE" import sagemaker same.job >again.json 2>err
is "$(said again.json)" "$(said study.json)" 'read back it is the same study'
is "$(json same.job '$.HyperParameterTuningJobConfig.Strategy')" Bayesian \
    'with a strategy of SageMaker'

# What has another form, or none, is named.
sed -e 's/"drop": {/& "step": 0.25,/' -e 's/"max": 8/"max": 8, "when":\
	{ "opt": ["sgd"] }/' -e 's/"name": "tpe"/"name": "cmaes"/' \
    -e 's/"stopping": "sagemaker"/"stopping": "median"/' \
    -e 's/"value": "last",/ /' -e 's/"parallel": 10/"cost": 50/' \
    -e 's/"metrics": \[.*\],/ /' -e 's/{params}/--x={lr}/' \
    -e 's/"vpc"/"tags": { "a": "b" }, "price_per_hour":\
	{ "ml.g5.xlarge": 1.4, "ml.g4dn.xlarge": 0.7 }, &/' study.json >other.json
exported other.json other
is $? 0 'a study that SageMaker cannot say whole is exported'
for word in 'parameters.drop.step' 'parameters.layers.when' 'strategy: cmaes' \
    'stopping: median' 'objective.value' 'limits.parallel: not given: 1' \
    'limits.cost' 'trial.command: a tuning job starts' 'backend.tags'; do
	like "$(cat notes)" "^hpotune: note: $word" "it says so: $word"
done
is "$(wc -l <notes)" 9 'and nothing else'
is "$(json other.job \
    '$.TrainingJobDefinition.AlgorithmSpecification.MetricDefinitions[0].Regex'
    )" 'hpotune:.*\sval\.loss=(\S+)' 'the objective is read from its own line'

sed -e 's/"stopping": "sagemaker"/"stopping": { "rule": "hyperband",\
    "min_resource": 2, "max_resource": 18 }/' study.json >hyper.json
exported hyper.json hyper
"$HPOTUNE" import sagemaker hyper.job >again.json 2>err
is "$(said again.json)" "$(said hyper.json)" 'hyperband: the same study'

sed 's/"instance_type": \[.*\],/"instance_type": "ml.g5.xlarge",/' study.json \
    >one.json
exported one.json one
"$HPOTUNE" import sagemaker one.job >again.json 2>err
is "$(said again.json)" "$(said one.json)" 'one type of machine: the same study'

# What is no tuning job.
refused() { # what pattern
	is $? 2 "$1: exit status"
	like "$(cat notes)" "^hpotune: export: $2" "$1: says why"
	is "$(wc -l <notes),$(wc -c <refused.job)" 1,0 "$1: and nothing else"
	rm -r refused
}
cat >local.json <<'END'
{
  "study": "tuned",
  "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "limits": { "trials": 3 }
}
END
exported local.json refused
refused 'another backend' 'tuned: a tuning job needs a backend sagemaker'
sed -e 's/"objective": {.*/"objectives": [ { "metric": "val.loss",\
    "goal": "minimize" }, { "metric": "ms", "goal": "minimize" } ],/' \
    -e '/"target"/d' -e 's/"stopping": "sagemaker"/"stopping": "none"/' \
    -e 's/, *$/,/' -e 's/"no_improvement": 12/"failed_trials": 9/' \
    study.json >several.json
exported several.json refused
refused 'several objectives' 'tuned: a tuning job has one objective, not 2'
sed -e 's/"parameters": {/"constraints": [ { "metric": "ms", "max": 5 } ],\
    &/' study.json >bound.json
exported bound.json refused
refused constraints 'tuned: a tuning job has no constraints'

# AWS's own model of the request: members of it came late.
compare() {
	for job in same other hyper one; do
		PYTHONPATH=$TOP_SRCDIR/tests/aws "$python" - $job.job \
		    >out 2>&1 <<'END'
import json, sys
import models
models.load("sagemaker").check("CreateHyperParameterTuningJob",
                               json.load(open(sys.argv[1])))
END
		is "$?,$(tail -n 1 out)" 0, \
		    "$job: the request fits the model of $botocore"
	done
}
if python_found "$botocore_new"; then
	botocore_call compare
else
	diag "$python_why"
	skip 'the requests fit the model of AWS' "NOT COMPARED: no $botocore_new"
fi

done_testing
