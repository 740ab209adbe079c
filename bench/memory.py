#!/usr/bin/env python3
"""Networks whose memory is computed, not used: trials that need more than the limit
fail, and the loss is better with larger networks and batches.

    bench/memory.py PROGRAM [--seeds 5] [--first 1] [--trials 60] [--problems NAME ...]

PROGRAM is bench/search-loop.  Tools: auto with the peaks of trials, auto without, and
Optuna's TPE where it is installed.  A row is a problem and a tool: the share of trials
out of memory after the first ten, the mean of the best loss, and of how many seeds it
is at least as good as without peaks.
"""

import argparse
import json
import math
import random
import sys

import searchloop

GIB = 2.0 ** 30


def number(kind, low, high, log=False):
    more = {"scale": "log"} if log else {}
    return {"type": kind, "min": low, "max": high, **more}


def choice(*values):
    return {"type": "choice", "values": list(values)}


class Transformer:
    """Weights, gradients, states of the optimizer and what the layers keep, after
    Korthikanti et al., "Reducing activation recomputation in large transformer
    models", 2022; the loss after Hoffmann et al., 2022."""

    name = "transformer"
    limit = 24 * GIB
    space = {
        "layers": number("int", 2, 48),
        "width": number("int", 256, 4096, True),
        "heads": choice(4, 8, 16, 32),
        "feed": number("int", 1, 8),
        "length": choice(256, 512, 1024, 2048, 4096),
        "batch": choice(1, 2, 4, 8, 16, 32, 64),
        "precision": choice("fp32", "mixed", "bf16"),
        "optimizer": choice("adam", "sgd", "adafactor", "lion"),
        "recompute": choice(True, False),
        "vocabulary": number("int", 8000, 64000, True),
        "rate": number("float", 1e-5, 1e-1, True),
        "decay": number("float", 1e-6, 1, True),
        "dropout": number("float", 0, 0.5),
        "warmup": number("float", 0, 0.2),
    }

    def size(self, p):
        return (p["layers"] * p["width"] ** 2 * (4 + 2 * p["feed"]) +
                p["vocabulary"] * p["width"])

    def memory(self, p):
        n, b, s = self.size(p), p["batch"], p["length"]
        weight = {"fp32": 8, "mixed": 8, "bf16": 4}[p["precision"]]
        state = {"adam": 8, "sgd": 0, "adafactor": 0.2, "lion": 4}
        byte = 4 if p["precision"] == "fp32" else 2
        layer = s * b * p["width"] * (9 + 2 * p["feed"]) + (
            2.5 * p["heads"] * s * s * b)
        kept = (s * b * p["width"] * p["layers"] + layer if p["recompute"]
                else layer * p["layers"])
        return (0.6 * GIB + n * (weight + state[p["optimizer"]]) +
                byte * kept + 2 * byte * s * b * p["vocabulary"])

    def loss(self, p):
        n, tokens = self.size(p), 1e5 * p["batch"] * p["length"]
        rate = math.log(p["rate"]) - math.log(0.02) + 0.3 * math.log(n / 1e6)
        if p["optimizer"] == "sgd":
            rate -= 2
        return (1.7 + 400 / n ** 0.34 + 410 / tokens ** 0.28 +
                0.03 * rate ** 2 + 0.004 * (math.log(p["decay"]) + 3) ** 2 +
                0.8 * (p["dropout"] - 0.1) ** 2 + (p["warmup"] - 0.05) ** 2 +
                0.15 * (p["optimizer"] == "sgd") +
                0.05 * (p["precision"] == "bf16") +
                0.1 * abs(math.log(p["width"] / p["heads"] / 80)) +
                0.04 * abs(p["feed"] - 4))


class Convolution:
    """Feature maps, which halve in each stage, and weights."""

    name = "convolution"
    limit = 10 * GIB
    space = {
        "depth": number("int", 1, 12),
        "width": number("int", 16, 256),
        "growth": number("float", 1, 2.5),
        "stages": number("int", 2, 5),
        "side": number("int", 64, 512),
        "batch": number("int", 4, 512, True),
        "half": choice(True, False),
        "rate": number("float", 1e-4, 1, True),
        "mix": number("float", 0, 1),
        "smooth": number("float", 0, 0.3),
    }

    def maps(self, p):
        at, out, weights = p["side"], 0, 0
        width = p["width"]
        for _ in range(p["stages"]):
            out += p["depth"] * width * at * at
            weights += p["depth"] * 9 * width * width
            at, width = at / 2, width * p["growth"]
        return out, weights

    def memory(self, p):
        out, weights = self.maps(p)
        return (0.8 * GIB + 16 * weights +
                (2 if p["half"] else 4) * 2.5 * p["batch"] * out)

    def loss(self, p):
        _, weights = self.maps(p)
        rate = math.log(p["rate"] / 0.1) - 0.5 * math.log(p["batch"] / 256)
        return (30 / weights ** 0.2 + 8 / p["side"] ** 0.7 +
                0.03 * rate ** 2 + 0.3 * (p["mix"] - 0.2) ** 2 +
                2 * (p["smooth"] - 0.1) ** 2 + 0.02 * p["half"] +
                0.2 / p["batch"] ** 0.5)


PROBLEMS = [Transformer, Convolution]


class Smaller(Transformer):
    name, limit = "transformer, 8 GiB", 8 * GIB


PROBLEMS.append(Smaller)


class Run:
    """A study with one tool: best loss, and which trials failed."""

    def __init__(self, problem, seed, trials):
        self.problem, self.trials = problem, trials
        self.rng = random.Random("%s %d" % (problem.name, seed))
        self.best, self.over = math.inf, []

    def trial(self, params):
        """Loss or None, and the peak that would be seen."""
        need = self.problem.memory(params) * math.exp(self.rng.gauss(0, 0.02))
        over = need > self.problem.limit
        self.over.append(over)
        if over:
            # What did not fit was asked for at once.
            return None, self.problem.limit * self.rng.uniform(0.6, 1)
        loss = self.problem.loss(params)
        self.best = min(self.best, loss)
        return loss, need

    def share(self):
        late = self.over[10:]
        return sum(late) / len(late)


def ours(program, run, seed, peaks):
    loop = searchloop.Program(program)
    loop.say(open=run.problem.space, seed=seed, strategy={"name": "auto"})
    for _ in range(run.trials):
        asked = json.loads(loop.say(ask=1))
        loss, peak = run.trial(asked["params"])
        told = {"trial": asked["trial"], "end": loss}
        if loss is None:
            told.update(failed=True)
        if peaks:
            told.update(memory=peak, over=loss is None)
        loop.say(**told)
    loop.close()


def tpe(run, seed):
    import optuna
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))

    def give(t):
        params = {}
        for k, p in run.problem.space.items():
            if p["type"] == "choice":
                params[k] = t.suggest_categorical(k, p["values"])
            elif p["type"] == "int":
                params[k] = t.suggest_int(k, p["min"], p["max"],
                                          log="scale" in p)
            else:
                params[k] = t.suggest_float(k, p["min"], p["max"],
                                            log="scale" in p)
        loss, _ = run.trial(params)
        if loss is None:
            raise MemoryError
        return loss
    study.optimize(give, n_trials=run.trials, catch=(MemoryError,))


def main():
    arg = argparse.ArgumentParser()
    arg.add_argument("program")
    arg.add_argument("--seeds", type=int, default=5)
    arg.add_argument("--first", type=int, default=1)
    arg.add_argument("--trials", type=int, default=60)
    arg.add_argument("--problems", nargs="*")
    arg = arg.parse_args()
    try:
        import optuna  # noqa: F401
        tools = ["auto", "without", "tpe"]
    except ImportError:
        tools = ["auto", "without"]
    print("%-20s %-10s %14s %10s %s" % ("problem", "tool", "out of memory",
                                        "best", "as good as without"))
    for problem in PROBLEMS:
        if arg.problems and problem.name not in arg.problems:
            continue
        runs = {tool: [] for tool in tools}
        for seed in range(arg.first, arg.first + arg.seeds):
            for tool in tools:
                run = Run(problem(), seed, arg.trials)
                if tool == "tpe":
                    tpe(run, seed)
                else:
                    ours(arg.program, run, seed, tool == "auto")
                runs[tool].append(run)
        for tool in tools:
            good = sum(a.best <= b.best for a, b in
                       zip(runs[tool], runs["without"]))
            print("%-20s %-10s %13.1f%% %10.4f %d of %d" % (
                problem.name, tool,
                100 * sum(r.share() for r in runs[tool]) / arg.seeds,
                sum(r.best for r in runs[tool]) / arg.seeds, good, arg.seeds))
            sys.stdout.flush()


if __name__ == "__main__":
    main()
