#!/bin/sh
# Invalid combinations in a study are rejected before any file is created, with
# their position in the file; and valid ones are stored.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

need sqlite3

# A study of one parameter, with members added.
study() { # members
	printf '{ "study": "s",\n%s }\n' "$1" >study.json
}
objective='"objective": { "metric": "loss", "goal": "minimize" }'
parameters='"parameters": { "lr": { "type": "float", "min": 0, "max": 1 } }'
trial='"trial": { "command": ["true"] }'
limits='"limits": { "trials": 2 }'

refused() { # pattern what
	refused_text=$("$HPOTUNE" start study.json 2>&1)
	is $? 2 "$2: exit status 2"
	like "$refused_text" "^hpotune: study.json:[0-9]+:[0-9]+: $1" "$2: why"
	is "$(ls)" study.json "$2: nothing is made"
}

study "$objective, $parameters, $limits,
\"trial\": { \"command\": [\"true\"], \"launcher\": \"torchrun\" }"
refused 'trial.launcher: the number of processes of a trial is missing: ' 'a launcher'

study "$objective, $parameters, $trial, \"limits\": { \"cost\": 5 }"
refused 'limits.cost: no backend of this study costs anything' 'a limit of dollars'

study "$objective, $parameters, $limits,
\"trial\": { \"command\": [\"true\"], \"gpus\": 5 },
\"backend\": { \"name\": \"local\", \"gpus\": { \"simulate\": 2 } }"
refused 'trial.gpus: a trial needs 5, but this machine has 2' 'more GPUs than there are'

study "$objective, $parameters, $limits,
\"trial\": { \"command\": [\"true\"],
\"metrics\": [{ \"name\": \"loss\", \"regex\": \"loss (\" }] }"
refused 'trial.metrics\[0\].regex: missing closing' 'a broken pattern'

study "\"objective\": { \"metric\": \"val loss\", \"goal\": \"minimize\" },
$parameters, $trial, $limits"
refused 'objective.metric: the name of a metric is' \
    'a metric that cannot be reported'

study "$objective, $parameters, $trial, $limits,
\"backend\": { \"name\": \"sagemaker\", \"region\": \"eu-west-1\" }"
refused 'backend.*role' 'training jobs without a role'

far='"backend": { "name": "sagemaker", "region": "eu-west-1",
"role": "arn:aws:iam::123456789012:role/x", "instance_type": "ml.m5.large",
"image": "1.dkr.ecr.eu-west-1.amazonaws.com/x:1", "s3": "s3://bkt/x/" }'
study "$objective, $parameters, $limits, $far,
\"trial\": { \"command\": [\"a\"], \"reads\": \"tensorboard\" }"
refused 'trial.reads: files are read for trials on this machine and on Slurm' \
    'files of training jobs'
study "$objective, $parameters, $limits, $far,
\"trial\": { \"command\": [\"a\", \"{params_file}\"] }"
refused 'trial.command: {params_file} is written for trials on this machine' \
    'a file of parameters for training jobs'
study "$objective, $parameters, $limits, $far,
\"trial\": { \"command\": [\"a\", \"{file:c}\"], \"files\": { \"c\": \"c.in\" } }"
refused 'trial.files: files are written for trials on this machine and on Slurm' \
    'templates for training jobs'

study "$objective, $parameters, $trial, $limits, \"stopping\": \"medain\""
refused 'stopping: no stopping rule named "medain"' 'a rule that is none'

study "$objective, $parameters, $trial, $limits, \"strategy\":
{ \"name\": \"cmaes\", \"x0\": { \"width\": 1 } }"
refused 'strategy.x0.width: no such parameter' \
    'an option within an option, under its own place alone'

study "$objective, $parameters, $trial, $limits, \"backend\": \"slurm\""
like "$(SLURM_CONF=/nonexistent "$HPOTUNE" check)" \
    '^slots +16, the default with slurm' \
    'the slots of a cluster are not the cores of this machine'

# A study.json that is no longer that of its database: the same words from
# both, which name the key.
changed() { # key old new sed-expression
	sed "$4" first >study.json
	"$HPOTUNE" start study.json >out 2>err
	is "$? $(cat err)" "2 hpotune: $dir/change/study.json: $1: $2 in the study's database, $3 in study.json: it may not change once there are trials: restore the old value, or give the changed study another name" \
	    "start: $1"
	is "$("$HPOTUNE" check study.json 2>&1)" "$(cat err)" \
	    'check prints the same, and nothing else'
	"$HPOTUNE" check study.json >out 2>&1
	is $? 2 'with the same status'
}
mkdir change
cd change
cat >first <<'END'
{ "study": "s", "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": {
    "lr": { "type": "float", "min": 0.01, "max": 0.1 },
    "opt": { "type": "choice", "values": ["sgd", "adam"] } },
  "strategy": { "name": "random", "seed": 3 },
  "trial": { "command": ["echo", "hpotune: loss={lr}"] },
  "limits": { "trials": 1 } }
END
cp first study.json
ok 'a study runs' quietly "$HPOTUNE" start -q study.json
changed objective.goal '"minimize"' '"maximize"' 's/minimize/maximize/'
changed objective.metric '"loss"' '"cost"' 's/"metric": "loss"/"metric": "cost"/'
changed strategy.seed 3 4 's/"seed": 3/"seed": 4/'
changed objective.value 'not given' '"last"' \
    's/"goal": "minimize"/&, "value": "last"/'
changed constraints 'not given' '[{"metric":"cost","max":1}]' \
    's/"parameters": {/"constraints": [ { "metric": "cost", "max": 1 } ], &/'
sed 's/"trials": 1/"trials": 2/' first >study.json
ok 'a limit may change' quietly "$HPOTUNE" check study.json
like "$(cat out)" ' is right$' 'in check'
ok 'and start' quietly "$HPOTUNE" start -q study.json
cd ..
rm -r change

# Defaults that contradict each other: the condition decides.
study "$objective, $trial, $limits,
\"parameters\": {
  \"optimizer\": { \"type\": \"choice\", \"values\": [\"sgd\", \"adam\"],
                 \"default\": \"adam\" },
  \"momentum\": { \"type\": \"float\", \"min\": 0, \"max\": 0.9,
                \"when\": { \"optimizer\": [\"sgd\"] }, \"default\": 0.5 },
  \"lr\": { \"type\": \"float\", \"min\": 0, \"max\": 1, \"default\": 0.25 }
},
\"backend\": { \"name\": \"pretend\", \"seconds_per_step\": 0.001 }"
ok 'a study with defaults' "$HPOTUNE" start --quiet study.json
is "$(sql s.db 'SELECT params FROM trials WHERE trial = 1')" \
    '{"optimizer":"adam","lr":0.25}' \
    'the first trial has the defaults that hold together'
rm -rf s.*

# Every change between two runs is told.
pretend='"backend": { "name": "pretend", "seconds_per_step": 0.001 }'
study "$objective, $parameters, $trial, $limits, $pretend"
ok 'a study' "$HPOTUNE" start --quiet study.json
study "$objective, $parameters, $trial, $pretend,
\"limits\": { \"trials\": 3 }, \"stopping\": \"none\""
ok 'it goes on under other limits and rules' \
    "$HPOTUNE" start --quiet study.json
study "$objective, $parameters, $trial, $pretend, \"limits\": { \"trials\": 3 }"
ok 'and once more' "$HPOTUNE" start --quiet study.json
is "$(sql s.db "SELECT text FROM events WHERE area = 'study' AND
    text LIKE '%changed%' ORDER BY text")" \
'study.json changed in limits: {"trials":3}
study.json changed in stopping: "none"
study.json changed in stopping: taken out' 'all changes are in view events'
rm -rf s.*

# A study whose every trial fails has failed.
study "$objective, $parameters, $trial, $limits"
fails 'trials that say nothing' 1 "$HPOTUNE" start --quiet study.json
is "$(sql s.db 'SELECT state, failed FROM study')" 'failed|2' \
    'the study has failed, as they have'

done_testing
