"""hpotune in the place of Weights & Biases, for programs that do not change.

wandb.config has the parameters of the trial; numbers that are logged are reports.
Nothing is sent to anybody.
"""

import atexit as _atexit
import fnmatch as _fnmatch
import os as _os
import sys as _sys
import time as _time

import hpotune_shim as _shim
import hpotune_wandb as _libraries

__version__ = "0.19.0"
__path__ = []


class Error(Exception):
    pass


class UsageError(Error):
    pass


class CommError(Error):
    pass


def _absent(name):
    return _shim.absent("wandb", name, Error)


def _mapping(values):
    """A dict of what programs give as a configuration."""
    if values is None or isinstance(values, str):
        return {}
    if hasattr(values, "flag_values_dict"):
        return values.flag_values_dict()
    if isinstance(values, Config):
        return values.as_dict()
    return dict(values) if hasattr(values, "keys") else dict(vars(values))


_RUN_INERT = frozenset(
    "alert display finish_artifact link_artifact link_model log_artifact log_code "
    "log_model mark_preempting pin_config_keys plot_table save status to_html "
    "unwatch upsert_artifact write_logs".split())


class Config:
    """The parameters of the trial, which stay, and what the program adds."""

    def __init__(self):
        self.__dict__["_own"] = {}
        self.__dict__["_trial"] = None

    def _params(self):
        if self._trial is None:
            self.__dict__["_trial"] = _shim.params()
        return self._trial

    def as_dict(self):
        return {**self._own, **self._params()}

    _as_dict = as_dict

    def __getitem__(self, name):
        return self.as_dict()[name]

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError:
            raise AttributeError(
                f"{name!r} is neither a parameter of the study nor in the "
                "config of the program") from None

    def __setitem__(self, name, value):
        if name not in self._params():
            self._own[name] = value

    __setattr__ = __setitem__

    def __contains__(self, name):
        return name in self.as_dict()

    def __iter__(self):
        return iter(self.as_dict())

    def __len__(self):
        return len(self.as_dict())

    def keys(self):
        return self.as_dict().keys()

    def values(self):
        return self.as_dict().values()

    def items(self):
        return self.as_dict().items()

    def get(self, name, default=None):
        return self.as_dict().get(name, default)

    def update(self, values=None, allow_val_change=None, **more):
        for name, value in {**_mapping(values), **more}.items():
            self[name] = value

    def setdefaults(self, values):
        for name, value in _mapping(values).items():
            self._own.setdefault(name, value)
        return self.as_dict()

    merge_locked = update_locked = update

    def persist(self):
        pass

    def __repr__(self):
        return repr(self.as_dict())


class Summary:
    """The last value of each metric, and what the program sets at its end."""

    def __init__(self, run):
        self.__dict__["_run"] = run
        self.__dict__["_set"] = {}

    def _all(self):
        logged = {k: v for k, (v, _) in self._run._last.items()}
        return {**logged, **self._set}

    def __setitem__(self, name, value):
        self._set[name] = value

    __setattr__ = __setitem__

    def __getitem__(self, name):
        return self._all()[name]

    def __getattr__(self, name):
        try:
            return self._all()[name]
        except KeyError:
            raise AttributeError(name) from None

    def __contains__(self, name):
        return name in self._all()

    def get(self, name, default=None):
        return self._all().get(name, default)

    def keys(self):
        return self._all().keys()

    def items(self):
        return self._all().items()

    def update(self, values=None, **more):
        self._set.update(_mapping(values), **more)


class Run:
    """The trial."""

    offline = disabled = resumed = False
    url = entity = sweep_id = sweep_url = project_url = None

    def __init__(self, **given):
        self.config = self.config_static = config
        self.summary = Summary(self)
        self.id = _os.environ.get("HPOTUNE_ATTEMPT_UUID", "hpotune")
        self.name = given.get("name") or \
            "trial-" + _os.environ.get("HPOTUNE_TRIAL", "0")
        self.dir = _os.environ.get("HPOTUNE_OUTPUT_DIR", _os.getcwd())
        self.path, self.sync_dir = "hpotune/" + self.id, self.dir
        self.project, self.group = given.get("project"), given.get("group")
        self.tags = tuple(given.get("tags") or ())
        self.notes, self.job_type = given.get("notes"), given.get("job_type")
        self.step = self.starting_step = 0
        self.start_time = _time.time()
        self.settings = _shim.Nothing()
        self._last = {}
        self._pending = {}
        self._steps = []
        self._seen = {}
        self._counted = set()

    def define_metric(self, name, step_metric=None, **more):
        if step_metric is not None:
            self._steps.append((name, str(getattr(step_metric, "name",
                                                  step_metric))))
        metric = _shim.Nothing()
        metric.name = name
        return metric

    def _step_of(self, name, step):
        """A later definition of the same metric counts.

        Parts of a whole number, such as an epoch of 0.5, are no steps.
        """
        for pattern, by in reversed(self._steps):
            if name != by and _fnmatch.fnmatchcase(name, pattern):
                found = self._seen.get(by, step)
                if found is not None and found % 1 != 0:
                    self._counted.add(name)
                return None if name in self._counted else found
        return step

    def _report(self, values, step):
        self._seen.update(values)
        rows = {}
        for name, value in values.items():
            at = self._step_of(name, step)
            rows.setdefault(at, {})[name] = value
            self._last[name] = value, at
        for at, row in rows.items():
            _shim.report(row, at)

    def log(self, data, step=None, commit=None, sync=None):
        if not hasattr(data, "items"):
            raise TypeError("wandb.log must be passed a dictionary")
        found = _shim.numbers(data, ".")
        if step is not None:
            self.step = max(self.step, int(step))
            self._report(found, int(step))
            if commit:
                self.step += 1
            return
        self._pending.update(found)
        if commit is None or commit:
            self._flush()

    _log = log

    def _flush(self):
        values, self._pending = self._pending, {}
        self.step += 1
        self._report(values, None)

    def finish(self, exit_code=None, quiet=None):
        global run
        if self._pending:
            self._flush()
        for name, value in _shim.numbers(self.summary._set, ".").items():
            last, step = self._last.get(name, (None, None))
            if value != last:
                self._report({name: value}, step)
        self.summary._set.clear()
        _libraries.tensorboard_end()
        if run is self:
            run = None

    def watch(self, *args, **kwargs):
        return []

    join = finish

    def get_url(self):
        return None

    get_project_url = get_sweep_url = get_url

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if name in ("use_artifact", "use_model", "restore", "history",
                    "scan_history"):
            return _absent("run." + name)
        if name.startswith("_") or name in _RUN_INERT:
            return _shim.nothing
        raise AttributeError(_shim.without("wandb", "run." + name))

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.finish()


class RunDisabled:
    """For programs that compare with it: no run is one."""


config = Config()
run = None


def init(project=None, config=None, sync_tensorboard=None, **given):
    """Begin; config: values that parameters of the trial replace."""
    global run
    if run is None:
        run = Run(project=project, **given)
    run.config.update(config)
    if sync_tensorboard:
        _libraries.tensorboard_patch()
    return run


def _current():
    if run is None:
        raise Error("You must call wandb.init() before it")
    return run


def log(data, step=None, commit=None, sync=None):
    _current().log(data, step=step, commit=commit)


def finish(exit_code=None, quiet=None):
    if run is not None:
        run.finish()


join = finish


def define_metric(name, step_metric=None, **more):
    return _current().define_metric(name, step_metric, **more)


def watch(*args, **kwargs):
    return []


def login(*args, **kwargs):
    return True


def sweep(sweep, *args, **kwargs):
    """hpotune is the sweep."""
    return "hpotune"


def agent(sweep_id, function=None, *args, **kwargs):
    """The agent of one run, which is this trial."""
    if function is None:
        raise Error("hpotune runs the program of the trial: wandb.agent "
                    "expects a function")
    function()
    finish()


class Artifact(_shim.Nothing):
    """Takes files; what would read them says that there are none."""

    def __getattr__(self, name):
        if name.startswith(("get", "download", "checkout", "file", "verify")):
            return _absent("Artifact." + name)
        return super().__getattr__(name)


def generate_id(*args):
    return _os.environ.get("HPOTUNE_ATTEMPT_UUID", "hpotune")


_ABSENT = frozenset("Api PublicApi api controller restore use_artifact use_model "
                    "ensure_configured".split())
_INERT = frozenset(
    "alert attach box3d helper link_artifact link_model log_artifact log_model "
    "mark_preempting pin_config_keys plot_table profiler require "
    "sagemaker_auth save setup teardown termerror termlog termsetup termwarn "
    "unwatch visualize _attach _teardown".split())
_CLASSES = frozenset(
    "AlertLevel ArtifactTTL Audio Classes EvalTable Graph Histogram Html Image "
    "JoinedTable Molecule Object3D Plotly Settings Table Video".split())
_MODULES = {"wandb_sdk": "sdk", "wandb_lib": "sdk.lib", **{name: name for name in (
    "agents apis catboost data_types env errors gym integration jupyter keras "
    "lightgbm plot sacred sdk sklearn tensorboard tensorflow util wandb_agent wandb_run "
    "wandb_torch xgboost").split()}}
_EFFECTLESS = ("plot", "sklearn", "integration.torch", "integration.gym",
               "integration.sagemaker", "sdk.lib.telemetry", "errors.term",
               "wandb_torch", "gym", "jupyter")


def _environment(name):
    """Of wandb.env: names of variables, and what reads and sets them."""
    if name.isupper():
        return "WANDB_" + name
    if name.startswith("get_"):
        return lambda *_: _os.environ.get("WANDB_" + name[4:].upper())
    return _shim.nothing if name.startswith("set_") else None


def _find(module, name):
    """What a module inside of wandb has of that name."""
    found = _libraries.find(module, name)
    if found is None and module == "env":
        found = _environment(name)
    if found is not None or name in _MODULES:
        return found
    if name in _CLASSES or name in _ABSENT:
        return getattr(_sys.modules[__name__], name)
    if name[:1].isupper() or name == "generate_id" or module == "sdk":
        return globals().get(name)
    if name in _INERT or (module + ".").startswith(
            tuple(m + "." for m in _EFFECTLESS)):
        return _shim.nothing
    return None


_shim.Modules("wandb", Error, _find, _libraries.refuses).open()


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    if name == "summary":
        return _current().summary
    if name in _MODULES:
        return __import__("importlib").import_module("wandb." + _MODULES[name])
    if name in _ABSENT:
        found = _absent("wandb." + name)
    elif name in _INERT:
        found = _shim.nothing
    elif name in _CLASSES:
        found = _shim.stand_in("wandb." + name, Error)
    else:
        raise AttributeError(_shim.without("wandb", "wandb." + name))
    globals()[name] = found
    return found


patched = {"tensorboard": [], "keras": [], "gym": []}
_atexit.register(finish)
