#!/bin/sh
# Definitions of other tools in which one value is another one, or missing: each import
# ends by itself, with a study or with an error.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need python3

cat >mutants.py <<'END'
"""Imports of definitions in which one value is another one, or missing.

python3 mutants.py HPOTUNE KIND FILE: prints a line for each import that did not end by
itself, and the number of them all."""
import json
import os
import subprocess
import sys

hpotune, kind, path = sys.argv[1:]
with open(path) as f:
    whole = json.load(f)
count = 0


def places(v):
    for k in (v if type(v) is dict else range(len(v)) if type(v) is list else ()):
        yield v, k
        yield from places(v[k])


def run(what):
    global count
    count += 1
    with open("mutant.json", "w") as f:
        json.dump(whole, f)
    done = subprocess.run([hpotune, "import", kind, "mutant.json"],
                          capture_output=True, timeout=300)
    if done.returncode not in (0, 1, 2) or not (done.stdout or done.stderr):
        print(what, done.returncode, done.stderr.decode()[-300:])


for holder, key in list(places(whole)):
    kept = holder[key]
    for other in None, 7, "x", [], {}:
        holder[key] = other
        run("%s: %s" % (key, json.dumps(other)))
    if type(holder) is dict:
        items = list(holder.items())
        del holder[key]
        run("%s is missing" % key)
        holder.clear()
        holder.update(items)
    holder[key] = kept
print("imported", count)
END
cat >katib.json <<'END'
{"apiVersion": "kubeflow.org/v1beta1", "kind": "Experiment", "metadata": {"name": "m"},
  "spec": {"objective": {"type": "maximize", "goal": 0.9, "objectiveMetricName": "acc",
  "additionalMetricNames": ["loss"], "metricStrategies": [{"name": "acc", "value":
  "latest"}]}, "algorithm": {"algorithmName": "hyperband", "algorithmSettings": [{"name":
  "eta", "value": "3"}]}, "earlyStopping": {"algorithmName": "medianstop",
  "algorithmSettings": [{"name": "start_step", "value": "5"}]}, "metricsCollectorSpec":
  {"collector": {"kind": "StdOut"}, "source": {"fileSystemPath": {"path": "/a"}}},
  "maxTrialCount": 5, "parallelTrialCount": 2, "maxFailedTrialCount": 1, "parameters":
  [{"name": "lr", "parameterType": "double", "feasibleSpace": {"min": "0.1", "max": "1",
  "step": "0.1"}}, {"name": "n", "parameterType": "int", "feasibleSpace": {"min": "1",
  "max": "9", "distribution": "uniform"}}, {"name": "opt", "parameterType": "categorical",
  "feasibleSpace": {"list": ["a", "b"]}}], "trialTemplate": {"primaryContainerName": "c",
  "trialParameters": [{"name": "rate", "reference": "lr"}, {"name": "me", "reference":
  "${trialSpec.Name}"}], "trialSpec": {"kind": "Job", "spec": {"template": {"spec":
  {"containers": [{"name": "c", "image": "i", "command": ["t",
  "--lr=${trialParameters.rate}"], "args": ["x"], "env": [{"name": "A", "value":
  "${trialParameters.me}"}], "resources": {"limits": {"cpu": "2", "nvidia.com/gpu":
  1}}}]}}}}}}}
END
cat >nni.json <<'END'
{"experimentName": "m", "trialCommand": "t", "trialConcurrency": 2, "maxTrialNumber": 5,
  "maxExperimentDuration": "1h", "trialGpuNumber": 1, "trialCodeDirectory": "d", "tuner":
  {"name": "TPE", "classArgs": {"optimize_mode": "maximize"}}, "assessor": {"name":
  "Curvefitting", "classArgs": {"epoch_num": 20}}, "trainingService": {"platform":
  "remote"}, "searchSpace": {"lr": {"_type": "loguniform", "_value": [0.1, 1]}, "q":
  {"_type": "qlognormal", "_value": [1, 2, 3]}, "n": {"_type": "randint", "_value": [1,
  5]}, "q2": {"_type": "quniform", "_value": [0.5, 0.9, 2]}, "l": {"_type": "choice",
  "_value": [{"_name": "a", "s": {"_type": "choice", "_value": [1, 2]}}, {"_name": "b",
  "s": {"_type": "choice", "_value": [1, 2]}}]}}}
END
cat >wandb.json <<'END'
{"program": "t.py", "method": "grid", "metric": {"name": "loss", "goal": "minimize",
  "target": 0.1}, "run_cap": 5, "name": "m", "description": "d", "early_terminate":
  {"type": "hyperband", "max_iter": 27, "s": 2, "eta": 3}, "command": ["${env}",
  "${interpreter}", "${program}", "${args_no_hyphens}"], "parameters": {"output_dir":
  {"value": "x"}, "lr": {"distribution": "q_log_uniform_values", "min": 1, "max": 64, "q":
  2}, "c": {"values": [1, 2], "probabilities": [0.5, 0.5]}, "n": {"distribution":
  "normal", "mu": 0, "sigma": 1}, "o": {"parameters": {"x": {"min": 1, "max": 3}}}}}
END
for kind in katib nni wandb; do
	ok "$kind: they are imported" quietly python3 mutants.py "$HPOTUNE" $kind $kind.json
	is "$(sed 's/[0-9][0-9]*$/N/' out)" 'imported N' "$kind: each ended by itself"
done
done_testing
