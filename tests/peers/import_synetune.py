"""Experiments of Syne Tune: what its own classes read from the files that they have
written, and what hpotune import makes of them, value by value.

import_synetune.py HPOTUNE COUNT SEED: prints a line for each difference and the number
of trials that were compared.
import_synetune.py HPOTUNE --read FOLDER: the same for one experiment, without Syne
Tune."""
import csv
import io
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import zipfile


def write(folder, rng):
    """An experiment as Tuner and StoreResultsCallback write it; its own reading."""
    import datetime
    import pathlib
    import types
    from syne_tune.backend.trial_status import Trial
    from syne_tune.config_space import choice, loguniform, randint, uniform
    from syne_tune.experiments import load_experiment
    from syne_tune.optimizer.baselines import ASHA
    from syne_tune.results_callback import StoreResultsCallback
    from syne_tune.util import dump_json_with_numpy
    space = {"lr": loguniform(1e-6, 1), "units": randint(1, 64), "x": uniform(-1, 1),
             "act": choice(["relu", "a,b", "1e-5"]), "flag": choice([True, False]),
             "size": choice([16, 32]), "epochs": 5}
    space = {k: space[k] for k in rng.sample(list(space), rng.randint(2, len(space)))}
    minimize = rng.random() < 0.5
    scheduler = ASHA(space, metric="val_loss", do_minimize=minimize, time_attr="epoch",
                     max_t=5, random_seed=rng.randrange(1000))
    path = pathlib.Path(folder, "e%d" % rng.randrange(10 ** 9))
    path.mkdir()
    dump_json_with_numpy(dict(scheduler.metadata(), st_tuner_creation_timestamp=0.0),
                         path / "metadata.json")
    store = StoreResultsCallback()
    store.on_tuning_start(types.SimpleNamespace(
        tuner_path=path, results_update_interval=1e9))
    for i in range(rng.randint(1, 8)):
        config = {k: v.sample() if hasattr(v, "sample") else v
                  for k, v in space.items()}
        trial = Trial(trial_id=i, config=config,
                      creation_time=datetime.datetime.now())
        last = rng.randint(1, 5)
        for epoch in range(1, last + 1):
            loss = rng.choice([rng.random(), rng.random() * 1e-9, 2])
            if epoch == last and rng.random() < 0.2:
                loss = math.nan
            stop = epoch == last and (last == 5 or rng.random() < 0.7)
            store.on_trial_result(trial, "InProgress",
                                  {"epoch": epoch, "val_loss": loss},
                                  "STOP" if stop else "CONTINUE")
    store.on_tuning_end()
    os.environ["SYNETUNE_FOLDER"] = str(folder)
    e = load_experiment(path.name, local_path=str(folder), load_tuner=False)
    return str(path), e.metadata, e.results.to_dict("records")


def read(path):
    with open(os.path.join(path, "metadata.json")) as f:
        meta = json.load(f)
    with zipfile.ZipFile(os.path.join(path, "results.csv.zip")) as z:
        text = z.read("results.csv").decode()

    def value(text):
        try:
            return json.loads(text)
        except ValueError:
            return float(text) if text == "nan" else text
    return path, meta, [{k: value(v) for k, v in row.items()}
                        for row in csv.DictReader(io.StringIO(text))]


def same(a, b):
    if isinstance(a, bool) or isinstance(b, bool):
        return str(a) == str(b)  # numpy's
    return a == b or (isinstance(a, (int, float)) and isinstance(b, (int, float))
                      and math.isclose(a, b, rel_tol=1e-15))


def compare(hpotune, path, meta, rows, folder):
    wrong = []
    study = os.path.join(folder, os.path.basename(path) + ".json")
    done = subprocess.run([hpotune, "import", "synetune", path, "-o", study],
                          capture_output=True, text=True)
    if done.returncode != 0:
        return 0, ["refused: " + done.stderr.strip()]
    with open(study) as f:
        ours = json.load(f)
    with open(study[:-5] + "-trials.json") as f:
        trials = json.load(f)["trials"]
    goal = {"min": "minimize", "max": "maximize"}[meta["metric_mode"]]
    metric = meta["metric_names"][0]
    if (ours["objective"]["metric"], ours["objective"]["goal"]) != (metric, goal):
        wrong.append("objective %s" % ours["objective"])
    for name, d in json.loads(meta["config_space"]).items():
        p, kwargs = ours["parameters"].get(name), isinstance(d, dict) and d[
            "domain_kwargs"]
        if not kwargs:
            good = p == {"type": "fixed", "value": d}
        elif "categories" in kwargs:
            good = p == {"type": "choice", "values": kwargs["categories"]}
        else:
            good = p == dict(
                type={"Float": "float", "Integer": "int"}[d["domain_cls"]],
                min=kwargs["lower"], max=kwargs["upper"],
                **({"scale": "log"} if d["sampler_cls"] == "LogUniform" else {}))
        if not good:
            wrong.append("%s: %s is %s" % (name, d, p))
    theirs = {}
    for row in rows:
        theirs[row["trial_id"]] = row
    most = max(row["epoch"] for row in rows)
    if len(theirs) != len(trials):
        wrong.append("%d trials of %d" % (len(trials), len(theirs)))
    for t, row in zip(trials, theirs.values()):
        value = row[metric] if row[metric] != "" else math.nan
        state = "failed" if math.isnan(value) else "stopped" \
            if row["st_decision"] == "STOP" and row["epoch"] < most else "completed"
        config = {k[7:]: v for k, v in row.items() if k.startswith("config_")}
        if (t["state"], t["step"], list(t["params"])) != (
                state, row["epoch"], list(config)):
            wrong.append("%s is %s" % (row, t))
        elif state != "failed" and not same(t["objective"], value):
            wrong.append("%r is %r" % (value, t["objective"]))
        for k, v in t["params"].items():
            # pandas reads a column of 1e-5 as numbers, which are texts of a choice.
            if not same(config[k], v) and str(config[k]) != v and not (
                    v == "1e-5" and config[k] == 1e-5):
                wrong.append("%s: %r is %r" % (k, config[k], v))
    return len(theirs), wrong


def main():
    count, rng = 0, random.Random(int(sys.argv[3]) if sys.argv[3].isdigit() else 0)
    with tempfile.TemporaryDirectory() as folder:
        for i in range(1 if sys.argv[2] == "--read" else int(sys.argv[2])):
            case = read(sys.argv[3]) if sys.argv[2] == "--read" else write(folder, rng)
            n, wrong = compare(sys.argv[1], *case, folder)
            count += n
            for line in wrong:
                print("%d: %s" % (i, line))
    print("compared %d" % count)


main()
