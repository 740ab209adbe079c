#!/bin/sh
# XGBoost 3.2.0: TrainingCheckPoint(interval=2) keeps a model after 3 and after 5
# rounds of 6, none after the last, and the file's number is that of its last round
# from 0.  A continued training prints its rounds from [0] again, while the files'
# numbers go on.
# Guess before: models of 2, 4 and 6 rounds; a continued training writes over them.
set -eu
d=$(mktemp -d)
trap 'rm -rf "$d"' EXIT
cd "$d"
python3 -m venv v
v/bin/pip -q install --disable-pip-version-check xgboost==3.2.0 numpy==2.4.1
cat >run.py <<'END'
import os

import numpy
import xgboost

rng = numpy.random.default_rng(0)
x = rng.normal(size=(200, 4))
data = xgboost.DMatrix(x, (x[:, 0] > 0).astype(int))


def train(rounds, before=None):
    keep = xgboost.callback.TrainingCheckPoint("models", name="m", interval=2)
    return xgboost.train(
        {"objective": "binary:logistic"},
        data,
        rounds,
        evals=[(data, "train")],
        xgb_model=before,
        callbacks=[keep],
    )


def models():
    return [
        "%s: %d rounds"
        % (name, xgboost.Booster(model_file="models/" + name).num_boosted_rounds())
        for name in sorted(os.listdir("models"))
    ]


os.mkdir("models")
first = train(6)
print(models())
train(4, first)
print(models())
END
v/bin/python -W ignore run.py | tee out
cat >want <<'END'
['m_2.ubj: 3 rounds', 'm_4.ubj: 5 rounds']
['m_2.ubj: 3 rounds', 'm_4.ubj: 5 rounds', 'm_8.ubj: 9 rounds']
END
grep -v '^\[[0-9]' out | diff want -
test "$(grep -c '^\[0\]' out)" -eq 2
