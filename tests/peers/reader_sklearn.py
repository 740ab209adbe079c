"""Programs of scikit-learn with verbose=1 or 2; MODEL says which."""

import os
import pickle

import numpy as np
from sklearn.ensemble import (GradientBoostingClassifier,
                              HistGradientBoostingClassifier)
from sklearn.linear_model import SGDClassifier
from sklearn.neural_network import MLPClassifier

import reader

x, y = (np.array(v) for v in reader.points())
kind = os.environ.get("MODEL", "mlp")
if kind == "mlp":
    model = MLPClassifier((4,), max_iter=reader.epochs, verbose=True, tol=0,
                          learning_rate_init=0.01, random_state=1)
elif kind == "mlp-partial":
    model = MLPClassifier((4,), verbose=True, learning_rate_init=0.01,
                          random_state=1)
elif kind == "sgd":
    model = SGDClassifier(max_iter=reader.epochs, verbose=1, tol=None,
                          random_state=1)
elif kind == "gb":
    model = GradientBoostingClassifier(n_estimators=reader.epochs, verbose=1,
                                       random_state=1)
elif kind == "gb2":
    model = GradientBoostingClassifier(n_estimators=reader.epochs, verbose=2,
                                       subsample=0.5, random_state=1)
else:
    model = HistGradientBoostingClassifier(
        max_iter=reader.epochs, verbose=2 if kind == "hist2" else 1,
        early_stopping=True, n_iter_no_change=reader.epochs, random_state=1)

if kind == "mlp-partial":
    if reader.saved("model.pickle"):
        with open(reader.place("model.pickle"), "rb") as file:
            model = pickle.load(file)
    for epoch in range(len(getattr(model, "loss_curve_", ())) + 1,
                       reader.epochs + 1):
        reader.wait()
        reader.cut(epoch)
        model.partial_fit(x, y, classes=[0, 1])
        with open(reader.place("new"), "wb") as file:
            pickle.dump(model, file)
        os.replace(reader.place("new"), reader.place("model.pickle"))
else:
    model.fit(x, y)

if hasattr(model, "loss_curve_"):
    reader.history({"loss": dict(enumerate(model.loss_curve_, 1))})
elif kind == "hist2":  # scores: the greater, the better; the first is untrained
    reader.history({name: dict(enumerate((-float(v) for v in scores), 1))
                    for name, scores in (("train_loss", model.train_score_[1:]),
                                         ("val_loss", model.validation_score_[1:]))})
elif hasattr(model, "train_score_"):
    reader.history({"train_loss": dict(enumerate(map(float, model.train_score_), 1))})
