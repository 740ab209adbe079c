#!/bin/sh
# A tuning job of SageMaker becomes a study.json: what goes where, what is
# said of the rest, and that nothing is written over.

. "$TOP_SRCDIR/tests/lib.sh"
need sqlite3

cat >job.json <<'END'
{ "HyperParameterTuningJobName": "MNIST-Tune",
  "HyperParameterTuningJobConfig": {
    "Strategy": "Bayesian",
    "HyperParameterTuningJobObjective":
	{ "Type": "Minimize", "MetricName": "validation:loss" },
    "ResourceLimits": { "MaxNumberOfTrainingJobs": 100,
	"MaxParallelTrainingJobs": 10, "MaxRuntimeInSeconds": 86400 },
    "ParameterRanges": {
      "ContinuousParameterRanges": [
	{ "Name": "lr", "MinValue": "1e-5", "MaxValue": "0.1",
	  "ScalingType": "Logarithmic" },
	{ "Name": "decay", "MinValue": "0.0001", "MaxValue": "1",
	  "ScalingType": "Auto" },
	{ "Name": "momentum", "MinValue": "0.5", "MaxValue": "0.99",
	  "ScalingType": "ReverseLogarithmic" } ],
      "IntegerParameterRanges": [
	{ "Name": "layers", "MinValue": "1", "MaxValue": "8",
	  "ScalingType": "Auto" } ],
      "CategoricalParameterRanges": [
	{ "Name": "opt", "Values": ["\"adam\"", "sgd"] },
	{ "Name": "width", "Values": ["32", "64"] },
	{ "Name": "only", "Values": ["one"] } ],
      "AutoParameters": [ { "Name": "wd", "ValueHint": "0.01" } ] },
    "TrainingJobEarlyStoppingType": "Auto",
    "TuningJobCompletionCriteria": { "TargetObjectiveMetricValue": 0.05,
      "BestObjectiveNotImproving":
	{ "MaxNumberOfTrainingJobsNotImproving": 12 },
      "ConvergenceDetected": { "CompleteOnConvergence": "Enabled" } },
    "RandomSeed": 7 },
  "TrainingJobDefinition": {
    "AlgorithmSpecification": {
      "TrainingImage":
	"123456789012.dkr.ecr.eu-west-1.amazonaws.com/x:1",
      "TrainingInputMode": "File",
      "MetricDefinitions": [
	{ "Name": "validation:loss", "Regex": "val_loss: ([0-9.]+)" } ] },
    "StaticHyperParameters": { "epochs": "10",
	"sagemaker_program": "\"train.py\"",
	"_tuning_objective_metric": "validation:loss" },
    "RoleArn": "arn:aws:iam::123456789012:role/Trial",
    "InputDataConfig": [
      { "ChannelName": "train", "DataSource": { "S3DataSource": {
	  "S3DataType": "S3Prefix", "S3Uri": "s3://bucket/train/",
	  "S3DataDistributionType": "ShardedByS3Key" } } },
      { "ChannelName": "test", "DataSource": { "S3DataSource": {
	  "S3DataType": "S3Prefix", "S3Uri": "s3://bucket/test/" } } },
      { "ChannelName": "disk", "DataSource": { "FileSystemDataSource": {
	  "FileSystemId": "fs-1" } } } ],
    "OutputDataConfig": { "S3OutputPath": "s3://bucket/out" },
    "HyperParameterTuningResourceConfig": { "InstanceConfigs": [
	{ "InstanceType": "ml.g5.xlarge", "InstanceCount": 2,
	  "VolumeSizeInGB": 30 },
	{ "InstanceType": "ml.g4dn.xlarge", "InstanceCount": 2,
	  "VolumeSizeInGB": 30 } ] },
    "StoppingCondition": { "MaxRuntimeInSeconds": 3600,
	"MaxWaitTimeInSeconds": 7200 },
    "EnableManagedSpotTraining": true,
    "CheckpointConfig": { "S3Uri": "s3://bucket/ck" },
    "RetryStrategy": { "MaximumRetryAttempts": 3 },
    "VpcConfig": { "Subnets": ["subnet-1"], "SecurityGroupIds": ["sg-1"] },
    "Environment": { "PYTHONUNBUFFERED": "1" } } }
END

"$HPOTUNE" import sagemaker job.json >study.json 2>notes
is $? 0 'a tuning job is read'

import() { # out file [option …]
	import_out=$1
	shift
	"$HPOTUNE" import sagemaker "$@" >"$import_out" 2>err
}
json() { # path: of study.json
	sqlite3 :memory: "SELECT json_extract(readfile('study.json'), '$1')"
}
for pair in \
    '$.study=mnist-tune' \
    '$.objective.metric=validation:loss' \
    '$.objective.goal=minimize' \
    '$.objective.value=last' \
    '$.objective.target=0.05' \
    '$.parameters.lr.scale=log' \
    '$.parameters.lr.min=1.0e-05' \
    '$.parameters.decay.scale=log' \
    '$.parameters.momentum.scale=reverse-log' \
    '$.parameters.layers.type=int' \
    '$.parameters.layers.scale=' \
    '$.parameters.opt.values=["adam","sgd"]' \
    '$.parameters.width.values=[32,64]' \
    '$.parameters.only.value=one' \
    '$.parameters.wd.value=0.01' \
    '$.parameters.epochs.value=10' \
    '$.parameters.sagemaker_program=' \
    '$.parameters._tuning_objective_metric=' \
    '$.strategy.name=tpe' \
    '$.strategy.seed=7' \
    '$.stopping=sagemaker' \
    '$.trial.command=["python3","train.py","{params}"]' \
    '$.trial.metrics[0].regex=val_loss: ([0-9.]+)' \
    '$.trial.env.PYTHONUNBUFFERED=1' \
    '$.trial.retries=3' \
    '$.backend.name=sagemaker' \
    '$.backend.region=eu-west-1' \
    '$.backend.role=arn:aws:iam::123456789012:role/Trial' \
    '$.backend.instance_type=["ml.g5.xlarge","ml.g4dn.xlarge"]' \
    '$.backend.instance_count=2' \
    '$.backend.volume=30GiB' \
    '$.backend.spot=1' \
    '$.backend.max_run=3600' \
    '$.backend.max_wait=7200' \
    '$.backend.s3=s3://bucket/out' \
    '$.backend.inputs.train.distribution=sharded' \
    '$.backend.inputs.test=s3://bucket/test/' \
    '$.backend.inputs.disk=' \
    '$.backend.vpc.subnets=["subnet-1"]' \
    '$.limits.trials=100' \
    '$.limits.parallel=10' \
    '$.limits.wall_time=86400' \
    '$.limits.no_improvement=12'; do
	is "$(json "${pair%%=*}")" "${pair#*=}" "${pair%%=*}"
done
"$HPOTUNE" check study.json >check.out 2>&1
is $? 0 'what comes out is a study'
for word in wd: backend.code ConvergenceDetected 'no S3 prefix'; do
	like "$(cat notes)" "^hpotune: note: .*$word" "it says so: $word"
done

# What is made can be run, but for buckets with names too short.
sed 's#s3://b/#s3://bucket/#' study.json >good.json
checked() { # study
	"$HPOTUNE" check "$1" >check.out 2>&1 && return
	diag "$(cat check.out)"
	return 1
}
ok 'the study passes check' checked good.json

# Not over a file that is there.
echo mine >there.json
fails 'a file that exists is not written over' 1 \
    import out job.json -o there.json
is "$(cat there.json)" mine 'and is as it was'
ok 'a new file is' import out job.json -o new.json
ok 'and it is the same' cmp -s new.json study.json

# Several definitions.
sed 's/"TrainingJobDefinition": {/"TrainingJobDefinitions": [ {\
    "DefinitionName": "first",/
    s/"PYTHONUNBUFFERED": "1" } } }/"PYTHONUNBUFFERED": "1" } },\
    { "DefinitionName": "second" } ] }/' job.json >two.json
fails 'of two definitions one must be chosen' 2 \
    import out two.json
like "$(cat err)" 'two.json:.*choose it with --definition' 'it says how'
ok 'the first' import one.json two.json --definition first
ok 'is the same study' cmp -s one.json study.json
fails 'one that is not there' 2 \
    import out two.json --definition third

# Hyperband and grid.
sed 's/"Bayesian"/"Hyperband"/; s/"RandomSeed": 7/"StrategyConfig":\
    { "HyperbandStrategyConfig": { "MinResource": 1, "MaxResource": 27 } }/' \
    job.json >band.json
import study.json band.json
is "$(json '$.stopping')" \
    '{"rule":"hyperband","min_resource":1,"max_resource":27}' 'hyperband'

# Wrong files.
wrong() { # what sed-script message
	sed "$2" job.json >wrong.json
	fails "$1: refused" 2 import out wrong.json
	like "$(cat err)" "^hpotune: wrong.json:[0-9]+:[0-9]+: .*$3" \
	    "$1: it says where and why"
	is "$(cat out)" '' "$1: nothing is printed"
}
wrong 'no objective' 's/"HyperParameterTuningJobObjective"/"Other"/' \
    'HyperParameterTuningJobObjective'
wrong 'a bound that is none' 's/"1e-5"/"small"/' 'expected a number'
wrong 'an unknown strategy' 's/"Bayesian"/"Magic"/' 'Strategy'
wrong 'an unknown scale' 's/"Logarithmic"/"Cubic"/' 'ScalingType'
wrong 'no definition' 's/"TrainingJobDefinition"/"Other"/' \
    'TrainingJobDefinition is missing'
wrong 'no limits' 's/"ResourceLimits"/"Other"/' 'ResourceLimits'
"$HPOTUNE" import spreadsheet job.json 2>err
is $? 2 'an unknown format'

done_testing
