"""hpotune in the place of Weights & Biases, for programs that do not change.

wandb.config has the parameters of the trial; numbers that are logged are reports.
Nothing is sent to anybody.
"""

import atexit as _atexit
import fnmatch as _fnmatch
import os as _os
import sys as _sys
import types as _types

import hpotune_shim as _shim

__version__ = "0.19.0"
__path__ = []


class Error(Exception):
    pass


UsageError = CommError = Error


def _mapping(values):
    """A dict of what programs give as a configuration."""
    if values is None or isinstance(values, str):
        return {}
    if hasattr(values, "flag_values_dict"):
        return values.flag_values_dict()
    if isinstance(values, Config):
        return values.as_dict()
    return dict(values) if hasattr(values, "keys") else dict(vars(values))


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
    url = entity = sweep_id = None

    def __init__(self, **given):
        self.config = config
        self.summary = Summary(self)
        self.id = _os.environ.get("HPOTUNE_ATTEMPT_UUID", "hpotune")
        self.name = given.get("name") or \
            "trial-" + _os.environ.get("HPOTUNE_TRIAL", "0")
        self.dir = _os.environ.get("HPOTUNE_OUTPUT_DIR", _os.getcwd())
        self.project, self.group = given.get("project"), given.get("group")
        self.tags = tuple(given.get("tags") or ())
        self.notes, self.job_type = given.get("notes"), given.get("job_type")
        self.step = 0
        self.settings = _shim.Nothing()
        self._last = {}
        self._pending = {}
        self._steps = []
        self._seen = {}

    def define_metric(self, name, step_metric=None, **more):
        if step_metric is not None:
            self._steps.append((name, str(step_metric)))
        return _shim.Nothing()

    def _step_of(self, name, step):
        """A later definition of the same metric counts."""
        for pattern, by in reversed(self._steps):
            if name != by and _fnmatch.fnmatchcase(name, pattern):
                return self._seen.get(by, step)
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
            raise ValueError("wandb.log must be passed a dictionary")
        found = _shim.numbers(data, ".")
        if step is not None:
            self.step = max(self.step, int(step))
            self._report(found, int(step))
            return
        self._pending.update(found)
        if commit is None or commit:
            self._flush()

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
        if run is self:
            run = None

    def use_artifact(self, *args, **kwargs):
        raise Error("hpotune stands in the place of wandb: there are no "
                    "artifacts to read")

    def watch(self, *args, **kwargs):
        return []

    join = finish

    def get_url(self):
        return None

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _shim.nothing

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.finish()


class RunDisabled:
    """For programs that compare with it: no run is one."""


config = Config()
run = None


def init(project=None, config=None, **given):
    """Begin; config: values that parameters of the trial replace."""
    global run
    if run is None:
        run = Run(project=project, **given)
    run.config.update(config)
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


def _keras(name):
    import keras
    base = keras.callbacks.Callback

    class WandbMetricsLogger(base):
        def __init__(self, *args, **kwargs):
            super().__init__()
            _current().define_metric("epoch/*", "epoch/epoch")

        def on_epoch_end(self, epoch, logs=None):
            log({"epoch/epoch": epoch,
                 **{"epoch/" + k: v for k, v in (logs or {}).items()}})

    class WandbCallback(base):
        def __init__(self, *args, **kwargs):
            super().__init__()

        def on_epoch_end(self, epoch, logs=None):
            log({"epoch": epoch, **(logs or {})}, step=epoch)

    class WandbModelCheckpoint(base):
        def __init__(self, *args, **kwargs):
            super().__init__()

    made = {c.__name__: c for c in (
        WandbMetricsLogger, WandbCallback, WandbModelCheckpoint)}
    if name not in made:
        raise AttributeError(
            f"hpotune stands in the place of wandb, without {name}")
    return made[name]


def _module(name, **content):
    module = _types.ModuleType(name)
    module.__path__ = []
    module.__dict__.update(content)
    _sys.modules[name] = module
    parent, _, last = name.rpartition(".")
    setattr(_sys.modules[parent], last, module)
    return module


for _name in ("sdk", "sdk.lib", "sdk.wandb_run", "wandb_run", "errors",
              "util", "integration"):
    _module("wandb." + _name, Run=Run, RunDisabled=RunDisabled, Error=Error,
            CommError=Error, UsageError=Error, generate_id=lambda *_: "hpotune")
for _name in "integration.keras", "keras":
    _module("wandb." + _name, __getattr__=_keras)
_module("wandb.plot", __getattr__=lambda name: _shim.nothing)

for _name in ("Image Table Histogram Video Audio Html Object3D Molecule Plotly "
              "Graph Artifact Classes Settings AlertLevel JoinedTable").split():
    globals()[_name] = type(_name, (_shim.Nothing,), {})
for _name in ("save restore alert unwatch setup teardown termlog termwarn "
              "termerror log_artifact log_model link_artifact require "
              "mark_preempting").split():
    globals()[_name] = _shim.nothing


def __getattr__(name):
    if name == "summary":
        return _current().summary
    raise AttributeError(
        f"hpotune stands in the place of wandb, without wandb.{name}")


_atexit.register(finish)
