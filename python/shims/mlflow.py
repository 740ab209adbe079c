"""hpotune in the place of MLflow, for programs that do not change.

Metrics that are logged are reports; parameters, tags and artifacts are not kept.
"""

import importlib.abc as _abc
import importlib.machinery as _machinery
import os as _os
import sys as _sys
import types as _types

import hpotune_shim as _shim

__version__ = "2.20.0"
__path__ = []


def _number_of(value):
    value = _shim.number(value)
    if value is None:
        raise ValueError("the value of a metric is a number")
    return value


def log_metric(key, value, step=None, *args, **kwargs):
    _shim.report({key: _number_of(value)}, step)


def log_metrics(metrics, step=None, *args, **kwargs):
    _shim.report({k: _number_of(v) for k, v in metrics.items()}, step)


def log_param(key, value, *args, **kwargs):
    return value


class Run:
    """The trial, or a part of it that the program has begun."""

    def __init__(self, name=None, experiment_id="0"):
        self.info = _types.SimpleNamespace(
            run_id=_os.environ.get("HPOTUNE_ATTEMPT_UUID", "hpotune"),
            run_name=name, experiment_id=experiment_id or "0", status="RUNNING",
            artifact_uri=_os.environ.get("HPOTUNE_OUTPUT_DIR", ""))
        self.info.run_uuid = self.info.run_id
        self.data = _types.SimpleNamespace(metrics={}, params={}, tags={})

    def __enter__(self):
        return self

    def __exit__(self, *error):
        end_run()


ActiveRun = Run
_runs = []


def start_run(run_id=None, experiment_id=None, run_name=None, nested=False,
              **given):
    if _runs and not nested:
        raise Exception("Run is already active: end it, or use nested=True")
    _runs.append(Run(run_name, experiment_id))
    return _runs[-1]


def end_run(status="FINISHED"):
    if _runs:
        _runs.pop()


def active_run():
    return _runs[-1] if _runs else None


def last_active_run():
    return active_run() or Run()


def set_experiment(*args, **kwargs):
    return _types.SimpleNamespace(experiment_id="0", name="hpotune")


def get_experiment_by_name(name):
    return set_experiment()


def create_experiment(*args, **kwargs):
    return "0"


def get_tracking_uri():
    return ""


def get_artifact_uri(artifact_path=None):
    folder = _os.environ.get("HPOTUNE_OUTPUT_DIR", "")
    return _os.path.join(folder, artifact_path) if artifact_path else folder


def autolog(*args, **kwargs):
    print("hpotune stands in the place of mlflow, and autolog logs nothing: "
          "trial.reads reads the output of libraries", file=_sys.stderr)


class MlflowClient:
    def __init__(self, *args, **kwargs):
        pass

    def create_run(self, *args, **kwargs):
        return Run()

    def get_run(self, *args, **kwargs):
        return Run()

    get_experiment_by_name = staticmethod(get_experiment_by_name)
    create_experiment = staticmethod(create_experiment)

    def log_metric(self, run_id, key, value, timestamp=None, step=None,
                   *args, **kwargs):
        log_metric(key, value, step)

    def log_batch(self, run_id, metrics=(), *args, **kwargs):
        for m in metrics:
            log_metric(m.key, m.value, m.step)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _shim.nothing


class Metric:
    def __init__(self, key, value, timestamp=0, step=0):
        self.key, self.value, self.step = key, value, step
        self.timestamp = timestamp


def _inert(name):
    """Functions without a result are there; what would read is not."""
    if name.startswith("__"):
        raise AttributeError(name)
    if name == "autolog":
        return autolog
    if name.startswith(("load", "search", "get", "download")):
        raise AttributeError(
            f"hpotune stands in the place of mlflow, without {name}")
    return _shim.Nothing if name[:1].isupper() else _shim.nothing


class _Modules(_abc.MetaPathFinder, _abc.Loader):
    """mlflow.sklearn, mlflow.models and all others."""

    def find_spec(self, name, path=None, target=None):
        if name.startswith("mlflow."):
            return _machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        module.__getattr__ = _inert
        module.MlflowClient = MlflowClient
        module.Metric = Metric


def __getattr__(name):
    if name in ("sklearn", "pytorch", "keras", "tensorflow", "xgboost",
                "lightgbm", "catboost", "pyfunc", "models", "data", "tracking",
                "entities", "transformers", "artifacts", "exceptions"):
        return __import__("importlib").import_module("mlflow." + name)
    return _inert(name)


_sys.meta_path.insert(0, _Modules())
