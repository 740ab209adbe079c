"""Runs that Trackio has written: what its own reader says of them, and what hpotune
import makes of the file, value by value.

import_trackio.py HPOTUNE COUNT SEED: prints a line for each difference and the number
of runs that were compared.
import_trackio.py --write DB.sql: dump the database of a few runs.
import_trackio.py HPOTUNE --read DB.sql: the same for that file, without Trackio."""
import contextlib
import json
import math
import os
import random
import sqlite3
import subprocess
import sys
import tempfile


def write(folder, count, seed):
    os.environ["TRACKIO_DIR"] = folder
    import trackio
    from trackio.sqlite_storage import SQLiteStorage
    rng = random.Random(seed)
    for i in range(count):
        config = {"lr": 10 ** rng.uniform(-5, 0), "n": rng.randint(1, 9),
                  "opt": {"name": rng.choice(["adam", "a b", "1e-5"]),
                          "amsgrad": rng.choice([True, False, None])},
                  "units": rng.choice([[64, 64], [128]])}
        trackio.init(project="p", name="run-%d" % i, config=config, embed=False)
        for step in range(rng.randint(1, 4)):
            trackio.log({"acc": rng.random()})
            trackio.log({"val/loss": rng.choice(
                [rng.random(), rng.random() * 1e-9, 3, math.nan, -math.inf])})
        trackio.finish()
    theirs = []
    for i in range(count):
        config = SQLiteStorage.get_run_config("p", "run-%d" % i)
        logs = [r for r in SQLiteStorage.get_logs("p", "run-%d" % i)
                if "val/loss" in r]
        last = max(logs, key=lambda r: r["step"])
        theirs.append([config, last["val/loss"], last["step"]])
    return os.path.join(folder, "p.db"), theirs


def read(path):
    """The same from the tables: what the package is not needed for."""
    db = sqlite3.connect(path)
    theirs = []
    for run, config in db.execute("SELECT run_id, config FROM configs ORDER BY id"):
        logs = [(step, json.loads(m)) for step, m in db.execute(
            "SELECT step, metrics FROM metrics WHERE run_id = ?", (run,))]
        step, last = max(((s, m["val/loss"]) for s, m in logs if "val/loss" in m))
        theirs.append([json.loads(config), last, step])
    db.close()
    return theirs


def flat(config, above=""):
    for k, v in config.items():
        if k.startswith("_"):
            continue
        if isinstance(v, dict):
            yield from flat(v, above + k + ".")
        else:
            yield above + k, v


def compare(hpotune, path, theirs, folder):
    study = os.path.join(folder, "study.json")
    done = subprocess.run([hpotune, "import", "trackio", path, "--metric", "val/loss",
                           "--goal", "minimize", "-o", study],
                          capture_output=True, text=True)
    if done.returncode != 0:
        print("refused: " + done.stderr.strip())
        return
    with open(os.path.join(folder, "study-trials.json")) as f:
        ours = json.load(f)["trials"]
    if len(ours) != len(theirs):
        print("%d trials of %d runs" % (len(ours), len(theirs)))
    for t, (config, value, step) in zip(ours, theirs):
        value = float(value)  # Trackio writes NaN and infinity as texts
        want = {"params": dict(flat(config)), "step": step,
                "state": "completed" if math.isfinite(value) else "failed"}
        if math.isfinite(value):
            want["objective"] = value
        got = {k: v for k, v in t.items() if k != "trial"}
        if got != want:
            print("%s is %s" % (want, got))
    print("compared %d" % len(theirs))


def main():
    with tempfile.TemporaryDirectory() as folder:
        if sys.argv[1] == "--write":
            path, _ = write(folder, 6, 1)
            db = sqlite3.connect(path)
            with open(sys.argv[2], "w") as f:
                f.write("\n".join(db.iterdump()) + "\n")
            return
        if sys.argv[2] == "--read":
            path = os.path.join(folder, "p.db")
            with open(sys.argv[3]) as f:
                sqlite3.connect(path).executescript(f.read())
            compare(sys.argv[1], path, read(path), folder)
            return
        with contextlib.redirect_stdout(sys.stderr):
            path, theirs = write(folder, int(sys.argv[2]), int(sys.argv[3]))
        compare(sys.argv[1], path, theirs, folder)


main()
