#!/bin/sh
# A study exported as a tuning job of SageMaker: AWS accepts the request,
# unsupported features are listed, and importing it gives the same study.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/botocore.sh"
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
is "$(wc -l <notes)" 1 'with one note'
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
    -e 's/"vpc"/"watch": true, "price_per_hour":\
	{ "ml.g5.xlarge": 1.4, "ml.g4dn.xlarge": 0.7 }, &/' study.json >other.json
exported other.json other
is $? 0 'a study that SageMaker cannot say whole is exported'
for word in 'parameters.drop.step' 'parameters.layers.when' 'strategy: cmaes' \
    'stopping: median' 'objective.value' 'limits.parallel: not given: 1' \
    'limits.cost' 'trial.command: a tuning job starts' 'backend.watch'; do
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

sed -e 's/"instance_type": \[.*\],/"instance_type": "ml.g5.xlarge",/' \
    -e 's/"no_improvement": 12/&, "convergence": true/' study.json >one.json
exported one.json one
"$HPOTUNE" import sagemaker one.job >again.json 2>err
is "$(said again.json)" "$(said one.json)" 'one type of machine: the same study'
is "$(json one.job '$.HyperParameterTuningJobConfig.TuningJobCompletionCriteria.ConvergenceDetected.CompleteOnConvergence')" \
    Enabled 'convergence as it is called there'

# What a tuning job has a place for keeps it: there and back.
mkdir -p placed/src
: >placed/src/train.py
placed() { # sed-script name
	sed -e 's/"instance_type": \[.*\],/"instance_type": "ml.p4d.24xlarge",\
    "tags": { "team": "a" }, "code": "src\/", "kms_key": "alias\/key", "model": "tar.gz", "extra": {\
	"EnableNetworkIsolation": true, "ResourceConfig":\
	{ "VolumeKmsKeyId": "alias\/disk" }, "StoppingCondition":\
	{ "MaxPendingTimeInSeconds": 7200 } },/' \
	    -e 's/"test": "s3:[^"]*"/"test": { "s3": "s3:\/\/bucket\/list",\
	"type": "manifest", "mode": "Pipe", "content_type": "text\/csv",\
	"compression": "gzip", "record_wrapper": "RecordIO",\
	"shuffle_seed": 5 }, "disk": { "file_system": {\
	"id": "fs-0123456789abcdef0", "type": "EFS", "path": "\/set",\
	"access": "rw" } }/' -e "$1" study.json >"$2.json"
	exported "$2.json" "$2"
	"$HPOTUNE" import sagemaker "$2.job" >again.json 2>err
	sed 's/"code": [^,]*,//' "$2.json" >without.json
	is "$(said again.json)" "$(said without.json)" \
	    "$2: read back it is the same study but for its code"
	is "$(wc -l <notes)" 1 "$2: and nothing but the code is noted"
}
placed '' placed
is "$(json placed.job \
    '$.TrainingJobDefinition.StaticHyperParameters.sagemaker_program')" \
    '"train.py"' 'the program, from the study'"'"'s folder'
sed -i 's/"train.py", "{/"src\/train.py", "{/' study.json
exported study.json outside
is "$(json outside.job \
    '$.TrainingJobDefinition.StaticHyperParameters.sagemaker_program')" \
    '"src/train.py"' 'without code the program is where it is'
mkdir -p below/src
: >below/src/train.py
sed 's/"instance_type": \[/"code": ".\/src", &/' study.json >below.json
exported below.json below
is "$(json below.job \
    '$.TrainingJobDefinition.StaticHyperParameters.sagemaker_program')" \
    '"train.py"' 'the program is named as it lies in the code'
sed -i 's/"src\/train.py", "{/"train.py", "{/' study.json
mkdir -p pool/src groups/src smp/src
: >pool/src/train.py
: >groups/src/train.py
: >smp/src/train.py
placed 's/"spot": true, "max_wait": 7200/"keep_alive": 600,\
    "distribution": { "launcher": "smddp", "torch_distributed": true }/' pool
placed 's/"instance_type": [^,]*,/"groups": [ { "name": "a",\
    "instance_type": "ml.p4d.24xlarge", "count": 2 } ],/
    s/"instance_count": 2,/"distribution": { "launcher": "mpi", "group": "a",\
    "processes_per_host": 4, "custom_mpi_options": "-x A" },/' groups
placed 's/"volume"/"distribution": { "launcher": "modelparallel",\
    "parameters": { "random_seed": 1 } }, &/' smp
sed 's/"volume"/"distribution": { "launcher": "torchrun" }, &/' study.json \
    >own.json
exported own.json own
like "$(cat notes)" 'distribution: torchrun is hpotune.s own' \
    'a launcher of hpotune is named'
is "$(json own.job '$.TrainingJobDefinition.StaticHyperParameters.sagemaker_torch_distributed_enabled')" \
    true 'and the toolkit'"'"'s takes its place'

# Several algorithms in one study are several definitions, there and back.
cat >several.json <<'END'
{
  "study": "tuned",
  "objective": { "metric": "tuning_objective", "goal": "minimize",
	"value": "last" },
  "parameters": {
    "algorithm": { "type": "choice", "values": ["trees", "linear"] },
    "eta": { "type": "float", "min": 0.05, "max": 0.5,
	"when": { "algorithm": ["trees"] } },
    "trees.alpha": { "type": "float", "min": 0, "max": 1,
	"when": { "algorithm": ["trees"] } },
    "objective": { "type": "choice", "values": ["reg:linear", "\"q\"", 7],
	"when": { "algorithm": ["trees"] } },
    "linear.alpha": { "type": "float", "min": 1e-4, "max": 1,
	"scale": "log", "when": { "algorithm": ["linear"] } },
    "epochs": { "type": "int", "min": 2, "max": 9,
	"when": { "algorithm": ["linear"] } }
  },
  "strategy": { "name": "random" }, "stopping": "none",
  "trial": { "command": ["train"], "retries": 3 },
  "backend": {
    "name": "sagemaker", "region": "eu-west-1",
    "role": "arn:aws:iam::123456789012:role/Trial",
    "container": "algorithm", "algorithm": "algorithm",
    "algorithms": {
      "trees": {
	"image": "141502667606.dkr.ecr.eu-west-1.amazonaws.com/xgboost:1",
	"metric": "validation:rmse",
	"hyperparameters": { "num_round": 30, "booster": "gbtree" } },
      "linear": {
	"image": "438346466558.dkr.ecr.eu-west-1.amazonaws.com/linear-learner:1",
	"metric": "validation:objective_loss",
	"hyperparameters": { "predictor_type": "regressor" } }
    },
    "input_mode": "File", "instance_type": "ml.m5.large",
    "instance_count": 1, "volume": "30GiB", "max_run": 3600,
    "s3": "s3://bucket/out", "inputs": { "train": "s3://bucket/train/" }
  },
  "limits": { "trials": 20, "parallel": 2 }
}
END
exported several.json several
is "$?,$(wc -l <notes)" 0,0 'a study of several algorithms, with nothing to note'
"$HPOTUNE" import sagemaker several.job >again.json 2>err
is "$(said again.json)" "$(said several.json)" \
    'several algorithms: read back it is the same study'
is "$(json several.job '$.TrainingJobDefinitions[1].HyperParameterRanges')" \
    '{"ContinuousParameterRanges":[{"Name":"alpha","MinValue":"0.0001","MaxValue":"1","ScalingType":"Logarithmic"}],"IntegerParameterRanges":[{"Name":"epochs","MinValue":"2","MaxValue":"9","ScalingType":"Linear"}]}' \
    'each with its own ranges'
is "$(json several.job '$.HyperParameterTuningJobConfig.ParameterRanges')$(json \
    several.job '$.HyperParameterTuningJobConfig.HyperParameterTuningJobObjective'
    )" '' 'and none for all'
# Of an algorithm that nobody knows the metric is defined; names are AWS's.
sed -e 's/linear-learner:1/mine:1/; s/"linear"/"2.x-"/g; s/"linear\./"2.x-./' \
    -e 's/"retries": 3/"metrics": [ { "name":\
	"validation:objective_loss", "regex": "l=(.*)" } ]/' \
    -e 's/\["trees", "2.x-"\]/["2.x-"]/; /"eta"/,/"objective"/{ /when/!d; d; }' \
    several.json >unknown.json
sed -i '/"trees.alpha"/,/\["trees"\]/d; /"when": { "algorithm": \["trees"\]/d' \
    unknown.json
sed -i 's/"2.x-.alpha"/"alpha"/' unknown.json
exported unknown.json unknown
is "$?" 0 'another algorithm' || diag "$(cat notes)"
is "$(json unknown.job '$.TrainingJobDefinitions[0].DefinitionName'
    ) $(json unknown.job '$.TrainingJobDefinitions[0].AlgorithmSpecification.MetricDefinitions[0].Regex')" \
    '2x-1 l=(.*)' 'has a name that AWS takes, and its metric'
like "$(cat notes)" 'algorithms.trees: left out: no trial chooses it' \
    'and inactive members are left out'

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
	for job in same other hyper one placed pool groups smp several \
	    unknown; do
		PYTHONPATH=$TOP_SRCDIR/tests/standin "$python" - $job.job \
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
