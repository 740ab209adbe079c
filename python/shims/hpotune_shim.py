"""What the shims have in common: parameters and reports of the trial."""

import json
import math
import os


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


class Nothing:
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

    def __iter__(self):
        return iter(())


def nothing(*args, **kwargs):
    """A function without effect."""
    return Nothing()
