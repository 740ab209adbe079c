"""Random Experiments of Katib: what the templates become with values is the command
of the study that hpotune import makes.

import_katib.py HPOTUNE COUNT SEED [CASES]: prints a line for each difference and the
number of experiments that were compared.  Where kubeflow-katib is installed, its
models write random ones; otherwise those of CASES, which they have written.
import_katib.py --write COUNT SEED: print such a file."""
import json
import os
import random
import re
import subprocess
import sys
import tempfile

NAMES = ["lr", "LR", "num-layers", "num_layers", "opt.name", "momentum", "--lr", "seed"]
TEXTS = ["sgd", "adam", "a b", "True", "1e-5", "0.10", "{x}", "it's", "32", "é"]


def draw(count, seed):
    from kubeflow.katib import (
        ApiClient, V1beta1AlgorithmSpec, V1beta1AlgorithmSetting,
        V1beta1EarlyStoppingSetting, V1beta1EarlyStoppingSpec, V1beta1Experiment,
        V1beta1ExperimentSpec, V1beta1FeasibleSpace, V1beta1MetricStrategy,
        V1beta1ObjectiveSpec, V1beta1ParameterSpec, V1beta1TrialParameterSpec,
        V1beta1TrialTemplate)
    rng = random.Random(seed)

    def parameter(name):
        kind = rng.choice(["double", "int", "discrete", "categorical"])
        if kind == "double":
            low = round(rng.uniform(1e-4, 1), 4)
            s = V1beta1FeasibleSpace(
                min=str(low), max=str(round(low + rng.uniform(0.1, 9), 3)),
                distribution=rng.choice(
                    [None, "uniform", "logUniform", "normal", "logNormal"]))
        elif kind == "int":
            low = rng.randint(1, 9)
            s = V1beta1FeasibleSpace(min=str(low), max=str(low + rng.randint(1, 30)),
                                     step=rng.choice([None, "1", "2"]))
        elif kind == "discrete":
            s = V1beta1FeasibleSpace(list=rng.sample(
                ["1", "2", "0.10", "1e-3", "-4", "0.5"], rng.randint(1, 4)))
        else:
            s = V1beta1FeasibleSpace(list=rng.sample(TEXTS, rng.randint(1, 4)))
        return V1beta1ParameterSpec(name=name, parameter_type=kind, feasible_space=s)

    def experiment():
        names = rng.sample(NAMES, rng.randint(1, 5))
        refs = [V1beta1TrialParameterSpec(name="p%d" % i, reference=n)
                for i, n in enumerate(names)]
        words = ["--%d=${trialParameters.p%d}" % (i, i) for i in range(len(names))]
        words += ["{brace}", "${trialParameters.p0}/x/${trialParameters.p0}"]
        box = {"name": "main", "image": "docker.io/a/b", "command": ["true"] + words}
        if rng.random() < 0.5:
            box["args"] = box["command"][1:]
            box["command"] = ["true"]
        pod = {"spec": {"containers": [{"name": "side", "command": ["no"]}, box]}}
        job = {"apiVersion": "batch/v1", "kind": "Job", "spec": {"template": pod}}
        if rng.random() < 0.4:
            job = {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "spec": {
                "pytorchReplicaSpecs": {"Master": {"template": pod}}}}
        goal = rng.choice(["minimize", "maximize"])
        return V1beta1Experiment(
            api_version="kubeflow.org/v1beta1", kind="Experiment",
            metadata={"name": "random-%d" % rng.randint(1, 99)},
            spec=V1beta1ExperimentSpec(
                objective=V1beta1ObjectiveSpec(
                    type=goal, objective_metric_name="Validation-accuracy",
                    additional_metric_names=["loss"],
                    metric_strategies=rng.choice([None, [V1beta1MetricStrategy(
                        name="Validation-accuracy", value="latest")]])),
                algorithm=V1beta1AlgorithmSpec(
                    algorithm_name=rng.choice(
                        ["random", "tpe", "bayesianoptimization", "cmaes", "sobol"]),
                    algorithm_settings=[V1beta1AlgorithmSetting(
                        name="random_state", value="10")]),
                early_stopping=rng.choice([None, V1beta1EarlyStoppingSpec(
                    algorithm_name="medianstop", algorithm_settings=[
                        V1beta1EarlyStoppingSetting(name="start_step", value="6")])]),
                max_trial_count=rng.randint(1, 50),
                parallel_trial_count=rng.choice([None, 2]),
                max_failed_trial_count=rng.choice([None, 3]),
                parameters=[parameter(n) for n in names],
                trial_template=V1beta1TrialTemplate(
                    primary_container_name="main", trial_parameters=refs,
                    trial_spec=job)))

    for _ in range(count):
        yield ApiClient().sanitize_for_serialization(experiment())


def text_of(p, rng):
    """A value as a suggestion of Katib has it: a text."""
    s = p["feasibleSpace"]
    if "list" in s:
        return rng.choice(s["list"])
    if p["parameterType"] == "int":
        return str(rng.randrange(int(s["min"]), int(s["max"]) + 1,
                                 int(s.get("step", 1))))
    return repr(round(rng.uniform(float(s["min"]), float(s["max"])), 6))


def same(a, b):
    """The same word, in which numbers may be written in another way."""
    number = r"[-+]?[0-9.]+(?:e[-+]?[0-9]+)?"
    return a == b or (re.sub(number, "0", a) == re.sub(number, "0", b) and all(
        float(x) == float(y)
        for x, y in zip(re.findall(number, a), re.findall(number, b))))


def compare(hpotune, root, folder, rng):
    path = os.path.join(folder, "experiment.yaml")
    spec = root["spec"]
    with open(path, "w") as f:
        json.dump(root, f)  # JSON is YAML
    done = subprocess.run([hpotune, "import", "katib", path],
                          capture_output=True, text=True)
    if done.returncode != 0:
        return ["refused: " + done.stderr.strip()]
    ours, notes, wrong = json.loads(done.stdout), done.stderr, []
    if len(ours["parameters"]) != len(spec["parameters"]):
        return ["not as many parameters"]
    texts, fixed = {}, {}
    for p, (name, mine) in zip(spec["parameters"], ours["parameters"].items()):
        if p["name"] != name and "its name is %s here" % name not in notes:
            wrong.append("%s is %s without a note" % (p["name"], name))
        s = p["feasibleSpace"]
        if "list" in s:
            if [str(v) for v in mine["values"]] != s["list"]:
                wrong.append("%s: %s" % (s["list"], mine))
        elif mine["type"] == "fixed":
            if int(s["min"]) + int(s["step"]) <= int(s["max"]):
                wrong.append("%s: %s" % (s, mine))
        elif (mine["min"], mine["max"]) != (float(s["min"]), float(s["max"])):
            wrong.append("%s: %s" % (s, mine))
        texts[p["name"]] = text = text_of(p, rng)
        found = [v for v in mine.get("values", []) if str(v) == text]
        fixed[name] = {"type": "fixed", "value": found[0] if found else float(text)
                       if p["parameterType"] == "double" else int(text)}
    objective, o = spec["objective"], ours["objective"]
    want = "last" if "metricStrategies" in objective else "best"
    if (o["goal"], o["value"]) != (objective["type"], want):
        wrong.append("objective %s" % o)
    stopping = {"rule": "katib", "min_trials_required": 3, "start_step": 6} \
        if "earlyStopping" in spec else "none"
    if ours["stopping"] != stopping:
        wrong.append("stopping %s" % ours["stopping"])
    limits = {"trials": spec["maxTrialCount"],
              "parallel": spec.get("parallelTrialCount", 3)}
    if "maxFailedTrialCount" in spec:
        limits["failed_trials"] = 4
    if ours["limits"] != limits:
        wrong.append("limits %s" % ours["limits"])
    # A study without a parameter to search is refused.
    ours["parameters"] = dict(fixed, zzz={"type": "float", "min": 0, "max": 1})
    del ours["stopping"], ours["strategy"]
    path = os.path.join(folder, "study.json")
    with open(path, "w") as f:
        json.dump(ours, f)
    done = subprocess.run([hpotune, "check", "--json", path], capture_output=True,
                          text=True)
    if done.returncode != 0:
        return wrong + ["check refuses: " + done.stderr.strip()]
    template = spec["trialTemplate"]["trialSpec"]["spec"]
    template = template.get("template") or \
        template["pytorchReplicaSpecs"]["Master"]["template"]
    box = template["spec"]["containers"][1]
    refs = {r["name"]: r["reference"]
            for r in spec["trialTemplate"]["trialParameters"]}
    argv = [re.sub(r"\$\{trialParameters\.(\w+)\}",
                   lambda m: texts[refs[m.group(1)]], w)
            for w in box["command"] + box.get("args", [])]
    got = json.loads(done.stdout)["command"]
    if len(got) != len(argv) or not all(map(same, got, argv)):
        wrong.append("command %s is %s" % (argv, got))
    return wrong


def main():
    if sys.argv[1] == "--write":
        print(json.dumps(list(draw(int(sys.argv[2]), int(sys.argv[3])))))
        return
    rng = random.Random(int(sys.argv[3]))
    try:
        cases = list(draw(int(sys.argv[2]), int(sys.argv[3])))
    except ImportError:
        with open(sys.argv[4]) as f:
            cases = json.load(f)
    with tempfile.TemporaryDirectory() as folder:
        for i, case in enumerate(cases):
            for line in compare(sys.argv[1], case, folder, rng):
                print("%d: %s" % (i, line))
    print("compared %d" % len(cases))


main()
