#!/bin/sh
# A tuning job of SageMaker becomes a study.json: the mapping, the notes on
# unsupported members, and no file is overwritten.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
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
	  "FileSystemId": "fs-0123456789abcdef0", "FileSystemType": "EFS",
	  "DirectoryPath": "/set", "FileSystemAccessMode": "rw" } } },
      { "ChannelName": "gz", "ContentType": "text/csv",
	"CompressionType": "Gzip", "InputMode": "Pipe",
	"ShuffleConfig": { "Seed": 5 },
	"DataSource": { "S3DataSource": { "S3DataType": "ManifestFile",
	  "S3Uri": "s3://bucket/list" } } },
      { "ChannelName": "odd", "DataSource": { "DatasetSource": {} } } ],
    "OutputDataConfig": { "S3OutputPath": "s3://bucket/out",
	"KmsKeyId": "alias/key" },
    "EnableNetworkIsolation": true, "Magic": 1,
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
    "Environment": { "PYTHONUNBUFFERED": "1" } },
  "Tags": [ { "Key": "team", "Value": "a" } ],
  "Autotune": { "Mode": "Enabled" } }
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
    '$.backend.inputs.disk.file_system.id=fs-0123456789abcdef0' \
    '$.backend.inputs.disk.file_system.access=rw' \
    '$.backend.inputs.gz.type=manifest' \
    '$.backend.inputs.gz.compression=gzip' \
    '$.backend.inputs.gz.mode=Pipe' \
    '$.backend.inputs.gz.shuffle_seed=5' \
    '$.backend.inputs.odd=' \
    '$.backend.extra.EnableNetworkIsolation=1' \
    '$.backend.kms_key=alias/key' \
    '$.backend.model=tar.gz' \
    '$.backend.tags.team=a' \
    '$.backend.distribution=' \
    '$.backend.vpc.subnets=["subnet-1"]' \
    '$.limits.trials=100' \
    '$.limits.parallel=10' \
    '$.limits.wall_time=86400' \
    '$.limits.no_improvement=12' \
    '$.limits.convergence=1'; do
	is "$(json "${pair%%=*}")" "${pair#*=}" "${pair%%=*}"
done
"$HPOTUNE" check study.json >check.out 2>&1
is $? 0 'what comes out is a study'
for word in wd: backend.code ConvergenceDetected \
    'channel odd was left out' 'TrainingJobDefinition.Magic: left out' \
    'Autotune: left out' 'CheckpointConfig.S3Uri: left out: s3://bucket/ck'; do
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

# Warm start and convergence, by their names there.
sed 's/"Autotune"/"WarmStartConfig": { "WarmStartType": "TransferLearning",\
    "ParentHyperParameterTuningJobs": [\
	{ "HyperParameterTuningJobName": "first-one" } ] }, &/' job.json |
    tr '\n' ' ' | sed 's/"BestObjectiveNotImproving":[[:space:]]*{[^}]*},//' >warm.json
cp study.json keep.json
ok 'a job with parents' import study.json warm.json
is "$(json '$.warm_start') $(json '$.limits.convergence')" \
    '[{"tuning_job":"first-one"}] 1' \
    'its parents are asked for, convergence is a limit'
like "$(cat err)" 'the first start asks AWS for the trials' 'as the note states'
cp keep.json study.json

# Several definitions.
sed 's/"TrainingJobDefinition": {/"TrainingJobDefinitions": [ {\
    "DefinitionName": "first",/
    s/"PYTHONUNBUFFERED": "1" } },/"PYTHONUNBUFFERED": "1" },\
      "HyperParameterRanges": { "ContinuousParameterRanges": [\
	{ "Name": "eta", "MinValue": "0", "MaxValue": "1" } ] } },\
    { "DefinitionName": "second", "TuningObjective":\
	{ "Type": "Maximize", "MetricName": "auc" } } ],/' \
    job.json >two.json
fails 'of two definitions one must be chosen' 2 \
    import out two.json
like "$(cat err)" \
    'two.json:.*first has no TuningObjective.*choose one with --definition' \
    'it gives reason and remedy'
ok 'the first' import one.json two.json --definition first
like "$(cat err)" 'TrainingJobDefinitions: second is left out' 'the other is named'
cp one.json study.json
is "$(json '$.parameters.eta.max')" 1 'its own ranges hold'
is "$(json '$.parameters.lr')" '' 'and not those of the configuration'
ok 'each becomes a study' import out two.json -o all.json
like "$(cat err)" 'each definition is a study of its own.*first has no Tuning' \
    'and the reason is reported'
cp all-first.json study.json
is "$(json '$.study') $(json '$.limits.trials') $(json '$.limits.parallel')" \
    'mnist-tune-first 50 5' 'each has its share of the limits'
cp all-second.json study.json
is "$(json '$.study') $(json '$.objective.metric')" \
    'mnist-tune-second auc' 'the second, with its own objective'
rm all-first.json
fails 'one of them is there: none is written' 1 import out two.json -o all.json
ok 'nothing beside it' test ! -e all-first.json
fails 'one that is not there' 2 \
    import out two.json --definition third

# Several definitions that can be one study are: the same names in two of them,
# constants that read as numbers, one pattern of two.
definition() { # name image metric ranges constants [more]
	cat <<END
{ "DefinitionName": "$1",
  "TuningObjective": { "Type": "Minimize", "MetricName": "$3" },
  "HyperParameterRanges": $4, "StaticHyperParameters": $5,
  "AlgorithmSpecification": { "TrainingImage":
      "141502667606.dkr.ecr.eu-west-1.amazonaws.com/$2",
    "TrainingInputMode": "File" },
  "RoleArn": "arn:aws:iam::123456789012:role/Trial",
  "InputDataConfig": [ { "ChannelName": "train", "DataSource":
    { "S3DataSource": { "S3DataType": "S3Prefix",
      "S3Uri": "s3://bucket/train/" } } } ],
  "OutputDataConfig": { "S3OutputPath": "s3://bucket/out" },
  "ResourceConfig": { "InstanceType": "ml.m5.large", "InstanceCount": 1,
    "VolumeSizeInGB": 30 }, ${6:-}
  "StoppingCondition": { "MaxRuntimeInSeconds": 3600 } }
END
}
tuning() { # definition [definition]
	cat <<END
{ "HyperParameterTuningJobName": "both",
  "HyperParameterTuningJobConfig": { "Strategy": "Random",
    "ResourceLimits": { "MaxNumberOfTrainingJobs": 20,
      "MaxParallelTrainingJobs": 2 },
    "TrainingJobEarlyStoppingType": "Auto" },
  "TrainingJobDefinitions": [ $1${2:+, $2} ] }
END
}
range() { # name min max
	printf '{ "ContinuousParameterRanges": [
    { "Name": "%s", "MinValue": "%s", "MaxValue": "%s" } ],
    "CategoricalParameterRanges": [
    { "Name": "objective", "Values": ["reg:linear", "reg:gamma"] },
    { "Name": "q%.1s", "Values": ["\\"a\\"", "7", "07"] } ] }' "$1" "$2" "$3" "$3"
}
trees=$(definition trees sagemaker-xgboost:1.7-1 validation:rmse \
    "$(range alpha 0 1)" '{ "num_round": "030", "max_depth": "6" }')
linear=$(definition linear linear-learner:1 validation:objective_loss \
    "$(range alpha 0 2)" '{ "predictor_type": "regressor" }')
tuning "$trees" "$linear" >both.json
ok 'several definitions are one study' import study.json both.json
is "$(json '$.parameters.algorithm.values')" '["trees","linear"]' \
    'a parameter chooses one'
for pair in \
    '$.objective.metric=tuning_objective' \
    '$.parameters."trees.alpha".max=1' \
    '$.parameters."linear.alpha".max=2' \
    '$.parameters."linear.alpha".when.algorithm=["linear"]' \
    '$.parameters."trees.objective".values=["reg:linear","reg:gamma"]' \
    '$.parameters.q1.values=["\"a\"",7,"07"]' \
    '$.parameters.alpha=' \
    '$.trial.command=["train"]' \
    '$.backend.container=algorithm' \
    '$.backend.image=' '$.backend.model=' \
    '$.backend.algorithms.trees.metric=validation:rmse' \
    '$.backend.algorithms.trees.hyperparameters.num_round=030' \
    '$.backend.algorithms.trees.hyperparameters.max_depth=6' \
    '$.backend.algorithms.linear.image=141502667606.dkr.ecr.eu-west-1.amazonaws.com/linear-learner:1' \
    '$.limits.trials=20' '$.limits.parallel=2'; do
	is "$(json "${pair%%=*}")" "${pair#*=}" "one study: ${pair%%=*}"
done
like "$(cat err)" 'also those of different definitions' \
    'what stopping does is reported'
ok 'the study is right' "$HPOTUNE" check study.json
ok 'into a file' import out both.json -o both-one.json
ok 'the same one' cmp -s both-one.json study.json
ok 'each for itself when it is asked for' \
    import out both.json --separate -o apart.json
cp apart-trees.json study.json
is "$(json '$.parameters.objective.type') $(json '$.backend.container') $(json \
    '$.objective.metric')" 'choice algorithm validation:rmse' \
    'a study of AWS'"'"'s algorithm, with a parameter objective'
ok 'which is right' "$HPOTUNE" check study.json

# What is no single study, and why.
apart() { # why definition …
	apart_why=$1
	shift
	tuning "$@" >apart.json
	fails "no single study: $apart_why" 2 import out apart.json
	like "$(cat err)" "not one study: $apart_why" "and why: $apart_why"
}
other() { # sed-script
	printf '%s' "$linear" | sed "$1"
}
apart 'trees and linear differ in ResourceConfig' "$trees" \
    "$(other 's/ml.m5.large/ml.m5.xlarge/')"
apart 'trees and linear differ in CheckpointConfig' "$trees" \
    "$(other 's/"RoleArn"/"CheckpointConfig": {"S3Uri": "s3:\/\/b\/c"}, &/')"
apart 'trees and linear differ in EnableNetworkIsolation' "$trees" \
    "$(other 's/"RoleArn"/"EnableNetworkIsolation": true, &/')"
apart 'linear has an Environment' "$trees" \
    "$(other 's/"RoleArn"/"Environment": {"A": "1"}, &/')"
apart 'trees and linear have different goals' "$trees" \
    "$(other 's/Minimize/Maximize/')"
apart 'two definitions are called linear' "$linear" "$linear"
apart 'linear does not define loss' "$trees" \
    "$(other 's/linear-learner/mine/; s/validation:objective_loss/loss/')"
apart 'trees and linear may both print validation:rmse and validation:mae' \
    "$trees" "$(other 's/linear-learner/xgboost/
	s/validation:objective_loss/validation:mae/')"

# One job of XGBoost: what means something to hpotune has its own name there.
tuning "$(definition trees sagemaker-xgboost:1 validation:rmse \
    "$(range eta 0 1)" '{ "objective": "reg:linear", "trial": "3" }' |
    sed 's/"objective", "V/"booster", "V/')" >one.json
ok 'one of AWS'"'"'s algorithms' import study.json one.json
is "$(json '$.backend.algorithms.trees.hyperparameters')" \
    '{"objective":"reg:linear","trial":3}' 'constants keep their names'
ok 'that too is right' "$HPOTUNE" check study.json

# A framework's job of the SDK: script, launcher, and where the code is.
sdk() { # hyperparameters of the launcher
	cat <<END
{ "HyperParameterTuningJobConfig": { "Strategy": "Random",
    "HyperParameterTuningJobObjective":
	{ "Type": "Minimize", "MetricName": "loss" },
    "ResourceLimits": { "MaxNumberOfTrainingJobs": 4,
	"MaxParallelTrainingJobs": 2 },
    "ParameterRanges": { "ContinuousParameterRanges": [
	{ "Name": "lr", "MinValue": "0", "MaxValue": "1" } ] } },
  "TrainingJobDefinition": {
    "AlgorithmSpecification": { "TrainingImage": "x:1",
	"TrainingInputMode": "File", "MetricDefinitions": [
	{ "Name": "loss", "Regex": "l=([0-9.]+)" } ] },
    "StaticHyperParameters": { "epochs": "3",
	"sagemaker_program": "\"train.py\"",
	"sagemaker_submit_directory": "\"s3://bucket/a/sourcedir.tar.gz\"",
	"sagemaker_container_log_level": "20", "sagemaker_region": "\"x\"",
	"sagemaker_job_name": "\"x\"",
	"sagemaker_estimator_module": "\"m\"",
	"sagemaker_instance_type": "\"ml.p4d.24xlarge\"",
	$1
	"sagemaker_estimator_class_name": "\"PyTorch\"" },
    "RoleArn": "arn:aws:iam::123456789012:role/Trial",
    "OutputDataConfig": { "S3OutputPath": "s3://bucket/out" },
    "ResourceConfig": { "InstanceType": "ml.p4d.24xlarge",
	"InstanceCount": 2, "VolumeSizeInGB": 30 },
    "StoppingCondition": { "MaxRuntimeInSeconds": 60 },
    "Environment": { "MAP": "{1}" } } }
END
}
mkdir -p code
: >code/train.py
launcher() { # hyperparameters block
	sdk "$1" >sdk.json
	"$HPOTUNE" import sagemaker sdk.json >study.json 2>notes
	is "$(json '$.backend.distribution')" "$2" "${1:-no launcher}: $2"
	"$HPOTUNE" check study.json >out 2>&1
	is $? 0 'it passes check' || diag "$(cat out)"
}
torch='"sagemaker_torch_distributed_enabled": "true",'
mpi='"sagemaker_mpi_enabled": "true",
    "sagemaker_mpi_num_of_processes_per_host": "8",
    "sagemaker_mpi_custom_mpi_options": "\"-x A=1\"",'
launcher '' ''
launcher "$torch" '{"launcher":"torch-distributed"}'
ok 'nothing but the code is noted' test "$(wc -l <notes)" -eq 1
like "$(cat notes)" 'aws s3 cp .s3://bucket/a/sourcedir.tar.gz. - . tar' \
    'which gives the address'
is "$(json '$.backend.code')" code 'and the study waits for it'
is "$(json '$.trial.env.MAP')" '{{1}}' 'braces keep their own meaning'
launcher "$mpi" '{"launcher":"mpi","processes_per_host":8,"custom_mpi_options":"-x A=1"}'
launcher '"sagemaker_distributed_dataparallel_enabled": "true",
    "sagemaker_distributed_dataparallel_custom_mpi_options": "\"\"",' \
    '{"launcher":"smddp"}'
launcher '"sagemaker_distributed_dataparallel_enabled": "true",'"$torch" \
    '{"launcher":"smddp","torch_distributed":true}'
launcher '"sagemaker_pytorch_ddp_enabled": "true",' '{"launcher":"pytorch-ddp"}'
launcher '"sagemaker_parameter_server_enabled": "true",' \
    '{"launcher":"parameter-server"}'
launcher '"sagemaker_multi_worker_mirrored_strategy_enabled": "true",' \
    '{"launcher":"multi-worker-mirrored"}'
launcher "$torch"'"mp_parameters": "{\"random_seed\": 3}",
    "sagemaker_distributed_dataparallel_enabled": "false",' \
    '{"launcher":"modelparallel","parameters":{"random_seed":3}}'
launcher "$mpi"'"mp_parameters": "{\"partitions\": 2}",' \
    '{"launcher":"modelparallel","version":1,"processes_per_host":8,"custom_mpi_options":"-x A=1","parameters":{"partitions":2}}'
launcher '"sagemaker_pytorch_xla_multi_worker_enabled": "true",' ''
like "$(cat notes)" 'sagemaker_pytorch_xla_multi_worker_enabled: left out: true' \
    'a launcher that is not there is named'
is "$(json '$.parameters.sagemaker_region')" '' 'the toolkit has its own'
sdk '"objective": "\"mse\"", "params": "7",' >sdk.json
ok 'names of ours in a program' import study.json sdk.json
is "$(json '$.parameters.objective.value') $(json '$.parameters.hp_params.value')" \
    'mse 7' 'one that means something else has another one'
like "$(cat err)" 'parameters.hp_params: params means something else' \
    'which is reported'
ok 'and it is a study' "$HPOTUNE" check study.json

# With autotune the SDK makes hints of all of that.
sdk "$torch" >sdk.json
sqlite3 :memory: "WITH t(j, d) AS (
    SELECT readfile('sdk.json'), '\$.TrainingJobDefinition')
    SELECT json_remove(json_set(j, d || '.HyperParameterRanges',
	json_object('AutoParameters', (SELECT json_group_array(
	    json_object('Name', key, 'ValueHint', value))
	    FROM json_each(j, d || '.StaticHyperParameters')))),
	d || '.StaticHyperParameters') FROM t" >auto.json
"$HPOTUNE" import sagemaker auto.json >study.json 2>notes
is $? 0 'autotune' || diag "$(cat notes)"
is "$(json '$.trial.command')" '["python3","train.py","{params}"]' \
    'autotune: the script'
is "$(json '$.backend.distribution.launcher')" torch-distributed \
    'autotune: its launcher'
is "$(json '$.parameters.epochs.value') $(json '$.parameters.sagemaker_region')" \
    '3 ' 'autotune: constants'

# The command line's form: configuration and definition in files of their own.
sqlite3 :memory: "SELECT json_extract(readfile('job.json'),
    '\$.HyperParameterTuningJobConfig')" >config.json
sqlite3 :memory: "SELECT json_extract(readfile('job.json'),
    '\$.TrainingJobDefinition')" >definition.json
ok 'a configuration alone' import study.json config.json
is "$(json '$.study') $(json '$.limits.trials') $(json '$.backend')" \
    'imported 100 ' 'it is a study of this machine'
like "$(cat err)" 'name the definition.s file after it' 'and it is reported'
fails 'it waits for a program' 1 "$HPOTUNE" check study.json
ok 'with the definition' import study.json config.json definition.json
is "$(json '$.backend.role')" arn:aws:iam::123456789012:role/Trial \
    'it is a study of SageMaker'
fails 'a definition alone' 2 import out definition.json
like "$(cat err)" 'in front of it' 'it states what is missing'

# Hyperband and grid.
sed 's/"Bayesian"/"Hyperband"/; s/"RandomSeed": 7/"StrategyConfig":\
    { "HyperbandStrategyConfig": { "MinResource": 1, "MaxResource": 27 } }/' \
    job.json >band.json
import study.json band.json
is "$(json '$.stopping')" \
    '{"rule":"hyperband","min_resource":1,"max_resource":27}' 'hyperband'

# What the newest SDK and model have: types in order of preference, and a launcher
# in a channel that is no data.
machines() { # instance-count of the second type
	cat >prefer.json <<-END
	{ "HyperParameterTuningJobName": "prefer",
	  "HyperParameterTuningJobConfig": { "Strategy": "Random",
	    "HyperParameterTuningJobObjective": {
	      "Type": "Minimize", "MetricName": "loss" },
	    "ResourceLimits": { "MaxNumberOfTrainingJobs": 4,
	      "MaxParallelTrainingJobs": 2 },
	    "ParameterRanges": { "ContinuousParameterRanges": [
	      { "Name": "lr", "MinValue": "0.1", "MaxValue": "1" } ] } },
	  "TrainingJobDefinition": {
	    "StaticHyperParameters": { "sagemaker_program": "train.py",
	      "sagemaker_submit_directory": "s3://b/code/sourcedir.tar.gz" },
	    "AlgorithmSpecification": { "TrainingInputMode": "File",
	      "TrainingImage": "1.dkr.ecr.eu-west-1.amazonaws.com/train:1",
	      "MetricDefinitions": [ { "Name": "loss", "Regex": "loss: (.*)" } ] },
	    "RoleArn": "arn:aws:iam::123456789012:role/Trial",
	    "OutputDataConfig": { "S3OutputPath": "s3://b/out/" },
	    "ResourceConfig": { "VolumeSizeInGB": 30, "InstancePreferences": [
	      { "InstanceType": "ml.g5.xlarge", "InstanceCount": 2 },
	      { "InstanceType": "ml.g4dn.xlarge", "InstanceCount": $1 } ] },
	    "StoppingCondition": { "MaxRuntimeInSeconds": 3600 },
	    "InputDataConfig": [
	      { "ChannelName": "train", "DataSource": { "S3DataSource": {
		"S3DataType": "S3Prefix", "S3Uri": "s3://b/x" } } },
	      { "ChannelName": "sm_drivers", "DataSource": { "S3DataSource": {
		"S3DataType": "S3Prefix", "S3Uri": "s3://b/d" } } } ] } }
	END
	ok "preferences, $1 of the second" import study.json prefer.json
}
machines 2
is "$(json '$.backend.instance_type')" '["ml.g5.xlarge","ml.g4dn.xlarge"]' \
    'types in their order'
is "$(json '$.backend.instance_count') $(json '$.backend.volume')" '2 30GiB' \
    'as many of each, and their volume'
unlike "$(cat err)" 'InstancePreferences|instance_count' 'of which nothing is lost'
is "$(json '$.backend.inputs')" '{"train":"s3://b/x"}' 'what starts programs is no data'
like "$(cat err)" 'trial.launcher: .*sm_drivers.*torchrun' 'and a note names the launcher'
machines 3
like "$(cat err)" 'instance_count: 3 machines of ml.g4dn.xlarge' 'other numbers are noted'
sed -i 's/"InstanceType": "ml.g4dn.xlarge", //' prefer.json
ok 'a type without its name' import study.json prefer.json
like "$(cat err)" 'instance_count: 3 machines of no type' 'is none'

# A text that becomes a number with another form: the program is given that.
sed -e 's/"Values": \["32", "64"\]/"Values": ["0.10", "3.0", "1e-05", "64"]/' \
    -e 's/"epochs": "10"/"epochs": "1E1"/' job.json >forms.json
ok 'numbers in other forms' import study.json forms.json
is "$(grep 'is a number here' err)" \
    'hpotune: note: parameters.width: 0.10 is a number here, and the program is given 0.1
hpotune: note: parameters.width: 3.0 is a number here, and the program is given 3
hpotune: note: parameters.epochs: 1E1 is a number here, and the program is given 10' \
    'are noted'

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
