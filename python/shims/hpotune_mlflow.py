"""What MLflow has for libraries: callbacks and autolog, as the package logs.

The library is imported when the first of its names is used.
"""

import functools
import importlib
import inspect
import sys

import hpotune_shim as shim


def mlflow():
    return sys.modules["mlflow"]


@functools.cache
def keras(name):
    """Callbacks of mlflow.keras and mlflow.tensorflow."""
    base = shim.keras_callback()

    class MlflowCallback(base):
        def __init__(self, log_every_epoch=True, log_every_n_steps=None,
                     *args, **kwargs):
            super().__init__()
            self.every_epoch, self.every = log_every_epoch, log_every_n_steps

        def on_epoch_end(self, epoch, logs=None):
            if self.every_epoch:
                mlflow().log_metrics(logs or {}, step=epoch)

        def on_train_batch_end(self, batch, logs=None):
            step = int(self.model.optimizer.iterations)
            if self.every and step % self.every == 0:
                mlflow().log_metrics(logs or {}, step=step)

        def on_test_end(self, logs=None):
            mlflow().log_metrics(
                {"validation_" + k: v for k, v in (logs or {}).items()})

    class MlflowModelCheckpointCallback(base):
        def __init__(self, *args, **kwargs):
            super().__init__()

    return locals().get(name)


def find(module, name):
    """What a module of a library has that logs."""
    library = module.partition(".")[0]
    if name == "autolog":
        return functools.partial(autolog, library)
    if library in ("keras", "tensorflow") and name.endswith("Callback"):
        return keras(name.replace("MLflow", "Mlflow"))
    return None


def autolog(library, *args, disable=False, **kwargs):
    """Of one library, or of all: from now on, and when it is imported later."""
    library = {"tensorflow": "keras"}.get(library, library)
    names = {n: call for n, call in PATCHES.items()
             if library in (None, n.partition(".")[0])}
    if library is None or not names:
        print("hpotune stands in the place of mlflow, and autolog logs trainings of "
              "Keras, LightGBM and XGBoost: trial.reads reads the output of other "
              "libraries", file=sys.stderr)
    for name, call in names.items():
        logs[name] = not disable
        if name not in patched:
            patched.add(name)
            shim.AfterImport({name: call}).open()


logs = {}  # those whose trainings are logged
patched = set()


def patch(name, holder, function, add):
    """The function has one more callback while autolog is on."""
    original = getattr(holder, function)

    @functools.wraps(original)
    def wrapped(*args, **kwargs):
        if not logs.get(name):
            return original(*args, **kwargs)
        before = mlflow().active_run()
        if before is None:
            mlflow().start_run()
        try:
            args, kwargs = add_callback(original, args, kwargs, add())
            return original(*args, **kwargs)
        finally:
            if before is None:
                mlflow().end_run()
    setattr(holder, function, wrapped)


def add_callback(function, args, kwargs, callback):
    given = inspect.signature(function).bind_partial(*args, **kwargs)
    found = given.arguments.get("callbacks")
    found = [] if found is None else found
    found = list(found) if isinstance(found, (list, tuple, set)) else [found]
    given.arguments["callbacks"] = [*found, callback]
    return given.args, given.kwargs


def log_iteration(values, step):
    mlflow().log_metrics({k.replace("@", "_at_"): v for k, v in values.items()},
                         step=step)


def xgboost(name, module):
    base = importlib.import_module("xgboost").callback.TrainingCallback

    class Autolog(base):
        def after_iteration(self, model, epoch, evals_log):
            log_iteration({f"{data}-{metric}": log[-1]
                           for data, metrics in evals_log.items()
                           for metric, log in metrics.items()}, epoch)
            return False

    patch(name, module, "train", Autolog)


def lightgbm(name, module):
    def autolog_callback(env):
        log_iteration({f"{result[0]}-{result[1]}": result[2]
                       for result in env.evaluation_result_list}, env.iteration)

    patch(name, module, "train", lambda: autolog_callback)


def keras_model(name, module):
    """The metrics of each epoch, as MlflowCallback logs them."""
    patch(name, module.Model, "fit", lambda: keras("MlflowCallback")())


PATCHES = {name: functools.partial(call, name) for name, call in (
    ("xgboost", xgboost), ("xgboost.sklearn", xgboost),
    ("lightgbm", lightgbm), ("lightgbm.sklearn", lightgbm),
    ("keras", keras_model))}
