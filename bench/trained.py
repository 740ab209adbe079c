"""Models that are trained at each call, for bench/search.py: 6 to 50 ms each on one
core.  scikit-learn, LightGBM, XGBoost and torch, each problem with what of it is
installed; data are those that scikit-learn ships or makes, split once.

boost    LightGBM and XGBoost with seven to nine parameters: subsampling and whole
         leaves make them rough
net      networks of torch: rates, widths, a choice of optimizer and activation
kernel   support vectors and ridge regression with kernels, some with parameters that
         only one kernel has
linear   steps before a linear model, each a choice with parameters of its own
forest   trees by chance
models   a choice of four models, each with parameters of its own

In two halves, "odd" to choose by and "even" to judge by, with other data and mostly
other models.  A setting has the same value each time.
"""

import functools
import importlib.util
import math
import warnings

from mixed import Problem


def real(low, high, when=None):
    return with_when({"type": "float", "min": low, "max": high}, when)


def log(low, high, when=None):
    return with_when(
        {"type": "float", "min": low, "max": high, "scale": "log"}, when)


def whole(low, high, when=None):
    return with_when({"type": "int", "min": low, "max": high}, when)


def whole_log(low, high, when=None):
    return with_when(
        {"type": "int", "min": low, "max": high, "scale": "log"}, when)


def choice(*values, when=None):
    return with_when({"type": "choice", "values": list(values)}, when)


def with_when(parameter, when):
    return {**parameter, "when": when} if when else parameter


@functools.cache
def data(name):
    """x and y to train with, x and y to judge by; features have mean 0 and
    deviation 1, and so have values that are regressed."""
    import numpy
    from sklearn import datasets
    from sklearn.model_selection import train_test_split
    made = {
        "friedman1": lambda: datasets.make_friedman1(
            600, 12, noise=1.0, random_state=1),
        "friedman2": lambda: datasets.make_friedman2(
            500, noise=50.0, random_state=2),
        "friedman3": lambda: datasets.make_friedman3(
            500, noise=0.1, random_state=3),
        "classes": lambda: datasets.make_classification(
            900, 20, n_informative=6, n_classes=3, flip_y=0.1, random_state=4),
        "pairs": lambda: datasets.make_classification(
            800, 16, n_informative=5, flip_y=0.08, class_sep=0.8, random_state=6),
        "clusters": lambda: datasets.make_classification(
            700, 15, n_informative=8, n_clusters_per_class=4, class_sep=0.7,
            flip_y=0.05, random_state=5),
    }
    x, y = (made[name]() if name in made else
            getattr(datasets, "load_" + name)(return_X_y=True))
    x = (x - x.mean(0)) / (x.std(0) + 1e-9)
    if y.dtype.kind == "f":
        y = (y - y.mean()) / y.std()
    x, xv, y, yv = train_test_split(x.astype(numpy.float64), y, test_size=0.4,
                                    random_state=0)
    return x, y, xv, yv


def error(model, name):
    """Of a model of scikit-learn's form: mean squared error, or mean logarithmic
    loss where it tells probabilities, or the share of false classes."""
    import numpy
    x, y, xv, yv = data(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(x, y)
        if y.dtype.kind == "f":
            return float(numpy.mean((model.predict(xv) - yv) ** 2))
        if not hasattr(model, "predict_proba"):
            return 1 - float(numpy.mean(model.predict(xv) == yv))
        p = model.predict_proba(xv)[numpy.arange(len(yv)), yv]
    return float(-numpy.mean(numpy.log(numpy.clip(p, 1e-6, 1))))


def lightgbm(name):
    def give(p):
        from lightgbm import LGBMClassifier, LGBMRegressor
        kind = LGBMRegressor if data(name)[1].dtype.kind == "f" else LGBMClassifier
        return error(kind(subsample_freq=1, n_jobs=1, random_state=0, verbose=-1,
                          **p), name)

    return Problem("boost lightgbm " + name, {
        "n_estimators": whole_log(10, 120),
        "learning_rate": log(0.01, 0.5),
        "num_leaves": whole_log(2, 64),
        "min_child_samples": whole_log(2, 60),
        "subsample": real(0.3, 1),
        "colsample_bytree": real(0.3, 1),
        "reg_lambda": log(1e-4, 30),
        "reg_alpha": log(1e-4, 30),
    }, give)


def xgboost(name):
    def give(p):
        from xgboost import XGBClassifier, XGBRegressor
        kind = XGBRegressor if data(name)[1].dtype.kind == "f" else XGBClassifier
        return error(kind(n_jobs=1, random_state=0, verbosity=0, **p), name)

    return Problem("boost xgboost " + name, {
        "n_estimators": whole_log(10, 80),
        "learning_rate": log(0.01, 0.8),
        "max_depth": whole(1, 8),
        "min_child_weight": log(0.1, 30),
        "gamma": log(1e-4, 5),
        "subsample": real(0.3, 1),
        "colsample_bytree": real(0.3, 1),
        "grow_policy": choice("depthwise", "lossguide"),
    }, give)


def net(name, epochs):
    """Layers of a network and how it is trained; values beyond all are 10."""
    def give(p):
        import torch
        torch.set_num_threads(1)
        x, y, xv, yv = (torch.from_numpy(a) for a in data(name))
        x, xv = x.float(), xv.float()
        regress = y.is_floating_point()
        y, yv = (y.float(), yv.float()) if regress else (y, yv)
        torch.manual_seed(0)
        act = {"relu": torch.nn.ReLU, "tanh": torch.nn.Tanh,
               "elu": torch.nn.ELU}[p["activation"]]
        layers, width = [], x.shape[1]
        for _ in range(p["layers"]):
            layers += [torch.nn.Linear(width, p["width"]), act(),
                       torch.nn.Dropout(p["dropout"])]
            width = p["width"]
        layers += [torch.nn.Linear(width, 1 if regress else int(y.max()) + 1)]
        model = torch.nn.Sequential(*layers)
        rest = {"weight_decay": p["weight_decay"], "lr": p["rate"]}
        if p["optimizer"] == "sgd":
            opt = torch.optim.SGD(model.parameters(), momentum=p["momentum"], **rest)
        else:
            opt = torch.optim.Adam(model.parameters(), **rest)
        loss = ((lambda a, b: torch.nn.functional.mse_loss(a[:, 0], b)) if regress
                else torch.nn.functional.cross_entropy)
        for _ in range(epochs):
            for rows in torch.randperm(len(x)).split(p["batch"]):
                opt.zero_grad()
                loss(model(x[rows]), y[rows]).backward()
                opt.step()
        model.eval()
        with torch.no_grad():
            value = float(loss(model(xv), yv))
        return min(value, 10) if math.isfinite(value) else math.nan

    return Problem("net " + name, {
        "rate": log(1e-4, 1),
        "optimizer": choice("sgd", "adam"),
        "momentum": real(0, 0.99, {"optimizer": ["sgd"]}),
        "weight_decay": log(1e-6, 1e-1),
        "layers": whole(1, 3),
        "width": whole_log(4, 64),
        "batch": whole_log(32, 256),
        "dropout": real(0, 0.5),
        "activation": choice("relu", "tanh", "elu"),
    }, give)


def vectors(name):
    def give(p):
        from sklearn.svm import SVC, SVR
        kind = SVR if data(name)[1].dtype.kind == "f" else SVC
        return min(error(kind(max_iter=3000, **p), name), 100.0)

    return Problem("kernel vectors " + name, {
        "C": log(1e-3, 1e3),
        "kernel": choice("rbf", "poly", "sigmoid"),
        "gamma": log(1e-5, 10),
        "degree": whole(2, 5, {"kernel": ["poly"]}),
        "coef0": real(-1, 3, {"kernel": ["poly", "sigmoid"]}),
    }, give)


def ridge(name):
    def give(p):
        from sklearn.kernel_ridge import KernelRidge
        return min(error(KernelRidge(**p), name), 100.0)

    return Problem("kernel ridge " + name, {
        "alpha": log(1e-4, 1e2),
        "kernel": choice("rbf", "laplacian", "poly"),
        "gamma": log(1e-4, 10),
        "degree": whole(2, 4, {"kernel": ["poly"]}),
        "coef0": real(0, 3, {"kernel": ["poly"]}),
    }, give)


def linear(name):
    def give(p):
        from sklearn.decomposition import PCA
        from sklearn.linear_model import ElasticNet, LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import PolynomialFeatures, SplineTransformer
        first = {
            "none": lambda: [],
            "pca": lambda: [PCA(p["share"], svd_solver="full")],
            "poly": lambda: [PolynomialFeatures(
                2, interaction_only=p["products"] == "others")],
            "spline": lambda: [SplineTransformer(p["knots"], degree=p["degree"])],
        }[p["step"]]()
        if data(name)[1].dtype.kind == "f":
            last = ElasticNet(p["alpha"], l1_ratio=p["share_l1"], max_iter=200)
        else:
            last = LogisticRegression(C=1 / p["alpha"], max_iter=60)
        return error(make_pipeline(*first, last), name)

    space = {
        "step": choice("none", "pca", "poly", "spline"),
        "share": real(0.3, 0.999, {"step": ["pca"]}),
        "products": choice("all", "others", when={"step": ["poly"]}),
        "knots": whole(3, 9, {"step": ["spline"]}),
        "degree": whole(1, 4, {"step": ["spline"]}),
        "alpha": log(1e-4, 10),
    }
    if data(name)[1].dtype.kind == "f":
        space["share_l1"] = real(0.01, 1)
    return Problem("linear " + name, space, give)


def forest(name):
    def give(p):
        from sklearn import ensemble
        kind = getattr(ensemble, p.pop("trees") + (
            "Regressor" if data(name)[1].dtype.kind == "f" else "Classifier"))
        return error(kind(n_jobs=1, random_state=0, bootstrap=True, **p), name)

    return Problem("forest " + name, {
        "trees": choice("RandomForest", "ExtraTrees"),
        "n_estimators": whole_log(5, 40),
        "max_depth": whole(1, 14),
        "min_samples_leaf": whole_log(1, 30),
        "max_features": real(0.1, 1),
        "max_samples": real(0.2, 1),
    }, lambda p: give(dict(p)))


def models(name):
    """Four models of classes, each with its own parameters."""
    def give(p):
        from sklearn.naive_bayes import GaussianNB
        from sklearn.neighbors import KNeighborsClassifier
        from sklearn.svm import SVC
        from sklearn.tree import DecisionTreeClassifier
        kind = p["model"]
        own = {k.split("_", 1)[1]: v for k, v in p.items() if k != "model"}
        return error({"knn": KNeighborsClassifier, "tree": DecisionTreeClassifier,
                      "svc": SVC, "bayes": GaussianNB}[kind](
            **own, **({"random_state": 0} if kind == "tree" else {})), name)

    def of(kind):
        return {"model": [kind]}

    return Problem("models " + name, {
        "model": choice("knn", "tree", "svc", "bayes"),
        "knn_n_neighbors": whole_log(1, 60, of("knn")),
        "knn_weights": choice("uniform", "distance", when=of("knn")),
        "knn_p": choice(1, 2, when=of("knn")),
        "tree_max_depth": whole(1, 14, of("tree")),
        "tree_min_samples_leaf": whole_log(1, 60, of("tree")),
        "tree_criterion": choice("gini", "entropy", when=of("tree")),
        "svc_C": log(1e-3, 1e3, of("svc")),
        "svc_gamma": log(1e-5, 10, of("svc")),
        "bayes_var_smoothing": log(1e-9, 10, of("bayes")),
    }, give)


def problems(half):
    """Those of a half, eight in each, without those whose package is missing."""
    out = {
        "odd": (lambda: lightgbm("friedman1"), lambda: xgboost("breast_cancer"),
                lambda: net("digits", 3), lambda: vectors("clusters"),
                lambda: ridge("friedman3"), lambda: linear("classes"),
                lambda: forest("friedman2"), lambda: models("wine")),
        "even": (lambda: lightgbm("diabetes"), lambda: lightgbm("pairs"),
                 lambda: xgboost("friedman3"), lambda: net("friedman2", 4),
                 lambda: vectors("diabetes"), lambda: linear("friedman1"),
                 lambda: forest("breast_cancer"), lambda: models("digits")),
    }[half]
    needs = {"odd": {0: "lightgbm", 1: "xgboost", 2: "torch"},
             "even": {0: "lightgbm", 1: "lightgbm", 2: "xgboost", 3: "torch"}}[half]
    return [make() for i, make in enumerate(out)
            if i not in needs or importlib.util.find_spec(needs[i])]
