#!/bin/sh
# CatBoost 1.2.10: without learning_rate the rate is chosen by the number of
# iterations, so a training of 5 that is resumed from its snapshot to 10 has used
# another rate for the first half than one of 10, and another model comes out.  A
# snapshot is also resumed with another learning_rate than it was made with, without
# a word, while another depth is refused.
# Guess before: the rate is kept in the snapshot; any other parameter is refused.
set -eu
d=$(mktemp -d)
trap 'rm -rf "$d"' EXIT
cd "$d"
python3 -m venv v
v/bin/pip -q install --disable-pip-version-check catboost==1.2.10 numpy==2.4.1
cat >run.py <<'END'
import numpy
from catboost import CatBoostClassifier

rng = numpy.random.default_rng(0)
x = rng.normal(size=(200, 4))
y = (x[:, 0] + rng.normal(size=200) > 0).astype(int)


def train(folder, iterations, **more):
    model = CatBoostClassifier(
        iterations=iterations,
        verbose=False,
        train_dir=folder,
        save_snapshot=True,
        snapshot_file="snapshot",
        snapshot_interval=0,
        random_seed=1,
        thread_count=1,
        **more,
    )
    return model.fit(x, y)


def losses(model):
    return [round(v, 3) for v in model.get_evals_result()["learn"]["Logloss"]]


whole = train("whole", 10)
print("10 iterations: rate %.3f" % whole.learning_rate_)
first = train("cut", 5)
again = train("cut", 10)
print("5, then 10: rates %.3f, %.3f" % (first.learning_rate_, again.learning_rate_))
print("the same losses:", losses(whole) == losses(again))
train("rate", 5, learning_rate=0.1)
other = train("rate", 10, learning_rate=0.5)
print("0.1, then 0.5: accepted,", other.tree_count_, "trees")
train("depth", 5, learning_rate=0.1, depth=4)
try:
    train("depth", 10, learning_rate=0.1, depth=3)
    print("depth 4, then 3: accepted")
except Exception as e:
    print("depth 4, then 3:", str(e).rpartition(": ")[2])
END
v/bin/python run.py | tee out
diff - out <<'END'
10 iterations: rate 0.354
5, then 10: rates 0.500, 0.354
the same losses: False
0.1, then 0.5: accepted, 10 trees
depth 4, then 3: Current training params differ from the params saved in snapshot
END
