"""hpotune in the place of MLflow, for programs that do not change.

Metrics that are logged are reports; parameters, tags and artifacts are not kept.
"""

import importlib as _importlib
import os as _os
import re as _re
import sys as _sys
import time as _time
import types as _types

import hpotune_mlflow as _libraries
import hpotune_shim as _shim

__version__ = "2.20.0"
__path__ = []


class MlflowException(Exception):
    error_code = "INTERNAL_ERROR"


def _absent(name):
    return _shim.absent("mlflow", name, MlflowException)


class Metric:
    def __init__(self, key, value, timestamp=0, step=0, *args, **kwargs):
        self.key, self.value, self.step = key, value, step
        self.timestamp = timestamp


class Param:
    def __init__(self, key, value):
        self.key, self.value = key, value


RunTag = ExperimentTag = Param


class Experiment:
    """All are that of the study."""

    experiment_id, lifecycle_stage, tags = "0", "active", {}

    def __init__(self, name="hpotune"):
        self.name = name
        self.artifact_location = get_artifact_uri()


class Run:
    """The trial, or a part of it that the program has begun."""

    def __init__(self, name=None, experiment_id=None):
        self.info = _types.SimpleNamespace(
            run_id=_os.environ.get("HPOTUNE_ATTEMPT_UUID", "hpotune"),
            run_name=name, experiment_id=experiment_id or "0", status="RUNNING",
            artifact_uri=get_artifact_uri(), lifecycle_stage="active",
            start_time=int(_time.time() * 1000), end_time=None, user_id="")
        self.info.run_uuid = self.info.run_id
        self.data = _data

    def __enter__(self):
        return self

    def __exit__(self, *error):
        end_run()


ActiveRun = Run
_data = _types.SimpleNamespace(metrics={}, params={}, tags={})
_history = {}
_runs = []


def _number_of(value):
    value = _shim.number(value)
    if value is None:
        raise MlflowException("the value of a metric is a number")
    return value


def _report(metrics, step):
    """What is read back is what this process has logged."""
    values = {str(k): _number_of(v) for k, v in metrics.items()}
    _data.metrics.update(values)
    for name, value in values.items():
        _history.setdefault(name, []).append(
            Metric(name, value, int(_time.time() * 1000), step or 0))
    _shim.report(values, step)


def _begun():
    """What logs begins a run where none is."""
    if not _runs:
        start_run()


def log_metric(key, value, step=None, *args, **kwargs):
    log_metrics({key: value}, step)


def log_metrics(metrics, step=None, *args, **kwargs):
    _begun()
    _report(metrics, step)


def log_param(key, value, *args, **kwargs):
    log_params({key: value})
    return value


def log_params(params, *args, **kwargs):
    _begun()
    _data.params.update({k: str(v) for k, v in params.items()})


def set_tag(key, value, *args, **kwargs):
    set_tags({key: value})


def set_tags(tags, *args, **kwargs):
    _begun()
    _data.tags.update({k: str(v) for k, v in tags.items()})


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


def get_run(run_id=None):
    return Run()


def get_parent_run(run_id=None):
    return None


def set_experiment(name=None, *args, **kwargs):
    return Experiment(name or "hpotune")


def get_experiment(experiment_id=None):
    return Experiment()


get_experiment_by_name = set_experiment


def create_experiment(*args, **kwargs):
    return "0"


def search_experiments(*args, **kwargs):
    return []


def get_tracking_uri():
    return ""


get_registry_uri = get_tracking_uri


def is_tracking_uri_set():
    return True


def get_artifact_uri(artifact_path=None):
    folder = _os.environ.get("HPOTUNE_OUTPUT_DIR", "")
    return _os.path.join(folder, artifact_path) if artifact_path else folder


def trace(function=None, *args, **kwargs):
    """A decorator, with and without arguments."""
    return function if callable(function) else lambda function: function


def autolog(*args, **kwargs):
    _libraries.autolog(None, *args, **kwargs)


class MlflowClient:
    tracking_uri = ""

    def __init__(self, *args, **kwargs):
        pass

    def create_run(self, *args, **kwargs):
        return Run()

    get_run, get_parent_run, get_experiment, get_experiment_by_name, \
        create_experiment, search_experiments = map(staticmethod, (
            get_run, get_parent_run, get_experiment, get_experiment_by_name,
            create_experiment, search_experiments))

    def log_metric(self, run_id, key, value, timestamp=None, step=None,
                   *args, **kwargs):
        _report({key: value}, step)

    def log_batch(self, run_id, metrics=(), params=(), tags=(), *args, **kwargs):
        rows = {}
        for m in metrics or ():
            rows.setdefault(m.step, {})[m.key] = m.value
        for step, values in rows.items():
            _report(values, step)
        _data.params.update({p.key: str(p.value) for p in params or ()})
        _data.tags.update({t.key: str(t.value) for t in tags or ()})

    def log_param(self, run_id, key, value, *args, **kwargs):
        _data.params[key] = str(value)
        return value

    def set_tag(self, run_id, key, value, *args, **kwargs):
        _data.tags[key] = str(value)

    def get_metric_history(self, run_id, key):
        return list(_history.get(key, ()))

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if name.startswith(_EFFECTLESS):
            return _shim.nothing
        return _absent("MlflowClient." + name)


# Functions with these beginnings take something, and programs need no result.
_EFFECTLESS = tuple((
    "add_ autolog create_ delete_ disable_ enable_ end_ finalize_ flush_ from_ "
    "infer_ initialize_ link_ log_ login register_ rename_ save_ set_ start_ "
    "tag_ transition_ update_").split())
_MODULES = frozenset(
    "artifacts autogen bedrock catboost client config crewai data deployments "
    "diffusers dspy entities environment_variables evaluation exceptions gateway "
    "gemini genai h2o keras langchain lightgbm litellm llama_index metrics models "
    "onnx openai paddle pmdarima projects prophet pyfunc pyspark pytorch sagemaker "
    "sentence_transformers shap sklearn spacy spark statsmodels store "
    "system_metrics tensorflow tracing tracking transformers types utils version "
    "xgboost".split())
_CONSTANTS = {
    "MAX_ENTITIES_PER_BATCH": 1000, "MAX_ENTITY_KEY_LENGTH": 250,
    "MAX_EXPERIMENT_NAME_LENGTH": 500, "MAX_METRICS_PER_BATCH": 1000,
    "MAX_PARAM_VAL_LENGTH": 6000, "MAX_PARAMS_TAGS_PER_BATCH": 100,
    "MAX_TAG_VAL_LENGTH": 8000, "VERSION": __version__}


def _is_name(name):
    return _re.fullmatch(r"[/\w.\- :]+", name) is not None


def _find(module, name):
    """What a module inside of mlflow has of that name."""
    if name in _CONSTANTS:
        return _CONSTANTS[name]
    if name.isupper() and module == "utils.mlflow_tags":
        words = name.split("_")[1:]  # MLFLOW_RUN_NAME: mlflow.runName
        return "mlflow." + words[0].lower() + "".join(map(str.title, words[1:]))
    found = _libraries.find(module, name)
    if found is not None:
        return found
    if name.isupper() and module.startswith(("protos", "exceptions")):
        return name  # the name of an error
    if name == "resolve_tags":
        return lambda tags=None, *_: dict(tags or {})
    if name == "validate_param_and_metric_name":
        return _is_name
    if name in globals() and name[:1] != "_":
        return globals()[name]
    return _shim.nothing if name.startswith(_EFFECTLESS) else None


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    if name in _MODULES:
        return _importlib.import_module("mlflow." + name)
    if name.startswith(_EFFECTLESS):
        return _shim.nothing
    if name[:1].isupper():
        globals()[name] = _shim.stand_in("mlflow." + name, MlflowException)
        return globals()[name]
    return _absent("mlflow." + name)


_shim.Modules("mlflow", MlflowException, _find).open()
