#!/bin/sh
# A sweep of Weights & Biases becomes a study.json, and what has no equivalent
# is noted or an error at its line.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3

# All distributions, nested parameters, YAML that only a full reader reads.
cat >sweep.yaml <<'END'
# a sweep
program: src/train.py
name: "My Sweep (2)"
description: >-
  how deep
method: bayes
metric: {name: val/loss, goal: minimize, target: 0.1}
run_cap: 30
parameters:
  lr: &lr
    distribution: log_uniform_values
    min: 1e-5
    max: .1
  lr2: *lr
  old: { distribution: log_uniform, min: -4, max: 0 }
  drop: { min: 0.0, max: 1.0 }
  layers:
    min: 1
    max: 6
  units: { distribution: q_uniform, min: 32, max: 512, q: 32 }
  wd: { distribution: q_log_uniform_values, min: 1, max: 100, q: 1 }
  noise: { distribution: normal, mu: 1, sigma: 0.5 }
  steps: { distribution: q_normal, mu: 1, sigma: 0.5, q: 0.25 }
  decay: { distribution: log_normal, mu: -7, sigma: 1.5 }
  share: { distribution: beta, a: 2, b: 3 }
  rate: { distribution: q_log_uniform_values, min: 0.3, max: 8.2, q: 0.5 }
  opt: { values: [adam, 'sgd', "1", null, yes, 0.5] }
  likely:
    values:
    - a
    - b
    probabilities: [0.9, 0.1]
  never: { values: [1, 2], probabilities: [1, 0] }
  epochs: { value: 27 }
  data:
    parameters:
      size: { values: [1, 2] }
      set: { value: "mnist" }
early_terminate: { type: hyperband, s: 2, eta: 3, max_iter: 27 }
command:
  - ${env}
  - ${interpreter}
  - ${program}
  - --fixed={x}
  - ${args_no_boolean_flags}
END
quietly "$HPOTUNE" import wandb sweep.yaml
is "$?" 0 'a sweep is imported' || diag "$(cat err)"
is "$(cat out)" '{
  "study": "my-sweep-2",
  "description": "how deep",
  "objective": { "metric": "val/loss", "goal": "minimize", "value": "last", "target": 0.1 },
  "parameters": {
    "lr": { "type": "float", "min": 1e-05, "max": 0.1, "scale": "log" },
    "lr2": { "type": "float", "min": 1e-05, "max": 0.1, "scale": "log" },
    "old": { "type": "float", "min": 0.01831563888873418, "max": 1, "scale": "log" },
    "drop": { "type": "float", "min": 0, "max": 1 },
    "layers": { "type": "int", "min": 1, "max": 6 },
    "units": { "type": "int", "min": 32, "max": 512, "step": 32 },
    "wd": { "type": "int", "min": 1, "max": 100, "scale": "log" },
    "noise": { "type": "float", "mean": 1, "sd": 0.5 },
    "steps": { "type": "float", "min": -1, "max": 3, "step": 0.25, "mean": 1, "sd": 0.5 },
    "decay": { "type": "float", "scale": "log", "mean": -7, "sd": 1.5 },
    "share": { "type": "float", "min": 0, "max": 1 },
    "rate": { "type": "float", "min": 0.5, "max": 8, "scale": "log", "step": 0.5 },
    "opt": { "type": "choice", "values": ["adam", "sgd", "1", null, true, 0.5] },
    "likely": { "type": "choice", "values": ["a", "b"], "weights": [0.9, 0.1] },
    "never": { "type": "choice", "values": [1, 2] },
    "epochs": { "type": "fixed", "value": 27 },
    "data.size": { "type": "choice", "values": [1, 2] },
    "data.set": { "type": "fixed", "value": "mnist" }
  },
  "stopping": { "rule": "asha", "min_resource": 3, "reduction_factor": 3 },
  "trial": {
    "command": [
      "python3",
      "src/train.py",
      "--fixed={{x}}",
      "{params:flags}"
    ]
  },
  "limits": {
    "trials": 30
  }
}' 'with its parameters, goal, stopping and command'
like "$(cat err)" '^hpotune: note: share: its distribution becomes a uniform one' \
    'what is not the same is noted'
like "$(cat err)" '^hpotune: note: never: weights are above 0' 'each of it'
like "$(cat err)" 'metrics: what the program gives to wandb.log is not read' \
    'and that the program must report'

# The smallest sweep, run: the study is valid.
mkdir run
cat >run/train.py <<'END'
import sys
print("hpotune: step=1 loss=%s" % sys.argv[1].split("=")[1])
END
cat >run/sweep.yaml <<'END'
program: train.py
method: grid
parameters:
  x: {values: [0.5, 0.25]}
END
quietly "$HPOTUNE" import wandb run/sweep.yaml -o run/study.json
is "$(cat out err)" 'hpotune: note: objective: the sweep has no metric: loss, minimized
hpotune: note: metrics: what the program gives to wandb.log is not read: print it (hpotune: step=1 loss=0.5), use hpotune.report, or let trial.reads read what its library writes
hpotune: note: limits.trials: the sweep has no run_cap: 2, all of its grid' 'the rest is chosen, and noted'
quietly "$HPOTUNE" start -q run/study.json
is "$(sql run/train.db 'SELECT count(*), min(objective) FROM trials')" \
    '2|0.25' 'it runs'
quietly "$HPOTUNE" import wandb run/sweep.yaml -o run/study.json
is "$?:$(cat err)" '1:hpotune: run/study.json: File exists' \
    'no file is overwritten'

cat >names.yaml <<'END'
program: train.py
method: random
metric: { name: "val loss", goal: minimize }
parameters: { trial: { values: [1, 2] }, "a b": { min: 0, max: 1.5 } }
END
quietly "$HPOTUNE" import wandb names.yaml -o names.json
is "$(sed -n '/metric"\|type"/p' names.json)" \
    '  "objective": { "metric": "val_loss", "goal": "minimize", "value": "last" },
    "trial_": { "type": "choice", "values": [1, 2] },
    "a_b": { "type": "float", "min": 0, "max": 1.5 }' \
    'names that are none here get another one'
like "$(cat err)" 'parameters.trial: its name is trial_ here; the program gets it as trial' \
    'of which a note tells'
like "$(tr -d ' \n' <names.json)" '"train.py","--trial={trial_}","--ab={a_b}"' \
    'and the program gets them by their own'

# What the program calls a parameter, in each form of the agent; keys that are none.
cat >known.yaml <<'END'
program: pkg.train
method: grid
WANDB_DIR: out
metric: { name: loss, gaol: minimize }
parameters:
  output_dir: { values: [runs/a, runs/b], type: str }
  attempt: { values: [true, false] }
  "{x}": { min: 1, max: 3 }
  lr: { value: 0.1 }
END
arguments() { # command args
	sed "s/^method.*/&\ncommand: [\"\${program}\", \"$1\"]/" known.yaml >form.yaml
	quietly "$HPOTUNE" import wandb form.yaml
	is "$(sed -n '/"pkg.train",$/,/]/p' out | tr -d ' \n' | sed 's/^"pkg.train",//; s/].*//')" \
	    "$2" "$1 has the names that the program knows" || diag "$(cat err)"
}
# shellcheck disable=SC2016
{
	arguments '${args}' '"{params:python:attempt_,lr}","--output_dir={output_dir_}","--{{x}}={p_x_}"'
	arguments '${args_no_equals}' '"{params:python-words:attempt_,lr}","--output_dir","{output_dir_}","--{{x}}","{p_x_}"'
	arguments '${args_no_hyphens}' '"{params:hydra:attempt_,lr}","output_dir={output_dir_}","{{x}}={p_x_}"'
	arguments '${args_append_hydra}' '"{params:hydra-append:attempt_,lr}","+output_dir={output_dir_}","+{{x}}={p_x_}"'
	arguments '${args_json_file}' '"{params_file}"'
}
like "$(cat err)" 'output_dir: its name is output_dir_ here, also in what the program gets' \
    'a file has those of the study'
quietly "$HPOTUNE" import wandb known.yaml
is "$(sed -n 's/^hpotune: note: \(.*\): it is left out: unknown key.*/\1/p' err | tr '\n' ' ')" \
    'WANDB_DIR metric.gaol output_dir_.type ' 'keys that W&B ignores, too, are noted'
like "$(cat err)" 'no run_cap: 12, all of its grid' 'a grid is run to its end'
like "$(cat out)" '"study": "train"' 'a module names the study'

# Python's words where the agent writes them, and lists as texts.
cat >words.yaml <<'END'
program: train.py
method: grid
parameters:
  bn: { values: [true, false] }
  pre: { value: null }
  x: { value: 1.5 }
  sizes: { values: [[64, 64], [128]] }
  aug: { value: { "flip": true } }
END
quietly "$HPOTUNE" import wandb words.yaml -o words.json
is "$?:$(sed -n '/"sizes"\|"aug"\|params/p' words.json)" '0:    "sizes": { "type": "choice", "values": [[64, 64], [128]] },
    "aug": { "type": "fixed", "value": {"flip": true} }
      "{params:python}"' 'words of Python, and lists' || diag "$(cat err)"
like "$(cat err)" 'note: trial.command: .params:python. writes True, False, None, 1.0 and lists as the agent does' \
    'are noted'
cat >train.py <<'END'
import sys
print(sys.argv[1:])
print("hpotune: loss=1")
END
quietly "$HPOTUNE" start -q words.json
like "$("$HPOTUNE" logs words.json 1 | head -1)" \
    "^\['--bn=(True|False)', '--pre=None', '--x=1.5', '--sizes=\[(64, 64|128)\]', \"--aug=.'flip': True.\"\]$" \
    'and given to the program' || diag "$(cat err)"
sed 's/^method.*/&\ncommand: ["${program}", "${args_no_hyphens}"]/' words.yaml >hydra.yaml
quietly "$HPOTUNE" import wandb hydra.yaml
like "$(cat err)" '.params:hydra. writes true, false, null, lists and texts so that Hydra reads' \
    'of another form a note tells the difference'

cat >twice.yaml <<'END'
program: train.py
method: random
metric: { name: loss, goal: minimize }
parameters:
  a: { values: [1, 2, 1.0, true], probabilities: [0.5, 0.1, 0.1, 0.3] }
END
ok 'a value that is there twice' quietly "$HPOTUNE" import wandb twice.yaml -o twice.json
like "$(cat twice.json)" \
    '"values": \[1, 2, true\], "weights": \[0.5, 0.1, 0.3\]' 'is there once'
like "$(cat err)" 'note: a: a value that is there twice is one choice' 'which is said'

wrong() { # text error what
	printf '%s\n' "$1" >wrong.yaml
	quietly "$HPOTUNE" import wandb wrong.yaml
	is "$?:$(cat err)" "2:hpotune: $2" "$3"
}
wrong 'method: bayes' \
    'wrong.yaml:1:1: the key "parameters" is missing' 'a sweep without parameters'
wrong 'method: bayes
parameters:
  lr: { min: 1, max: 0 }' \
    'wrong.yaml:3:7: parameters.lr: min must be less than max: 1, 0' \
    'an error has its line and column'
wrong 'method: bayes
parameters:
  lr: { distribution: log_unifrom, min: 1, max: 2 }' \
    'wrong.yaml:3:23: parameters.lr.distribution: expected constant, categorical, categorical_w_probabilities, int_uniform, uniform, q_uniform, log_uniform, q_log_uniform, inv_log_uniform, log_uniform_values, q_log_uniform_values, inv_log_uniform_values, normal, q_normal, log_normal, q_log_normal, beta or q_beta; did you mean "log_uniform"?' \
    'a distribution that is not there'
wrong 'method: bayes
  parameters: x' \
    'wrong.yaml:2:13: mapping values are not allowed in this context' \
    'what is no YAML'
wrong 'method: bayes
method: grid
parameters: {x: {value: 1}}' \
    'wrong.yaml:2:1: method: this key is given twice' 'a key that is there twice'
wrong '' 'wrong.yaml: it is empty' 'an empty file'
cat >numbers.yaml <<-END
	method: grid
	parameters:
	  x: { values: [010, -0x1F, 0b101, 1_000, 12:30:00, 1:5, 08, 1:75, 0, -7,
	       1__0, _1, 0b2, 1.5, "010"] }
END
like "$("$HPOTUNE" import wandb numbers.yaml 2>err)" \
    '"values": \[8, -31, 5, 1000, 45000, 65, "08", "1:75", 0, -7, 10, "_1", "0b2", 1\.5, "010"\]' \
    'whole numbers as PyYAML reads them'
wrong 'a: &a [*a]' 'wrong.yaml:1:4: it is nested too deeply, or too long' \
    'an alias to itself'
quietly "$HPOTUNE" import wandb missing.yaml
is "$?:$(cat err)" '1:hpotune: missing.yaml: No such file or directory' \
    'a file that is not there'
quietly "$HPOTUNE" import wadnb sweep.yaml
is "$?:$(cat err)" '2:hpotune: import: wadnb: did you mean wandb?' 'a tool'
quietly "$HPOTUNE" import wandb sweep.yaml --region eu-west-1
is "$?:$(cat err)" '2:hpotune: import: --region belongs to sagemaker' \
    'an option of another tool'
done_testing
