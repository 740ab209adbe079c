"""Opens the output of hpotune export --format optuna with Optuna, compares it
with hpotune export --json of the same study, and continues it.

export_optuna.py STORAGE DOCUMENT: prints for each check a line "ok" or the
error, a tab, and the name of the check."""
import datetime
import json
import math
import sys
import warnings

import optuna
from optuna.distributions import (CategoricalDistribution, FloatDistribution,
                                  IntDistribution)
from optuna.trial import TrialState

warnings.simplefilter("ignore")
optuna.logging.set_verbosity(optuna.logging.ERROR)
path, document = sys.argv[1:]
doc = json.load(open(document))
ours = doc["trials"]
settings = doc["study"]["settings"]
spaces = settings["parameters"]
aims = settings.get("objectives") or [settings["objective"]]
several = len(aims) > 1
storage = optuna.storages.RDBStorage(f"sqlite:///{path}")
study = optuna.load_study(study_name=settings["study"], storage=storage)
theirs = study.get_trials()


def check(what):
    def run(test):
        try:
            wrong = test()
        except Exception as e:
            wrong = f"{type(e).__name__}: {e}"
        print("ok" if not wrong else str(wrong)[:300].replace("\n", " "),
              what, sep="\t")
    return run


def differences(pairs):
    return [f"trial {t['trial']}: {got!r} is not {want!r}"
            for t, got, want in pairs if got != want]


def distribution(p):
    if p["type"] == "choice":
        return CategoricalDistribution(p["values"])
    if p["type"] == "fixed":
        return CategoricalDistribution([p["value"]])
    log = p.get("scale") == "log"
    if p["type"] == "int":
        return IntDistribution(p["min"], p["max"], log, p.get("step", 1))
    return FloatDistribution(p["min"], p["max"], log, p.get("step"))


def state(t):
    if t["state"] == "waiting":
        return "RUNNING" if t["attempts"] else "WAITING"
    if t["state"] == "completed":
        return "COMPLETE" if None not in values(t) else "FAIL"
    return {"stopped": "PRUNED", "failed": "FAIL",
            "cancelled": "FAIL"}.get(t["state"], "RUNNING")


def values(t):
    if not several:
        return [t["objective"]]
    return [o["value"] for o in t["outcomes"] if o["goal"] != "keep"]


def is_set(t):
    return state(t) != "WAITING"


@check("the study: name, directions, metrics, settings")
def _():
    return ([d.name.lower() for d in study.directions]
            != [a["goal"] for a in aims]
            or study.metric_names != [a["metric"] for a in aims]
            or study.user_attrs["hpotune_study"] != settings)


@check("numbers and states")
def _():
    return (len(ours) != len(theirs) or differences(
        (o, (t.number, t.state.name), (o["trial"] - 1, state(o)))
        for o, t in zip(ours, theirs)))


@check("parameters")
def _():
    return differences((o, t.params, o["params"])
                       for o, t in zip(ours, theirs) if is_set(o))


@check("distributions")
def _():
    return differences(
        (o, t.distributions, {n: distribution(spaces[n]) for n in o["params"]})
        for o, t in zip(ours, theirs) if is_set(o))


@check("values of what completed")
def _():
    return differences(
        (o, t.values, values(o)) for o, t in zip(ours, theirs)
        if t.state == TrialState.COMPLETE)


@check("values of others: the last report of what was pruned")
def _():
    def last(o):
        reported = o["curve"][-1]["value"] if o["curve"] else None
        pruned = state(o) == "PRUNED" and not several
        return [reported] if pruned and reported is not None else None
    return differences(
        (o, t.values, last(o)) for o, t in zip(ours, theirs)
        if t.state != TrialState.COMPLETE)


@check("intermediate values")
def _():
    return differences(
        (o, {s: v if math.isfinite(v) else None
             for s, v in t.intermediate_values.items()},
         {c["step"]: c["value"] for c in o["curve"]})
        for o, t in zip(ours, theirs))


@check("times")
def _():
    def text(time):
        return time.isoformat(timespec="milliseconds") + "Z" if time else None
    created = doc["study"]["created"]
    wrong = []
    for o, t in zip(ours, theirs):
        started = o["started"] or o["ended"] or created
        ended = o["ended"] or o["started"] or created
        want = (started if is_set(o) else None,
                ended if t.state.is_finished() else None)
        got = text(t.datetime_start), text(t.datetime_complete)
        # Of half a millisecond one rounds and the other cuts.
        for g, w in zip(got, want):
            if (g is None) != (w is None):
                wrong.append((o, got, want))
            elif g and abs(datetime.datetime.fromisoformat(g[:-1])
                           - datetime.datetime.fromisoformat(w[:-1])
                           ) > datetime.timedelta(milliseconds=1):
                wrong.append((o, got, want))
    return differences(wrong)


@check("attributes of hpotune")
def _():
    def want(o):
        last = o["attempts"][-1] if o["attempts"] else {}
        facts = {"trial": o["trial"], "state": o["state"], "why": o["why"],
                 "attempts": len(o["attempts"]), "seconds": o["seconds"],
                 "end_class": last.get("end_class"), "cost": o["cost"]}
        last = {f"hpotune_{k}": v for k, v in facts.items() if v is not None}
        named = [a["metric"] for a in aims]
        for m in o["metrics"]:  # in the order of their steps
            if m["name"] not in named:
                last[m["name"]] = m["value"]
        return last
    return differences(
        (o, t.user_attrs, want(o)) for o, t in zip(ours, theirs))


@check("constraints")
def _():
    def want(o):
        return [o["violation"] if o["violation"] is not None
                else sys.float_info.max
                for o in o["outcomes"] if o["goal"] == "keep"]
    return differences(
        (o, list(t.constraints.values()), want(o))
        for o, t in zip(ours, theirs))


@check("the best trial, or the front")
def _():
    if several:
        return sorted(t.number + 1 for t in study.best_trials) != sorted(
            json.load(open(document + ".front")))
    return (study.best_trial.number + 1 != doc["study"]["best_trial"]
            or study.best_value != doc["study"]["best"])


@check("Optuna holds every trial for sound")
def _():
    for t in theirs:
        t._validate()
    optuna.copy_study(from_study_name=study.study_name, from_storage=storage,
                      to_storage=f"sqlite:///{path}.copy")


@check("it goes on: what waits first, then more")
def _():
    def objective(trial):
        got = {}
        for name, p in spaces.items():
            (parent, wanted), = p.get("when", {None: [None]}).items()
            if got.get(parent) in wanted:
                got[name] = trial._suggest(name, distribution(p))
        trial.set_user_attr("got", got)
        return [float(len(got))] * len(aims) if several else float(len(got))
    waiting = [o for o in ours if not is_set(o)]
    seeds = {"n_startup_trials": 1, "seed": 1}
    again = optuna.load_study(study_name=study.study_name, storage=storage,
                              sampler=optuna.samplers.TPESampler(**seeds))
    again.optimize(objective, n_trials=len(waiting) + 4)
    now = again.get_trials()
    return (len(now) != len(ours) + 4
            or [t.state.name for t in now[len(ours):]] != ["COMPLETE"] * 4
            or differences(
                (o, (now[o["trial"] - 1].state.name,
                     now[o["trial"] - 1].user_attrs["got"]),
                 ("COMPLETE", o["params"])) for o in waiting))
