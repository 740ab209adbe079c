"""A program of XGBoost that prints its evaluation and continues a booster."""

import json
import os

import numpy as np
import xgboost

import reader

x, y = (np.array(v) for v in reader.points())
train, valid = (xgboost.DMatrix(x[s], y[s]) for s in (slice(0, 150), slice(150, 200)))


class Save(xgboost.callback.TrainingCallback):
    """Saves each round, and dies in the middle of one."""

    def before_iteration(self, model, epoch, evals_log):
        reader.wait()
        reader.cut(model.num_boosted_rounds() + 1)

    def after_iteration(self, model, epoch, evals_log):
        done = reader.load("rounds.json", {})
        round = model.num_boosted_rounds() - 1
        for data, metrics in evals_log.items():
            for metric, values in metrics.items():
                done.setdefault(f"{data}-{metric}", {})[round] = values[-1]
        model.save_model(reader.place("model.json"))
        reader.save("rounds.json", done)
        return False


model = reader.saved("model.json")
left = reader.epochs
if model:
    model = xgboost.Booster(model_file=model)
    left -= model.num_boosted_rounds()
result = {}
xgboost.train({"objective": "binary:logistic", "eta": 0.3, "max_depth": 2,
               "eval_metric": ["logloss", "error"], "nthread": 1},
              train, left, evals=[(train, "train"), (valid, "eval")],
              evals_result=result, xgb_model=model, callbacks=[Save()],
              verbose_eval=True)
reader.history(reader.load("rounds.json", {}))
