#!/usr/bin/env python3
"""Search where trials last differently: regret over the time of all trials.

    cost-aware.py PROGRAM [--lcbench FOLDER] [--noise] [--seeds N] [--trials N]
        [--tools a,b,...] [--save FILE]

PROGRAM is bench/search-loop.  Problems are known functions with durations made
from one or two parameters, and tasks of the LCBench surrogate (onnxruntime)
with its own; --noise: functions with durations that no parameter determines.  A
run ends after the time of N random trials.  A tool is a strategy of hpotune with
options, or optuna:TPESampler; NAME@0.5: it is told half of the share of the time
that is used.  Prints the median regret after a quarter, half and all of the
time, and how often in 100 pairs of runs a tool is better than the first one.
"""

import argparse
import json
import math
import random
import statistics

from searchloop import Program, Runs, strategy_of

TASKS = ["3945", "7593", "34539", "126025", "167149", "146212"]
MARKS = (0.25, 0.5, 1.0)
LCBENCH = {
    "batch_size": {"type": "int", "min": 16, "max": 512, "scale": "log"},
    "learning_rate": {"type": "float", "min": 1e-4, "max": 1e-1,
                      "scale": "log"},
    "momentum": {"type": "float", "min": 0.1, "max": 0.99},
    "weight_decay": {"type": "float", "min": 1e-5, "max": 1e-1},
    "num_layers": {"type": "int", "min": 1, "max": 5},
    "max_units": {"type": "int", "min": 64, "max": 1024, "scale": "log"},
    "max_dropout": {"type": "float", "min": 0.0, "max": 1.0},
}
# A function and the decimal logarithm of the duration at u in the unit cube.
MADE = [
    ("branin, one axis", "branin", lambda u: 2 * u[0]),
    ("hartmann3, bump", "hartmann3",
     lambda u: 1.4771 * (1 - abs(2 * u[1] - 1))),
    ("hartmann6, two axes", "hartmann6", lambda u: u[0] + u[3]),
    ("hartmann6, dear best", "hartmann6",
     lambda u: 2 - abs(u[0] - 0.2) - abs(u[4] - 0.31)),
    ("ackley5, dear best", "ackley5", lambda u: 1 - 2 * abs(u[0] - 0.5)),
    ("rosenbrock4, one axis", "rosenbrock4", lambda u: 1.699 * u[2]),
    ("mixed", "mixed", lambda u: 1.699 * (u[0] + u[1]) / 2),
    ("levy4, cheap best", "levy4",
     lambda u: 2 * min(1, 2 * abs(u[0] - 0.55))),
]
NOISY = ["branin", "hartmann6", "ackley5", "rosenbrock4", "levy4", "mixed"]


def unit(space, params):
    """Each parameter as a share of its range."""
    out = []
    for name, p in space.items():
        if p["type"] == "choice":
            out.append(p["values"].index(params[name]) /
                       max(1, len(p["values"]) - 1))
            continue
        low, high, x = p["min"], p["max"], params[name]
        if p.get("scale") == "log":
            low, high, x = (math.log(v) for v in (low, high, x))
        out.append((x - low) / (high - low))
    return out


class Made:
    def __init__(self, program, name, function, log10):
        self.name, self.program, self.function = name, program, function
        self.space = json.loads(program.say(space=function))
        self.log10 = log10

    def run(self, params):
        value = self.program.say(function=self.function, params=params)
        return float(value), 10 ** self.log10(unit(self.space, params))


class Surrogate:
    def __init__(self, folder, task, model):
        import numpy
        self.numpy, self.model, self.space = numpy, model, LCBENCH
        self.name = "lcbench " + task
        with open(folder + "/encoding.json", encoding="utf-8") as f:
            self.code = json.load(f)["OpenML_task_id"][task]

    def run(self, params):
        np = self.numpy
        out = self.model.run(None, {
            "x_cat": np.array([[self.code]], dtype=np.int32),
            "x_cont": np.array([[52] + [params[k] for k in LCBENCH]],
                               dtype=np.float32)})[0][0]
        return -float(out[1]), max(1e-3, float(out[0]))


def problems_of(args, program):
    if args.noise:
        rng = random.Random(5)
        return [Made(program, "noise, " + n, n,
                     lambda u: 0.2171 * rng.gauss(0, 1)) for n in NOISY]
    out = [Made(program, *row) for row in MADE]
    if args.lcbench:
        import onnxruntime
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        model = onnxruntime.InferenceSession(
            args.lcbench + "/model.onnx", options,
            providers=["CPUExecutionProvider"])
        out += [Surrogate(args.lcbench, t, model) for t in TASKS]
    return out


def ours(program, tool, problem, seed, enough):
    """Runs a strategy while enough(time, trials) is false."""
    name, _, cooled = tool.partition("@")
    program.say(open=problem.space, strategy=strategy_of(name), rules=[],
                seed=seed, maximize=False, steps=0)
    used, out = 0, []
    while enough(used, len(out)) < 1:
        asked = json.loads(program.say(ask=True))
        value, seconds = problem.run(asked["params"])
        used += seconds
        program.say(trial=asked["trial"], end=value, stopped=False,
                    seconds=seconds, time_used=float(cooled or 1) *
                    min(1, enough(used, 0)))
        out.append((used, value, seconds))
    return out


def optuna_run(problem, seed, enough):
    import optuna
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    used, out = 0, []
    while enough(used, len(out)) < 1:
        trial, params = study.ask(), {}
        for name, p in problem.space.items():
            if p["type"] == "choice":
                params[name] = trial.suggest_categorical(name, p["values"])
                continue
            suggest = (trial.suggest_int if p["type"] == "int"
                       else trial.suggest_float)
            more = {"step": p["step"]} if "step" in p else {}
            params[name] = suggest(name, p["min"], p["max"],
                                   log=p.get("scale") == "log", **more)
        value, seconds = problem.run(params)
        used += seconds
        study.tell(trial, value)
        out.append((used, value, seconds))
    return out


def better(ours_at, theirs_at):
    return 100 * statistics.mean((a < b) + (a == b) / 2
                                 for a in ours_at for b in theirs_at)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("program")
    ap.add_argument("--lcbench")
    ap.add_argument("--noise", action="store_true")
    ap.add_argument("--seeds", type=int, default=6)
    ap.add_argument("--trials", type=int, default=40)
    ap.add_argument("--tools", default="gp,gp+cost_aware=true,"
                    "optuna:TPESampler")
    ap.add_argument("--save")
    args = ap.parse_args()
    program, runs = Program(args.program), Runs(args.save)
    tools = args.tools.split(",")
    pairs = {t: {m: [] for m in (*MARKS, "25 trials")} for t in tools}
    print("| problem | " + " | ".join(tools) + " |")
    print("|---" * (len(tools) + 1) + "|")
    for problem in problems_of(args, program):
        known = ours(program, "random", problem, 999, lambda t, n: n / 400)
        middle = statistics.median(v for _, v, _ in known)
        seconds = [s for _, _, s in known]
        budget = args.trials * statistics.mean(seconds)

        def enough(used, n):
            return max(used / budget, n / (4 * args.trials))

        def make(tool, seed):
            return (optuna_run(problem, seed, enough)
                    if tool.startswith("optuna:") else
                    ours(program, tool, problem, seed, enough))

        found = {t: [runs.get((problem.name, t, s, args.trials),
                              lambda t=t, s=s: make(t, s))
                     for s in range(1, args.seeds + 1)] for t in tools}
        best = min(v for rs in found.values() for r in rs for _, v, _ in r)
        row = {}
        for tool in tools:
            at = {m: [min([v for u, v, _ in r if u <= m * budget] or
                          [max(v for _, v, _ in r)]) for r in found[tool]]
                  for m in MARKS}
            at["25 trials"] = [min(v for _, v, _ in r[:25])
                               for r in found[tool]]
            first = at if tool == tools[0] else first
            row[tool] = " ".join("%.4f" % (
                (statistics.median(at[m]) - best) / (middle - best))
                for m in MARKS)
            for mark, values in at.items():
                pairs[tool][mark].append(better(values, first[mark]))
        print("| %s, %.0f | " % (problem.name, max(seconds) / min(seconds)) +
              " | ".join(row[t] for t in tools) + " |", flush=True)
    for mark in pairs[tools[0]]:
        print("| better in 100 pairs, %s | " % mark + " | ".join(
            "%.1f" % statistics.mean(pairs[t][mark]) for t in tools) + " |")


if __name__ == "__main__":
    main()
