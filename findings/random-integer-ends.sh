#!/bin/sh
# Random search over the whole numbers 1 to 4: Nevergrad 1.0.12 (Scalar with
# set_integer_casting, RandomSearch) and hyperopt 0.3.0 (hp.uniformint, rand.suggest)
# draw 1 and 4 half as often as 2 and 3, Optuna 5.0.0 (RandomSampler) does not.  With
# init=1 Nevergrad's random search is not uniform at all: more than half are 1.
# Guess before: uniform in all three, whatever the first value is.
set -eu
d=$(mktemp -d)
trap 'rm -rf "$d"' EXIT
cd "$d"
python3 -m venv v
v/bin/pip -q install --disable-pip-version-check nevergrad==1.0.12 \
    hyperopt==0.3.0 optuna==5.0.0 setuptools==80.9.0
cat >run.py <<'END'
import collections

import hyperopt
import nevergrad
import numpy
import optuna

N = 2000


def nevergrad_draws(**more):
    p = nevergrad.p.Scalar(lower=1, upper=4, **more).set_integer_casting()
    p.random_state.seed(1)
    search = nevergrad.optimizers.RandomSearch(parametrization=p, budget=N)
    return [search.ask().value for _ in range(N)]


def hyperopt_draws():
    seen = []
    hyperopt.fmin(
        lambda n: seen.append(n) or 0.0,
        hyperopt.hp.uniformint("n", 1, 4),
        algo=hyperopt.rand.suggest,
        max_evals=N,
        show_progressbar=False,
        rstate=numpy.random.default_rng(1),
    )
    return seen


def optuna_draws():
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1))
    study.optimize(lambda t: t.suggest_int("n", 1, 4), n_trials=N)
    return [t.params["n"] for t in study.trials]


def show(name, draws):
    n = collections.Counter(int(v) for v in draws)
    print(name, [n[v] for v in (1, 2, 3, 4)])
    ends = (n[1] + n[4]) / N
    print(name, "ends: a third" if abs(ends - 1 / 3) < 0.05 else
          "ends: half" if abs(ends - 1 / 2) < 0.05 else "ends: other")
    return n


show("nevergrad", nevergrad_draws())
n = show("nevergrad init=1", nevergrad_draws(init=1))
print("nevergrad init=1, most are 1:", n[1] > N / 2)
show("hyperopt", hyperopt_draws())
show("optuna", optuna_draws())
END
v/bin/python -W ignore run.py | tee out
grep -v '\[' out >seen
diff - seen <<'END'
nevergrad ends: a third
nevergrad init=1 ends: other
nevergrad init=1, most are 1: True
hyperopt ends: a third
optuna ends: half
END
