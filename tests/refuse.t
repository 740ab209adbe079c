#!/bin/sh
# What a study may not ask for is refused before anything is made, with the
# place in the file; and what it may ask for is not lost.

. "$TOP_SRCDIR/tests/lib.sh"

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
refused 'trial.launcher: it is not told how many processes a trial has: ' 'a launcher'

study "$objective, $parameters, $trial, \"limits\": { \"cost\": 5 }"
refused 'limits.cost: no backend of this study costs anything' 'a limit of dollars'

study "$objective, $parameters, $limits,
\"trial\": { \"command\": [\"true\"], \"gpus\": 5 },
\"backend\": { \"name\": \"local\", \"gpus\": { \"simulate\": 2 } }"
refused 'trial.gpus: a trial wants 5, but there are 2' 'more GPUs than there are'

study "$objective, $parameters, $limits,
\"trial\": { \"command\": [\"true\"],
\"metrics\": [{ \"name\": \"loss\", \"regex\": \"loss (\" }] }"
refused 'trial.metrics\[0\].regex: missing closing' 'a broken pattern'

study "\"objective\": { \"metric\": \"val@loss\", \"goal\": \"minimize\" },
$parameters, $trial, $limits"
refused 'objective.metric: the name of a metric is' 'a metric nobody can report'

study "$objective, $parameters, $trial, $limits,
\"backend\": { \"name\": \"sagemaker\", \"region\": \"eu-west-1\" }"
refused 'backend.*role' 'training jobs without a role'

study "$objective, $parameters, $trial, $limits, \"stopping\": \"medain\""
refused 'stopping: no stopping rule named "medain"' 'a rule that is none'

study "$objective, $parameters, $trial, $limits, \"strategy\":
{ \"name\": \"cmaes\", \"x0\": { \"width\": 1 } }"
refused 'strategy.x0.width: no such parameter' \
    'an option within an option, under its own place alone'

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
