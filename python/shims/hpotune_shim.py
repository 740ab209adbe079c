"""What the shims have in common: parameters and reports of the trial."""

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import json
import math
import os
import sys
import types


def params():
    """The parameters of the trial, a dict."""
    with open(os.environ["HPOTUNE_PARAMS"], encoding="utf-8") as file:
        return json.load(file)


def number(value):
    """A float, of a scalar of numpy or torch, too; None: it is no number."""
    if isinstance(value, (str, bytes, bytearray)):
        return None
    try:
        return float(value)
    except Exception:
        return None


def numbers(values, separator, before=""):
    """The numbers of a dict, those of dicts in it with both names."""
    found = {}
    for name, value in dict(values).items():
        name = before + str(name)
        if isinstance(value, dict):
            found.update(numbers(value, separator, name + separator))
            continue
        value = number(value)
        if value is not None:
            found[name] = value
    return found


def report(values, step=None):
    """Report numbers; a member "step" is the step, as in a line of JSON."""
    found = dict(values)
    if step is None:
        step = found.get("step")
    found.pop("step", None)
    if not found:
        return
    step = number(step)
    if step is not None and math.isfinite(step) and step >= 0:
        found["step"] = int(step)
    line = (json.dumps(found) + "\n").encode()
    with open(os.environ["HPOTUNE_METRICS"], "ab", buffering=0) as file:
        file.write(line)  # one write: lines of threads do not mix


def keras_callback():
    """The base class of callbacks of Keras, or of TensorFlow's, which is imported."""
    try:
        return importlib.import_module("keras").callbacks.Callback
    except ImportError:
        return importlib.import_module("tensorflow").keras.callbacks.Callback


class Kind(type):
    """Names that programs take from a class, such as AlertLevel.WARN."""

    def __getattr__(cls, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return cls()


class Nothing(metaclass=Kind):
    """Takes what a program shows beside its numbers, and keeps nothing."""

    def __init__(self, *args, **kwargs):
        pass

    def __call__(self, *args, **kwargs):
        return self

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None

    def __getitem__(self, name):
        return self

    def __setitem__(self, name, value):
        pass

    def __iter__(self):
        return iter(())


def nothing(*args, **kwargs):
    """A function without effect."""
    return Nothing()


def without(package, name):
    """What an error says of a name that has no stand-in."""
    return f"hpotune stands in the place of {package}, without {name}"


def absent(package, name, error):
    """A function that cannot do nothing, since programs need its result."""
    def function(*args, **kwargs):
        raise error(without(package, name))
    return function


def stand_in(path, error):
    """A class in the place of the one that path names: an error, or without effect.

    A callback or logger without effect would hide that nothing is reported.
    """
    package, name = path.partition(".")[0], path.rpartition(".")[2]
    if name.endswith(("Error", "Exception", "Warning")):
        return type(name, (error,), {})
    if name.endswith(("Callback", "Logger", "Observer")):
        raise ImportError(without(package, path))
    return type(name, (Nothing,), {})


class Module(types.ModuleType):
    """A module of a package, or a function that is not there: a call says so."""

    def __call__(self, *args, **kwargs):
        raise self._error(without(self.__name__.partition(".")[0], self.__name__))


class Modules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """All modules inside of a package, which has no files.

    find(module, name) has what a module has of that name, or None; a module that
    refuses(module) names is not there.
    """

    def __init__(self, package, error, find, refuses=lambda module: False):
        self.package, self.error = package, error
        self.find, self.refuses = find, refuses

    def find_spec(self, name, path=None, target=None):
        package, _, module = name.partition(".")
        if package != self.package or not module:
            return None
        if self.refuses(module):
            raise ModuleNotFoundError(without(package, name), name=name)
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        made = Module(spec.name)
        made._error = self.error
        return made

    def exec_module(self, module):
        def find(name):
            if name.startswith("__"):
                raise AttributeError(name)
            path = module.__name__ + "." + name
            found = self.find(path[len(self.package) + 1:-len(name) - 1], name)
            if found is None and name.isupper():
                raise AttributeError(without(self.package, path))
            if found is None and name[:1].isupper():
                found = stand_in(path, self.error)
            if found is None:
                return importlib.import_module(path)
            setattr(module, name, found)  # a class stays the same
            return found
        module.__getattr__ = find

    def open(self):
        """Once, also where a package is imported again."""
        for finder in sys.meta_path:
            if getattr(finder, "package", None) == self.package:
                return
        sys.meta_path.insert(0, self)


class AfterImport(importlib.abc.MetaPathFinder):
    """Calls a function with a module, now or when it is imported."""

    def __init__(self, calls):
        self.calls = calls

    def open(self):
        sys.meta_path.insert(0, self)
        for name, call in self.calls.items():
            if name in sys.modules:
                call(sys.modules[name])

    def close(self):
        sys.meta_path.remove(self)

    def find_spec(self, name, path=None, target=None):
        call = self.calls.get(name)
        if call is None:
            return None
        sys.meta_path.remove(self)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            sys.meta_path.insert(0, self)
        if spec is not None and hasattr(spec.loader, "exec_module"):
            load = spec.loader.exec_module

            def exec_module(module):
                load(module)
                call(module)
            spec.loader.exec_module = exec_module
        return spec
