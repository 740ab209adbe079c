"""Random tuning jobs of SageMaker's SDK: the request that its HyperparameterTuner makes,
and what hpotune import makes of it, value by value, judged by its ParameterRange.

import_sagemaker.py HPOTUNE COUNT [SEED]: prints a line for each difference and the
number of jobs that were compared."""
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import types

from sagemaker.core.parameter import (CategoricalParameter, ContinuousParameter,
                                      IntegerParameter)
from sagemaker.core.shapes import OutputDataConfig, StoppingCondition
from sagemaker.core.utils.utils import serialize
from sagemaker.train.tuner import HyperparameterTuner

hpotune, count = sys.argv[1], int(sys.argv[2])
rng = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
NAMES = ["lr", "LR", "num-layers", "num_layers", "opt.name", "a/b", "trial", "seed", "_x"]
VALUES = ["adam", "a b", "1e-5", "0.10", "true", 'say "so"', "", "é", 1, 32, 0.5, True]
IMAGE = "123456789012.dkr.ecr.us-east-1.amazonaws.com/own:1"


def parameter():
    kind = rng.randint(0, 2)
    if kind == 2:
        return CategoricalParameter(rng.sample(VALUES, rng.randint(1, 5)))
    scaling = rng.choice(["Auto", "Linear", "Logarithmic"] +
                         ["ReverseLogarithmic"] * (kind == 0))
    if kind == 1:
        low = rng.randint(1, 9)
        return IntegerParameter(low, low + rng.randint(1, 5000), scaling_type=scaling)
    if scaling == "ReverseLogarithmic":
        return ContinuousParameter(0, round(rng.uniform(0.1, 0.99), 3),
                                   scaling_type=scaling)
    low = 10.0 ** -rng.randint(1, 8)
    return ContinuousParameter(low, rng.choice([0.5, 1, 1e3]), scaling_type=scaling)


def request():
    """The SDK's request, and its ranges."""
    names = rng.sample(NAMES, rng.randint(2, 7))
    ranges = {n: parameter() for n in names[1:]}
    trainer = types.SimpleNamespace(
        hyperparameters={names[0]: rng.choice(VALUES)}, training_image=IMAGE,
        training_input_mode="File", role="arn:aws:iam::123456789012:role/Trials",
        compute=types.SimpleNamespace(
            instance_type=rng.choice(["ml.m5.large", "ml.g7.2xlarge"]),
            instance_count=rng.randint(1, 2), volume_size_in_gb=30,
            keep_alive_period_in_seconds=None, enable_managed_spot_training=False),
        stopping_condition=StoppingCondition(max_runtime_in_seconds=3600),
        output_data_config=OutputDataConfig(s3_output_path="s3://bucket/out"),
        environment=None, networking=None, checkpoint_config=None, tags=None,
        source_code=None, input_data_config=None, sagemaker_session=None)
    tuner = HyperparameterTuner(
        model_trainer=trainer, objective_metric_name="val:loss",
        hyperparameter_ranges=ranges,
        metric_definitions=[{"Name": "val:loss", "Regex": "loss=([0-9.]+)"}],
        objective_type=rng.choice(["Minimize", "Maximize"]),
        strategy=rng.choice(["Bayesian", "Random"]), max_jobs=rng.randint(1, 99),
        max_parallel_jobs=1, early_stopping_type=rng.choice(["Off", "Auto"]))
    tuner._prepare_static_hyperparameters_for_tuning()
    tuner._prepare_auto_parameters_for_tuning()
    job = {"HyperParameterTuningJobConfig": serialize(tuner._build_tuning_job_config()),
           "TrainingJobDefinition": serialize(tuner._build_training_job_definition(None))}
    return job, ranges


def text(v):
    """The hyperparameter that a training job gets for a value of ours."""
    if isinstance(v, float) and v == int(v):
        return "%d" % v
    return v if isinstance(v, str) else json.dumps(v)


def same(a, b, name, notes):
    """The same text, or a number whose other form a note says: 0.10 is 0.1 here."""
    try:
        return a == b or float(a) == float(b) and (
            "parameters.%s: %s is a number here, and the program is given %s\n" %
            (name, b, a) in notes)
    except ValueError:
        return False


def log_like(low, high):
    return low > 0 and high / low >= 1000


def differs(theirs, own, p, notes):
    """Why a parameter is another one here, or None."""
    if isinstance(own, CategoricalParameter):
        values = [text(v) for v in p.get("values", [p.get("value")])]
        if len(values) != len(theirs["Values"]) or not all(
                same(a, b, theirs["Name"], notes)
                for a, b in zip(values, theirs["Values"])):
            return "values"
        return None if all(map(own.is_valid, theirs["Values"])) else "is_valid"
    low, high = float(theirs["MinValue"]), float(theirs["MaxValue"])
    if (p["min"], p["max"]) != (low, high):
        return "bounds"
    if p["type"] != ("int" if isinstance(own, IntegerParameter) else "float"):
        return "type"
    want = {"Linear": None, "Logarithmic": "log", "ReverseLogarithmic": "reverse-log",
            "Auto": "log" if log_like(low, high) else None}[theirs["ScalingType"]]
    if p.get("scale") not in (want, want or "linear"):
        return "scale"
    for v in (p["min"], p["max"], p["min"] + (p["max"] - p["min"]) // 2):
        if not own.is_valid(type(own).cast_to_type(text(v))):
            return "is_valid %r" % v
    return None


def compare(folder):
    job, ranges = request()
    path = os.path.join(folder, "job.json")
    with open(path, "w") as f:
        json.dump(job, f)
    done = subprocess.run([hpotune, "import", "sagemaker", path], capture_output=True,
                          text=True)
    if done.returncode != 0:
        return ["refused: " + done.stderr.strip()]
    ours, notes, wrong = json.loads(done.stdout), done.stderr, []
    config = job["HyperParameterTuningJobConfig"]
    got = ours["parameters"]
    theirs = {r["Name"]: r for kind in config["ParameterRanges"].values() for r in kind}
    static = job["TrainingJobDefinition"]["StaticHyperParameters"]
    if len(got) != len(theirs) + len(static):
        return ["%s: not as many parameters: %s" % (list(theirs), list(got))]
    for name in list(theirs) + list(static):
        p = got.get(name)
        if p is None:
            if name not in notes:
                wrong.append("%s has another name without a note" % name)
            continue
        if name in static:
            if p["type"] != "fixed" or \
                    not same(text(p["value"]), static[name], name, notes):
                wrong.append("%s: %r is %s" % (name, static[name], p))
            continue
        why = differs(theirs[name], ranges[name], p, notes)
        if why:
            wrong.append("%s: %s: %s is %s" % (name, why, theirs[name], p))
    o = config["HyperParameterTuningJobObjective"]
    if (ours["objective"]["metric"], ours["objective"]["goal"]) != (
            "val:loss", o["Type"].lower()):
        wrong.append("objective %s" % ours["objective"])
    if ours["limits"]["trials"] != config["ResourceLimits"]["MaxNumberOfTrainingJobs"]:
        wrong.append("limits %s" % ours["limits"])
    compute = job["TrainingJobDefinition"]["ResourceConfig"]
    if (ours["backend"]["instance_type"], ours["backend"].get("instance_count", 1)) != (
            compute["InstanceType"], compute["InstanceCount"]):
        wrong.append("backend %s" % ours["backend"])
    if (ours.get("stopping") == "none") != (
            config["TrainingJobEarlyStoppingType"] == "Off"):
        wrong.append("stopping %s" % ours.get("stopping"))
    return wrong


def main():
    with tempfile.TemporaryDirectory() as folder:
        for i in range(count):
            for line in compare(folder):
                print("%d: %s" % (i, line))
    print("compared %d" % count)


main()
