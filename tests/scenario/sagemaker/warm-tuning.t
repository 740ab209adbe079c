#!/bin/sh
# Warm start from a tuning job of SageMaker, which is read from AWS; and its
# description as a study.json.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/standin.sh"

need sqlite3 awk
standin

cat >base.json <<'END'
{ "study": "NAME",
  "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": {
    "lr": { "type": "float", "min": 0.001, "max": 1, "scale": "log" },
    "n": { "type": "int", "min": 1, "max": 8 },
    "opt": { "type": "choice", "values": ["adam", "b", "3"] },
    "depth": { "type": "int", "min": 1, "max": 99 } },
  "strategy": { "name": "tpe", "seed": 1, "n_startup_trials": 3 },
  "trial": { "command": ["sh", "-c", "echo hpotune: step=1 loss=$1", "sh",
    "{lr}"] }, "backend": "local",
  "warm_start": [{ "tuning_job": "parent", "region": "eu-west-1" }],
  "limits": { "trials": 2, "parallel": 1 } }
END
study() { # name sed-expression …
	study_name=$1
	shift
	sed -e "s/NAME/$study_name/" "$@" base.json >"$study_name.json"
}
# Its jobs: more than two pages, with everything that can become of one.
mkdir -p aws/tuning
"${python:?}" - <<'END'
import json

def job(lr, value, status="Completed", used="Succeeded", why=None, **more):
    one = {"TrainingJobStatus": status, "ObjectiveStatus": used,
           "TunedHyperParameters": dict(
               {"lr": str(lr), "n": "3", "opt": '"adam"'}, **more)}
    if value is not None:
        one["FinalHyperParameterTuningJobObjectiveMetric"] = {
            "Type": "Minimize", "MetricName": "loss", "Value": value}
    if why is not None:
        one["FailureReason"] = why
    return one

jobs = [job(0.01 + i / 1000, 1 + i / 256) for i in range(210)]
jobs += [job(0.5, 0.25, "Stopped", opt="b"),
         job(0.5, 0.5, opt="3", extra="x"),
         job(0.5, None, "Failed", "Failed", "AlgorithmError: ExitCode 1"),
         job(0.5, None, "Failed", "Failed", "CapacityError: none"),
         job(0.5, None, "InProgress", "Pending"),
         job(0.5, None, "Completed", "Failed"),
         job(5, 0.1), job(0.5, 0.1, n="9"), job(0.5, 0.1, opt='"c"')]
definition = {
    "StaticHyperParameters": {"depth": "7", "sagemaker_program": '"t.py"'},
    "AlgorithmSpecification": {"TrainingInputMode": "File",
        "TrainingImage": "1.dkr.ecr.eu-west-1.amazonaws.com/x:1"},
    "RoleArn": "arn:aws:iam::123456789012:role/Trial",
    "OutputDataConfig": {"S3OutputPath": "s3://bucket/out"},
    "ResourceConfig": {"InstanceType": "ml.g5.xlarge", "InstanceCount": 1,
                       "VolumeSizeInGB": 30},
    "StoppingCondition": {"MaxRuntimeInSeconds": 3600}}
config = {
    "Strategy": "Bayesian", "HyperParameterTuningJobObjective":
        {"Type": "Minimize", "MetricName": "loss"},
    "ResourceLimits": {"MaxNumberOfTrainingJobs": 30,
                       "MaxParallelTrainingJobs": 2},
    "ParameterRanges": {"ContinuousParameterRanges": [
        {"Name": "lr", "MinValue": "0.001", "MaxValue": "1",
         "ScalingType": "Logarithmic"}]}}
about = {"HyperParameterTuningJobConfig": config,
         "TrainingJobDefinition": definition}

def put(name, about, jobs):
    with open("aws/tuning/%s.json" % name, "w") as file:
        json.dump({"TuningJob": about, "TrainingJobSummaries": jobs}, file)

put("parent", about, jobs)
going = dict(about, HyperParameterTuningJobStatus="InProgress",
             WarmStartConfig={"WarmStartType": "TransferLearning",
                 "ParentHyperParameterTuningJobs":
                     [{"HyperParameterTuningJobName": "older"}]})
put("going", going, jobs[-9:-6])
for name, kind, metric in (("up", "Maximize", "loss"),
                           ("renamed", "Minimize", "validation:loss")):
    other = dict(about, HyperParameterTuningJobConfig=dict(
        config, HyperParameterTuningJobObjective={
            "Type": kind, "MetricName": metric}))
    some = [job(0.5, 0.5), job(0.25, 0.125)]
    for one in some:
        one["FinalHyperParameterTuningJobObjectiveMetric"].update(
            Type=kind, MetricName=metric)
    put(name, other, some)
put("empty", about, [])
# Two algorithms, each with a constant of its own.
two = {key: value for key, value in about.items()
       if key != "TrainingJobDefinition"}
two["HyperParameterTuningJobConfig"] = {
    key: value for key, value in config.items()
    if key != "HyperParameterTuningJobObjective"}
two["TrainingJobDefinitions"] = [
    dict(definition, DefinitionName=name,
         StaticHyperParameters={"depth": depth})
    for name, depth in (("first", "11"), ("second", "12"))]
put("two", two, [dict(job(0.5, 0.5), TrainingJobDefinitionName="second"),
                 dict(job(0.25, 0.5), TrainingJobDefinitionName="first")])
END

# What would be taken, with the pages' requests throttled and failing.
standin_faults '{"throttle": {"p": 0.4, "on": "sagemaker.*Tuning*"},
    "error503_before": {"p": 0.2, "on": "sagemaker.*"}}'
study first
like "$("$HPOTUNE" check first.json 2>&1)" \
    '^warm start 213 of 219 trials of tuning job parent; left out: 3 that do not fit \(lr is 5, not a number from 0\.001 to 1.*\), 1 cancelled or still running, 1 failed by no fault of its own, 1 without a result; their extra is ignored$' \
    'the jobs of all pages, and what is left out'
"$HPOTUNE" start -q -n 1 first.json 2>err
is $? 0 'the study starts' || diag "$(cat err)"
standin_faults '{}'
is "$(sql first.db 'SELECT count(*), count(DISTINCT trial), min(source)
    FROM warm')" '213|213|tuning job parent' 'each of them is there once'
is "$(sql first.db 'SELECT trial, state, objective, params FROM warm
    WHERE trial IN (1, 210, 211, 212, 213)')" \
'1|completed|1.0|{"lr":0.01,"n":3,"opt":"adam","depth":7}
210|completed|1.81640625|{"lr":0.219,"n":3,"opt":"adam","depth":7}
211|completed|0.25|{"lr":0.5,"n":3,"opt":"b","depth":7}
212|completed|0.5|{"lr":0.5,"n":3,"opt":"3","depth":7}
213|failed||{"lr":0.5,"n":3,"opt":"adam","depth":7}' \
    'quotes are taken off, a constant of the job is a value here'
like "$(sql first.db "SELECT text FROM events WHERE text LIKE 'warm_start:%'")" \
    '^warm_start: 213 of 219 trials of tuning job parent; left out: ' \
    'an event reports it'
asked() {
	cat aws/journal* | grep -c 'ListTrainingJobsForHyper'
}
before=$(asked)
rm aws/tuning/parent.json
"$HPOTUNE" start -q -n 2 first.json 2>err
is "$? $(sql first.db 'SELECT count(*) FROM warm') $(asked)" "0 213 $before" \
    'a restart sends no request' || diag "$(cat err)"

# By an ARN, whose region is the job's; one that goes on, with parents.
arn=arn:aws:sagemaker:eu-west-1:123456789012:hyper-parameter-tuning-job
study going -e "s#\"parent\", \"region\": \"eu-west-1\"#\"$arn/going\"#"
like "$("$HPOTUNE" check going.json 2>&1)" \
    "^warm start 3 of 3 trials of tuning job $arn/going; .*it is InProgress: its later results are not used; its own parent older is not read\$" \
    'a continued job is reported as such'
# The region of the study's own backend.
study backend -e 's/, "region": "eu-west-1"//; s/"parent"/"two"/' \
    -e 's#"backend": "local"#"backend": { "name": "sagemaker",\
	"region": "eu-west-1", "role": "arn:aws:iam::123456789012:role/T",\
	"image": "x/y:1", "instance_type": "ml.m5.large",\
	"s3": "s3://bucket/x/", "max_run": "1h" }#'
like "$("$HPOTUNE" check backend.json 2>&1)" \
    '^warm start 2 of 2 trials of tuning job two$' 'the backend has a region'
study two -e 's/"parent"/"two"/'
"$HPOTUNE" start -q -n 1 two.json
is "$(sql two.db "SELECT group_concat(json_extract(params, '\$.depth'), ' ')
    FROM warm")" '12 11' 'of two definitions the constants of its own'
study renamed -e 's/"parent"/"renamed", "metric": "validation:loss"/'
"$HPOTUNE" start -q -n 1 renamed.json
is "$(sql renamed.db 'SELECT group_concat(objective) FROM warm')" '0.5,0.125' \
    'an objective of another name'

# One clear error, and nothing is made.
no() { # name what error sed-expression …
	no_name=$1
	no_what=$2
	no_error=$3
	shift 3
	study "$no_name" "$@"
	no_said=$("$HPOTUNE" start -q "$no_name.json" 2>&1)
	is "$?" 2 "$no_what"
	like "$no_said" "^hpotune: $no_name.json:[0-9]+:[0-9]+: $no_error" \
	    'the error gives the reason'
	is "$(find . -maxdepth 1 -name "$no_name.*" | tr '\n' ' ')" "./$no_name.json " \
	    'nothing was made'
}
no none 'no such job' \
    "warm_start\\[0\\]: the tuning job parent does not exist in eu-west-1: .*; remove this entry to start the study"
no up 'another goal' \
    'warm_start\[0\]: it has loss under Type Maximize, and the goal here is minimize: give the study the same goal' \
    -e 's/"parent"/"up"/'
no named 'another metric' \
    'warm_start\[0\]: its objective is validation:loss and not loss: say "metric": "validation:loss"' \
    -e 's/"parent"/"renamed"/'
no empty 'no jobs' 'warm_start\[0\]: it has no trials' -e 's/"parent"/"empty"/'
no key 'a key that is not known' 'warm_start\[0\]\.zone: ' \
    -e 's/"region"/"zone"/'
no nameless 'no name' 'warm_start\[0\]: .*tuning_job' \
    -e 's/"tuning_job": "parent", //'
no number 'neither name nor object' \
    'warm_start\[0\]: expected the name of a database, or an object with tuning_job' \
    -e 's/{ "tuning_job".*}\]/5]/'
no twice 'the same one twice' \
    'warm_start\[1\]: this tuning job is given twice' \
    -e 's/\[\({ "tuning_job".*}\)\]/[\1, \1]/'
no arn 'another region' \
    'warm_start\[0\]: the ARN has region eu-west-1, but "region" is us-east-1' \
    -e "s#\"parent\", \"region\": \"eu-west-1\"#\"$arn/going\", \"region\": \"us-east-1\"#"
no wide 'two objectives' \
    'warm_start\[0\]: a tuning job has one objective and no constraints' \
    -e 's/"objective": .*/"objectives": [ { "metric": "loss", "goal":\
	"minimize" }, { "metric": "b", "goal": "minimize" } ],/' \
    -e 's/"tpe", "seed": 1, "n_startup_trials": 3/"nsga2", "seed": 1/'
# The same is so of a list in a file.
sed 's/"tuning_job"/"x"/' aws/tuning/up.json >up-list.json
no list 'the other goal in a file' \
    'warm_start\[0\]: it has loss under Type Maximize' \
    -e 's/{ "tuning_job".*}\]/"up-list.json"]/'

# Its description, from AWS, is a study.
"$HPOTUNE" import sagemaker --tuning-job going --region eu-west-1 -o new.json \
    >out 2>err
is $? 0 'a tuning job becomes a study' || diag "$(cat err)"
is "$(sqlite3 :memory: "SELECT json_extract(readfile('new.json'),
    '\$.parameters.lr.max') || ' ' || json_extract(readfile('new.json'),
    '\$.warm_start[0].tuning_job')")" '1 older' \
    'with its space, and its parents'
"$HPOTUNE" import sagemaker --tuning-job gone --region eu-west-1 >out 2>err
is "$? $(cat out)" '1 ' 'one that is not there is an error'
like "$(cat err)" 'the tuning job gone does not exist in eu-west-1' \
    'which reports it'
for words in "sagemaker base.json --tuning-job x" "sagemaker" \
    "sagemaker base.json --region x"; do
	# shellcheck disable=SC2086 # words
	"$HPOTUNE" import $words >out 2>err
	is $? 2 "import $words"
done
is "$(proved defects)" '[]' 'the stand-in keeps to the models'

done_testing
