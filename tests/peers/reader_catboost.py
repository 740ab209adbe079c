"""A program of CatBoost with its usual lines; its snapshot continues it."""

import os

import catboost
import numpy as np

import reader

x, y = (np.array(v) for v in reader.points())


class Cut:
    def after_iteration(self, info):
        reader.wait()
        reader.cut(info.iteration)
        return True


model = catboost.CatBoostClassifier(
    iterations=reader.epochs, depth=2, thread_count=1, random_seed=1,
    learning_rate=0.3, eval_metric=os.environ.get("METRIC", "Logloss"),
    metric_period=int(os.environ.get("PERIOD", "1")),
    train_dir=os.environ.get("TRAIN_DIR", "catboost_info"))
model.fit(x[:150], y[:150], eval_set=(x[150:], y[150:]), callbacks=[Cut()],
          save_snapshot=True, snapshot_file=os.path.abspath(reader.place("snapshot")),
          snapshot_interval=0)
curves = {}
for data, metrics in model.get_evals_result().items():
    for metric, values in metrics.items():
        curves[f"{data}/{metric}"] = dict(enumerate(values))
reader.history(curves)
