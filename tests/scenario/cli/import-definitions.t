#!/bin/sh
# Definitions of NNI and Katib as studies: what is converted, what is noted, and what
# is refused with its place; a table with a row for each value.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

mkdir nni
cat >nni/space.json <<'END'
{ "lr": { "_type": "loguniform", "_value": [0.0001, 0.1] },
  "n": { "_type": "randint", "_value": [1, 5] },
  "layer": { "_type": "choice", "_value": [ { "_name": "none" },
    { "_name": "conv", "size": { "_type": "choice", "_value": [1, 3] } } ] } }
END
cat >nni/config.yml <<'END'
experimentName: mnist
searchSpaceFile: space.json
trialCommand: python3 mnist.py --epochs 3
trialConcurrency: 2
maxTrialNumber: 20
maxExperimentDuration: 1h
trialGpuNumber: 1
tuner: { name: TPE, classArgs: { optimize_mode: maximize } }
assessor: { name: Medianstop, classArgs: { start_step: 5 } }
trainingService: { platform: local }
END
ok 'an experiment of NNI' quietly "$HPOTUNE" import nni nni/config.yml
like "$(tr -d ' \n' <out)" '"n":{"type":"int","min":1,"max":4}' 'randint ends before its bound'
like "$(tr -d ' \n' <out)" '"layer.size":{"type":"choice","values":\[1,3\],"when":{"layer":\["conv"\]}}' \
    'a nested choice has a condition'
like "$(tr -d ' \n' <out)" '"rule":"nni","start_step":5' 'its assessor'
like "$(tr -d ' \n' <out)" '"trials":20,"parallel":2,"wall_time":"1h"' 'its limits'
like "$(cat err)" 'nni.get_next_parameter\(\) has no parameters here' 'the program must be changed'
like "$(cat err)" 'trial.gpus: each trial had 1' 'GPUs are noted'
ok 'a search space alone' quietly "$HPOTUNE" import nni nni/space.json
like "$(cat err)" 'objective.goal: minimize' 'whose goal is chosen'
sed -i 's/randint/randomint/' nni/space.json
fails 'a type that is none' 2 quietly "$HPOTUNE" import nni nni/config.yml
like "$(cat err)" 'nni/space.json:2:19: n._type' 'its place is named'

# Keys in any case, with _ or without; branches with the same parameter; a step that is
# none; the steps of a trial; a cluster.
cat >nni/snake.yml <<'END'
search_space:
  layer:
    _type: choice
    _value:
      - { _name: max, size: { _type: choice, _value: [2, 3] } }
      - { _name: mean, size: { _type: choice, _value: [2, 3] } }
      - { _name: conv, size: { _type: choice, _value: [5, 7] } }
  drop: { _type: quniform, _value: [0.5, 0.9, 2] }
trial_command: ./t
max_trial_number: 7
tuner: { name: TPE, class_args: { optimize_mode: maximize } }
assessor: { name: Curvefitting, classArgs: { epoch_num: 20 } }
trainingService: { platform: remote }
END
ok 'other spellings of its keys' quietly "$HPOTUNE" import nni nni/snake.yml
text=$(tr -d ' \n' <out)
like "$text" '"goal":"maximize".*"command":\["./t",.*"trials":7' 'are read'
like "$text" '"layer.size":{"type":"choice","values":\[2,3\],"when":{"layer":\["max","mean"\]}}' \
    'a parameter that two branches have is one'
like "$text" '"layer.size_2":{"type":"choice","values":\[5,7\],"when":{"layer":\["conv"\]}}' \
    'one that is another there has another name'
like "$text" '"drop":{"type":"fixed","value":0.5}' 'a step beyond the bounds draws a bound'
like "$text" '"stopping":"curve".*"max_steps":20' 'Curvefitting tells the steps of a trial'
like "$(cat err)" 'drop: no multiple of its step 2' 'the step is noted'
like "$(cat err)" 'backend: the trials ran on remote' 'the platform is noted'
sed -i '/assessor/s/epoch_num: 20//' nni/snake.yml
ok 'Curvefitting without steps' quietly "$HPOTUNE" import nni nni/snake.yml
like "$(cat err)" 'the assessor Curvefitting is left out' 'is left out'

cat >katib.yaml <<'END'
apiVersion: kubeflow.org/v1beta1
kind: Experiment
metadata: { name: median-stop }
spec:
  objective: { type: maximize, goal: 0.99, objectiveMetricName: Validation-accuracy }
  algorithm: { algorithmName: random }
  maxTrialCount: 15
  parameters:
    - { name: lr, parameterType: double, feasibleSpace: { min: "0.01", max: "0.3" } }
    - { name: opt, parameterType: categorical, feasibleSpace: { list: [sgd, "0.10"] } }
  trialTemplate:
    primaryContainerName: training-container
    trialParameters: [{ name: rate, reference: lr }]
    trialSpec:
      kind: Job
      spec:
        template:
          spec:
            containers:
              - name: training-container
                image: docker.io/a/b
                command: [echo, "Validation-accuracy=${trialParameters.rate}", "{x}"]
END
ok 'an Experiment of Katib' quietly "$HPOTUNE" import katib katib.yaml -o katib.json
like "$(cat err)" 'opt: the template does not give it to the program' 'what no template names'
sed -i 's/"trials": 15/"trials": 2/; s/"random"/{ "name": "random", "seed": 1 }/' katib.json
ok 'it runs' quietly "$HPOTUNE" start katib.json
is "$(sql median-stop.db "SELECT count(*) FROM results WHERE abs(objective - lr) < 1e-9")" 2 \
    'and what the collector would read is read'
sed -i 's/reference: lr/reference: rl/' katib.yaml
fails 'a parameter that is none' 2 quietly "$HPOTUNE" import katib katib.yaml
like "$(cat err)" 'rl is no parameter' 'is named'

sed -e 's/reference: rl/reference: "${trialSpec.Labels[team]}"/' \
    -e 's/kind: Job/&\n      metadata: { labels: { team: "a{b" } }/' katib.yaml >label.yaml
ok 'a label of the trial' quietly "$HPOTUNE" import katib label.yaml
like "$(cat out)" '"Validation-accuracy=a\{\{b"' 'is put in its place'
sed -i 's/\[team\]/[other]/' label.yaml
ok 'one that is not there' quietly "$HPOTUNE" import katib label.yaml
like "$(cat err)" 'Labels\[other\]\} is left empty' 'is noted'
sed 's/^      spec:$/&\n        pytorchReplicaSpecs: { Master: { replicas: 1 }, Worker: { replicas: 3 } }/' \
    label.yaml >pods.yaml
ok 'a job of several pods' quietly "$HPOTUNE" import katib pods.yaml
like "$(cat err)" 'trial: each had 4 pods' 'is noted'
sed '/trialSpec:/,$d' katib.yaml >config-map.yaml
ok 'a template in the cluster' quietly "$HPOTUNE" import katib config-map.yaml
like "$(cat err)" 'trialTemplate has no container' 'is noted'

cat >long.csv <<'END'
run,attribute,step,value
r1,config/lr,,0.1
r1,config/opt,,adam
r1,val/loss,3,0.3
r1,val/loss,2,0.5
r2,config/lr,,0.001
r2,config/opt,,"s,gd"
r2,val/loss,1,nan
r3,config/lr,,0.01
r3,config/opt,,adam
r3,val/loss,1,0.7
r3,status,,RUNNING
END
ok 'a row for each value' quietly "$HPOTUNE" import csv long.csv --goal minimize -o long.json
is "$(sed -n 's/.*\("objective": 0.3, "step": 3\).*/\1/p' long-trials.json)" \
    '"objective": 0.3, "step": 3' 'the last step counts, in any order'
is "$(grep -c '"trial":' long-trials.json)" 2 'a run that has not ended is left out'
like "$(cat long-trials.json)" '"failed".*"opt": "s,gd"' 'one that ended with NaN has failed'
done_testing
