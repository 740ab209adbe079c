"""A program of LightGBM that prints its evaluation and continues a booster."""

import lightgbm
import numpy as np

import reader

x, y = (np.array(v) for v in reader.points())
train = lightgbm.Dataset(x[:150], y[:150], free_raw_data=False)
valid = lightgbm.Dataset(x[150:], y[150:], reference=train, free_raw_data=False)


def begin(env):
    reader.wait()
    reader.cut(env.iteration + 1)


begin.before_iteration = True


def save(env):
    done = reader.load("rounds.json", {})
    for data, metric, value, *_ in env.evaluation_result_list:
        done.setdefault(f"{data}/{metric}", {})[env.iteration + 1] = value
    env.model.save_model(reader.place("model.txt"))
    reader.save("rounds.json", done)


save.order = 30
done = max((int(r) for c in reader.load("rounds.json", {}).values() for r in c),
           default=0)
lightgbm.train({"objective": "binary", "metric": ["binary_logloss", "auc"],
                "num_leaves": 4, "num_threads": 1, "verbose": 1},
               train, reader.epochs - done, valid_sets=[train, valid],
               valid_names=["train", "eval"],
               init_model=reader.saved("model.txt"),
               callbacks=[begin, lightgbm.log_evaluation(1), save])
reader.history(reader.load("rounds.json", {}))
